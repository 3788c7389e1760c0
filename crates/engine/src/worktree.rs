//! Linked worktrees of the store: one folder and one branch per task.
//!
//! Knows nothing of who works there; takes one away only for proof that what is in it is kept.

mod include;
mod list;
mod record;
mod sweep;
mod trash;
mod unmerged;

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::capture::{CaptureError, Kept, keep_last_state};
use crate::git::{CommitId, GitError, Store, StoreError, ref_segment};
use crate::step::{Step, reached};

pub use include::{Included, NotCopied, Why};
pub use list::{Listed, TreeState, list};
pub use sweep::sweep;
pub use trash::finish_removals;
pub(crate) use unmerged::StoppedMerge;

use record::{Record, Stage};
use trash::{Waste, delete_later, remove_all};

/// Files are dated by a clock that stands still for up to 10 ms.
pub(crate) const CLOCK_TICK: Duration = Duration::from_millis(10);

/// Whoever adds or removes a worktree of a store holds it.
const LOCK: &str = "worktrees.lock";

/// The file in a worktree's registration that says where it is; without it, git passes over the rest.
const GITDIR: &str = "gitdir";

/// So often a branch is taken before giving up.
const TRIES: usize = 4;

/// Why a worktree could not be made or removed.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// Something is there already, and it may hold work.
    #[error("could not make a worktree: {} is there already", path.display())]
    Exists {
        /// What is in the way.
        path: PathBuf,
    },
    /// The proof is of another worktree.
    #[error("could not remove {}: what is in it is not kept", path.display())]
    NotKept {
        /// The worktree.
        path: PathBuf,
    },
    /// What is in a worktree could not be kept, so it stays.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Files could not be written or moved.
    #[error("could not {doing} {}", path.display())]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Git itself failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WorktreeError {
    let path = path.to_owned();
    move |source| WorktreeError::Io {
        doing,
        path,
        source,
    }
}

/// The worktree that is wanted.
#[derive(Debug, Clone)]
pub struct WorktreeSpec {
    /// The folder to make, as an absolute path; the one above it is made as well.
    pub path: PathBuf,
    /// The branch to check out, without `refs/heads/`.
    pub branch: String,
    /// The commit it starts from.
    pub basis: CommitId,
}

/// A linked worktree of the store.
#[derive(Debug, Clone)]
pub struct Worktree {
    path: PathBuf,
    branch: String,
    basis: CommitId,
    admin: PathBuf,
    pristine_index: PathBuf,
}

impl Worktree {
    /// Makes a worktree; a branch that an earlier attempt left behind is kept and begun anew.
    pub fn create(store: &Store, spec: &WorktreeSpec) -> Result<Self, WorktreeError> {
        wait_for_earlier(store, spec)?;
        // What cannot be cleared up now is in nobody's way, or found to be so below.
        let _ = sweep(store);
        store.adopt_excludes()?;
        let folder = spec.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(failed("create", folder))?;
        let worktree = Self::named(store, spec)?;
        worktree.register(store)?;
        reached(Step::WorktreeRegistered);
        let made = worktree.check_out(store).and_then(|()| {
            reached(Step::WorktreeFilled);
            worktree.note(store, Stage::Made)
        });
        if made.is_err() {
            // Nobody has worked here yet, so there is nothing to keep; the first error counts.
            let _ = worktree.discard(store);
        }
        made.map(|()| worktree)
    }

    /// Finds what is left of a worktree that was made before, whole or not.
    pub fn existing(store: &Store, spec: &WorktreeSpec) -> Result<Option<Self>, WorktreeError> {
        wait_for_earlier(store, spec)?;
        sweep(store)?;
        store.adopt_excludes()?;
        if !spec.path.parent().is_some_and(Path::is_dir) {
            return Ok(None);
        }
        let worktree = Self::named(store, spec)?;
        let is_there = is_present(&worktree.path) || worktree.is_registered(store);
        Ok(is_there.then_some(worktree))
    }

    /// Finds a worktree by its branch, if it was made and has not gone.
    pub(crate) fn on_branch(store: &Store, branch: &str) -> Option<Self> {
        let record = Record::load(store, &ref_segment(branch))?;
        let is_made = record.stage == Stage::Made && record.branch == branch;
        is_made.then(|| Self::of_record(store, &record))
    }

    /// The folder with the files.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The branch that was checked out in the beginning.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// The commit it started from.
    pub fn basis(&self) -> &CommitId {
        &self.basis
    }

    /// Removes the files and the registration of a worktree whose content is kept.
    ///
    /// The files go out of sight at once and are deleted behind; [`finish_removals`] waits for that.
    pub fn remove(self, store: &Store, kept: &Kept) -> Result<(), WorktreeError> {
        if kept.path() != self.path {
            return Err(WorktreeError::NotKept { path: self.path });
        }
        self.discard(store)
    }

    /// Removes a worktree in which nobody worked, whatever programs have left there.
    pub(crate) fn clear(self, store: &Store) -> Result<(), WorktreeError> {
        self.discard(store)
    }

    /// Keeps the last state under `refs/pleach/keep/` and removes the worktree then.
    ///
    /// Returns the commit that holds it, unless it is the basis.
    pub fn retire(self, store: &Store, keep_as: &str) -> Result<Option<CommitId>, WorktreeError> {
        let kept = keep_last_state(store, &self, keep_as)?;
        self.remove(store, &kept)?;
        Ok(kept.into_commit())
    }

    pub(crate) fn branch_ref(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    /// The name of this worktree among those of its store.
    fn id(&self) -> String {
        ref_segment(&self.branch)
    }

    /// The folder in which git notes what this worktree is at; agents can write to it.
    pub(crate) fn admin(&self) -> &Path {
        &self.admin
    }

    /// What the worktree is at, read without asking the agent's git: a ref or a commit.
    pub(crate) fn head_name(&self) -> Option<String> {
        head_name(&self.admin)
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
            admin: store.git_dir().join("worktrees").join(&id),
            pristine_index: store.home().join("index").join(&id),
        })
    }

    /// The worktree that a record tells of.
    fn of_record(store: &Store, record: &Record) -> Self {
        let id = ref_segment(&record.branch);
        Self {
            path: record.path.clone(),
            branch: record.branch.clone(),
            basis: record.basis.clone(),
            admin: store.git_dir().join("worktrees").join(&id),
            pristine_index: store.home().join("index").join(&id),
        }
    }

    fn note(&self, store: &Store, stage: Stage) -> Result<(), WorktreeError> {
        let record = Record {
            stage,
            sign: store.sign()?,
            path: self.path.clone(),
            branch: self.branch.clone(),
            basis: self.basis.clone(),
        };
        let saved = record.save(store, &self.id());
        saved.map_err(failed("write the record of", &self.path))
    }

    /// Takes the folder, the branch and the name, or nothing of them.
    fn register(&self, store: &Store) -> Result<(), WorktreeError> {
        let _lock = store.lock(LOCK)?;
        self.clear_way(store)?;
        if let Some(taken) = [&self.path, &self.admin]
            .into_iter()
            .find(|path| is_present(path))
        {
            return Err(WorktreeError::Exists {
                path: taken.clone(),
            });
        }
        // Before there is anything, so that whatever a killed process leaves is known for what it is.
        self.note(store, Stage::Making)?;
        reached(Step::WorktreeNoted);
        let linked = fs::create_dir(&self.path)
            .map_err(failed("create", &self.path))
            .and_then(|()| self.link(store));
        if linked.is_err() {
            // It was made a moment ago; the first error counts.
            let _ = self.put_away(store);
        }
        linked
    }

    /// Takes away what is left of an earlier worktree of that name, if nothing of it can be lost.
    fn clear_way(&self, store: &Store) -> Result<(), WorktreeError> {
        if let Some(record) = Record::load(store, &self.id()) {
            if record.stage != Stage::Made && !store.is_alive(&record.sign)? {
                Self::of_record(store, &record).put_away(store)?;
            } else if record.path != self.path && is_present(&record.path) {
                return Err(WorktreeError::Exists { path: record.path });
            }
        }
        if self.is_registered(store) && !is_present(&self.path) {
            // The files are gone, and where the worktree was is all that is left to keep.
            let head = self.head_name().unwrap_or_default();
            let head = store.look_up(&[format!("{head}^{{commit}}")])?;
            if let Some(head) = head.into_iter().flatten().next() {
                let head = head.parse().map_err(|_| GitError::Garbled {
                    what: "cat-file".into(),
                    printed: head,
                })?;
                store.keep(&head, &self.branch)?;
            }
            self.put_away(store)?;
        }
        self.clear_registration(store)
    }

    /// The last step brings the registration in as a whole, so that nobody's git sees half of it.
    fn link(&self, store: &Store) -> Result<(), WorktreeError> {
        self.write_git_file()
            .map_err(failed("write to", &self.path))?;
        self.take_branch(store)?;
        reached(Step::BranchTaken);
        let stage = self.stage(store)?;
        remove_all(&stage)
            .and_then(|()| fs::create_dir_all(&stage))
            .and_then(|()| self.fill_admin(&stage))
            .and_then(|()| fs::create_dir_all(store.git_dir().join("worktrees")))
            .and_then(|()| fs::rename(&stage, &self.admin))
            .map_err(failed("set up", &self.admin))
    }

    fn write_git_file(&self) -> io::Result<()> {
        fs::write(self.path.join(".git"), line("gitdir: ", &self.admin))
    }

    /// Where the registration is built before it is in use, and taken apart afterwards.
    fn stage(&self, store: &Store) -> Result<PathBuf, WorktreeError> {
        let name = format!("{}.{}", self.id(), store.sign()?);
        Ok(store.git_dir().join("wt-stage").join(name))
    }

    /// Again if the branch moved meanwhile: a git that outlived its Pleach may be at it.
    fn take_branch(&self, store: &Store) -> Result<(), WorktreeError> {
        for _ in 1..TRIES {
            if self.try_to_take_branch(store).is_ok() {
                return Ok(());
            }
        }
        self.try_to_take_branch(store)
    }

    fn try_to_take_branch(&self, store: &Store) -> Result<(), WorktreeError> {
        let name = self.branch_ref();
        store.clear_lock_of(&name)?;
        let Err(error) = store.swap_ref(&name, &self.basis, None) else {
            return Ok(());
        };
        let Some(earlier) = store.ref_commit(&name)? else {
            return Err(error.into());
        };
        if earlier == self.basis {
            return Ok(());
        }
        store.keep(&earlier, &self.branch)?;
        Ok(store.swap_ref(&name, &self.basis, Some(&earlier))?)
    }

    fn fill_admin(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join(GITDIR), line("", &self.path.join(".git")))?;
        fs::write(folder.join("commondir"), "../..\n")?;
        fs::write(folder.join("HEAD"), format!("ref: {}\n", self.branch_ref()))?;
        // So that nobody's `git worktree prune` takes it away.
        fs::write(folder.join("locked"), "in use by pleach\n")
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
            .index(&index)
            .args(["read-tree", "-m", "-u", self.basis.as_str()])
            .output()?;
        let own = self.admin.join("index");
        self.date_index(&index)
            .and_then(|()| copy_index(&index, &own))
            .and_then(|()| fs::rename(&index, &self.pristine_index))
            .map_err(failed("write", &own))
    }

    /// Gives the index the present time by the clock that dates the files, which may be another
    /// machine's: nobody has touched a file yet, and whoever does later leaves a later date.
    fn date_index(&self, index: &Path) -> io::Result<()> {
        // Otherwise the last files would have to be read whenever somebody asks whether they changed.
        thread::sleep(2 * CLOCK_TICK);
        self.write_git_file()?;
        let now = self.path.join(".git").metadata()?.modified()?;
        let file = fs::File::options().write(true).open(index)?;
        file.set_modified(now)
    }

    fn discard(&self, store: &Store) -> Result<(), WorktreeError> {
        let _lock = store.lock(LOCK)?;
        self.put_away(store)
    }

    /// Out of sight first, so that no half-deleted worktree is ever found; under the lock.
    fn put_away(&self, store: &Store) -> Result<(), WorktreeError> {
        self.note(store, Stage::Going)?;
        if is_present(&self.path) {
            delete_later(trash::move_away(store, &self.path)?);
            reached(Step::FilesMovedAway);
        }
        remove_all(&self.admin.join(GITDIR))
            .and_then(|()| remove_all(&self.pristine_index))
            .and_then(|()| {
                reached(Step::RegistrationVoid);
                Record::delete(store, &self.id())
            })
            .map_err(failed("move away", &self.path))?;
        if is_present(&self.admin) {
            delete_later(Waste::of_registration(store, &self.admin));
        }
        Ok(())
    }

    /// Whether there is a registration, and not just what is left of one.
    fn is_registered(&self, store: &Store) -> bool {
        let is_known = || Record::load(store, &self.id()).is_some();
        is_present(&self.admin) && (is_present(&self.admin.join(GITDIR)) || is_known())
    }

    /// What is left of the registration of a worktree that went is in nobody's way.
    fn clear_registration(&self, store: &Store) -> Result<(), WorktreeError> {
        if is_present(&self.admin) && !is_present(&self.admin.join(GITDIR)) {
            let gone = self.stage(store)?;
            remove_all(&gone)
                .and_then(|()| fs::create_dir_all(gone.parent().unwrap_or(&gone)))
                .and_then(|()| move_if_present(&self.admin, &gone))
                .and_then(|()| remove_all(&gone))
                .map_err(failed("move away", &self.admin))?;
        }
        Ok(())
    }
}

/// What a worktree is at, from its folder in git's own: a ref or a commit.
fn head_name(admin: &Path) -> Option<String> {
    let file = admin.join("HEAD");
    // A pipe would hold us up.
    if !file.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        return None;
    }
    let head = fs::read_to_string(&file).ok()?;
    let head = head.trim_end();
    let name = head.strip_prefix("ref: ").unwrap_or(head);
    // Anything else would be looked up as an expression.
    let is_name = name.starts_with("refs/") || name.parse::<CommitId>().is_ok();
    is_name.then(|| name.to_owned())
}

/// Copies an index together with its age.
///
/// Git takes a file for unchanged if its size and its second are those in the index, unless the
/// index itself is no younger than that second. A copy that looked younger would hide an edit.
pub(crate) fn copy_index(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    let written = from.metadata()?.modified()?;
    fs::File::options()
        .write(true)
        .open(to)?
        .set_modified(written)
}

/// A process that was killed may have left a git behind that is still writing to the same place.
fn wait_for_earlier(store: &Store, spec: &WorktreeSpec) -> Result<(), WorktreeError> {
    let record = Record::load(store, &ref_segment(&spec.branch));
    let us = store.sign()?;
    match record.filter(|record| record.sign != us) {
        Some(record) => Ok(store.wait_for_end(&record.sign)?),
        None => Ok(()),
    }
}

/// A line of one of git's own files, whose paths need not be text.
fn line(before: &str, path: &Path) -> Vec<u8> {
    [before.as_bytes(), path.as_os_str().as_bytes(), b"\n"].concat()
}

/// Whether anything has that name, a dangling link included.
fn is_present(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn move_if_present(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
