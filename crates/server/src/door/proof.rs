//! How a server proves that it knows the token, to somebody who shows it to nobody else.
//!
//! The address of the connection is part of the proof, so that a listener cannot have another server prove it.

use std::net::SocketAddr;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use super::token::{Token, random_word, to_hex};

const LONGEST_NONCE: usize = 128;

/// A question that only who knows the token can answer.
#[derive(Debug)]
pub struct Challenge {
    nonce: String,
}

impl Challenge {
    #[expect(
        clippy::new_without_default,
        reason = "each is another one, which nobody expects of a default"
    )]
    pub fn new() -> Self {
        Self {
            nonce: random_word(),
        }
    }

    pub fn path(&self) -> String {
        format!("/api/proof?nonce={}", self.nonce)
    }

    /// Whether an answer that came from an address is right.
    pub fn is_met(&self, token: &Token, address: SocketAddr, proof: &str) -> bool {
        let right = prove(token, &self.nonce, address);
        right.as_bytes().ct_eq(proof.as_bytes()).into()
    }
}

/// Whether somebody may choose this word to have the token proved with.
pub(crate) fn is_nonce(word: &str) -> bool {
    let is_short = (1..=LONGEST_NONCE).contains(&word.len());
    is_short && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// What only who knows the token can say to a nonce, at one end of a connection.
pub(super) fn prove(token: &Token, nonce: &str, address: SocketAddr) -> String {
    let key = token.as_bytes();
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    // A socket for both kinds of addresses sees the older ones in the clothes of the newer.
    let address = SocketAddr::new(address.ip().to_canonical(), address.port());
    mac.update(format!("proof of a server at {address} {nonce}").as_bytes());
    to_hex(&mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_good_for_one_token_one_question_and_one_address() {
        let (token, other) = (Token::new_random(), Token::new_random());
        let here: SocketAddr = "127.0.0.1:3001".parse().unwrap();
        let mapped = "[::ffff:127.0.0.1]:3001".parse().unwrap();
        let question = Challenge::new();
        let proof = prove(&token, &question.nonce, here);
        assert!(question.is_met(&token, here, &proof));
        assert!(question.is_met(&token, mapped, &proof));
        assert!(!question.is_met(&other, here, &proof));
        assert!(!Challenge::new().is_met(&token, here, &proof));
        for elsewhere in ["127.0.0.1:3002", "[::1]:3001", "10.0.0.1:3001"] {
            assert!(!question.is_met(&token, elsewhere.parse().unwrap(), &proof));
        }
        assert!(!question.is_met(&token, here, ""));
    }

    #[test]
    fn a_nonce_is_a_short_word() {
        assert!(is_nonce(&Challenge::new().nonce));
        for odd in ["", "a b", "a\n", "é", &"x".repeat(129)] {
            assert!(!is_nonce(odd), "{odd:?}");
        }
    }
}
