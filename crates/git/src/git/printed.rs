//! Reads what git prints: ids, records, paths.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::GitError;

pub fn parse_id<Id: std::str::FromStr>(what: &str, printed: &[u8]) -> Result<Id, GitError> {
    let text = String::from_utf8_lossy(printed);
    text.trim_end().parse().map_err(|_| GitError::Garbled {
        what: what.to_owned(),
        printed: text.trim_end().to_owned(),
    })
}

pub fn nul_separated(printed: &[u8]) -> impl Iterator<Item = &[u8]> {
    printed.split(|byte| *byte == 0).filter(|r| !r.is_empty())
}

pub fn os_str(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}
