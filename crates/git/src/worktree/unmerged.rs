//! A merge that stopped at a conflict, put into a worktree as `git merge` would leave it there.
//!
//! Knows nothing of who resolves it; runs nothing that is configured in the worktree.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pleach_system::files::plain_file::{self, LARGEST_INDEX};

use super::{Worktree, WorktreeError, copy_index, failed};
use crate::git::{CommitId, Store, nul_separated};
use crate::weave::{Content, MarkedMerge};

/// What is to be in a worktree.
#[derive(Debug)]
pub struct StoppedMerge<'a> {
    pub marked: &'a MarkedMerge,
    /// The commit that is being merged into the one that is checked out.
    pub theirs: &'a CommitId,
    /// What a commit of the result is to say.
    pub message: &'a str,
}

impl Worktree {
    /// Brings a merge to where it stopped: files, index, and what git notes about it.
    ///
    /// The worktree is as it was made; what it is compared with stays the commit that it was made at.
    pub fn stop_at_conflict(
        &self,
        store: &Store,
        merge: &StoppedMerge<'_>,
    ) -> Result<(), WorktreeError> {
        let scratch = store.scratch()?;
        let index = scratch.path().join("index");
        copy_index(&self.pristine_index, &index).map_err(failed("copy", &self.pristine_index))?;
        let (from, to) = (self.basis.as_str(), merge.marked.tree.as_str());
        let call = || store.call().work_tree(&self.path).index(&index);
        let checking_out = call().writing(&self.path);
        let read_tree = ["read-tree", "-m", "-u", from, to];
        checking_out.args(read_tree).output()?;
        let lines = index_lines(merge.marked);
        let update = ["update-index", "-z", "--index-info"];
        call().args(update).stdin(lines).output()?;
        let own = self.git_folder.join("index");
        self.date_index(&index)
            .and_then(|()| copy_index(&index, &own))
            .map_err(failed("write", &own))?;
        for (name, text) in [
            ("ORIG_HEAD", format!("{}\n", self.basis)),
            ("AUTO_MERGE", format!("{}\n", merge.marked.tree)),
            ("MERGE_MODE", String::new()),
            ("MERGE_MSG", merge.message.to_owned()),
            // Last, because it is what makes git speak of a merge.
            ("MERGE_HEAD", format!("{}\n", merge.theirs)),
        ] {
            let file = self.git_folder.join(name);
            let put = plain_file::replace(&file, text.as_bytes(), None);
            put.map_err(failed("write", &file))?;
        }
        Ok(())
    }

    pub fn is_merging(&self) -> bool {
        self.git_folder.join("MERGE_HEAD").exists()
    }

    /// The paths that the index of whoever works here calls unmerged; `None` if it cannot be read.
    pub fn unmerged_paths(
        &self,
        store: &Store,
    ) -> Result<Option<BTreeSet<Vec<u8>>>, WorktreeError> {
        let Ok(own) = plain_file::read(&self.git_folder.join("index"), LARGEST_INDEX) else {
            return Ok(None);
        };
        let scratch = store.scratch()?;
        let copy: &Path = &scratch.path().join("index");
        fs::write(copy, own).map_err(failed("write", copy))?;
        let list = ["ls-files", "--unmerged", "-z"];
        let call = store.call().work_tree(&self.path).index(copy);
        let listed = call.args(list).run()?;
        if listed.code != 0 {
            return Ok(None);
        }
        let path = |record: &[u8]| {
            let tab = record.iter().position(|byte| *byte == b'\t')?;
            Some(record[tab + 1..].to_vec())
        };
        Ok(Some(
            nul_separated(&listed.stdout).filter_map(path).collect(),
        ))
    }
}

/// Lines for `update-index --index-info -z`: what does not merge is there in its versions only.
fn index_lines(marked: &MarkedMerge) -> Vec<u8> {
    let mut lines = Vec::new();
    for file in &marked.files {
        let mut push = |head: &str| {
            lines.extend_from_slice(head.as_bytes());
            lines.extend_from_slice(&file.path);
            lines.push(0);
        };
        let zero = "0".repeat(marked.tree.as_str().len());
        push(&format!("0 {zero}\t"));
        for stage in &file.stages {
            let Content { mode, id } = &stage.content;
            push(&format!("{mode} {id} {}\t", stage.number));
        }
    }
    lines
}
