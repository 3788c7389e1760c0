//! Paths in stored records: text where they are text, bytes where they are not.
//!
//! For `#[serde(with = "…")]`; knows nothing of where the paths lead.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum PathText {
    Text(String),
    Bytes(Vec<u8>),
}

pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => to.serialize_str(text),
        None => path.as_os_str().as_bytes().serialize(to),
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    Ok(match PathText::deserialize(from)? {
        PathText::Text(text) => PathBuf::from(text),
        PathText::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
    })
}

/// A path within a list, or one that may be missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPath(#[serde(with = "self")] pub PathBuf);

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Holder(#[serde(with = "super")] PathBuf);

    #[test]
    fn every_path_comes_back_as_it_was() {
        for bytes in [&b"/a b/\xc3\xa9"[..], b"/a\xff\xfe/b", b""] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            let text = serde_json::to_string(&Holder(path.clone())).unwrap();
            let back: Holder = serde_json::from_str(&text).unwrap();
            assert_eq!(back.0, path, "{text}");
        }
    }
}
