//! Reads the text of a plan file and says why it cannot be read.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use pleach_system::files::regular_file::{self, Unreadable};

use super::error::PlanFileError;

/// The largest plan file that is read, in bytes.
pub const SIZE_LIMIT: u64 = 64 << 20;

/// The file that is read and replaced for `path`: the end of its symlinks.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, PlanFileError> {
    fs::canonicalize(path).map_err(|error| read_error(path, error))
}

/// Reads all of `path`, which is named so in errors.
pub(super) fn load_text(path: &Path) -> Result<String, PlanFileError> {
    let bytes = regular_file::read(path, SIZE_LIMIT).map_err(|why| {
        let path = path.to_owned();
        match why {
            Unreadable::Folder => PlanFileError::Folder { path },
            Unreadable::NotRegular => PlanFileError::NotRegular { path },
            Unreadable::TooLarge { size, .. } => PlanFileError::TooLarge { path, size },
            Unreadable::Io(error) => read_error(&path, error),
        }
    })?;
    decode(path, bytes)
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
