//! Reads the text of a plan file and says why it cannot be read.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::error::PlanFileError;

/// The largest plan file that is read, in bytes.
pub const SIZE_LIMIT: u64 = 64 << 20;

/// The file that is read and replaced for `path`: the end of its symlinks.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, PlanFileError> {
    fs::canonicalize(path).map_err(|error| read_error(path, error))
}

/// Reads all of `path`, which is named so in errors.
pub(super) fn load_text(path: &Path) -> Result<String, PlanFileError> {
    // The kind is checked before the file is opened, as opening a pipe waits for a writer.
    let metadata = fs::metadata(path).map_err(|error| read_error(path, error))?;
    if metadata.is_dir() {
        return Err(PlanFileError::Folder {
            path: path.to_owned(),
        });
    }
    if !metadata.is_file() {
        return Err(PlanFileError::NotRegular {
            path: path.to_owned(),
        });
    }
    check_size(path, metadata.len())?;
    let bytes = load_bytes(path).map_err(|error| read_error(path, error))?;
    check_size(path, bytes.len() as u64)?;
    decode(path, bytes)
}

fn load_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The file may have grown since its size was checked.
    File::open(path)?
        .take(SIZE_LIMIT + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn check_size(path: &Path, size: u64) -> Result<(), PlanFileError> {
    if size > SIZE_LIMIT {
        return Err(PlanFileError::TooLarge {
            path: path.to_owned(),
            size,
        });
    }
    Ok(())
}

fn decode(path: &Path, bytes: Vec<u8>) -> Result<String, PlanFileError> {
    if bytes.contains(&0) {
        let offset = bytes.iter().take_while(|byte| **byte != 0).count();
        return Err(PlanFileError::Binary {
            path: path.to_owned(),
            offset,
        });
    }
    String::from_utf8(bytes).map_err(|error| PlanFileError::NotUtf8 {
        path: path.to_owned(),
        offset: error.utf8_error().valid_up_to(),
    })
}

fn read_error(path: &Path, source: io::Error) -> PlanFileError {
    let path = path.to_owned();
    match source.kind() {
        ErrorKind::NotFound => PlanFileError::Missing { path },
        ErrorKind::PermissionDenied => PlanFileError::Denied { path, source },
        ErrorKind::IsADirectory => PlanFileError::Folder { path },
        _ => PlanFileError::Read { path, source },
    }
}

impl PlanFileError {
    /// Whether an editor in the middle of a save looks like this for a moment.
    pub(super) fn is_half_saved(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. } | Self::Binary { .. } | Self::NotUtf8 { .. }
        )
    }
}
