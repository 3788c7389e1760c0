//! The ways in which reading or rewriting a plan file fails.

use std::io;
use std::path::{Path, PathBuf};

use pleach_system::text::shell_words::quoted;

use super::source::SIZE_LIMIT;

#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    #[error("cannot read the plan {}: there is no such file", path.display())]
    Missing { path: PathBuf },
    #[error("cannot read the plan {}: it is a folder", path.display())]
    Folder { path: PathBuf },
    #[error("cannot read the plan {}: it is not a regular file", path.display())]
    NotRegular { path: PathBuf },
    #[error(
        "cannot read the plan {}: it has {size} bytes and the limit is {SIZE_LIMIT}",
        path.display()
    )]
    TooLarge {
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
    },
    #[error("cannot read the plan {}: it is binary (NUL byte at offset {offset})", path.display())]
    Binary {
        path: PathBuf,
        /// Where the first NUL byte is.
        offset: usize,
    },
    #[error("cannot read the plan {}: not UTF-8 from byte offset {offset}", path.display())]
    NotUtf8 {
        path: PathBuf,
        /// Where the first byte is that is no UTF-8.
        offset: usize,
    },
    #[error("cannot read the plan {}: permission denied", path.display())]
    Denied { path: PathBuf, source: io::Error },
    #[error("cannot read the plan {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot rewrite the plan {}: the file is read-only", path.display())]
    ReadOnly { path: PathBuf },
    #[error("cannot rewrite the plan {}: no file can be created in its folder", path.display())]
    FolderReadOnly { path: PathBuf, source: io::Error },
    /// Writing failed, also after the retries where those could help.
    #[error("cannot rewrite the plan {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// Somebody else saved the file in every round; their text stands.
    #[error("cannot rewrite the plan {}: it changed during each of {rounds} attempts", path.display())]
    Busy { path: PathBuf, rounds: u32 },
    /// A text saved into a displaced file could not be brought back.
    #[error("cannot merge {} into the plan {}", aside.display(), path.display())]
    Kept {
        path: PathBuf,
        /// The file that holds the text.
        aside: PathBuf,
        source: Box<PlanFileError>,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum RewriteError<E> {
    /// The edit refused; the file is as it was.
    #[error("{0}")]
    Edit(E),
    #[error(transparent)]
    File(#[from] PlanFileError),
}

impl PlanFileError {
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { .. } => "check the path, or create the file".to_owned(),
            Self::Folder { path } => format!(
                "pass a file in it, such as {}",
                path.join("TODO.md").display()
            ),
            Self::NotRegular { .. } => "pass a regular file".to_owned(),
            Self::TooLarge { .. } => {
                format!("split the plan; the maximum is {} MiB", SIZE_LIMIT >> 20)
            }
            Self::Binary { .. } => "pass a text file".to_owned(),
            Self::NotUtf8 { .. } => "save the file as UTF-8".to_owned(),
            Self::Denied { path, .. } => {
                format!("run `chmod u+r {}`", quoted(&path.to_string_lossy()))
            }
            Self::Read { .. } => "check the disk and try again".to_owned(),
            Self::ReadOnly { path } => {
                format!("run `chmod u+w {}`", quoted(&path.to_string_lossy()))
            }
            Self::FolderReadOnly { path, .. } => {
                let folder = path.parent().filter(|folder| *folder != Path::new(""));
                let folder = folder.unwrap_or(Path::new("."));
                format!("make the folder {} writable", folder.display())
            }
            Self::Write { .. } => "check that the disk has free space, then try again".to_owned(),
            Self::Busy { .. } => {
                "close the program that keeps saving the file, then try again".to_owned()
            }
            Self::Kept { aside, .. } => format!(
                "copy what is missing from {}, then delete it",
                aside.display()
            ),
        }
    }
}

impl<E> RewriteError<E> {
    /// What the user can do about it, where the file and not the edit is the cause.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Edit(_) => None,
            Self::File(error) => Some(error.hint()),
        }
    }
}
