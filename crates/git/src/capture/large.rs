//! Finds content that belongs into the storage of Git LFS, where only Git LFS can put it.
//!
//! Pointers are files like any other.

use std::io::Read;
use std::path::{Path, PathBuf};

use pleach_system::files::plain_file;

use super::CaptureError;
use super::staging::{Staging, push_path};
use crate::git::{nul_separated, os_str};
use crate::index::IndexEntry;

/// Begins every pointer.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

impl Staging<'_> {
    /// Those of the files to be stored that should be pointers and are not.
    pub(super) fn large_files(
        &self,
        files: &[&[u8]],
        expected: &[IndexEntry<'_>],
    ) -> Result<Vec<PathBuf>, CaptureError> {
        let are_rules = |path: &[u8]| path.ends_with(b".gitattributes");
        let has_rules = expected.iter().any(|entry| are_rules(&entry.path));
        if files.is_empty() || !has_rules && !files.iter().any(|path| are_rules(path)) {
            return Ok(Vec::new());
        }
        let mut question = Vec::new();
        for path in files {
            push_path(&mut question, path);
        }
        let ask = ["check-attr", "-z", "--stdin", "filter"];
        let answer = self.call().args(ask).stdin(question).output()?;
        let mut fields = nul_separated(&answer);
        let mut large = Vec::new();
        while let (Some(path), Some(_), Some(value)) = (fields.next(), fields.next(), fields.next())
        {
            if value == b"lfs" && self.is_content(path) {
                large.push(os_str(path).into());
            }
        }
        Ok(large)
    }

    fn is_content(&self, path: &[u8]) -> bool {
        let mut begin = Vec::new();
        let length = u64::try_from(POINTER.len()).expect("a few bytes");
        let file = plain_file::file_below(self.worktree.path(), Path::new(os_str(path)));
        let read = file.and_then(|file| file.take(length).read_to_end(&mut begin));
        // An empty file is its own pointer.
        read.is_ok() && !begin.is_empty() && begin != POINTER
    }
}
