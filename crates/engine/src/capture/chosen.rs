//! Finds the files that an agent put under version control itself, though they may be ignored.
//!
//! Takes the agent's own index for a list of names, and believes none of them.

use std::fs;

use super::index::{Index, Tracked};
use super::overlay::Overlay;
use super::staging::Staging;
use super::walk::{self, Kind, Lookup};
use super::{CaptureError, is_plain_file};
use crate::git::{nul_separated, os_str};

impl Staging<'_> {
    /// Files that the agent committed or put into its own index, whether they are ignored or not.
    pub(super) fn chosen(
        &self,
        overlay: &Overlay,
        lookup: &Lookup<'_>,
        pristine: &[u8],
    ) -> Result<Vec<Vec<u8>>, CaptureError> {
        let index = self.worktree.admin().join("index");
        let theirs = if is_plain_file(&index) {
            // An index that the agent spoilt says nothing, and that must not cost the rest.
            fs::read(&index).unwrap_or_default()
        } else {
            Vec::new()
        };
        let staged = if theirs == pristine {
            Vec::new()
        } else {
            self.new_names(&theirs, lookup)?
        };
        let committed = overlay.entries.iter().filter(|(_, entry)| entry.is_some());
        let names = staged
            .into_iter()
            .chain(committed.map(|(path, _)| path.clone()));
        let (mut files, mut links) = (Vec::new(), Vec::new());
        for path in names.filter(|path| lookup.position(path).is_none()) {
            match self.kind_of(&path, lookup) {
                Some(Kind::File) => files.push(path),
                Some(Kind::Link) => links.push(path),
                Some(Kind::Folder) | None => {}
            }
        }
        for file in &files {
            walk::open_up(self.worktree.path(), file)?;
        }
        files.extend(self.links_to_take(links)?);
        Ok(files)
    }

    /// The names in an index, however it is written, that are not expected.
    fn new_names(&self, index: &[u8], lookup: &Lookup<'_>) -> Result<Vec<Vec<u8>>, CaptureError> {
        let Some(index) = Index::parse(index, self.id_size()) else {
            return self.names_by_git(index);
        };
        // Both are sorted, and nearly the same.
        let mut known = lookup.entries.iter().map(|entry| &entry.path).peekable();
        let mut names = Vec::new();
        for Tracked { path, .. } in index.entries {
            while known.next_if(|known| **known < path).is_some() {}
            if known.peek() != Some(&&path) {
                names.push(path.into_owned());
            }
        }
        Ok(names)
    }

    fn names_by_git(&self, index: &[u8]) -> Result<Vec<Vec<u8>>, CaptureError> {
        let copy = self.scratch.path().join("theirs");
        let written = fs::write(&copy, index);
        written.map_err(|source| CaptureError::Io {
            path: copy.clone(),
            source,
        })?;
        let list = ["ls-files", "-z", "--cached"];
        let listed = self.call().index(&copy).args(list).run()?;
        Ok(match listed.code {
            0 => nul_separated(&listed.stdout).map(<[u8]>::to_vec).collect(),
            _ => Vec::new(),
        })
    }

    /// What a name of an agent's stands for, if it is in the worktree and not behind a link.
    fn kind_of(&self, path: &[u8], lookup: &Lookup<'_>) -> Option<Kind> {
        let is_odd = |part: &[u8]| matches!(part, b"" | b"." | b".." | b".git");
        if path.split(|byte| *byte == b'/').any(is_odd) {
            return None;
        }
        let mut folder = walk::folder_of(path);
        while !folder.is_empty() {
            let is_entry = lookup.position(folder).is_some();
            if is_entry || self.kind_at(folder) != Some(Kind::Folder) {
                return None;
            }
            folder = walk::folder_of(folder);
        }
        self.kind_at(path)
    }

    fn kind_at(&self, path: &[u8]) -> Option<Kind> {
        let meta = self.worktree.path().join(os_str(path)).symlink_metadata();
        let kind = meta.ok()?.file_type();
        if kind.is_dir() {
            Some(Kind::Folder)
        } else if kind.is_symlink() {
            Some(Kind::Link)
        } else {
            kind.is_file().then_some(Kind::File)
        }
    }
}
