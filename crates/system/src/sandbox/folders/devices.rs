//! Which devices programs may use.

use std::fs::{self, DirEntry};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use crate::process::SHARED_MEMORY;

/// Devices that programs use: empty ones, random numbers, the own terminal, machines and graphics processors.
///
/// Not the terminals of others, `/dev/pts`: whoever makes one of its own needs no path to it.
const DEVICES: [&str; 13] = [
    "dri", "dxg", "full", "kfd", "kvm", "mqueue", "null", "ptmx", "random", "shm", "tty",
    "urandom", "zero",
];

const GRAPHICS: &str = "nvidia";

const DEV: &str = "/dev";

pub(in crate::sandbox) fn devices() -> Vec<PathBuf> {
    let entries = fs::read_dir(DEV).into_iter().flatten().flatten();
    let is_open = |entry: &DirEntry| {
        let name = entry.file_name();
        let is_graphics = name.as_encoded_bytes().starts_with(GRAPHICS.as_bytes());
        is_graphics || DEVICES.iter().any(|known| name == *known)
    };
    // In containers some are links.
    let paths = entries
        .filter(is_open)
        .filter_map(|entry| entry.path().canonicalize().ok());
    let is_device = |path: &PathBuf| {
        let kind = path.metadata().map(|meta| meta.file_type());
        kind.is_ok_and(|kind| kind.is_char_device() || kind.is_dir())
    };
    paths.filter(is_device).collect()
}

/// What of places that may be read is no device; those are opened one by one.
pub(in crate::sandbox) fn without_devices(mut places: Vec<PathBuf>) -> Vec<PathBuf> {
    let is_file = |path: &Path| path.starts_with(SHARED_MEMORY) || !path.starts_with(DEV);
    places.retain(|path| is_file(path));
    places
}
