//! Linked worktrees of the store: one folder and one branch per task.
//!
//! Knows nothing of who works there; before one is removed, its caller has kept what is in it.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::git::{CommitId, GitError, Store, StoreError, ref_segment};

/// Why a worktree could not be made or removed.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// Something is there already, and it may hold work.
    #[error("could not make a worktree: {} is there already", path.display())]
    Exists {
        /// What is in the way.
        path: PathBuf,
    },
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
        let folder = spec.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(failed("create", folder))?;
        let worktree = Self::named(store, spec)?;
        worktree.register(store)?;
        let checked_out = worktree.check_out(store);
        if checked_out.is_err() {
            // Nobody has worked here yet, so there is nothing to keep; the first error counts.
            let _ = worktree.discard(store);
        }
        checked_out.map(|()| worktree)
    }

    /// Finds what is left of a worktree that was made before, whole or not.
    pub fn existing(store: &Store, spec: &WorktreeSpec) -> Result<Option<Self>, WorktreeError> {
        if !spec.path.parent().is_some_and(Path::is_dir) {
            return Ok(None);
        }
        let worktree = Self::named(store, spec)?;
        let is_there = is_present(&worktree.path) || is_present(&worktree.admin);
        Ok(is_there.then_some(worktree))
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

    /// Removes the files and the registration, after the caller has kept what is in them.
    pub fn remove(self, store: &Store) -> Result<(), WorktreeError> {
        self.discard(store)
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
        let file = self.admin.join("HEAD");
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

    /// Takes the folder, the branch and the name, or nothing of them.
    fn register(&self, store: &Store) -> Result<(), WorktreeError> {
        let _lock = store.lock("worktrees.lock")?;
        if let Some(taken) = [&self.path, &self.admin]
            .into_iter()
            .find(|path| is_present(path))
        {
            return Err(WorktreeError::Exists {
                path: taken.clone(),
            });
        }
        fs::create_dir(&self.path).map_err(failed("create", &self.path))?;
        let linked = self.link(store);
        if linked.is_err() {
            // It was made a moment ago; the first error counts.
            let _ = fs::remove_dir_all(&self.path);
        }
        linked
    }

    /// The last step brings the registration in as a whole, so that nobody's git sees half of it.
    fn link(&self, store: &Store) -> Result<(), WorktreeError> {
        let file = self.path.join(".git");
        let admin = line("gitdir: ", &self.admin);
        fs::write(&file, admin).map_err(failed("write", &file))?;
        self.take_branch(store)?;
        let stage = self.stage(store);
        remove_all(&stage)
            .and_then(|()| fs::create_dir_all(&stage))
            .and_then(|()| self.fill_admin(&stage))
            .and_then(|()| fs::create_dir_all(store.git_dir().join("worktrees")))
            .and_then(|()| fs::rename(&stage, &self.admin))
            .map_err(failed("set up", &self.admin))
    }

    /// Where the registration is built before it is in use, and taken apart afterwards.
    fn stage(&self, store: &Store) -> PathBuf {
        let name = format!("{}.{}", self.id(), std::process::id());
        store.git_dir().join("wt-stage").join(name)
    }

    fn take_branch(&self, store: &Store) -> Result<(), WorktreeError> {
        let name = self.branch_ref();
        let seen = store.ref_commit(&name)?;
        if seen.as_ref() == Some(&self.basis) {
            return Ok(());
        }
        if let Some(earlier) = &seen {
            store.keep(earlier, &self.branch)?;
        }
        Ok(store.swap_ref(&name, &self.basis, seen.as_ref())?)
    }

    fn fill_admin(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join("gitdir"), line("", &self.path.join(".git")))?;
        fs::write(folder.join("commondir"), "../..\n")?;
        fs::write(folder.join("HEAD"), format!("ref: {}\n", self.branch_ref()))?;
        // So that nobody's `git worktree prune` takes it away.
        fs::write(folder.join("locked"), "in use by pleach\n")
    }

    /// With our own git folder, so that no filter runs that an earlier agent configured.
    fn check_out(&self, store: &Store) -> Result<(), WorktreeError> {
        let index = &self.pristine_index;
        let folder = store.home().join("index");
        fs::create_dir_all(&folder).map_err(failed("create", &folder))?;
        remove_all(index).map_err(failed("replace", index))?;
        store
            .call()
            .work_tree(&self.path)
            .index(index)
            .args(["read-tree", "-m", "-u", self.basis.as_str()])
            .output()?;
        let own = self.admin.join("index");
        copy_index(index, &own).map_err(failed("write", &own))
    }

    /// Out of sight first, so that no half-deleted worktree is ever found.
    fn discard(&self, store: &Store) -> Result<(), WorktreeError> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let trash = tempfile::Builder::new()
            .prefix(".trash-")
            .tempdir_in(folder)
            .map_err(failed("create a folder in", folder))?
            .keep();
        {
            let _lock = store.lock("worktrees.lock")?;
            let gone = self.stage(store);
            fs::create_dir_all(&gone).map_err(failed("create", &gone))?;
            remove_all(&gone)
                .and_then(|()| move_if_present(&self.path, &trash.join("files")))
                .and_then(|()| move_if_present(&self.admin, &gone))
                .and_then(|()| remove_all(&gone))
                .and_then(|()| remove_all(&self.pristine_index))
                .map_err(failed("move away", &self.path))?;
        }
        delete_folder(&trash).map_err(failed("delete", &trash))
    }
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

fn remove_all(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => delete_folder(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn delete_folder(folder: &Path) -> io::Result<()> {
    if fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    // Tools leave read-only folders behind, which cannot be emptied.
    make_writable(folder)?;
    fs::remove_dir_all(folder)
}

fn make_writable(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}
