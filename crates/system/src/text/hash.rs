//! What texts are known by.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// So many bytes of the hash are told, as twice as many digits.
const BYTES: usize = 20;

/// A hash of the parts, each with its length, so that no two lists of parts have one.
pub fn hash(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        let part = part.as_ref();
        hasher.update(part.len().to_le_bytes());
        hasher.update(part);
    }
    let mut text = String::with_capacity(2 * BYTES);
    for byte in &hasher.finalize()[..BYTES] {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn stored_consents_and_ids_are_found_again_by_their_hash() {
        assert_eq!(
            hash(["setup", "make"]),
            "933e6bafb638353622f66e3ab58f09972504ea9a"
        );
        assert_ne!(hash(["a", "bc"]), hash(["ab", "c"]));
    }
}
