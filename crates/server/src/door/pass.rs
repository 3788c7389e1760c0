//! What a browser shows after it came by a link: a word that only the keeper of the token can have made.
//!
//! It ends with the server that gave it, or after a month. The page keeps it where only pages of the same origin read
//! it, port included; a cookie would be sent to every port of this machine, and agents listen at some. Whoever listens
//! at the port once the server is gone gets it from pages that are still open, so it must be worth nothing by then.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::time::SystemTime;

use super::token::{random_word, to_hex};

const LIFETIME_SECONDS: u64 = 30 * 86_400;

#[derive(Debug)]
pub(super) struct Passes {
    /// Of this run of the server, and written nowhere.
    key: String,
}

impl Passes {
    pub(super) fn new() -> Self {
        Self { key: random_word() }
    }

    pub(super) fn issue(&self) -> String {
        let ends = now() + LIFETIME_SECONDS;
        let claim = format!("{ends}.{}", random_word());
        let seal = self.seal(&claim);
        format!("{claim}.{seal}")
    }

    /// Whether that is a pass, and still good.
    pub(super) fn is_one(&self, word: &[u8]) -> bool {
        let Some((claim, seal)) = std::str::from_utf8(word)
            .ok()
            .and_then(|word| word.rsplit_once('.'))
        else {
            return false;
        };
        let is_ours = subtle::ConstantTimeEq::ct_eq(self.seal(claim).as_bytes(), seal.as_bytes());
        let ends = claim
            .split_once('.')
            .and_then(|(ends, _)| ends.parse::<u64>().ok());
        bool::from(is_ours) && ends.is_some_and(|ends| now() < ends)
    }

    fn seal(&self, claim: &str) -> String {
        let key = self.key.as_bytes();
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
        mac.update(claim.as_bytes());
        to_hex(&mac.finalize().into_bytes())
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_good_at_the_server_that_gave_it_and_at_no_other() {
        let passes = Passes::new();
        let pass = passes.issue();
        assert!(passes.is_one(pass.as_bytes()));
        assert!(!Passes::new().is_one(pass.as_bytes()));
    }

    #[test]
    fn a_pass_that_was_changed_or_has_ended_is_none() {
        let passes = Passes::new();
        let pass = passes.issue();
        let longer = format!("9{pass}");
        for bad in [longer.as_str(), &pass[..pass.len() - 1], "", "a.b.c"] {
            assert!(!passes.is_one(bad.as_bytes()), "{bad}");
        }
        let claim = "1.x";
        let expired = format!("{claim}.{}", passes.seal(claim));
        assert!(!passes.is_one(expired.as_bytes()));
        assert!(!passes.is_one(b"\xff.\xff"));
    }
}
