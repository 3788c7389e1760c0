//! Reads many objects of a repository in few processes.
//!
//! Knows nothing of what is in them.

use std::collections::HashMap;

use super::read::{TreeEntry, parse_entries};
use super::{BlobId, Call, CommitId, GitError, Repository, Store};

/// Who can be asked for objects: the private store, or the user's repository.
pub trait ObjectSource {
    fn call(&self) -> Call;

    /// Every entry of a commit's tree, with those of its folders.
    fn entries(&self, commit: &CommitId) -> Result<Vec<TreeEntry>, GitError> {
        let list = ["ls-tree", "-r", "-z", "--full-tree", commit.as_str()];
        parse_entries("ls-tree", &self.call().args(list).output()?)
    }

    /// The contents of files; `None` for one of more than so many bytes, or that is not there.
    fn read_blobs(
        &self,
        wanted: &[BlobId],
        most: usize,
    ) -> Result<HashMap<BlobId, Option<Vec<u8>>>, GitError> {
        let mut found: HashMap<BlobId, Option<Vec<u8>>> =
            wanted.iter().map(|id| (id.clone(), None)).collect();
        let small = self.up_to(wanted, most)?;
        if small.is_empty() {
            return Ok(found);
        }
        let read = ["cat-file", "--batch=%(objectname) %(objectsize)"];
        let printed = self.call().args(read).stdin(lines(&small)).output()?;
        let mut rest = printed.as_slice();
        while let Some((id, text, after)) = first_object(rest) {
            found.insert(id, Some(text.to_vec()));
            rest = after;
        }
        if !rest.is_empty() {
            return Err(garbled(rest));
        }
        Ok(found)
    }

    /// Those of some files that have at most so many bytes.
    fn up_to(&self, wanted: &[BlobId], most: usize) -> Result<Vec<BlobId>, GitError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let check = [
            "cat-file",
            "--batch-check=%(objectname) %(objecttype) %(objectsize)",
        ];
        let printed = self.call().args(check).stdin(lines(wanted)).output()?;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let small = printed.lines().filter_map(|line| {
            let mut words = line.split(' ');
            let id = words.next()?.parse().ok()?;
            let is_blob = words.next()? == "blob";
            let size: usize = words.next()?.parse().ok()?;
            (is_blob && size <= most).then_some(id)
        });
        Ok(small.collect())
    }
}

impl ObjectSource for Store {
    fn call(&self) -> Call {
        Store::call(self)
    }
}

impl ObjectSource for Repository {
    fn call(&self) -> Call {
        Repository::call(self)
    }
}

fn lines(ids: &[BlobId]) -> String {
    let ids = ids.iter().flat_map(|id| [id.as_str(), "\n"]);
    ids.collect()
}

/// The first object of what git printed, and what comes behind it.
fn first_object(printed: &[u8]) -> Option<(BlobId, &[u8], &[u8])> {
    let end = printed.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&printed[..end]).ok()?;
    let (id, size) = head.split_once(' ')?;
    let size: usize = size.parse().ok()?;
    let text = printed.get(end + 1..end + 1 + size)?;
    let after = printed.get(end + 2 + size..)?;
    Some((id.parse().ok()?, text, after))
}

fn garbled(printed: &[u8]) -> GitError {
    let begin = &printed[..printed.len().min(200)];
    GitError::Garbled {
        what: "cat-file --batch".to_owned(),
        printed: String::from_utf8_lossy(begin).into_owned(),
    }
}
