//! Names of git objects, checked once and then trusted.
//!
//! Knows nothing of whether an object exists.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Debug, thiserror::Error, PartialEq, Eq, Clone)]
#[error("{0:?} is not a git object id")]
pub struct NotAnId(pub String);

fn check(text: &str) -> Result<String, NotAnId> {
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    // SHA-1 or SHA-256, never an abbreviation.
    if matches!(text.len(), 40 | 64) && text.bytes().all(is_hex) {
        Ok(text.to_owned())
    } else {
        Err(NotAnId(text.to_owned()))
    }
}

macro_rules! object_id {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotAnId;

            fn try_from(text: String) -> Result<Self, NotAnId> {
                text.parse()
            }
        }

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                check(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

object_id!(CommitId, "The full id of a commit.");
object_id!(TreeId, "The full id of a tree.");
object_id!(BlobId, "The full id of the content of a file.");

impl CommitId {
    /// The id that stands for "no such ref" in a compare-and-swap.
    pub(crate) fn zero(&self) -> String {
        "0".repeat(self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_lower_case_ids_are_accepted() {
        let good = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(good.parse::<CommitId>().unwrap().as_str(), good);
        assert!("1".repeat(64).parse::<TreeId>().is_ok());
        for bad in [
            "",
            "main",
            "0123456",
            &good.to_uppercase(),
            &good[1..],
            "-n",
        ] {
            assert!(bad.parse::<CommitId>().is_err(), "{bad:?}");
        }
    }
}
