//! Makes a tree of the files in a worktree, in a private index.
//!
//! Knows nothing of commits and branches, and takes an agent's own index for a list of names at most.

use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use pleach_system::process::Cancel;

use super::CaptureError;
use super::ignored::Unignored;
use super::overlay::{IndexEdits, LeftOutPaths, Overlay};
use super::walk::{self, UnreadablePolicy, WalkResult};
use crate::git::{Call, CommitId, GitError, Store, TreeId, os_str, parse_id};
use crate::index::{EntryLookup, FORGET, Index, IndexEntry, RawId, folder_of};
use crate::worktree::Worktree;

pub(super) struct Staged {
    pub(super) tree: TreeId,
    pub(super) left_out: Vec<PathBuf>,
    /// Paths of files in whose place is something that git has no room for.
    pub(super) special: Vec<PathBuf>,
    /// Paths that belong to Git LFS and hold content in the place of a pointer.
    pub(super) large: Vec<PathBuf>,
    /// The new folders that are not ignored.
    pub(super) folders: Vec<Vec<u8>>,
}

impl Staged {
    fn known(tree: TreeId) -> Self {
        Self {
            tree,
            left_out: Vec::new(),
            special: Vec::new(),
            large: Vec::new(),
            folders: Vec::new(),
        }
    }

    /// Itself, if nothing was left out for want of a way to store it.
    pub(super) fn whole(self) -> Result<Self, CaptureError> {
        if let Some(path) = self.special.first() {
            return Err(CaptureError::Special { path: path.clone() });
        }
        match self.large.first() {
            Some(path) => Err(CaptureError::LargeFile { path: path.clone() }),
            None => Ok(self),
        }
    }
}

/// A private index that begins as the basis.
pub(super) struct Staging<'a> {
    pub(super) store: &'a Store,
    pub(super) worktree: &'a Worktree,
    pub(super) scratch: tempfile::TempDir,
    pub(super) leave_out: &'a [PathBuf],
    pub(super) manners: UnreadablePolicy,
    /// Where new objects go and who may stop it, if they do not go to the store.
    pub(super) aside: Option<TemporaryObjects<'a>>,
}

/// A look that is not to last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TemporaryObjects<'a> {
    /// A folder of objects that borrows those of the store.
    pub(crate) objects: &'a Path,
    pub(crate) stop: &'a Cancel,
}

/// An index as it was right after a checkout.
pub(super) struct PristineIndex<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) index: Index<'a>,
    pub(super) written: SystemTime,
}

impl<'a> Staging<'a> {
    pub(super) fn begin(
        store: &'a Store,
        worktree: &'a Worktree,
        leave_out: &'a [PathBuf],
    ) -> Result<Self, CaptureError> {
        walk::check_is_folder(worktree.path())?;
        Ok(Self {
            store,
            worktree,
            scratch: store.scratch()?,
            leave_out: if worktree.is_in_place() {
                store.never_captured()
            } else {
                leave_out
            },
            manners: UnreadablePolicy::in_a(worktree),
            aside: None,
        })
    }

    /// Stages the working files of an agent that went on from a commit.
    pub(super) fn stage(
        &self,
        start: (&CommitId, &TreeId),
        basis: &TreeId,
    ) -> Result<Staged, CaptureError> {
        if self.worktree.is_in_place() {
            return self.stage_in_place();
        }
        self.stage_unless(start, basis, |_, _| None)
    }

    /// The same, unless somebody knows the tree as soon as the files were walked.
    pub(super) fn stage_unless(
        &self,
        start: (&CommitId, &TreeId),
        basis: &TreeId,
        known: impl FnOnce(&EntryLookup<'_>, &WalkResult) -> Option<TreeId>,
    ) -> Result<Staged, CaptureError> {
        // What the checkout left remembers each file, which saves reading the unchanged ones.
        let (bytes, written) = read_index(self.worktree.pristine_index());
        let root = RawId::parse(basis.as_str());
        let index = Index::parse(&bytes, self.id_size());
        // Only if it is the basis and nothing else: its entries are taken for those of the basis from here on.
        if let Some(index) = index.filter(|index| root.is_some() && index.tree == root) {
            let bytes = &bytes;
            return self.stage_from(
                &PristineIndex {
                    bytes,
                    index,
                    written,
                },
                start,
                basis,
                known,
            );
        }
        let read_tree = ["read-tree", basis.as_str()];
        self.call().args(read_tree).output()?;
        let (bytes, written) = read_index(&self.index());
        let index = Index::parse(&bytes, self.id_size()).ok_or_else(|| GitError::Garbled {
            what: "read-tree".into(),
            printed: "an index of another format".into(),
        })?;
        let bytes = &bytes;
        self.stage_from(
            &PristineIndex {
                bytes,
                index,
                written,
            },
            start,
            basis,
            known,
        )
    }

    pub(super) fn stage_from(
        &self,
        pristine: &PristineIndex<'_>,
        (start, start_tree): (&CommitId, &TreeId),
        basis: &TreeId,
        known: impl FnOnce(&EntryLookup<'_>, &WalkResult) -> Option<TreeId>,
    ) -> Result<Staged, CaptureError> {
        let PristineIndex { index, written, .. } = pristine;
        let overlay = Overlay::read_commits(self, start, &index.entries)?;
        let expected = overlay.applied_to(&index.entries);
        let lookup = EntryLookup::new(&expected);
        let mut found = walk::walk(self.worktree.path(), &lookup, *written, self.manners)?;
        if let Some(tree) = known(&lookup, &found) {
            return Ok(Staged::known(tree));
        }
        let theirs = self.theirs(&lookup, pristine.bytes)?;
        // A file that a sparse checkout took out of sight is not deleted.
        for at in theirs
            .skipped
            .iter()
            .filter_map(|path| lookup.position(path))
        {
            found.stays[at] |= !found.special.contains(&at);
        }
        let mut changed = self.changed(&lookup, &found)?;
        let Unignored { mut taken, folders } = self.unignored(found.loose.clone())?;
        taken.extend(self.chosen(&overlay, &lookup, theirs)?);
        changed.retain(|path| !self.passes_over(path));
        taken.retain(|path| !self.passes_over(path));
        let mut left_out = LeftOutPaths::new(self.leave_out);
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
            large: self.large_files(&edits.stored, &expected)?,
            tree: if overlay.is_all_of(&edits) {
                start_tree.clone()
            } else {
                self.apply(&edits, pristine, basis)?
            },
            left_out: left_out.changed(),
            folders,
        })
    }

    pub(super) fn call(&self) -> Call {
        let call = self.store.call().work_tree(self.worktree.path());
        // Nobody reads this index but the next call.
        let mut settings = vec![("index.skipHash", "true"), ("index.threads", "1")];
        let mut call = call.index(&self.index());
        if let Some(aside) = self.aside {
            // Nor are these objects here for long.
            settings.extend([("core.fsync", "none"), ("core.looseCompression", "0")]);
            call = call
                .writing(aside.objects)
                .env("GIT_OBJECT_DIRECTORY", aside.objects)
                .stopped_by(Some(aside.stop));
        }
        call = call.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (number, (key, value)) in settings.iter().enumerate() {
            call = call
                .env(&format!("GIT_CONFIG_KEY_{number}"), key)
                .env(&format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        call
    }

    pub(super) fn index(&self) -> PathBuf {
        self.scratch.path().join("index")
    }

    pub(super) fn id_size(&self) -> usize {
        self.worktree.basis().as_str().len() / 2
    }

    /// The paths of the entries whose files are not as they say.
    fn changed(
        &self,
        lookup: &EntryLookup<'_>,
        found: &WalkResult,
    ) -> Result<Vec<Vec<u8>>, CaptureError> {
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
        let path = |at: usize| lookup.entries[at].path.to_vec();
        Ok(changed.into_iter().map(path).collect())
    }

    /// The ids that files would have if they were stored byte for byte.
    fn raw_ids(&self, lookup: &EntryLookup<'_>, files: &[&usize]) -> Result<Vec<String>, GitError> {
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

    /// Whether there is nothing in a file's place, and no link above it that git would not follow.
    fn is_plainly_gone(&self, path: &[u8]) -> bool {
        let root = self.worktree.path();
        let is_link = |path: &[u8]| root.join(os_str(path)).is_symlink();
        let mut folder = folder_of(path);
        while !folder.is_empty() && !is_link(folder) {
            folder = folder_of(folder);
        }
        folder.is_empty() && root.join(os_str(path)).symlink_metadata().is_err()
    }

    fn apply(
        &self,
        edits: &IndexEdits<'_>,
        pristine: &PristineIndex<'_>,
        basis: &TreeId,
    ) -> Result<TreeId, CaptureError> {
        let IndexEdits {
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
        self.check_all_stored(stored)?;
        self.update(&["--index-info"], self.pushed_out(edits, pristine))?;
        let printed = self.call().arg("write-tree").output()?;
        Ok(parse_id("write-tree", &printed)?)
    }

    /// Git passes over names that some system takes for its own folder, without an error.
    fn check_all_stored(&self, stored: &[&[u8]]) -> Result<(), CaptureError> {
        if !stored.iter().any(|path| has_odd_part(path)) {
            return Ok(());
        }
        let (bytes, _) = read_index(&self.index());
        let index = Index::parse(&bytes, self.id_size());
        let names: HashSet<&[u8]> = index
            .iter()
            .flat_map(|index| &index.entries)
            .map(|entry| &entry.path[..])
            .collect();
        let is_lost = |path: &&&[u8]| !names.contains(**path) && !self.is_plainly_gone(path);
        match stored.iter().find(is_lost) {
            Some(path) => Err(CaptureError::Name {
                path: os_str(path).into(),
            }),
            None => Ok(()),
        }
    }

    /// Writes the private index.
    ///
    /// Git goes by whole seconds when it tells whether a file is unchanged, and would read every file
    /// that is as old as its index. We know better: what is not stored anew is as it was.
    fn write_index(
        &self,
        pristine: &PristineIndex<'_>,
        stored: &[&[u8]],
    ) -> Result<(), CaptureError> {
        let stored: HashSet<&[u8]> = stored.iter().copied().collect();
        let entries = pristine.index.entries.iter();
        let changed = entries.filter(|entry| stored.contains(&entry.path[..]));
        let mut places = changed.map(|entry| u64::try_from(entry.place).expect("below its size"));
        let index = self.index();
        let file = fs::File::create(&index).and_then(|file| {
            file.write_all_at(pristine.bytes, 0)?;
            places.try_for_each(|place| file.write_all_at(&FORGET, place))
        });
        file.map_err(|source| CaptureError::Io {
            path: index,
            source,
        })
    }

    /// Entries that were to be left alone but lost their folder to a file.
    fn pushed_out(&self, edits: &IndexEdits<'_>, pristine: &PristineIndex<'_>) -> Vec<u8> {
        let mut lines = Vec::new();
        for path in self.leave_out {
            let path = path.as_os_str().as_bytes();
            let put = edits.put.iter().map(|entry| &entry.path[..]);
            let mut files = edits.stored.iter().copied().chain(put);
            if files.any(|file| is_at_or_below(path, file)) {
                let entries = pristine.index.entries.iter();
                let entries = entries.filter(|entry| is_at_or_below(&entry.path, path));
                lines.extend(entries.flat_map(IndexEntry::put));
            }
        }
        lines
    }

    fn update(&self, how: &[&str], lines: Vec<u8>) -> Result<(), GitError> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut call = self.call();
        if self.worktree.is_in_place() {
            // All that is new goes into one pack, for at first that is the whole folder.
            call = call.args(["-c", "core.bigFileThreshold=1"]);
        }
        let call = call.args(["update-index", "-z"]).args(how);
        call.stdin(lines).output().map(drop)
    }
}

impl IndexEntry<'_> {
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

pub(super) fn is_at_or_below(path: &[u8], top: &[u8]) -> bool {
    let rest = path.strip_prefix(top);
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Whether a part of a path is like `.git` or `git~1`, whatever else is in it.
fn has_odd_part(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| {
        let mut letters = part.iter().filter(|byte| byte.is_ascii_alphanumeric());
        b"git".iter().all(|wanted| {
            letters
                .next()
                .is_some_and(|letter| letter.eq_ignore_ascii_case(wanted))
        })
    })
}

/// The bytes of an index and its age, if it can be read.
pub(super) fn read_index(file: &Path) -> (Vec<u8>, SystemTime) {
    let written = file.metadata().and_then(|meta| meta.modified());
    let bytes = fs::read(file).unwrap_or_default();
    (bytes, written.unwrap_or(UNIX_EPOCH))
}
