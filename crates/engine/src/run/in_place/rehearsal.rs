//! What a batch in a folder that is no repository would do, looked up without keeping anything of the folder.
//!
//! Reads names only.

use std::fs;
use std::path::Path;

use pleach_git::git::{Git, Store};
use pleach_log::batch_paths::project_name;

use super::check_fit;
use crate::consent::{
    ChangeKind, Role, SteeringChange, SteeringFiles, SteeringSubject, is_steering,
};
use crate::run::rehearsal::{Rehearsal, consent};
use crate::run::{RunError, RunRequest};

/// Folders of dependencies and of other programs' books, which no capture takes.
const PASSED_OVER: [&str; 6] = [".git", ".hg", ".svn", ".jj", "node_modules", ".venv"];

pub(in crate::run) fn rehearse(request: &RunRequest) -> Result<Rehearsal, RunError> {
    let found = request.folder.canonicalize();
    let folder = found.map_err(RunError::io("find the folder"))?;
    check_fit(&request.state, &folder)?;
    let store = Store::imagined_plain(Git::find()?, &request.state.stores(), &folder)?;
    let steering = steering_files(&folder);
    let mut asked = consent(request, &project_name(&store), &SteeringFiles::default())?;
    asked.retain(|change| matches!(change.what, SteeringSubject::Setting(_)));
    let file =
        |path: &String| SteeringChange::of_file(path.clone(), ChangeKind::New, Role::of_file(path));
    asked.extend(steering.iter().map(file));
    Ok(Rehearsal {
        consent: asked,
        steering,
        ..Rehearsal::without_branches(request, &store)?
    })
}

/// The files that steer agents or Pleach; some of them may be ignored, and then nobody is asked about them.
fn steering_files(top: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        // What cannot be read is passed over when it is kept, too.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let is_passed_over = PASSED_OVER.iter().any(|name| entry.file_name() == *name);
                folders.extend((!is_passed_over).then_some(path));
            } else if let Ok(path) = path.strip_prefix(top) {
                let path = path.to_string_lossy().into_owned();
                found.extend(is_steering(&path).then_some(path));
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_agents_is_found_wherever_it_is_but_in_dependencies() {
        let place = tempfile::tempdir().unwrap();
        for path in [
            "AGENTS.md",
            "deep/er/CLAUDE.md",
            "node_modules/x/AGENTS.md",
            "README.md",
        ] {
            let path = place.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert_eq!(
            steering_files(place.path()),
            ["AGENTS.md", "deep/er/CLAUDE.md"]
        );
    }
}
