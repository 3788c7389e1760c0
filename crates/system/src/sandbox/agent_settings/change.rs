//! What was done about a file that was not as before, in words.

use std::fmt;
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub(super) struct RestoredFile {
    path: PathBuf,
    kept: Option<PathBuf>,
    pub(super) is_back: io::Result<()>,
}

impl RestoredFile {
    pub(super) fn new(path: PathBuf, kept: io::Result<Option<PathBuf>>) -> Self {
        let (kept, is_back) = match kept {
            Ok(kept) => (kept, Ok(())),
            Err(error) => (None, Err(error)),
        };
        Self {
            path,
            kept,
            is_back,
        }
    }
}

impl fmt::Display for RestoredFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.is_back {
            Ok(()) => write!(f, "restored {path}, which a task changed")?,
            Err(error) => write!(f, "could not restore {path}, which a task changed: {error}")?,
        }
        match &self.kept {
            Some(kept) => write!(f, "; the changed version is kept as {}", kept.display()),
            None => Ok(()),
        }
    }
}
