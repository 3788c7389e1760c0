//! Finds the files that an agent put under version control itself, though they may be ignored.
//!
//! Takes the agent's own index for a list of names, and believes none of them.

use std::fs;

use pleach_system::files::plain_file::{self, LARGEST_INDEX};

use super::CaptureError;
use super::overlay::Overlay;
use super::staging::Staging;
use super::walk::{self, LooseKind};
use crate::git::{nul_separated, os_str};
use crate::index::{EntryLookup, Index, SharedIndex, folder_of};

#[derive(Default)]
pub(super) struct AgentIndex {
    /// Names that are not expected.
    new: Vec<Vec<u8>>,
    /// Names of files that the agent's git does not want to be there.
    pub(super) skipped: Vec<Vec<u8>>,
}

impl Staging<'_> {
    /// Reads the agent's own index, if it is another one than it was given.
    pub(super) fn theirs(
        &self,
        lookup: &EntryLookup<'_>,
        pristine: &[u8],
    ) -> Result<AgentIndex, CaptureError> {
        let index = self.worktree.git_folder().join("index");
        // An index that the agent spoilt says nothing, and that must not cost the rest.
        let bytes = plain_file::read(&index, LARGEST_INDEX).unwrap_or_default();
        if bytes.is_empty() || bytes == pristine {
            return Ok(AgentIndex::default());
        }
        let Some(index) = Index::parse_any(&bytes, self.id_size()) else {
            return Ok(AgentIndex::default());
        };
        if index.is_sparse {
            return self.theirs_by_git(&bytes, lookup);
        }
        if let Some(shared) = &index.shared {
            return Ok(self.theirs_in_two(&index, shared, lookup));
        }
        // Both are sorted, and nearly the same.
        let mut known = lookup.entries.iter().map(|entry| &entry.path).peekable();
        let mut theirs = AgentIndex::default();
        for entry in index.entries {
            while known.next_if(|known| **known < entry.path).is_some() {}
            if known.peek() != Some(&&entry.path) {
                theirs.new.push(entry.path.into_owned());
            } else if entry.is_skipped {
                theirs.skipped.push(entry.path.into_owned());
            }
        }
        Ok(theirs)
    }

    fn theirs_in_two(
        &self,
        index: &Index<'_>,
        shared: &SharedIndex,
        lookup: &EntryLookup<'_>,
    ) -> AgentIndex {
        let file = format!("sharedindex.{}", shared.id);
        let file = self.worktree.git_folder().join(file);
        let bytes = plain_file::read(&file, LARGEST_INDEX).unwrap_or_default();
        let other = Index::parse(&bytes, self.id_size());
        let other = other.iter().flat_map(|index| &index.entries).enumerate();
        let other = other.filter(|(at, _)| !shared.deleted.contains(at));
        let mut theirs = AgentIndex::default();
        for entry in index.entries.iter().chain(other.map(|(_, entry)| entry)) {
            if lookup.position(&entry.path).is_none() {
                theirs.new.push(entry.path.to_vec());
            } else if entry.is_skipped {
                theirs.skipped.push(entry.path.to_vec());
            }
        }
        theirs
    }

    fn theirs_by_git(
        &self,
        index: &[u8],
        lookup: &EntryLookup<'_>,
    ) -> Result<AgentIndex, CaptureError> {
        // A copy, read with the settings of the store: in the agent's git folder its configuration would be run.
        let copy = self.scratch.path().join("theirs");
        let written = fs::write(&copy, index);
        written.map_err(|source| CaptureError::Io {
            path: copy.clone(),
            source,
        })?;
        let list = ["ls-files", "-z", "-t", "--cached"];
        let listed = self.call().index(&copy).args(list).run()?;
        let mut theirs = AgentIndex::default();
        for line in nul_separated(&listed.stdout).filter(|_| listed.code == 0) {
            let path = line.get(2..).unwrap_or_default().to_vec();
            if lookup.position(&path).is_none() {
                theirs.new.push(path);
            } else if line.starts_with(b"S ") {
                theirs.skipped.push(path);
            }
        }
        Ok(theirs)
    }

    /// Files that the agent committed or put into its own index, whether they are ignored or not.
    pub(super) fn chosen(
        &self,
        overlay: &Overlay,
        lookup: &EntryLookup<'_>,
        theirs: AgentIndex,
    ) -> Result<Vec<Vec<u8>>, CaptureError> {
        let committed = overlay.entries.iter().filter(|(_, entry)| entry.is_some());
        let committed = committed.map(|(path, _)| path.clone());
        let names = theirs.new.into_iter().chain(committed);
        let (mut files, mut links) = (Vec::new(), Vec::new());
        for path in names.filter(|path| lookup.position(path).is_none()) {
            match self.kind_of(&path, lookup) {
                Some(LooseKind::File) => files.push(path),
                Some(LooseKind::Link) => links.push(path),
                Some(LooseKind::Folder) | None => {}
            }
        }
        let mut readable = Vec::with_capacity(files.len());
        for file in files {
            if walk::open_up(self.worktree.path(), &file, self.manners)? {
                readable.push(file);
            }
        }
        let mut files = readable;
        files.extend(self.links_to_take(links)?);
        Ok(files)
    }

    /// What a name of an agent's stands for, if it is in the worktree and not behind a link.
    fn kind_of(&self, path: &[u8], lookup: &EntryLookup<'_>) -> Option<LooseKind> {
        let is_odd = |part: &[u8]| matches!(part, b"" | b"." | b".." | b".git");
        if path.split(|byte| *byte == b'/').any(is_odd) {
            return None;
        }
        let mut folder = folder_of(path);
        while !folder.is_empty() {
            let is_entry = lookup.position(folder).is_some();
            if is_entry || self.kind_at(folder) != Some(LooseKind::Folder) {
                return None;
            }
            folder = folder_of(folder);
        }
        self.kind_at(path)
    }

    fn kind_at(&self, path: &[u8]) -> Option<LooseKind> {
        let meta = self.worktree.path().join(os_str(path)).symlink_metadata();
        let kind = meta.ok()?.file_type();
        if kind.is_dir() {
            Some(LooseKind::Folder)
        } else if kind.is_symlink() {
            Some(LooseKind::Link)
        } else {
            kind.is_file().then_some(LooseKind::File)
        }
    }
}
