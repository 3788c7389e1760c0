//! Finds the plan that is meant when none is named.
//!
//! Knows where plans lie; `plan_file` opens them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pleach_domain::task::{Task, TaskStatus};
use pleach_system::files::regular_file::read_settings;

use crate::config::{Config, ConfigError, Settings};
use crate::plan_file::PlanFile;

#[derive(Debug, thiserror::Error)]
pub enum NoPlan {
    #[error("no plan found in {}", folder.display())]
    None { folder: PathBuf },
    #[error("several plans have open tasks: {}", names(plans))]
    Several { plans: Vec<PathBuf> },
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl NoPlan {
    pub fn hint(&self) -> String {
        match self {
            Self::None { .. } => "write a TODO.md, or pass --plan FILE".to_owned(),
            Self::Several { .. } => "choose one with --plan FILE".to_owned(),
            Self::Config(error) => error.hint(),
        }
    }
}

fn names(plans: &[PathBuf]) -> String {
    let names: Vec<String> = plans
        .iter()
        .map(|plan| plan.display().to_string())
        .collect();
    names.join(", ")
}

/// Where a plan is looked for last, in this order.
const FURTHER_PLACES: [&str; 6] = [
    "PLAN.md",
    "todo.md",
    "tasks.md",
    "docs/TODO.md",
    "specs/TODO.md",
    ".opencode/specs/TODO.md",
];

/// The top of the repository that a folder is in, or the folder itself.
pub fn project_folder(folder: &Path) -> PathBuf {
    let top = folder.ancestors().find(|above| above.join(".git").exists());
    top.unwrap_or(folder).to_owned()
}

/// The plan in use for somebody who stands in `folder`, as a path that works from there.
pub fn find(folder: &Path) -> Result<PathBuf, NoPlan> {
    let top = project_folder(folder);
    if let Some(plan) = Settings::load(&top, Config::default())?.plan {
        return Ok(seen_from(folder, &plan));
    }
    find_unconfigured(folder)
}

pub(crate) fn find_unconfigured(folder: &Path) -> Result<PathBuf, NoPlan> {
    let top = project_folder(folder);
    let pointer = load_pointer(&top.join(".claude/current-plan.txt"))?;
    if let Some(plan) = pointer.lines().map(str::trim).find(|line| !line.is_empty()) {
        return Ok(seen_from(folder, &top.join(plan)));
    }
    let todo = top.join("TODO.md");
    if todo.is_file() {
        return Ok(seen_from(folder, &todo));
    }
    let mut plans: Vec<PathBuf> = markdown_in(&top.join("docs/plans"));
    plans.retain(|plan| has_open_tasks(plan));
    match plans.as_slice() {
        [] => {
            let mut further = FURTHER_PLACES.iter().map(|place| top.join(place));
            let found = further.find(|plan| has_tasks(plan));
            let found = found.map(|plan| seen_from(folder, &plan));
            found.ok_or(NoPlan::None { folder: top })
        }
        [only] => Ok(seen_from(folder, only)),
        _ => Err(NoPlan::Several {
            plans: plans.iter().map(|plan| seen_from(folder, plan)).collect(),
        }),
    }
}

/// What a file says that names the plan; one that is not there says nothing.
fn load_pointer(path: &Path) -> Result<String, ConfigError> {
    match read_settings(path) {
        Ok(text) => Ok(text),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(String::new())
        }
        Err(source) => Err(ConfigError::Io {
            path: path.to_owned(),
            source,
        }),
    }
}

fn seen_from(folder: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(folder).unwrap_or(path).to_owned()
}

fn markdown_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    found.sort();
    found
}

fn has_open_tasks(plan: &Path) -> bool {
    let is_open = |task: &Task| matches!(task.status, TaskStatus::Pending | TaskStatus::InProgress);
    tasks_in(plan).iter().any(is_open)
}

/// Files of these names may be anything; a plan has tasks.
fn has_tasks(plan: &Path) -> bool {
    plan.is_file() && !tasks_in(plan).is_empty()
}

fn tasks_in(plan: &Path) -> Vec<Task> {
    let file = PlanFile::load(plan).ok();
    file.map_or_else(Vec::new, |file| {
        pleach_formats::read(file.text()).plan.tasks
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_first_place_that_has_a_plan_wins() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        fs::create_dir_all(top.join("docs/plans")).unwrap();
        fs::create_dir_all(top.join(".claude")).unwrap();
        assert!(matches!(find(top), Err(NoPlan::None { .. })));
        fs::write(top.join("docs/plans/a.md"), "- [ ] a").unwrap();
        fs::write(top.join("docs/plans/done.md"), "- [x] a").unwrap();
        assert_eq!(find(top).unwrap(), Path::new("docs/plans/a.md"));
        fs::write(top.join("docs/plans/b.md"), "- [ ] b").unwrap();
        assert!(matches!(find(top), Err(NoPlan::Several { plans }) if plans.len() == 2));
        fs::write(top.join("TODO.md"), "").unwrap();
        assert_eq!(find(top).unwrap(), Path::new("TODO.md"));
        fs::write(top.join(".claude/current-plan.txt"), "docs/plans/b.md\n").unwrap();
        assert_eq!(find(top).unwrap(), Path::new("docs/plans/b.md"));
        fs::write(top.join("pleach.toml"), "plan = \"other.md\"").unwrap();
        assert_eq!(find(top).unwrap(), Path::new("other.md"));
    }

    #[test]
    fn further_places_are_looked_at_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        fs::create_dir_all(top.join("docs")).unwrap();
        fs::create_dir_all(top.join(".opencode/specs")).unwrap();
        fs::create_dir_all(top.join("specs")).unwrap();
        for place in [
            ".opencode/specs/TODO.md",
            "specs/TODO.md",
            "docs/TODO.md",
            "tasks.md",
            "todo.md",
            "PLAN.md",
        ] {
            fs::write(top.join(place), "- [x] a").unwrap();
            assert_eq!(find(top).unwrap(), Path::new(place));
        }
        fs::write(top.join("PLAN.md"), "no task").unwrap();
        assert_eq!(find(top).unwrap(), Path::new("todo.md"));
    }

    #[test]
    fn a_subfolder_finds_the_plan_of_its_repository() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git")).unwrap();
        fs::create_dir_all(folder.path().join("src/deep")).unwrap();
        fs::write(folder.path().join("TODO.md"), "").unwrap();
        assert_eq!(
            find(&folder.path().join("src/deep")).unwrap(),
            folder.path().join("TODO.md")
        );
    }
}
