//! Why a branch does not merge: which files, in which way, and with whom.
//!
//! Resolves nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The files that do not merge, in the order of their names.
    pub files: Vec<ConflictedFile>,
    /// The strands that it collides with, by their place; `None` is the base.
    pub with: Vec<Option<usize>>,
}

impl Conflict {
    /// The names of the files; none, where the branch as a whole is the trouble.
    pub fn paths(&self) -> Vec<String> {
        paths_of(&self.files)
    }
}

/// The names of files; what has none is the trouble of a branch as a whole.
pub(super) fn paths_of(files: &[ConflictedFile]) -> Vec<String> {
    let named = files.iter().filter(|file| !file.path.is_empty());
    named.map(|file| file.path.clone()).collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictedFile {
    /// Its path; what is not UTF-8 is shown as a mark.
    pub path: String,
    pub kind: ConflictKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ConflictKind {
    /// Both changed the same lines, or both made the file.
    Content,
    ModifyDelete,
    /// One or both renamed it, or the folder that it is in.
    Rename,
    /// Its mode or its type.
    Mode,
    /// A submodule that both moved.
    Submodule,
    /// Both changed a file that has no lines.
    Binary,
    FileAndFolder,
    /// The two histories have nothing in common.
    Unrelated,
    /// Git broke off with a mistake of its own.
    GitAborted,
    Other,
}

impl ConflictKind {
    /// By the short word that git has for it, which does not change with language or version.
    pub(super) fn named(word: &str) -> Option<Self> {
        let inner = word.strip_prefix("CONFLICT (")?.strip_suffix(')')?;
        Some(match inner {
            "contents" | "content" | "add/add" => Self::Content,
            "binary" => Self::Binary,
            "modify/delete" => Self::ModifyDelete,
            "distinct modes" | "distinct types" => Self::Mode,
            "file/directory" => Self::FileAndFolder,
            inner if inner.contains("submodule") => Self::Submodule,
            inner if inner.contains("rename") => Self::Rename,
            _ => Self::Other,
        })
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::ModifyDelete => "modify/delete",
            Self::Rename => "rename",
            Self::Mode => "mode",
            Self::Submodule => "submodule",
            Self::Binary => "binary",
            Self::FileAndFolder => "file/folder",
            Self::Unrelated => "unrelated",
            Self::GitAborted => "git-aborted",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for ConflictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
