//! What a batch is replayed into: its folders, the names of its tasks in paths, its times, and which paths are its plan.

use std::path::{Path, PathBuf};

use pleach_domain::history::History;
use pleach_domain::id::BatchNumber;
use pleach_log::batch_paths::project_name;
use pleach_log::database::StoredEvent;
use pleach_system::files::regular_file::read_settings;

use super::Prepared;
use super::run_loop::Loop;

impl Prepared {
    pub(super) fn trees(&self, number: BatchNumber) -> PathBuf {
        let root = self.record.worktrees.as_ref().map(|root| root.0.as_path());
        let project = project_name(&self.store);
        self.state.worktrees(root, &project, number)
    }

    pub(super) fn history(&self, events: &[StoredEvent]) -> History {
        let mut history = History::new(&self.record.design);
        for stored in events {
            history.take_in(&stored.event, stored.at);
        }
        history
    }
}

impl Loop<'_> {
    pub(super) fn segment(&self, task: usize) -> String {
        self.record.tasks[task].segment()
    }
}

/// The plan's paths within the repository, whose changes by agents are no part of their work.
pub(super) fn paths_of_plan(plan: &Path, folder: &Path) -> Vec<PathBuf> {
    let Some(project) = folder
        .canonicalize()
        .ok()
        .and_then(|folder| repository_of(&folder))
    else {
        return Vec::new();
    };
    // A plan behind a link is at two places.
    let linked = plan.parent().map(|above| {
        if above.as_os_str().is_empty() {
            Path::new(".")
        } else {
            above
        }
    });
    let linked = linked.and_then(|above| above.canonicalize().ok());
    let linked = linked
        .zip(plan.file_name())
        .map(|(above, name)| above.join(name));
    let mut paths: Vec<PathBuf> = [linked, plan.canonicalize().ok()]
        .into_iter()
        .flatten()
        .filter_map(|plan| {
            let found = repository_of(plan.parent()?)?;
            let inside = plan.strip_prefix(&found.top).ok()?;
            (found.common_dir == project.common_dir).then(|| inside.to_owned())
        })
        .collect();
    paths.dedup();
    paths
}

/// The top of a checkout and the git folder it shares with others.
struct Repository {
    top: PathBuf,
    common_dir: PathBuf,
}

fn repository_of(folder: &Path) -> Option<Repository> {
    let top = folder
        .ancestors()
        .find(|above| above.join(".git").exists())?;
    let dot_git = top.join(".git");
    let git_dir = match read_settings(&dot_git) {
        Ok(pointer) => top.join(pointer.trim().strip_prefix("gitdir: ")?),
        Err(_) => dot_git,
    };
    let common_dir = match read_settings(&git_dir.join("commondir")) {
        Ok(pointer) => git_dir.join(pointer.trim()),
        Err(_) => git_dir,
    };
    Some(Repository {
        top: top.to_owned(),
        common_dir: common_dir.canonicalize().ok()?,
    })
}
