//! Finds programs, and tells which version of git one is.
//!
//! Runs nothing.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

pub fn find_program(path: &OsStr, name: &str) -> Option<PathBuf> {
    // A relative entry would mean another program in every folder.
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

pub fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

pub(super) fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.');
    let major = numbers.next()?.parse().ok()?;
    let minor = numbers.next()?.parse().ok()?;
    Some((major, minor))
}
