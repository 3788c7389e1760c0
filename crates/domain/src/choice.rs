//! What people choose for a batch: one type for each choice, whoever asks for it.
//!
//! Knows words, and nothing of what follows from a choice.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which history leads to the woven tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// One merge commit a strand.
    #[default]
    Merge,
    /// One commit a strand.
    Squash,
    /// The strand's own commits one after the other; a series that does not replay becomes one.
    Rebase,
    /// One commit with all strands as parents.
    Octopus,
}

/// Whose interface a forge speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForgeKind {
    /// GitHub and GitHub Enterprise.
    GitHub,
    /// gitlab.com and self-hosted ones.
    GitLab,
    /// Gitea, Forgejo and Codeberg.
    Gitea,
    /// No forge: branches are pushed, and no pull request is opened.
    None,
}

impl ForgeKind {
    /// As it is written in a configuration.
    pub fn word(self) -> &'static str {
        match self {
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::Gitea => "gitea",
            Self::None => "none",
        }
    }
}

/// A word that names no kind of forge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is no kind of forge: github, gitlab, gitea or none")]
pub struct UnknownKind {
    word: String,
}

impl FromStr for ForgeKind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Self, UnknownKind> {
        match word {
            "github" => Ok(Self::GitHub),
            "gitlab" => Ok(Self::GitLab),
            // The same interface under another name.
            "gitea" | "forgejo" => Ok(Self::Gitea),
            "none" => Ok(Self::None),
            _ => Err(UnknownKind { word: word.into() }),
        }
    }
}

/// What holds the programs that are run on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxChoice {
    /// Nothing: they can do whatever the user can.
    None,
    /// The kernel lets them write to the worktree, caches and temporary files.
    Landlock,
    /// The kernel lets them write to the worktree and temporary files alone.
    Strict,
    /// A program of the user's that is put before theirs.
    Wrapper(Vec<String>),
}

/// Whom setup, agents and tests reach over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkChoice {
    /// Everybody.
    #[default]
    Open,
    /// Nobody but themselves.
    None,
}
