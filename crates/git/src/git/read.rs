//! Reads commits, trees and files of the store.
//!
//! Knows nothing of working trees.

use super::{BlobId, CommitId, GitError, Store, TreeId, nul_separated, parse_id};

/// One entry of a tree or an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    pub mode: String,
    pub id: String,
    pub path: Vec<u8>,
}

impl TreeEntry {
    /// Whether it is a commit of another repository: a submodule.
    pub fn is_gitlink(&self) -> bool {
        self.mode == "160000"
    }
}

#[derive(Debug)]
pub struct ChangedEntry {
    pub path: Vec<u8>,
    pub(crate) new: Option<TreeEntry>,
}

impl Store {
    pub fn read_file_at(&self, commit: &CommitId, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let entries = self.tree_entries(commit, Some(path.as_bytes()))?;
        let found = entries.iter().find(|entry| entry.path == path.as_bytes());
        let Some(file) = found.filter(|entry| !entry.is_gitlink()) else {
            return Ok(None);
        };
        self.read_blob(&file.id).map(Some)
    }

    pub fn read_blob(&self, id: &str) -> Result<Vec<u8>, GitError> {
        self.call().args(["cat-file", "blob", id]).output()
    }

    /// The entries of a tree at some paths, in no order.
    pub fn entries_at(&self, tree: &TreeId, paths: &[&[u8]]) -> Result<Vec<TreeEntry>, GitError> {
        let list = ["ls-tree", "-r", "-z", tree.as_str()];
        let all = parse_entries("ls-tree", &self.call().args(list).output()?)?;
        let is_wanted = |entry: &TreeEntry| paths.contains(&entry.path.as_slice());
        Ok(all.into_iter().filter(is_wanted).collect())
    }

    /// The path and the content id of every file in a commit.
    pub fn list_files_at(&self, commit: &CommitId) -> Result<Vec<(String, BlobId)>, GitError> {
        let entries = self.tree_entries(commit, None)?;
        let files = entries.iter().filter(|entry| !entry.is_gitlink());
        files
            .map(|file| Ok((text(&file.path), parse_id("ls-tree", file.id.as_bytes())?)))
            .collect()
    }

    pub fn changes(&self, from: &CommitId, to: &CommitId) -> Result<Vec<ChangedEntry>, GitError> {
        let diff = ["diff-tree", "-r", "-z", "--raw", "--no-renames"];
        let ends = [from.as_str(), to.as_str()];
        let printed = self.call().args(diff).args(ends).output()?;
        let mut records = nul_separated(&printed);
        let mut changes = Vec::new();
        while let (Some(change), Some(path)) = (records.next(), records.next()) {
            let head = text(change);
            let fields: Vec<&str> = head.split(' ').collect();
            let [_, mode, _, id, kind] = fields[..] else {
                return Err(garbled("diff-tree", change));
            };
            let path = path.to_vec();
            let new = (kind != "D").then(|| TreeEntry {
                mode: mode.to_owned(),
                id: id.to_owned(),
                path: path.clone(),
            });
            changes.push(ChangedEntry { path, new });
        }
        Ok(changes)
    }

    /// The full ids of what names stand for, all in one go.
    pub fn look_up(&self, names: &[String]) -> Result<Vec<Option<String>>, GitError> {
        // A name of several lines would be several questions.
        let is_one = |name: &str| !name.contains(char::is_control);
        let line = |name: &String| format!("{}\n", if is_one(name) { name } else { "" });
        let lines: String = names.iter().map(line).collect();
        let ask = ["cat-file", "--batch-check=%(objectname)"];
        let printed = self.call().args(ask).stdin(lines).output()?;
        let printed = text(&printed);
        let found: Vec<_> = printed
            .lines()
            .map(|line| line.parse::<CommitId>().ok())
            .map(|id| id.map(|id| id.to_string()))
            .collect();
        if found.len() != names.len() {
            return Err(garbled("cat-file", printed.as_bytes()));
        }
        Ok(found)
    }

    /// Whether a commit is another one or comes before it.
    pub fn is_ancestor(&self, early: &CommitId, late: &CommitId) -> Result<bool, GitError> {
        let ask = ["merge-base", "--is-ancestor", early.as_str(), late.as_str()];
        self.call().args(ask).answer()
    }

    pub fn has_commit(&self, commit: &CommitId) -> bool {
        let found = self.look_up(&[format!("{commit}^{{commit}}")]);
        found.is_ok_and(|found| found.iter().any(Option::is_some))
    }

    pub fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        let tree = format!("{commit}^{{tree}}");
        let printed = self
            .call()
            .args(["rev-parse", "--verify", &tree])
            .output()?;
        parse_id("rev-parse", &printed)
    }

    /// How many commits each of two histories has that the other one lacks.
    pub(crate) fn count_apart(
        &self,
        one: &CommitId,
        other: &CommitId,
    ) -> Result<(usize, usize), GitError> {
        let range = format!("{one}...{other}");
        let count = ["rev-list", "--count", "--left-right", &range];
        let printed = text(&self.call().args(count).output()?);
        let mut numbers = printed.split_whitespace().map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(one)), Some(Ok(other))) => Ok((one, other)),
            _ => Err(garbled("rev-list --count", printed.as_bytes())),
        }
    }

    /// Every entry of a commit's tree, or those at and below a path.
    pub(crate) fn tree_entries(
        &self,
        commit: &CommitId,
        path: Option<&[u8]>,
    ) -> Result<Vec<TreeEntry>, GitError> {
        let mut call = self.call().env("GIT_LITERAL_PATHSPECS", "1");
        call = call.args(["ls-tree", "-r", "-z", commit.as_str(), "--"]);
        if let Some(path) = path {
            call = call.arg(super::os_str(path));
        }
        parse_entries("ls-tree", &call.output()?)
    }
}

/// Reads the records of `ls-tree`.
pub(super) fn parse_entries(what: &str, printed: &[u8]) -> Result<Vec<TreeEntry>, GitError> {
    let parse = |record: &[u8]| {
        let tab = record.iter().position(|byte| *byte == b'\t')?;
        let head = std::str::from_utf8(&record[..tab]).ok()?;
        let mut fields = head.split(' ');
        let mode = fields.next()?.to_owned();
        let id = fields.find(|field| field.len() >= 40)?.to_owned();
        let path = record[tab + 1..].to_vec();
        Some(TreeEntry { mode, id, path })
    };
    nul_separated(printed)
        .map(|record| parse(record).ok_or_else(|| garbled(what, record)))
        .collect()
}

fn garbled(what: &str, printed: &[u8]) -> GitError {
    GitError::Garbled {
        what: what.to_owned(),
        printed: text(printed),
    }
}

/// A path for people; what is not UTF-8 is shown as a mark.
pub fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}
