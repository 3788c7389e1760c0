//! Worktrees of the store: one folder, one git folder and one branch per task.
//!
//! Knows nothing of who works there; takes one away only for proof that what is in it is kept.

mod bring_back;
mod caches;
mod error;
mod git_folder;
mod heads;
mod in_place;
mod include;
mod kept;
mod list;
mod nested;
mod record;
mod registration;
mod safe;
mod spare;
mod sweep;
mod tidy;
mod trash;
mod unmerged;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::files::plain_file;
use pleach_system::files::removal::remove_all;
use pleach_system::sandbox::GitPlaces;

use crate::git::{CommitId, Store, ref_segment};
use crate::index::CLOCK_TICK;

pub use error::{CaptureError, WorktreeError};
pub use heads::AgentHistory;
pub use heads::{AgentHeads, committed};
pub use include::{Included, NotCopied, NotCopiedReason, PackedFiles};
pub use kept::KeptProof;
pub(crate) use kept::unfinished;
pub use list::CONFLICT_BRANCHES;
pub use list::{ListedWorktree, TreeState, list};
pub use spare::Spare;
pub use sweep::sweep;
use sweep::wait_for_earlier;
pub use trash::finish_removals;
pub use unmerged::StoppedMerge;

use error::failed;
use git_folder::LeftCommits;
use git_folder::git_folders;
use in_place::FolderOwner;
pub use nested::NestedRepositories;
use record::{WorktreeRecord, WorktreeStage};
use trash::delete_later;

/// Whoever adds or removes a worktree of a store holds it.
const LOCK: &str = "worktrees.lock";

#[derive(Debug, Clone)]
pub struct WorktreeSpec {
    /// The folder to make, as an absolute path; the one above it is made as well.
    pub path: PathBuf,
    /// The branch to check out, without `refs/heads/`.
    pub branch: String,
    pub basis: CommitId,
}

#[derive(Debug, Clone)]
pub struct Worktree {
    path: PathBuf,
    branch: String,
    basis: CommitId,
    git_folder: PathBuf,
    pristine_index: PathBuf,
    tenure: FolderOwner,
}

impl Worktree {
    /// Makes a worktree; a branch that an earlier attempt left behind is kept and begun anew.
    pub fn create(store: &Store, spec: &WorktreeSpec) -> Result<Self, WorktreeError> {
        let worktree = Self::begin(store, spec)?;
        if worktree.is_in_place() {
            return Ok(worktree);
        }
        worktree.register(store, |path| fs::create_dir(path))?;
        crash_point(CrashPoint::WorktreeRegistered);
        let checked_out = worktree.check_out(store);
        worktree.end(store, checked_out)
    }

    /// Makes a worktree of the files of an earlier one: only what differs is written.
    ///
    /// An error leaves nothing behind, and says that a fresh one has to be made.
    pub fn recycle(
        store: &Store,
        spec: &WorktreeSpec,
        spare: Spare,
    ) -> Result<Self, WorktreeError> {
        let worktree = Self::begin(store, spec)?;
        if worktree.is_in_place() {
            return Ok(worktree);
        }
        spare.bring_to(store, &spec.basis)?;
        worktree.register(store, |path| spare.move_to(path))?;
        crash_point(CrashPoint::WorktreeRegistered);
        let adopted = worktree.adopt_index(spare.index());
        // With it goes all that the last task left.
        drop(spare);
        worktree.end(store, adopted)
    }

    fn begin(store: &Store, spec: &WorktreeSpec) -> Result<Self, WorktreeError> {
        wait_for_earlier(store, spec)?;
        // What cannot be cleared up now is in nobody's way, or found to be so below.
        let _ = sweep(store);
        store.adopt_excludes()?;
        if let Some(users) = Self::wanted_in_place(store, spec) {
            return Ok(users);
        }
        let folder = spec.path.parent().unwrap_or(Path::new("/"));
        // Whatever the user's mask is, and whoever may look into the folder above.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(failed("create", folder))?;
        Self::named(store, spec)
    }

    /// Notes that a worktree is made, or takes away what is there of it.
    fn end(self, store: &Store, filled: Result<(), WorktreeError>) -> Result<Self, WorktreeError> {
        let made = filled.and_then(|()| {
            crash_point(CrashPoint::WorktreeFilled);
            self.note(store, WorktreeStage::Made)
        });
        if made.is_err() {
            // Nobody has worked here yet, so there is nothing to keep; the first error counts.
            let _ = self.discard(store);
        }
        made.map(|()| self)
    }

    /// Finds what is left of a worktree that was made before, whole or not.
    pub fn existing(store: &Store, spec: &WorktreeSpec) -> Result<Option<Self>, WorktreeError> {
        wait_for_earlier(store, spec)?;
        sweep(store)?;
        store.adopt_excludes()?;
        // The folder of no repository is there for everybody, and nothing of it was made.
        if store.plain_folder().is_some() || !spec.path.parent().is_some_and(Path::is_dir) {
            return Ok(None);
        }
        let worktree = Self::named(store, spec)?;
        let is_there = is_present(&worktree.path) || worktree.is_registered();
        Ok(is_there.then_some(worktree))
    }

    /// Finds a worktree by its branch, if it was made and has not gone.
    pub fn on_branch(store: &Store, branch: &str) -> Option<Self> {
        let record = WorktreeRecord::load(store, &ref_segment(branch))?;
        let is_made = record.stage == WorktreeStage::Made && record.branch == branch;
        is_made.then(|| Self::of_record(store, &record))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The branch that was checked out in the beginning.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    pub fn basis(&self) -> &CommitId {
        &self.basis
    }

    /// Removes the files and the registration of a worktree whose content is kept.
    ///
    /// The files go out of sight at once and are deleted behind; [`finish_removals`] waits for that.
    pub fn remove(self, store: &Store, kept: &KeptProof) -> Result<(), WorktreeError> {
        if kept.path() != self.path {
            return Err(WorktreeError::NotKept { path: self.path });
        }
        self.save_commits(store, Some(kept))?;
        self.discard(store)
    }

    /// Removes a worktree whose content is kept, and hands over its files if it is worth using them again.
    ///
    /// Of what git does not know in it, only the paths in `cache` will come along.
    pub fn release(
        self,
        store: &Store,
        kept: &KeptProof,
        cache: &[String],
    ) -> Result<Option<Spare>, WorktreeError> {
        if kept.path() != self.path {
            return Err(WorktreeError::NotKept { path: self.path });
        }
        self.save_commits(store, Some(kept))?;
        // Whatever is odd about it, it can still be removed.
        if let Ok(Some(spare)) = self.set_aside(store, cache) {
            return Ok(Some(spare));
        }
        self.discard(store).map(|()| None)
    }

    /// Removes a worktree in which nobody worked, whatever programs have left there.
    pub fn clear(self, store: &Store) -> Result<(), WorktreeError> {
        self.discard(store)
    }

    pub(crate) fn branch_ref(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    fn id(&self) -> String {
        ref_segment(&self.branch)
    }

    pub fn git_places(&self, store: &Store) -> GitPlaces {
        let own = store.git_dir().join("objects");
        GitPlaces {
            checkout: store.users_folders(),
            objects: [own].into_iter().chain(store.borrowed_objects()).collect(),
            folder: self.git_folder().to_owned(),
        }
    }

    /// The git folder of whoever works here, who can write to all of it.
    pub(crate) fn git_folder(&self) -> &Path {
        &self.git_folder
    }

    /// The index as it was right after the checkout, out of the agent's sight.
    pub(crate) fn pristine_index(&self) -> &Path {
        &self.pristine_index
    }

    fn named(store: &Store, spec: &WorktreeSpec) -> Result<Self, WorktreeError> {
        let id = ref_segment(&spec.branch);
        // Resolved, because git compares the paths it has noted with the ones it finds.
        let folder = spec.path.parent().unwrap_or(Path::new("/"));
        let folder = folder.canonicalize().map_err(failed("find", folder))?;
        Ok(Self {
            path: folder.join(spec.path.file_name().unwrap_or_default()),
            branch: spec.branch.clone(),
            basis: spec.basis.clone(),
            git_folder: git_folders(store).join(&id),
            pristine_index: store.home().join("index").join(&id),
            tenure: FolderOwner::Ours,
        })
    }

    fn of_record(store: &Store, record: &WorktreeRecord) -> Self {
        let id = ref_segment(&record.branch);
        Self {
            path: record.path.clone(),
            branch: record.branch.clone(),
            basis: record.basis.clone(),
            git_folder: git_folders(store).join(&id),
            pristine_index: store.home().join("index").join(&id),
            tenure: FolderOwner::Ours,
        }
    }

    fn note(&self, store: &Store, stage: WorktreeStage) -> Result<(), WorktreeError> {
        self.forget_safety(store)?;
        let record = WorktreeRecord {
            stage,
            sign: store.sign()?,
            path: self.path.clone(),
            branch: self.branch.clone(),
            basis: self.basis.clone(),
        };
        let saved = record.save(store, &self.id());
        saved.map_err(failed("write the record of", &self.path))
    }

    /// With our own git folder, so that no filter runs that an earlier agent configured.
    fn check_out(&self, store: &Store) -> Result<(), WorktreeError> {
        let folder = store.home().join("index");
        fs::create_dir_all(&folder).map_err(failed("create", &folder))?;
        // A name of its own: git may go on for a while after this process was killed.
        let index = folder.join(format!("{}.{}", self.id(), store.sign()?));
        remove_all(&index).map_err(failed("replace", &index))?;
        store
            .call()
            .work_tree(&self.path)
            .writing(&self.path)
            .index(&index)
            .args(["read-tree", "-m", "-u", self.basis.as_str()])
            .output()?;
        self.date_index(&index).map_err(failed("date", &index))?;
        self.adopt_index(&index)
    }

    /// Gives whoever works here a copy of the index, and keeps it out of their sight.
    fn adopt_index(&self, index: &Path) -> Result<(), WorktreeError> {
        let own = self.git_folder.join("index");
        copy_index(index, &own)
            .and_then(|()| fs::rename(index, &self.pristine_index))
            .map_err(failed("write", &own))
    }

    /// Gives the index the present time by the clock that dates the files, which may be another
    /// machine's: nobody has touched a file yet, and whoever does later leaves a later date.
    fn date_index(&self, index: &Path) -> io::Result<()> {
        // Otherwise the last files would have to be read whenever somebody asks whether they changed.
        thread::sleep(2 * CLOCK_TICK);
        self.write_git_file()?;
        let now = self.path.join(".git").symlink_metadata()?.modified()?;
        let file = fs::File::options().write(true).open(index)?;
        file.set_modified(now)
    }

    fn discard(&self, store: &Store) -> Result<(), WorktreeError> {
        let _lock = store.lock(LOCK)?;
        self.put_away(store)
    }

    /// Out of sight first, so that no half-deleted worktree is ever found; under the lock.
    fn put_away(&self, store: &Store) -> Result<(), WorktreeError> {
        if self.is_in_place() {
            return Ok(());
        }
        self.note(store, WorktreeStage::Going)?;
        if is_present(&self.path) {
            delete_later(trash::move_away(store, &self.path)?);
            crash_point(CrashPoint::FilesMovedAway);
        }
        self.void(store)
    }

    /// Takes away what makes it a worktree; its files are gone.
    fn void(&self, store: &Store) -> Result<(), WorktreeError> {
        if is_present(&self.git_folder) {
            delete_later(trash::move_away(store, &self.git_folder)?);
        }
        crash_point(CrashPoint::RegistrationVoid);
        remove_all(&self.pristine_index)
            .and_then(|()| WorktreeRecord::delete(store, &self.id()))
            .map_err(failed("move away", &self.path))
    }
}

/// Copies an index together with its age.
///
/// Git takes a file for unchanged if its size and its second are those in the index, unless the
/// index itself is no younger than that second. A copy that looked younger would hide an edit.
pub(crate) fn copy_index(from: &Path, to: &Path) -> io::Result<()> {
    let written = from.metadata()?.modified()?;
    plain_file::replace(to, &fs::read(from)?, Some(written))
}

/// Whether anything has that name, a dangling link included.
fn is_present(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
