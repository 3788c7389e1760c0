//! What had better not be pushed, and how it is told without repeating it.

use std::fmt;

use pleach_git::git::CommitId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file, or the commit; without secrets.
    pub path: String,
    /// The line, counted from 1, where there are lines.
    pub line: Option<u32>,
    pub kind: FindingKind,
    /// Where it is, if not in the content of the file.
    pub within: Option<FindingPlace>,
    /// The commit that holds it, where the last one does not any more.
    pub earlier: Option<CommitId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindingKind {
    Secret {
        name: &'static str,
        /// How it begins: four characters at most, none of a key that is a file.
        begin: String,
    },
    /// A value that logs hide.
    Known {
        /// What it is the value of, if that has a name.
        name: String,
    },
    /// A new file of settings that usually holds secrets.
    EnvFile,
    /// A file that is huge now and was not.
    Large {
        bytes: u64,
    },
    LinkOutside {
        target: String,
    },
    Submodule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingPlace {
    Message,
    Author,
    Committer,
    /// What else a commit may have.
    Header,
    Name,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let visible = |text: &str| text.replace(char::is_control, "\u{fffd}");
        f.write_str(&visible(&self.path))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match &self.kind {
            FindingKind::Secret { name, begin } if begin.is_empty() => write!(f, ": {name}"),
            FindingKind::Secret { name, begin } => write!(f, ": {name} ({begin}…)"),
            FindingKind::Known { name } if name.is_empty() => {
                f.write_str(": a value hidden in logs")
            }
            FindingKind::Known { name } => write!(f, ": the value of {name}"),
            FindingKind::EnvFile => {
                f.write_str(": a new file of a kind that usually holds secrets")
            }
            FindingKind::Large { bytes } => {
                write!(
                    f,
                    ": a file of {}.{} MB",
                    bytes / 1_000_000,
                    bytes / 100_000 % 10
                )
            }
            FindingKind::LinkOutside { target } => {
                let target: String = visible(target).chars().take(100).collect();
                write!(f, ": a link out of the repository, to {target}")
            }
            FindingKind::Submodule => f.write_str(": a new submodule"),
        }?;
        f.write_str(match self.within {
            None => "",
            Some(FindingPlace::Message) => " in the commit message",
            Some(FindingPlace::Author) => " in the author",
            Some(FindingPlace::Committer) => " in the committer",
            Some(FindingPlace::Header) => " in a commit header",
            Some(FindingPlace::Name) => " in a file name",
        })?;
        match &self.earlier {
            Some(commit) => write!(f, " (in commit {:.10}, removed later)", commit.as_str()),
            None => Ok(()),
        }
    }
}
