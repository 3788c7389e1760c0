//! Reads commits, trees and files of the store.
//!
//! Knows nothing of working trees.

use super::{BlobId, CommitId, GitError, Store, TreeId, nul_separated, parse_id};

/// One entry of a tree or an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) mode: String,
    pub(crate) id: String,
    pub(crate) path: Vec<u8>,
}

impl Entry {
    /// Whether it is a commit of another repository: a submodule.
    pub(crate) fn is_gitlink(&self) -> bool {
        self.mode == "160000"
    }

    /// The line that makes `update-index --index-info -z` put this entry.
    pub(crate) fn put(&self) -> Vec<u8> {
        let mut line = format!("{} {}\t", self.mode, self.id).into_bytes();
        line.extend_from_slice(&self.path);
        line.push(0);
        line
    }

    /// The line that makes `update-index --index-info -z` drop this entry.
    pub(crate) fn drop(&self) -> Vec<u8> {
        let mut line = format!("0 {}\t", "0".repeat(self.id.len())).into_bytes();
        line.extend_from_slice(&self.path);
        line.push(0);
        line
    }
}

impl Store {
    /// The content of a file in a commit, if it has that file.
    pub fn read_file_at(&self, commit: &CommitId, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let entries = self.tree_entries(commit, Some(path.as_bytes()))?;
        let found = entries.iter().find(|entry| entry.path == path.as_bytes());
        let Some(file) = found.filter(|entry| !entry.is_gitlink()) else {
            return Ok(None);
        };
        let show = ["cat-file", "blob", &file.id];
        self.call().args(show).output().map(Some)
    }

    /// The path and the content id of every file in a commit.
    pub fn list_files_at(&self, commit: &CommitId) -> Result<Vec<(String, BlobId)>, GitError> {
        let entries = self.tree_entries(commit, None)?;
        let files = entries.iter().filter(|entry| !entry.is_gitlink());
        files
            .map(|file| Ok((text(&file.path), parse_id("ls-tree", file.id.as_bytes())?)))
            .collect()
    }

    /// The paths that differ between two commits.
    pub fn changed_files(&self, from: &CommitId, to: &CommitId) -> Result<Vec<String>, GitError> {
        let diff = ["diff-tree", "-r", "-z", "--name-only", "--no-renames"];
        let ends = [from.as_str(), to.as_str()];
        let printed = self.call().args(diff).args(ends).output()?;
        Ok(nul_separated(&printed).map(text).collect())
    }

    /// Whether a commit is another one or comes before it.
    pub fn is_ancestor(&self, early: &CommitId, late: &CommitId) -> Result<bool, GitError> {
        let ask = ["merge-base", "--is-ancestor", early.as_str(), late.as_str()];
        self.call().args(ask).answer()
    }

    /// The tree of a commit.
    pub fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        let tree = format!("{commit}^{{tree}}");
        let printed = self
            .call()
            .args(["rev-parse", "--verify", &tree])
            .output()?;
        parse_id("rev-parse", &printed)
    }

    /// How many commits a history has that another one lacks.
    pub(crate) fn count_commits(
        &self,
        history: &CommitId,
        without: &CommitId,
    ) -> Result<usize, GitError> {
        let range = format!("{without}..{history}");
        let printed = self.call().args(["rev-list", "--count", &range]).output()?;
        let printed = text(&printed);
        printed.trim().parse().map_err(|_| GitError::Garbled {
            what: "rev-list --count".into(),
            printed,
        })
    }

    /// Every entry of a commit's tree, or those at and below a path.
    pub(crate) fn tree_entries(
        &self,
        commit: &CommitId,
        path: Option<&[u8]>,
    ) -> Result<Vec<Entry>, GitError> {
        let mut call = self.call().env("GIT_LITERAL_PATHSPECS", "1");
        call = call.args(["ls-tree", "-r", "-z", commit.as_str(), "--"]);
        if let Some(path) = path {
            call = call.arg(super::os_str(path));
        }
        parse_entries("ls-tree", &call.output()?)
    }
}

/// Reads the lines of `ls-tree` and of `ls-files --stage`, which differ in one field.
pub(crate) fn parse_entries(what: &str, printed: &[u8]) -> Result<Vec<Entry>, GitError> {
    let parse = |record: &[u8]| {
        let tab = record.iter().position(|byte| *byte == b'\t')?;
        let head = std::str::from_utf8(&record[..tab]).ok()?;
        let mut fields = head.split(' ');
        let mode = fields.next()?.to_owned();
        let id = fields.find(|field| field.len() >= 40)?.to_owned();
        let path = record[tab + 1..].to_vec();
        Some(Entry { mode, id, path })
    };
    let garbled = |record: &[u8]| GitError::Garbled {
        what: what.to_owned(),
        printed: text(record),
    };
    nul_separated(printed)
        .map(|record| parse(record).ok_or_else(|| garbled(record)))
        .collect()
}

/// A path for people; what is not UTF-8 is shown as a mark.
pub(crate) fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}
