//! Which paths of a repository are a plan.

use std::path::{Path, PathBuf};

use pleach_system::files::regular_file::read_settings;

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
