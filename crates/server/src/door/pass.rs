//! What a browser shows after it came by a link: a cookie that only the keeper of the token can have made.
//!
//! It holds across restarts and ends with the token, or after a month.

use axum::http::{HeaderMap, HeaderValue, header};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::time::SystemTime;

use super::token::{Token, random_word, to_hex};

const LIFETIME_SECONDS: u64 = 30 * 86_400;

/// Makes and knows passes.
#[derive(Debug)]
pub(super) struct Passes {
    key: Vec<u8>,
    /// With the port in it: cookies know hosts only, and several servers may run.
    name: String,
}

impl Passes {
    pub(super) fn new(token: &Token, port: u16) -> Self {
        Self {
            key: token.as_bytes().to_vec(),
            name: format!("pleach_{port}"),
        }
    }

    /// A header that has a browser keep a new pass.
    pub(super) fn issue(&self) -> HeaderValue {
        let ends = now() + LIFETIME_SECONDS;
        let claim = format!("{ends}.{}", random_word());
        let seal = self.seal(&claim);
        let cookie = format!(
            "{}={claim}.{seal}; HttpOnly; SameSite=Strict; Path=/; Max-Age={LIFETIME_SECONDS}",
            self.name
        );
        HeaderValue::try_from(cookie).expect("it is plain ASCII")
    }

    /// Whether a request shows a pass.
    pub(super) fn is_among(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter();
        cookies
            .filter_map(|cookies| cookies.to_str().ok())
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(name, value)| name == self.name && self.is_good(value))
    }

    fn is_good(&self, pass: &str) -> bool {
        let Some((claim, seal)) = pass.rsplit_once('.') else {
            return false;
        };
        let is_ours = subtle::ConstantTimeEq::ct_eq(self.seal(claim).as_bytes(), seal.as_bytes());
        let ends = claim
            .split_once('.')
            .and_then(|(ends, _)| ends.parse::<u64>().ok());
        bool::from(is_ours) && ends.is_some_and(|ends| now() < ends)
    }

    fn seal(&self, claim: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("a key may have any length");
        mac.update(b"pass of a browser ");
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

    fn shown(cookie: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, cookie.parse().unwrap());
        headers
    }

    fn issued(passes: &Passes) -> String {
        let header = passes.issue();
        header
            .to_str()
            .unwrap()
            .split(';')
            .next()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn a_pass_is_good_where_it_was_made_and_nowhere_else() {
        let token = Token::new_random();
        let passes = Passes::new(&token, 3001);
        let pass = issued(&passes);
        assert!(passes.is_among(&shown(&pass)));
        assert!(passes.is_among(&shown(&format!("other=1; {pass}"))));
        assert!(
            Passes::new(&token, 3001).is_among(&shown(&pass)),
            "after a restart"
        );
        assert!(!Passes::new(&token, 3002).is_among(&shown(&pass)));
        assert!(!Passes::new(&Token::new_random(), 3001).is_among(&shown(&pass)));
    }

    #[test]
    fn a_pass_that_was_changed_or_has_ended_is_none() {
        let passes = Passes::new(&Token::new_random(), 3001);
        let pass = issued(&passes);
        let longer = pass.replacen('=', "=9", 1);
        for bad in [
            longer.as_str(),
            &pass[..pass.len() - 1],
            "pleach_3001=",
            "pleach_3001=a.b.c",
        ] {
            assert!(!passes.is_among(&shown(bad)), "{bad}");
        }
        let claim = "1.x";
        let expired = format!("pleach_3001={claim}.{}", passes.seal(claim));
        assert!(!passes.is_among(&shown(&expired)));
    }
}
