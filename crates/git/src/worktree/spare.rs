//! The files of a worktree whose task is over, until another task begins with them.
//!
//! A spare lies in a folder that is noted as waste, so that whoever finds its process dead deletes it. Knows nothing
//! of tasks.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::files::cached_path::cached_path;
use pleach_system::files::removal::remove_all;

use super::caches::Caches;
use super::record::WorktreeStage;
use super::tidy::{FreshFolder, TrashFolder, tidy, unfit};
use super::trash::{self, TrashItem, delete_later};
use super::{LOCK, Worktree, WorktreeError, failed};
use crate::git::{CommitId, Store};
use crate::index::{CLOCK_TICK, EntryLookup, Index, IndexEntry, folder_of};

/// With fewer files, making new ones costs no more than looking at the old ones.
const LEAST_FILES: usize = 200;

/// Git takes a file that is as old as its index for one that may have changed since, and counts in seconds.
const BEYOND_DOUBT: Duration = Duration::from_secs(2);

/// The file that says how git stores others, and how it writes them.
const ATTRIBUTES: &[u8] = b".gitattributes";

/// The files of a worktree that went.
///
/// Dropping it deletes them, behind everybody's back.
#[derive(Debug)]
pub struct Spare {
    waste: Option<TrashItem>,
    /// The folder that is noted; new when the worktree was put in.
    room: PathBuf,
    /// What the index was right after the checkout.
    index: PathBuf,
    /// What comes along of what git does not know.
    cache: Vec<PathBuf>,
}

impl Drop for Spare {
    fn drop(&mut self) {
        // It bears the sign of this process, so that it goes in any case.
        let _ = remove_all(&self.index);
        if let Some(waste) = self.waste.take() {
            delete_later(waste);
        }
    }
}

impl Worktree {
    /// Takes the worktree away and keeps its files, if they are worth it; everything in them is kept elsewhere.
    pub(super) fn set_aside(
        &self,
        store: &Store,
        cache: &[String],
    ) -> Result<Option<Spare>, WorktreeError> {
        let cache: Vec<PathBuf> = cache.iter().filter_map(|path| cached_path(path)).collect();
        // What is the user's is nobody else's to use again.
        if self.is_in_place() || !self.is_worth_using_again(&cache) {
            return Ok(None);
        }
        let _lock = store.lock(LOCK)?;
        self.note(store, WorktreeStage::Going)?;
        let spare = Spare::new(store, &self.path, cache)?;
        fs::rename(&self.path, spare.tree()).map_err(failed("move away", &self.path))?;
        crash_point(CrashPoint::FilesSetAside);
        fs::rename(&self.pristine_index, &spare.index)
            .map_err(failed("move away", &self.pristine_index))?;
        self.void(store)?;
        Ok(Some(spare))
    }

    /// Whether it is a folder with many files, or with something that nobody can check out.
    fn is_worth_using_again(&self, cache: &[PathBuf]) -> bool {
        let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let is_there = |path: &PathBuf| self.path.join(path).symlink_metadata().is_ok();
        let files = count_files(&self.pristine_index).unwrap_or_default();
        is_folder(&self.path) && (files >= LEAST_FILES || cache.iter().any(is_there))
    }
}

impl Spare {
    fn new(store: &Store, beside: &Path, cache: Vec<PathBuf>) -> Result<Self, WorktreeError> {
        let sign = store.sign()?;
        let (waste, room) = trash::make_room(store, beside)?;
        let name = room.file_name().unwrap_or_default().to_string_lossy();
        let number = name.rsplit('-').next().unwrap_or_default();
        Ok(Self {
            waste: Some(waste),
            index: store
                .home()
                .join("index")
                .join(format!("spare-{number}.{sign}")),
            room,
            cache,
        })
    }

    fn tree(&self) -> PathBuf {
        self.room.join("tree")
    }

    pub(super) fn index(&self) -> &Path {
        &self.index
    }

    pub(super) fn move_to(&self, path: &Path) -> io::Result<()> {
        fs::rename(self.tree(), path)?;
        crash_point(CrashPoint::SpareMoved);
        Ok(())
    }

    /// Makes the folder what a fresh checkout of a commit would be, but for what is cached.
    pub(super) fn bring_to(&self, store: &Store, basis: &CommitId) -> Result<(), WorktreeError> {
        let tree = self.tree();
        let model = FreshFolder::probe(&self.room)?;
        let mut aside = TrashFolder::new(&self.room.join("waste"))?;
        let id_size = basis.as_str().len() / 2;
        let (bytes, seen) = self.read_index()?;
        let unreadable = || unfit(&self.index, "could not read its index");
        let before = Index::parse(&bytes, id_size).ok_or_else(unreadable)?;
        let lookup = EntryLookup::new(&before.entries);
        let caches = Caches::take_out(&tree, &self.cache, &lookup, self.room.join("cache"))?;
        let missing = tidy(&tree, (&lookup, seen), None, &model, &mut aside)?;
        if missing.len() * 2 > before.entries.len() {
            return Err(unfit(&tree, "most of its files were changed"));
        }
        crash_point(CrashPoint::SpareTidied);
        self.check_out(store, basis, seen)?;
        let (bytes, seen) = self.read_index()?;
        let after = Index::parse(&bytes, id_size).ok_or_else(unreadable)?;
        if attributes(&before) != attributes(&after) {
            return Err(unfit(&tree, "its files need other attributes"));
        }
        // Whatever git did where it had anything to write, this is what counts.
        let written = written_folders(&before.entries, &missing, &after.entries);
        let lookup = EntryLookup::new(&after.entries);
        let missing = tidy(&tree, (&lookup, seen), Some(&written), &model, &mut aside)?;
        if !missing.is_empty() {
            return Err(unfit(&tree, "some of its files are missing"));
        }
        caches.put_back(store, &tree, &lookup, &mut aside)?;
        crash_point(CrashPoint::SpareFilled);
        Ok(())
    }

    /// Has git write what is missing and what another commit has otherwise.
    fn check_out(
        &self,
        store: &Store,
        basis: &CommitId,
        seen: SystemTime,
    ) -> Result<(), WorktreeError> {
        let tree = self.tree();
        // Git need not read a file that is still there: it is unchanged.
        let dated = date(&self.index, seen + BEYOND_DOUBT);
        dated.map_err(failed("date", &self.index))?;
        store
            .call()
            .work_tree(&tree)
            .writing(&tree)
            .index(&self.index)
            .args(["read-tree", "--reset", "-u", basis.as_str()])
            .output()?;
        // By the clock of the file system, which may be another machine's, and after the last file.
        thread::sleep(2 * CLOCK_TICK);
        let clock = self.room.join("clock");
        let now = fs::write(&clock, "").and_then(|()| clock.metadata()?.modified());
        let dated = now.and_then(|now| date(&self.index, now));
        dated.map_err(failed("date", &self.index))
    }

    fn read_index(&self) -> Result<(Vec<u8>, SystemTime), WorktreeError> {
        let read = || Ok((fs::read(&self.index)?, self.index.metadata()?.modified()?));
        read().map_err(failed("read", &self.index))
    }
}

/// The folders in which a checkout makes files, changes them or takes them away, and all above them.
fn written_folders<'i>(
    before: &'i [IndexEntry<'_>],
    missing: &[usize],
    after: &'i [IndexEntry<'_>],
) -> HashSet<&'i [u8]> {
    let mut written: Vec<&IndexEntry<'_>> = missing.iter().map(|at| &before[*at]).collect();
    let (mut old, mut new) = (before.iter().peekable(), after.iter().peekable());
    // What was written anew bears another stamp.
    let is_same = |one: &IndexEntry<'_>, other: &IndexEntry<'_>| {
        let what = |entry: &IndexEntry<'_>| (entry.mode, entry.id, entry.noted, entry.is_skipped);
        what(one) == what(other)
    };
    // Both are sorted by path.
    while let (Some(one), Some(other)) = (old.peek(), new.peek()) {
        match one.path.cmp(&other.path) {
            Ordering::Equal if is_same(one, other) => {
                let _ = (old.next(), new.next());
            }
            Ordering::Equal | Ordering::Less => written.extend(old.next()),
            Ordering::Greater => written.extend(new.next()),
        }
    }
    written.extend(old.chain(new));
    let mut folders = HashSet::new();
    for entry in written {
        let mut folder = folder_of(&entry.path);
        while folders.insert(folder) && !folder.is_empty() {
            folder = folder_of(folder);
        }
    }
    folders
}

fn date(file: &Path, time: SystemTime) -> io::Result<()> {
    File::options().write(true).open(file)?.set_modified(time)
}

/// How many files an index has, from its first bytes.
fn count_files(index: &Path) -> io::Result<usize> {
    let mut head = [0; 12];
    File::open(index)?.read_exact(&mut head)?;
    let count = u32::from_be_bytes([head[8], head[9], head[10], head[11]]);
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Everything that says how files are written: where it does not change, neither do they.
fn attributes<'i>(index: &'i Index<'_>) -> Vec<(&'i [u8], u32, String)> {
    let is_rules = |path: &[u8]| path.rsplit(|byte| *byte == b'/').next() == Some(ATTRIBUTES);
    let rules = index.entries.iter().filter(|entry| is_rules(&entry.path));
    rules
        .map(|entry| (&entry.path[..], entry.mode, entry.id.to_string()))
        .collect()
}
