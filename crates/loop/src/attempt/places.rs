//! Where attempts of a batch work, and what differs where that is a folder of the user's.

use std::path::PathBuf;

use pleach_system::process::SweepScope;

use super::AttemptContext;
use pleach_git::git::Store;
use pleach_git::worktree::{Worktree, WorktreeError, WorktreeSpec};

/// Notes in the folder of a batch that the setup has run.
const SETUP_DONE: &str = "setup.done";

/// So many files are named, and more are counted.
const MOST_NAMED: usize = 3;

/// A machine of a cluster, for the programs on it.
#[derive(Debug)]
pub(crate) struct NodePlace {
    pub(crate) name: String,
    /// A folder on its own disk that stays for other attempts of the project, as long as it likes.
    pub(crate) cache: PathBuf,
}

impl AttemptContext {
    /// Whether all tasks work in a folder of the user's.
    pub(crate) fn is_in_place(&self) -> bool {
        self.shared_folder.is_some()
    }

    /// The folder that work fills.
    pub(crate) fn ground(&self) -> PathBuf {
        self.shared_folder.clone().unwrap_or(self.trees.clone())
    }

    pub(crate) fn tree_path(&self, segment: &str) -> PathBuf {
        let own = || self.trees.join(format!("task-{segment}"));
        self.shared_folder.clone().unwrap_or_else(own)
    }

    pub(crate) fn keep_name(&self, segment: &str, attempt: u32) -> String {
        format!("batch-{}/task-{segment}/attempt-{attempt}", self.number)
    }

    /// The setup to run before an agent: in a folder that all tasks share, only until it has run once.
    pub(super) fn setup_to_run(&self) -> Option<&String> {
        let setup = self.settings.setup.as_ref()?;
        let is_done = self.is_in_place() && self.folder.join(SETUP_DONE).exists();
        (!is_done).then_some(setup)
    }

    pub(super) fn note_setup(&self) {
        if self.is_in_place() {
            // One that is not noted runs again, which does no harm.
            let _ = std::fs::write(self.folder.join(SETUP_DONE), "");
        }
    }

    pub(crate) fn find_tree(&self, spec: &WorktreeSpec) -> Result<Option<Worktree>, WorktreeError> {
        let Some(folder) = &self.shared_folder else {
            return Worktree::existing(&self.store, spec);
        };
        let found = folder.is_dir().then(|| Worktree::create(&self.store, spec));
        found.transpose()
    }

    /// Which processes are an attempt's: in the user's own folder others are at work as well.
    pub(crate) fn sweeps(&self) -> SweepScope {
        if self.is_in_place() {
            SweepScope::Marked
        } else {
            SweepScope::MarkedAndThere
        }
    }
}

/// What is said of the files that a capture passed over, because they are too large or closed; once.
pub(crate) fn not_kept(store: &Store) -> Option<String> {
    let files = store.oversized_news();
    let named: Vec<String> = files
        .iter()
        .take(MOST_NAMED)
        .map(|path| path.display().to_string())
        .collect();
    let more = files.len().saturating_sub(named.len());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let named = named.join(", ");
    (!files.is_empty()).then(|| {
        format!("not kept, because larger than 100 MiB or not readable: {named}{more}; nothing happens to them")
    })
}
