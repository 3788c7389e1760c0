//! Checks that the sizes which tasks of a plan choose are configured.
//!
//! Knows names alone; what a size gets of a machine is the cluster's business.

use std::path::Path;

use pleach_domain::choice::Where;
use pleach_domain::plan::Plan;
use pleach_domain::problem::{Problem, ProblemCode, nearest};

use crate::config::{Config, ConfigError, DEFAULT_SIZE, Settings};
use crate::plan_in_use::project_folder;

impl Settings {
    /// The names of all sizes that may be chosen.
    pub fn size_names(&self) -> impl Iterator<Item = &str> {
        let others = self.sizes.keys().map(String::as_str);
        std::iter::once(DEFAULT_SIZE).chain(others.filter(|name| *name != DEFAULT_SIZE))
    }

    /// Whether sizes mean nothing: a plan may hold the word for other programs and for people.
    pub(crate) fn has_no_sizes(&self) -> bool {
        self.sizes.is_empty() && self.place == Where::Local
    }

    /// What to do about a size that is not configured.
    pub fn size_hint(&self, name: &str) -> String {
        match nearest(name, self.size_names()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("configure it: pleach config set sizes.{name}.cpus 4 --repo"),
        }
    }
}

/// Adds an error for each open task of a plan that wants a size which the project around `folder` does not configure.
pub fn check_sizes_at(plan: &mut Plan, folder: &Path) -> Result<(), ConfigError> {
    // Most plans choose none, and need no configuration to be read.
    if plan.tasks.iter().any(|task| task.size.is_some()) {
        let settings = Settings::load(&project_folder(folder), Config::default())?;
        check_sizes(plan, &settings);
    }
    Ok(())
}

/// The same where the configuration is at hand.
pub fn check_sizes(plan: &mut Plan, settings: &Settings) {
    if settings.has_no_sizes() {
        return;
    }
    for task in plan.tasks.iter().filter(|task| !task.status.is_settled()) {
        let Some(size) = &task.size else { continue };
        let name = &size.name;
        if settings.size_names().any(|known| known == name) {
            continue;
        }
        let message = format!(
            "task {} wants the size {name}, which is not configured",
            task.id
        );
        let problem = Problem::new(ProblemCode::UnknownSize, message)
            .hint(settings.size_hint(name))
            .about([task.id.clone()]);
        plan.errors.push(match size.line {
            // A task of the board stands on no line.
            0 => problem,
            line => problem.at(line),
        });
    }
}

#[cfg(test)]
mod tests {
    use pleach_domain::id::TaskId;

    use super::*;

    #[test]
    fn a_size_means_nothing_where_none_is_configured_and_tasks_run_on_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let errors = |config: &str| {
            std::fs::write(folder.path().join("pleach.toml"), config).unwrap();
            let mut plan = pleach_formats::read("## Next\n\n### 1. A\n**Size**: M\n").plan;
            assert_eq!(plan.tasks[0].size.as_ref().unwrap().name, "M");
            check_sizes_at(&mut plan, folder.path()).unwrap();
            plan.errors.len()
        };
        assert_eq!(errors(""), 0);
        assert_eq!(errors("where = \"slurm\"\n"), 1);
        assert_eq!(errors("sizes.large.cpus = 2\n"), 1);
        assert_eq!(errors("sizes.M.cpus = 2\n"), 0);
    }

    #[test]
    fn a_size_that_is_not_configured_is_an_error_with_its_line_and_the_nearest_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("pleach.toml"),
            "[sizes.large]\ncpus = 2\n",
        )
        .unwrap();
        let text = "- [ ] 1.1 a (size: large)\n- [ ] 1.2 b (size: default)\n- [ ] 1.3 c\n  (size: lage)\n\
                    - [x] 1.4 d (size: gone)\n- [ ] 1.5 e (size: xyz)\n";
        let mut plan = pleach_formats::read(text).plan;
        check_sizes_at(&mut plan, folder.path()).unwrap();
        let told = plan.errors.iter().map(|error| {
            let tasks: Vec<&str> = error.tasks.iter().map(TaskId::as_str).collect();
            let hint = error.hint.as_deref().unwrap_or_default();
            (error.code.as_str(), error.line, tasks.join(" "), hint)
        });
        let set = "configure it: pleach config set sizes.xyz.cpus 4 --repo";
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                (
                    "unknown_size",
                    Some(4),
                    "1.3".to_owned(),
                    "did you mean large?"
                ),
                ("unknown_size", Some(6), "1.5".to_owned(), set),
            ]
        );
    }
}
