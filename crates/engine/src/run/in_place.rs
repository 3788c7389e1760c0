//! Batches that run in a folder which is no repository: whether they may, what they start from, and what differs.
//!
//! Their tasks work in the folder itself, one by one. Knows nothing of agents.

mod folder_lock;
mod rehearsal;

use std::path::{Path, PathBuf};

use pleach_domain::batch::Validation;
use pleach_domain::choice::{Landing, RunMode, Strategy};
use pleach_git::capture::tree_of_folder;
use pleach_git::git::{CommitId, Git, Store};
use pleach_git::worktree::CaptureError;
use pleach_log::batch_paths::WorkPlace;
use pleach_system::files::stored_path::StoredPath;
use pleach_system::sandbox::keys_but;
use pleach_system::state_folder::StateFolder;

use super::RunError;
use crate::batch_record::BatchRecord;
use crate::config::users_file;

pub use folder_lock::FolderLock;
pub(super) use rehearsal::rehearse;

/// Why a batch cannot run in a folder that is no repository.
#[derive(Debug, thiserror::Error)]
pub enum InPlaceError {
    /// Nobody asked for it, and tasks cannot run side by side there.
    #[error(
        "{} is not a git repository; parallel mode requires one",
        folder.display()
    )]
    NeedsRepository { folder: PathBuf },
    /// The folder is too much, or not the user's to give away.
    #[error("tasks cannot run in {}: {because}", folder.display())]
    Unfit {
        folder: PathBuf,
        because: &'static str,
    },
    #[error("another batch is running in {}; only one can run in a folder at a time", folder.display())]
    Busy {
        /// The folder, which may be one above or below.
        folder: PathBuf,
    },
}

impl InPlaceError {
    pub fn code(&self) -> &'static str {
        match self {
            Self::NeedsRepository { .. } => "needs_repository",
            Self::Unfit { .. } => "unfit_folder",
            Self::Busy { .. } => "folder_busy",
        }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            Self::NeedsRepository { .. } => {
                "run `git init` and commit something, or run the tasks one at a time in the folder itself: \
                 pleach run --mode queue"
            }
            Self::Unfit { .. } => "create a folder for the project and run there",
            Self::Busy { .. } => "`pleach status` shows it; wait until it finishes, or cancel it",
        }
    }
}

/// Where tasks work that somebody runs from a folder: in place only where there is no repository, and only when
/// asked for.
pub fn where_tasks_work(folder: &Path, mode: RunMode) -> Result<WorkPlace, RunError> {
    if !Store::is_plain(&Git::find()?, folder) {
        return Ok(WorkPlace::Worktrees);
    }
    match mode {
        RunMode::Queue | RunMode::Serial => Ok(WorkPlace::InPlace),
        RunMode::Parallel => {
            let folder = folder.to_owned();
            Err(InPlaceError::NeedsRepository { folder }.into())
        }
    }
}

/// Opens the store of a folder for a batch that runs there, and holds the folder as long as the lock lives.
pub(super) fn open(
    state: &StateFolder,
    folder: &Path,
    leave_out: Vec<PathBuf>,
) -> Result<(Store, FolderLock), RunError> {
    let found = folder.canonicalize();
    let folder = found.map_err(RunError::io("find the folder"))?;
    check_fit(state, &folder)?;
    let store = Store::open_plain(Git::find()?, &state.stores(), &folder, leave_out)?;
    let lock = FolderLock::take(state, &store, &folder)?;
    Ok((store, lock))
}

/// The commit that a batch starts from: the folder as it is.
pub(super) fn base(store: &Store) -> Result<CommitId, RunError> {
    Ok(store.anchor_state(&tree_of_folder(store)?)?)
}

fn check_fit(state: &StateFolder, folder: &Path) -> Result<(), InPlaceError> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let home = home.and_then(|home| Path::new(&home).canonicalize().ok());
    let stores = state.stores();
    let own = stores.parent().unwrap_or(&stores);
    let config = users_file().and_then(|file| file.parent()?.canonicalize().ok());
    let overlaps = |other: &Path| other.starts_with(folder) || folder.starts_with(other);
    let because = if folder.parent().is_none() {
        "it is the root of the file system"
    } else if home.is_some_and(|home| home.starts_with(folder)) {
        "it is or contains your home folder"
    } else if own.starts_with(folder) {
        "it contains Pleach's own files"
    } else if folder.starts_with(own) {
        "it is inside Pleach's own folder"
    } else if config.is_some_and(|config| overlaps(&config)) {
        "it contains your Pleach configuration"
    } else if keys_but(&[]).iter().any(|key| overlaps(key)) {
        "it contains keys or passwords"
    } else {
        return Ok(());
    };
    let folder = folder.to_owned();
    Err(InPlaceError::Unfit { folder, because })
}

/// The plan's paths within a folder, whose changes are no part of any work.
pub(super) fn paths_of_plan(plan: &Path, folder: &Path) -> Vec<PathBuf> {
    let Ok(folder) = folder.canonicalize() else {
        return Vec::new();
    };
    let above = plan.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new(".")).canonicalize().ok();
    // A plan behind a link is at two places.
    let named = above.zip(plan.file_name());
    let named = named.map(|(above, name)| above.join(name));
    let places = [named, plan.canonicalize().ok()].into_iter().flatten();
    let mut paths: Vec<PathBuf> = places
        .filter_map(|place| Some(place.strip_prefix(&folder).ok()?.to_owned()))
        .collect();
    paths.dedup();
    paths
}

impl BatchRecord {
    /// What is asked for, as far as it can be done without branches.
    pub(super) fn put_in_place(&mut self, leave_out: &[PathBuf]) {
        self.place = WorkPlace::InPlace;
        if let Ok(folder) = self.folder.canonicalize() {
            self.folder = folder;
        }
        self.attempts.leave_out = leave_out.iter().cloned().map(StoredPath).collect();
        self.merge = Strategy::Merge;
        // One task at a time conflicts with nobody.
        self.radar = None;
        let settings = &mut self.design.settings;
        settings.landing = Landing::Nowhere;
        // Nothing can be left out of a folder.
        if settings.validation == Validation::Drop {
            settings.validation = Validation::Fail;
        }
    }
}

impl From<CaptureError> for RunError {
    fn from(error: CaptureError) -> Self {
        Self::Worktree(Box::new(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_holds_the_state_folder_or_lies_in_it_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().canonicalize().unwrap();
        let state = StateFolder::at(&top.join("own/state")).unwrap();
        for (folder, expected) in [
            ("/".into(), Some("the root")),
            (top.clone(), Some("contains Pleach's own")),
            (top.join("own"), Some("contains Pleach's own")),
            (top.join("own/state"), Some("contains Pleach's own")),
            (top.join("own/state/stores/x"), Some("inside Pleach's own")),
            (top.join("own/other"), None),
            (top.join("beside"), None),
        ] {
            let refused = check_fit(&state, &folder).err();
            let said = refused.map(|error| error.to_string()).unwrap_or_default();
            assert_eq!(said.is_empty(), expected.is_none(), "{said}");
            assert!(said.contains(expected.unwrap_or_default()), "{said}");
        }
    }

    #[test]
    fn a_plan_behind_a_link_is_left_out_at_both_places() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap();
        std::fs::create_dir(folder.join("docs")).unwrap();
        std::fs::write(folder.join("docs/real.md"), "").unwrap();
        std::os::unix::fs::symlink("docs/real.md", folder.join("TODO.md")).unwrap();
        let both = paths_of_plan(&folder.join("TODO.md"), &folder);
        assert_eq!(both, [Path::new("TODO.md"), Path::new("docs/real.md")]);
        let one = paths_of_plan(&folder.join("docs/real.md"), &folder);
        assert_eq!(one, [Path::new("docs/real.md")]);
        assert!(paths_of_plan(Path::new("/elsewhere/plan.md"), &folder).is_empty());
    }
}
