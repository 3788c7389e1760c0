//! Makes a tree of the files in a worktree, in a private index.
//!
//! Knows nothing of commits and branches, and takes an agent's own index for a list of names at most.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::CaptureError;
use super::index::{GITLINK, Index, LINK, RawId, Tracked, forget};
use super::walk::{self, Kind, Lookup, Walked};
use crate::git::read::{Change, Entry};
use crate::git::{Call, CommitId, GitError, Store, TreeId, nul_separated, os_str, parse_id};
use crate::worktree::Worktree;

/// The files of a worktree, as one tree.
pub(super) struct Staged {
    pub(super) tree: TreeId,
    /// The changed paths that were left out.
    pub(super) left_out: Vec<PathBuf>,
    /// Paths of files in whose place is something that git has no room for.
    pub(super) special: Vec<PathBuf>,
}

/// A private index that begins as the basis.
pub(super) struct Staging<'a> {
    pub(super) store: &'a Store,
    pub(super) worktree: &'a Worktree,
    pub(super) scratch: tempfile::TempDir,
    leave_out: &'a [PathBuf],
}

/// What has to be done to an index, in that order.
#[derive(Default)]
struct Edits<'a> {
    dropped: Vec<&'a [u8]>,
    put: Vec<&'a Tracked>,
    /// Files whose content is to be stored, or that git is to find gone.
    stored: Vec<&'a [u8]>,
}

/// An index as it was right after a checkout.
struct Pristine {
    bytes: Vec<u8>,
    index: Index,
    written: SystemTime,
}

impl<'a> Staging<'a> {
    pub(super) fn of(
        store: &'a Store,
        worktree: &'a Worktree,
        leave_out: &'a [PathBuf],
    ) -> Result<Self, CaptureError> {
        walk::check_is_folder(worktree.path())?;
        Ok(Self {
            store,
            worktree,
            scratch: store.scratch()?,
            leave_out,
        })
    }

    /// Stages the working files of an agent that went on from a commit.
    pub(super) fn stage(
        &self,
        (start, start_tree): (&CommitId, &TreeId),
        basis: &TreeId,
    ) -> Result<Staged, CaptureError> {
        let pristine = self.pristine(basis)?;
        let Pristine { index, written, .. } = &pristine;
        let overlay = self.overlay(start, &index.entries)?;
        let expected = overlay.applied_to(&index.entries);
        let lookup = Lookup::of(&expected);
        let found = walk::walk(self.worktree.path(), &lookup, *written)?;
        let changed = self.changed(&lookup, &found)?;
        let mut taken = self.unignored(found.loose.clone())?;
        taken.extend(self.chosen(&overlay, &lookup, &pristine.bytes)?);
        let mut left_out = LeftOut::of(self.leave_out);
        let mut edits = overlay.edits(&lookup, &found);
        for (at, entry) in expected.iter().enumerate() {
            if !found.stays[at] && !left_out.takes(&entry.path) {
                // Git itself sees that most files are gone, which saves a process.
                let plainly = self.is_plainly_gone(&entry.path);
                let list = if plainly {
                    &mut edits.stored
                } else {
                    &mut edits.dropped
                };
                list.push(&entry.path);
            }
        }
        for path in changed.iter().chain(&taken) {
            if !left_out.takes(path) {
                edits.stored.push(path);
            }
        }
        let special = found.special.iter().map(|at| &expected[*at].path);
        let special = special.filter(|path| !left_out.takes(path));
        Ok(Staged {
            special: special.map(|path| os_str(path).into()).collect(),
            tree: if overlay.is_all_of(&edits) {
                start_tree.clone()
            } else {
                self.apply(&edits, &pristine, basis)?
            },
            left_out: left_out.changed(),
        })
    }

    pub(super) fn call(&self) -> Call {
        let call = self.store.call().work_tree(self.worktree.path());
        call.index(&self.index())
            // Nobody reads this index but the next call.
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "index.skipHash")
            .env("GIT_CONFIG_VALUE_0", "true")
    }

    fn index(&self) -> PathBuf {
        self.scratch.path().join("index")
    }

    /// What the checkout left; it remembers each file, which saves reading the unchanged ones.
    fn pristine(&self, basis: &TreeId) -> Result<Pristine, CaptureError> {
        let root = RawId::parse(basis.as_str());
        let noted = self.read_index(self.worktree.pristine_index());
        if let Some(noted) = noted.filter(|noted| root.is_some() && noted.index.tree == root) {
            return Ok(noted);
        }
        let read_tree = ["read-tree", basis.as_str()];
        self.call().args(read_tree).output()?;
        let index = self.read_index(&self.index());
        index.ok_or_else(|| {
            let what = "read-tree".into();
            let printed = "an index of another format".into();
            GitError::Garbled { what, printed }.into()
        })
    }

    fn read_index(&self, file: &Path) -> Option<Pristine> {
        let bytes = fs::read(file).ok()?;
        let index = Index::parse(&bytes, self.id_size())?;
        let written = file.metadata().and_then(|meta| meta.modified());
        Some(Pristine {
            bytes,
            index,
            written: written.unwrap_or(UNIX_EPOCH),
        })
    }

    fn id_size(&self) -> usize {
        self.worktree.basis().as_str().len() / 2
    }

    /// What the agent's own commits changed, as far as it is followed.
    fn overlay(&self, start: &CommitId, basis: &[Tracked]) -> Result<Overlay, GitError> {
        if start == self.worktree.basis() {
            return Ok(Overlay {
                entries: HashMap::new(),
                is_whole: true,
            });
        }
        let mut changes = self.store.changes(self.worktree.basis(), start)?;
        let all = changes.len();
        // These are compared with the basis.
        changes.retain(|change| LeftOut::of(self.leave_out).place(&change.path).is_none());
        let entries = followed(&changes, basis);
        let mut new = changes.iter().filter_map(|change| change.new.as_ref());
        let is_whole = entries.len() == all && !new.any(Entry::is_gitlink);
        Ok(Overlay { entries, is_whole })
    }

    /// The paths of the entries whose files are not as they say.
    fn changed(&self, lookup: &Lookup<'_>, found: &Walked) -> Result<Vec<Vec<u8>>, CaptureError> {
        let mut changed = found.changed.clone();
        let fits_a_line = |at: &&usize| {
            let path = &lookup.entries[**at].path;
            !path.contains(&b'\n') && !path.ends_with(b"\r")
        };
        let (lines, others): (Vec<&usize>, Vec<&usize>) =
            found.doubtful.iter().partition(fits_a_line);
        changed.extend(others);
        // A file that holds the very bytes of its blob is unchanged, though attributes that came
        // later may say that it should be stored in another way.
        for (at, id) in lines.iter().zip(self.raw_ids(lookup, &lines)?) {
            if lookup.entries[**at].id.to_string() != id {
                changed.push(**at);
            }
        }
        let path = |at: usize| lookup.entries[at].path.clone();
        Ok(changed.into_iter().map(path).collect())
    }

    /// The ids that files would have if they were stored byte for byte.
    fn raw_ids(&self, lookup: &Lookup<'_>, files: &[&usize]) -> Result<Vec<String>, GitError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        // The leading dot keeps a quotation mark from being read as quoting.
        let line = |at: &&usize| [b"./", &lookup.entries[**at].path[..], b"\n"].concat();
        let lines: Vec<u8> = files.iter().flat_map(line).collect();
        let hash = ["hash-object", "--no-filters", "--stdin-paths"];
        let printed = self.call().args(hash).stdin(lines).output()?;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        Ok(printed.lines().map(str::to_owned).collect())
    }

    /// Files that the agent committed or put into its own index, whether they are ignored or not.
    fn chosen(
        &self,
        overlay: &Overlay,
        lookup: &Lookup<'_>,
        pristine: &[u8],
    ) -> Result<Vec<Vec<u8>>, CaptureError> {
        let index = self.worktree.admin().join("index");
        let theirs = if super::is_plain_file(&index) {
            // An index that the agent spoilt says nothing, and that must not cost the rest.
            fs::read(&index).unwrap_or_default()
        } else {
            Vec::new()
        };
        let staged = if theirs == pristine {
            Vec::new()
        } else {
            self.names(theirs)?
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

    /// The names in an index, however it is written.
    fn names(&self, index: Vec<u8>) -> Result<Vec<Vec<u8>>, CaptureError> {
        if let Some(index) = Index::parse(&index, self.id_size()) {
            return Ok(index.entries.into_iter().map(|entry| entry.path).collect());
        }
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

    /// Whether there is nothing in a file's place, and no link above it that git would not follow.
    fn is_plainly_gone(&self, path: &[u8]) -> bool {
        let root = self.worktree.path();
        let is_link = |path: &[u8]| root.join(os_str(path)).is_symlink();
        let mut folder = walk::folder_of(path);
        while !folder.is_empty() && !is_link(folder) {
            folder = walk::folder_of(folder);
        }
        folder.is_empty() && root.join(os_str(path)).symlink_metadata().is_err()
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

    fn apply(
        &self,
        edits: &Edits<'_>,
        pristine: &Pristine,
        basis: &TreeId,
    ) -> Result<TreeId, CaptureError> {
        let Edits {
            dropped,
            put,
            stored,
        } = edits;
        self.write_index(pristine, stored)?;
        // First, because git refuses to look behind a folder that has become a link.
        let mut lines = Vec::new();
        for path in dropped {
            lines.extend_from_slice(format!("0 {}\t", "0".repeat(basis.as_str().len())).as_bytes());
            push_path(&mut lines, path);
        }
        lines.extend(put.iter().flat_map(|entry| entry.put()));
        self.update(&["--index-info"], lines)?;
        let mut files = Vec::new();
        for path in stored {
            push_path(&mut files, path);
        }
        self.update(&["--add", "--remove", "--replace", "--stdin"], files)?;
        self.update(&["--index-info"], self.pushed_out(edits, pristine))?;
        let printed = self.call().arg("write-tree").output()?;
        Ok(parse_id("write-tree", &printed)?)
    }

    /// Writes the private index.
    ///
    /// Git goes by whole seconds when it tells whether a file is unchanged, and would read every file
    /// that is as old as its index. We know better: what is not stored anew is as it was.
    fn write_index(&self, pristine: &Pristine, stored: &[&[u8]]) -> Result<(), CaptureError> {
        let mut bytes = pristine.bytes.clone();
        let stored: HashSet<&[u8]> = stored.iter().copied().collect();
        let entries = pristine.index.entries.iter();
        for entry in entries.filter(|entry| stored.contains(&entry.path[..])) {
            forget(&mut bytes, entry);
        }
        let index = self.index();
        fs::write(&index, bytes).map_err(|source| CaptureError::Io {
            path: index,
            source,
        })
    }

    /// Entries that were to be left alone but lost their folder to a file.
    fn pushed_out(&self, edits: &Edits<'_>, pristine: &Pristine) -> Vec<u8> {
        let mut lines = Vec::new();
        for path in self.leave_out {
            let path = path.as_os_str().as_bytes();
            let put = edits.put.iter().map(|entry| &entry.path[..]);
            let mut files = edits.stored.iter().copied().chain(put);
            if files.any(|file| is_at_or_below(path, file)) {
                let entries = pristine.index.entries.iter();
                let entries = entries.filter(|entry| is_at_or_below(&entry.path, path));
                lines.extend(entries.flat_map(Tracked::put));
            }
        }
        lines
    }

    fn update(&self, how: &[&str], lines: Vec<u8>) -> Result<(), GitError> {
        if lines.is_empty() {
            return Ok(());
        }
        let call = self.call().args(["update-index", "-z"]).args(how);
        call.stdin(lines).output().map(drop)
    }
}

/// What commits of an agent changed: the new entry of each path, if it has one.
struct Overlay {
    entries: HashMap<Vec<u8>, Option<Tracked>>,
    /// Whether everything that the commits changed is followed.
    is_whole: bool,
}

impl Overlay {
    /// The entries that should be in the worktree now; a link that is new has yet to be judged.
    fn applied_to<'b>(&self, basis: &'b [Tracked]) -> Cow<'b, [Tracked]> {
        if self.entries.is_empty() {
            return Cow::Borrowed(basis);
        }
        let links: HashSet<&[u8]> = basis
            .iter()
            .filter(|entry| entry.mode == LINK)
            .map(|entry| &entry.path[..])
            .collect();
        let untouched = basis
            .iter()
            .filter(|entry| !self.entries.contains_key(&entry.path));
        let is_judged = |entry: &&Tracked| entry.mode != LINK || links.contains(&entry.path[..]);
        let added = self.entries.values().flatten().filter(is_judged);
        let mut entries: Vec<Tracked> = untouched.chain(added).cloned().collect();
        entries.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Cow::Owned(entries)
    }

    /// Whether edits do nothing but what the agent's commits did.
    fn is_all_of(&self, edits: &Edits<'_>) -> bool {
        let files = self.entries.values().flatten().count();
        let all = (self.entries.len() - files, files, 0);
        let Edits {
            dropped,
            put,
            stored,
        } = edits;
        self.is_whole && all == (dropped.len(), put.len(), stored.len())
    }

    /// Brings an index from the basis to what the agent committed, as far as it is there.
    fn edits(&self, lookup: &Lookup<'_>, found: &Walked) -> Edits<'_> {
        let mut edits = Edits::default();
        for (path, entry) in &self.entries {
            let is_there = lookup.position(path).is_some_and(|at| found.stays[at]);
            match entry {
                Some(entry) if is_there => edits.put.push(entry),
                _ => edits.dropped.push(path),
            }
        }
        edits
    }
}

/// The changes that are followed: submodules stay as the basis has them, and nested repositories are no
/// submodules.
fn followed(changes: &[Change], basis: &[Tracked]) -> HashMap<Vec<u8>, Option<Tracked>> {
    let submodules: Vec<&[u8]> = basis
        .iter()
        .filter(|entry| entry.mode == GITLINK)
        .map(|entry| &entry.path[..])
        .collect();
    let new = |change: &Change| {
        let new = change.new.as_ref()?;
        let mode = u32::from_str_radix(&new.mode, 8).ok()?;
        let id = RawId::parse(&new.id)?;
        (mode != GITLINK).then(|| Tracked {
            path: change.path.clone(),
            mode,
            id,
            noted: None,
            place: 0,
        })
    };
    let overlay: HashMap<_, _> = changes
        .iter()
        .map(|change| (change.path.clone(), new(change)))
        .collect();
    let is_replaced = |submodule: &[u8]| {
        let mut files = overlay.iter().filter(|(_, entry)| entry.is_some());
        files.any(|(path, _)| is_at_or_below(path, submodule))
    };
    let stay: Vec<&[u8]> = submodules
        .into_iter()
        .filter(|path| overlay.contains_key(*path) && !is_replaced(path))
        .collect();
    let mut followed = overlay.clone();
    followed.retain(|path, _| !stay.contains(&&path[..]));
    followed
}

/// Which of the paths that are left out have changed.
struct LeftOut<'a> {
    paths: &'a [PathBuf],
    changed: Vec<bool>,
}

impl<'a> LeftOut<'a> {
    fn of(paths: &'a [PathBuf]) -> Self {
        Self {
            paths,
            changed: vec![false; paths.len()],
        }
    }

    fn place(&self, path: &[u8]) -> Option<usize> {
        let covers = |top: &PathBuf| is_at_or_below(path, top.as_os_str().as_bytes());
        self.paths.iter().position(covers)
    }

    /// Notes a change, if it is one that is left out.
    fn takes(&mut self, path: &[u8]) -> bool {
        let place = self.place(path);
        if let Some(place) = place {
            self.changed[place] = true;
        }
        place.is_some()
    }

    fn changed(self) -> Vec<PathBuf> {
        let paths = self.paths.iter().zip(self.changed);
        let changed = paths.filter(|(_, changed)| *changed);
        changed.map(|(path, _)| path.clone()).collect()
    }
}

impl Tracked {
    /// The line that makes `update-index --index-info -z` put this entry.
    fn put(&self) -> Vec<u8> {
        let mut line = format!("{:o} {}\t", self.mode, self.id).into_bytes();
        push_path(&mut line, &self.path);
        line
    }
}

pub(super) fn push_path(paths: &mut Vec<u8>, path: &[u8]) {
    paths.extend_from_slice(path);
    paths.push(0);
}

fn is_at_or_below(path: &[u8], top: &[u8]) -> bool {
    let rest = path.strip_prefix(top);
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}
