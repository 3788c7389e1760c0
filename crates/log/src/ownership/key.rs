//! The key of a batch: whoever shows it may read the owner's files, which agents in a sandbox may not.
//!
//! The kernel's sandbox knows files, not sockets; so a socket alone would let agents in.

use std::fmt::{self, Write as _};
use std::io;

use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

const BYTES: usize = 32;
/// How long a key is as it is written.
pub(super) const LENGTH: usize = 2 * BYTES;

/// A key, new with each owner.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Key(String);

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key")
    }
}

impl Key {
    pub(super) fn new_random() -> io::Result<Self> {
        let mut bytes = [0_u8; BYTES];
        // So few bytes come whole, or not at all.
        getrandom(&mut bytes[..], GetRandomFlags::empty())?;
        let mut key = String::with_capacity(LENGTH);
        for byte in bytes {
            write!(key, "{byte:02x}").expect("a string takes every letter");
        }
        Ok(Self(key))
    }

    pub(super) fn parse(word: &str) -> Option<Self> {
        let is_one = word.len() == LENGTH && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_one.then(|| Self(word.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether another one is the same; takes as long for a near miss as for any other.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}
