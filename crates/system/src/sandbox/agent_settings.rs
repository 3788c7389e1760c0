//! Compares what steers agents in their own folders before and after programs run, and puts it back.
//!
//! Agents have to write beside these files, so that the kernel cannot close them. All processes of a user share one
//! copy of how things were: it is taken when nobody runs, and holds until nobody runs any more. What was changed meanwhile is kept.

mod change;
mod compare;
mod own_change;
mod replaced;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::change::RestoredFile;
use self::compare::{DEEPEST, FileComparison, FolderComparison, MOST_FILES, found, matching};
use self::replaced::ReplacedFiles;
use self::tree::{AgentFolder, FileKind, FileStamp};
use crate::files::stored_path::StoredPath;
use crate::state_folder::{StateFolder, private_folder};

/// What is kept a copy of: all small files, and others of so many bytes, so many of these in all. Agents that install
/// themselves beside their settings leave no less room for these.
const SMALL: u64 = 64 << 10;
const LARGEST: u64 = 64 << 20;
const MOST_BYTES: u64 = 256 << 20;

/// How much is kept of what was found instead.
const MOST_REPLACED: u64 = 256 << 20;

/// How many files are told of by name.
const MOST_TOLD: usize = 5;

/// Folders that agents write to.
pub(super) type AgentFolders = BTreeMap<PathBuf, SteeringPaths>;

#[derive(Debug, Default)]
pub(super) struct SteeringPaths {
    pub(super) places: BTreeSet<PathBuf>,
    /// What of these agents write by themselves.
    pub(super) own: BTreeSet<PathBuf>,
}

/// How things were, and whether nobody has run since they were found to be so.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Baseline {
    is_over: bool,
    /// The number of the last copy.
    last: u64,
    folders: Vec<WatchedFolder>,
    /// What was put back when nobody could be told any more.
    #[serde(default)]
    untold: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WatchedFolder {
    folder: StoredPath,
    places: Vec<StoredPath>,
    /// What of these is not.
    own: Vec<StoredPath>,
    /// Places of which not everything was looked at, so that nobody can say what is new there.
    #[serde(default)]
    cut: Vec<StoredPath>,
    entries: Vec<(StoredPath, SettingsEntry)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SettingsEntry {
    kind: FileKind,
    /// The number of the copy of a file.
    copy: Option<u64>,
}

/// Programs that run, for as long as they do.
#[derive(Debug)]
pub(super) struct SettingsWatch {
    home: PathBuf,
    /// Folders that an agent may note for itself.
    worktrees: Vec<PathBuf>,
    /// Locked by all who run.
    in_use: Option<File>,
}

impl SettingsWatch {
    /// Notes how things are before programs run, or puts them back as they were before others did.
    pub(super) fn begin(
        state: &StateFolder,
        worktree: &Path,
        places: &AgentFolders,
    ) -> io::Result<(Self, Vec<String>)> {
        let worktrees = vec![state.path().to_owned(), worktree.to_owned()];
        let home = home_in(state);
        private_folder(&home.join("copies")).map_err(io::Error::other)?;
        let _alone = lock(&home.join("lock"))?;
        let in_use = opened(&home.join("in-use"))?;
        let is_first = in_use.try_lock().is_ok();
        let mut baseline = load(&home);
        let mut told = std::mem::take(&mut baseline.untold);
        // One that is not over, and that nobody uses, is of a process that was killed.
        if !is_first || !baseline.is_over {
            told.extend(baseline.put_back(&home, &worktrees));
        }
        if is_first {
            told.extend(baseline.take(&home, places, BaselineScope::Everything));
            replaced::keep_within(&home, MOST_REPLACED);
            in_use.unlock()?;
        } else {
            told.extend(baseline.take(&home, places, BaselineScope::Missing));
        }
        baseline.is_over = false;
        save(&home, &baseline)?;
        in_use.lock_shared()?;
        let in_use = Some(in_use);
        let watch = Self {
            home,
            worktrees,
            in_use,
        };
        Ok((watch, told))
    }

    /// Puts back what was changed, now that programs have ended; others may still run.
    pub(super) fn compare(&self) -> Vec<String> {
        let compared = || {
            let _alone = lock(&self.home.join("lock"))?;
            let mut baseline = load(&self.home);
            let told = baseline.put_back(&self.home, &self.worktrees);
            if !told.is_empty() {
                save(&self.home, &baseline)?;
            }
            Ok::<_, io::Error>(told)
        };
        let failed = |error| vec![format!("could not check the settings of agents: {error}")];
        compared().unwrap_or_else(failed)
    }

    fn end(&mut self) -> io::Result<()> {
        let Some(in_use) = self.in_use.take() else {
            return Ok(());
        };
        let _alone = lock(&self.home.join("lock"))?;
        in_use.unlock()?;
        if in_use.try_lock().is_ok() {
            let mut baseline = load(&self.home);
            let told = baseline.put_back(&self.home, &self.worktrees);
            baseline.untold.extend(told);
            baseline.is_over = true;
            save(&self.home, &baseline)?;
            in_use.unlock()?;
        }
        Ok(())
    }
}

impl Drop for SettingsWatch {
    fn drop(&mut self) {
        // What cannot be done now is done before the next programs run.
        let _ = self.end();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BaselineScope {
    Everything,
    /// Folders that others did not know of.
    Missing,
}

impl Baseline {
    /// Notes how things are, and tells of what is too much; copies of what has not changed stay.
    fn take(&mut self, home: &Path, places: &AgentFolders, take: BaselineScope) -> Vec<String> {
        let before = match take {
            BaselineScope::Everything => std::mem::take(&mut self.folders),
            BaselineScope::Missing => Vec::new(),
        };
        let (mut bytes, mut told) = (0, Vec::new());
        for (folder, steering) in places {
            let is_known = self.folders.iter().any(|known| known.folder.0 == *folder);
            let Some(tree) = AgentFolder::open(folder).ok().filter(|_| !is_known) else {
                continue;
            };
            let known = before.iter().find(|known| known.folder.0 == *folder);
            let known = known.map(WatchedFolder::by_path).unwrap_or_default();
            let mut watched = WatchedFolder::new(folder, steering);
            for place in steering
                .places
                .iter()
                .flat_map(|place| matching(&tree, place))
            {
                let found = found(&tree, &place, &watched.own);
                if found.is_cut {
                    told.push(too_much(&folder.join(&place)));
                    watched.cut.push(StoredPath(place));
                }
                for (inside, kind) in found.kinds {
                    let same = known.get(inside.as_path());
                    let same = same.filter(|entry| entry.kind == kind);
                    let entry = match same {
                        Some(entry) => (*entry).clone(),
                        None => self.noted(home, &tree, &inside, kind, &mut bytes),
                    };
                    watched.entries.push((StoredPath(inside), entry));
                }
            }
            self.folders.push(watched);
        }
        self.sweep(home);
        told
    }

    /// What is at a path, with a copy if it is a file.
    fn noted(
        &mut self,
        home: &Path,
        tree: &AgentFolder,
        inside: &Path,
        kind: FileKind,
        bytes: &mut u64,
    ) -> SettingsEntry {
        let FileKind::File(stamp) = kind else {
            return SettingsEntry { kind, copy: None };
        };
        let is_small = stamp.size <= SMALL;
        if !is_small {
            *bytes += stamp.size;
        }
        let is_copied = is_small || stamp.size <= LARGEST && *bytes <= MOST_BYTES;
        let copied = is_copied.then(|| self.copy(home, tree, inside));
        // Without a copy, it is only told of if it changes.
        let copied = copied.and_then(Result::ok);
        let (stamp, copy) = copied.map_or((stamp, None), |(stamp, copy)| (stamp, Some(copy)));
        let kind = FileKind::File(stamp);
        SettingsEntry { kind, copy }
    }

    fn copy(
        &mut self,
        home: &Path,
        tree: &AgentFolder,
        inside: &Path,
    ) -> io::Result<(FileStamp, u64)> {
        let (bytes, stamp) = tree.read(inside, LARGEST)?;
        let number = self.last + 1;
        write_new(&copy_path(home, number), &bytes)?;
        self.last = number;
        Ok((stamp, number))
    }

    /// Removes copies that nobody needs.
    fn sweep(&self, home: &Path) {
        let entries = self.folders.iter().flat_map(|watched| &watched.entries);
        let needed: BTreeSet<u64> = entries.filter_map(|(_, entry)| entry.copy).collect();
        let copies = fs::read_dir(home.join("copies")).into_iter().flatten();
        for copy in copies.flatten() {
            let number = copy.file_name().to_str().and_then(|name| name.parse().ok());
            if number.is_none_or(|number: u64| !needed.contains(&number)) {
                // It is swept next time.
                let _ = fs::remove_file(copy.path());
            }
        }
    }

    /// Puts everything back as it was, and tells what was not.
    fn put_back(&mut self, home: &Path, worktrees: &[PathBuf]) -> Vec<String> {
        let mut replaced = ReplacedFiles::new(home);
        let mut changes = Vec::new();
        for watched in &mut self.folders {
            // A folder that is gone has nothing that steers anybody.
            if let Ok(tree) = AgentFolder::open(&watched.folder.0) {
                let before = FolderComparison {
                    tree,
                    home,
                    worktrees,
                };
                watched.put_back(&before, &mut replaced, &mut changes);
            }
        }
        let more = changes.len().saturating_sub(MOST_TOLD);
        changes.truncate(MOST_TOLD);
        let mut told: Vec<String> = changes.iter().map(ToString::to_string).collect();
        if more > 0 {
            let kept = replaced.folder();
            told.push(format!(
                "restored {more} more files that tasks changed; the changed versions are kept in {}",
                kept.display()
            ));
        }
        told
    }
}

impl WatchedFolder {
    fn new(folder: &Path, steering: &SteeringPaths) -> Self {
        let paths = |paths: &BTreeSet<PathBuf>| paths.iter().cloned().map(StoredPath).collect();
        Self {
            folder: StoredPath(folder.to_owned()),
            places: paths(&steering.places),
            own: paths(&steering.own),
            cut: Vec::new(),
            entries: Vec::new(),
        }
    }

    fn by_path(&self) -> BTreeMap<&Path, &SettingsEntry> {
        let entries = self.entries.iter();
        entries
            .map(|(path, entry)| (path.0.as_path(), entry))
            .collect()
    }

    fn put_back(
        &mut self,
        before: &FolderComparison<'_>,
        replaced: &mut ReplacedFiles,
        changes: &mut Vec<RestoredFile>,
    ) {
        let mut paths: BTreeSet<PathBuf> = self
            .entries
            .iter()
            .map(|(path, _)| path.0.clone())
            .collect();
        let (tree, home) = (&before.tree, before.home);
        let places = self
            .places
            .iter()
            .flat_map(|place| matching(tree, &place.0));
        for place in places.filter(|place| !self.cut.iter().any(|cut| cut.0 == *place)) {
            let found = found(tree, &place, &self.own);
            if found.is_cut {
                // More than anybody can look through: all of it goes, and what was there comes back.
                let taken = replaced.take(tree, &self.folder.0, &place);
                changes.push(RestoredFile::new(
                    self.folder.0.join(place),
                    taken.map(Some),
                ));
            } else {
                paths.extend(found.kinds.into_keys());
            }
        }
        let mut entries: BTreeMap<&Path, &mut SettingsEntry> = self
            .entries
            .iter_mut()
            .map(|(path, entry)| (path.0.as_path(), entry))
            .collect();
        // What is above comes first, so that a folder is one again before what is in it.
        for inside in &paths {
            let was = entries.get_mut(inside.as_path());
            let path = self.folder.0.join(inside);
            let is = match tree.kind(inside) {
                Ok(is) => is,
                Err(error) => {
                    changes.push(RestoredFile::new(path, Err(error)));
                    continue;
                }
            };
            match before.compared(inside, was.as_deref().map(|was| &**was), is.as_ref()) {
                FileComparison::Same => {
                    if let (Some(was), Some(is)) = (was, is) {
                        was.kind = is;
                    }
                    continue;
                }
                FileComparison::ItsOwn => continue,
                FileComparison::Changed => {}
            }
            let taken = is.map(|_| replaced.take(tree, &self.folder.0, inside));
            let mut change = RestoredFile::new(path, taken.transpose());
            if let Some(was) = was.filter(|_| change.is_back.is_ok()) {
                change.is_back = was.restore(tree, home, inside);
            }
            changes.push(change);
        }
    }
}

impl SettingsEntry {
    /// Makes it again, where nothing is any more.
    fn restore(&mut self, tree: &AgentFolder, home: &Path, inside: &Path) -> io::Result<()> {
        match &self.kind {
            FileKind::Folder => tree.make_folders(inside),
            FileKind::Link(StoredPath(target)) => tree.link(inside, target),
            FileKind::Other => Err(io::Error::other("it was not a file")),
            FileKind::File(stamp) => {
                let copy = self
                    .copy
                    .ok_or_else(|| io::Error::other("it was too large to back up"))?;
                let bytes = fs::read(copy_path(home, copy))?;
                self.kind = FileKind::File(tree.write(inside, &bytes, stamp.mode)?);
                Ok(())
            }
        }
    }
}

fn too_much(place: &Path) -> String {
    format!(
        "only the first {MOST_FILES} files, at most {DEEPEST} folders deep, of {} are checked; new files there are not \
         noticed",
        place.display()
    )
}

/// Removes what was found instead of something else and is older than this.
pub fn clear_replaced(state: &StateFolder, keep: Duration) {
    replaced::remove_older(&home_in(state), keep);
}

fn home_in(state: &StateFolder) -> PathBuf {
    state.path().join("agent-settings")
}

fn copy_path(home: &Path, number: u64) -> PathBuf {
    home.join("copies").join(number.to_string())
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options();
    let mut file = file
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)
}

fn opened(path: &Path) -> io::Result<File> {
    let mut file = File::options();
    file.create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path)
}

/// Waits for everybody else who looks at settings; unlocked when dropped.
fn lock(path: &Path) -> io::Result<File> {
    let file = opened(path)?;
    file.lock()?;
    Ok(file)
}

/// What was noted last; nothing if that cannot be read.
fn load(home: &Path) -> Baseline {
    let text = fs::read(home.join("baseline.json")).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or(Baseline {
        is_over: true,
        ..Baseline::default()
    })
}

fn save(home: &Path, baseline: &Baseline) -> io::Result<()> {
    let draft = home.join("baseline.new");
    write_new(&draft, &serde_json::to_vec(baseline)?)?;
    fs::rename(draft, home.join("baseline.json"))
}

#[cfg(test)]
mod tests;
