//! Which files of a commit steer agents or Pleach, and so need a person's consent.
//!
//! Knows names and hashes; who consents, and how, is asked elsewhere.

use pleach_domain::task_state::Steering;

use crate::git::{BlobId, CommitId, GitError, Store};

const FOLDERS: [&str; 7] = [
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".opencode",
    ".husky",
    ".githooks",
];
const FILES: [&str; 9] = [
    ".mcp.json",
    "opencode.json",
    "opencode.jsonc",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".worktreeinclude",
    ".gitmodules",
    crate::config::FILE_NAME,
];

/// The steering files of a commit with their hashes, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteeringFiles {
    files: Vec<(String, BlobId)>,
}

impl SteeringFiles {
    /// Looks through the files of a commit.
    pub fn at(store: &Store, commit: &CommitId) -> Result<Self, GitError> {
        let mut files = store.list_files_at(commit)?;
        files.retain(|(path, _)| is_steering(path));
        files.sort();
        Ok(Self { files })
    }

    /// The paths.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(path, _)| path.as_str())
    }

    /// What is new, different or gone in another commit, as it is there.
    pub(crate) fn steering_in(&self, other: &Self) -> Vec<Steering> {
        let changed = self.changed_in(other);
        let there = |path: &String| {
            let mut files = other.files.iter();
            let blob = files.find(|(known, _)| known == path);
            blob.map(|(_, blob)| blob.to_string())
        };
        let changed = changed.into_iter().map(|path| Steering {
            blob: there(&path),
            path,
        });
        changed.collect()
    }

    /// The paths that are new, different or gone in another commit.
    pub fn changed_in(&self, other: &Self) -> Vec<String> {
        let missing =
            |from: &Self, entry: &(String, BlobId)| from.files.binary_search(entry).is_err();
        let mut changed: Vec<String> = self
            .files
            .iter()
            .filter(|entry| missing(other, entry))
            .map(|(path, _)| path.clone())
            .collect();
        changed.extend(
            other
                .files
                .iter()
                .filter(|entry| missing(self, entry))
                .map(|(path, _)| path.clone()),
        );
        changed.sort();
        changed.dedup();
        changed
    }
}

/// Whether a file of that path steers agents or Pleach, wherever in the tree it is.
pub fn is_steering(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    // The last part too: a link of that name leads to a folder.
    let mut parts = path.split('/');
    FILES.iter().any(|file| name.eq_ignore_ascii_case(file))
        || name.starts_with(".env")
        || parts.any(|folder| {
            FOLDERS
                .iter()
                .any(|known| folder.eq_ignore_ascii_case(known))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_steer_are_told_from_others() {
        for path in [
            ".claude/settings.json",
            "web/.claude/hooks/x.sh",
            "AGENTS.md",
            "deep/agents.md",
            ".env.local",
            "pleach.toml",
            ".mcp.json",
            ".claude",
        ] {
            assert!(is_steering(path), "{path}");
        }
        for path in [
            "src/main.rs",
            "docs/agents-guide.md",
            "claude/notes.md",
            "environment.md",
        ] {
            assert!(!is_steering(path), "{path}");
        }
    }
}
