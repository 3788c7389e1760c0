//! The settings that hold: how they come about, and what follows from several of them together.
//!
//! Knows nothing of where a layer is from; the fields are those of `keys`.

use std::path::Path;

use pleach_domain::batch::{Approval, Budget, Mode};
use pleach_domain::choice::{RunMode, Where};
use pleach_domain::governor::first_guess;

use super::kinds::{Parallel, ValueKind as _};
use super::{MOST_HERE, MaxParallel};
use crate::config::{Config, ConfigError, Layers, Settings};
use pleach_log::branches::{BranchNames, PatternFault, check};
use pleach_system::files::regular_file::read_settings;

impl Settings {
    /// Reads what is configured for a repository, with the flags of a command on top.
    pub fn load(repository: &Path, flags: Config) -> Result<Self, ConfigError> {
        Self::of_layers(&Layers::load(repository)?.with_flags(flags), repository)
    }

    /// Lays layers upon each other, later ones on top; paths are meant from the repository.
    pub fn of(
        layers: impl IntoIterator<Item = Config>,
        repository: &Path,
    ) -> Result<Self, ConfigError> {
        Self::of_layers(&Layers::unnamed(layers), repository)
    }

    /// The same of layers that are known by their names.
    pub fn of_layers(layers: &Layers, repository: &Path) -> Result<Self, ConfigError> {
        let settings = layers.merged().settled(repository)?;
        settings.check_branches(layers)?;
        settings.check_parallel(layers)?;
        Ok(settings)
    }

    /// Whether what is about to stand in a file fits together, wherever batches run by what other layers say.
    pub(super) fn check_file(file: Config, repository: &Path) -> Result<(), ConfigError> {
        // What is wrong elsewhere is told when that is read.
        let others = Layers::load(repository).unwrap_or_default();
        Self::of([others.place(), file], repository).map(drop)
    }

    pub(crate) fn branch_names(&self) -> BranchNames {
        BranchNames {
            prefix: self.branch_prefix.clone(),
            task: self.task_branch.clone(),
            batch: self.batch_branch.clone(),
        }
    }

    pub fn turns(&self, tasks: usize) -> Mode {
        let approval = match self.mode {
            RunMode::Parallel => {
                return Mode::Parallel {
                    slots: self.slots(tasks),
                };
            }
            RunMode::Queue if !self.queue_auto_approve => Approval::ByPerson,
            RunMode::Queue | RunMode::Serial => Approval::Automatic,
        };
        Mode::Queue { approval }
    }

    fn slots(&self, tasks: usize) -> usize {
        match self.max_parallel {
            MaxParallel::AtMost(number) => number,
            MaxParallel::Auto if self.place == Where::Local => first_guess(tasks),
            // The cluster does the pacing.
            MaxParallel::Auto => self.cluster_most,
        }
    }

    /// Whether the number of slots follows this machine.
    pub(crate) fn has_auto_slots(&self) -> bool {
        self.max_parallel == MaxParallel::Auto && self.place == Where::Local
    }

    pub fn budget(&self) -> Budget {
        Budget {
            micro_usd: self.budget_usd,
            tokens: self.budget_tokens,
        }
    }

    pub fn task_budget(&self) -> Budget {
        Budget {
            micro_usd: self.task_budget_usd,
            tokens: self.task_budget_tokens,
        }
    }

    /// The patterns of branches have to fit together, whoever set them.
    fn check_branches(&self, layers: &Layers) -> Result<(), ConfigError> {
        let faults = check(&self.branch_names()).into_iter();
        let faults = faults.map(|PatternFault { key, why }| ConfigError::Branches {
            origin: layers.origin_of(key),
            key,
            why,
        });
        ConfigError::check(faults.collect())
    }

    /// How many tasks may run at once: a cluster bears more than this machine.
    fn most_parallel(&self) -> usize {
        match self.place {
            Where::Local => MOST_HERE,
            Where::Slurm => self.cluster_most,
        }
    }

    fn check_parallel(&self, layers: &Layers) -> Result<(), ConfigError> {
        let most = self.most_parallel();
        let wanted = match self.place {
            Where::Local => Parallel::wanted(),
            Where::Slurm => format!("a number from 1 to {most} (cluster.most), or \"auto\""),
        };
        match self.max_parallel {
            MaxParallel::AtMost(number) if number > most => Err(ConfigError::Wrong {
                origin: layers.origin_of("max_parallel"),
                key: "max_parallel".to_owned(),
                wanted,
                nearest: None,
            }),
            _ => Ok(()),
        }
    }

    pub(crate) fn load_prompt(&self) -> Result<Option<String>, ConfigError> {
        let Some(path) = &self.prompt else {
            return Ok(None);
        };
        let text = read_settings(path);
        text.map(Some).map_err(|source| ConfigError::Io {
            path: path.clone(),
            source,
        })
    }
}

impl Layers {
    /// What they say of where batches run, and nothing else.
    fn place(self) -> Config {
        let all = self.merged();
        Config {
            place: all.place,
            cluster_most: all.cluster_most,
            ..Config::default()
        }
    }

    /// How many tasks may run at once, wherever they have batches run.
    pub fn most_parallel(self) -> usize {
        let settings = Settings::of([self.place()], Path::new("/"));
        settings.map_or(MOST_HERE, |settings| settings.most_parallel())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn of(layers: impl IntoIterator<Item = Config>) -> Settings {
        Settings::of(layers, Path::new("/project")).unwrap()
    }

    #[test]
    fn what_nobody_sets_has_a_default() {
        let settings = of([]);
        assert_eq!(settings.max_parallel, MaxParallel::AtMost(3));
        assert_eq!(settings.parallel_limit, 8);
        assert_eq!(settings.mode, RunMode::Parallel);
        assert_eq!((settings.retries, settings.retry_pause.as_secs()), (2, 5));
        assert_eq!(settings.task_timeout.as_secs(), 3_600);
        assert_eq!(settings.stall_timeout.as_secs(), 600);
        assert_eq!(settings.keep_work.as_secs(), 90 * 86_400);
        assert!(settings.keep_failed && !settings.stop_on_failure && !settings.queue_auto_approve);
        assert_eq!((settings.setup, settings.worktrees), (None, None));
    }

    #[test]
    fn the_last_layer_wins_and_an_empty_text_takes_a_value_away() {
        let first = Config {
            retries: Some(1),
            setup: Some("make".to_owned()),
            base: Some("main".to_owned()),
            ..Config::default()
        };
        let second = Config {
            retries: Some(7),
            setup: Some(" ".to_owned()),
            ..Config::default()
        };
        let settings = of([first.clone(), second.clone()]);
        assert_eq!((settings.retries, settings.setup.as_deref()), (7, None));
        assert_eq!(settings.base.as_deref(), Some("main"));
        assert_eq!(of([second, first]).retries, 1);
    }

    #[test]
    fn serial_is_a_queue_that_goes_on_without_being_asked() {
        let turns = |mode, queue_auto_approve| {
            of([Config {
                mode: Some(mode),
                queue_auto_approve: Some(queue_auto_approve),
                ..Config::default()
            }])
            .turns(9)
        };
        let queue = |approval| Mode::Queue { approval };
        assert_eq!(turns(RunMode::Serial, false), queue(Approval::Automatic));
        assert_eq!(turns(RunMode::Queue, true), queue(Approval::Automatic));
        assert_eq!(turns(RunMode::Queue, false), queue(Approval::ByPerson));
        assert_eq!(turns(RunMode::Parallel, true), Mode::Parallel { slots: 3 });
    }

    #[test]
    fn a_cluster_bears_more_tasks_at_once_than_this_machine() {
        let slots = |place, wanted, most| {
            let config = Config {
                place: Some(place),
                max_parallel: Some(wanted),
                cluster_most: most,
                ..Config::default()
            };
            let settings = Settings::of([config], Path::new("/project")).ok()?;
            match settings.turns(9) {
                Mode::Parallel { slots } => Some(slots),
                Mode::Queue { .. } => None,
            }
        };
        let (number, auto) = (MaxParallel::AtMost, MaxParallel::Auto);
        assert_eq!(slots(Where::Local, number(64), None), Some(64));
        assert_eq!(slots(Where::Local, number(65), None), None);
        assert_eq!(slots(Where::Slurm, number(500), None), Some(500));
        assert_eq!(slots(Where::Slurm, number(501), None), None);
        assert_eq!(slots(Where::Slurm, number(501), Some(600)), Some(501));
        assert_eq!(slots(Where::Slurm, auto, Some(600)), Some(600));
        assert_eq!(slots(Where::Local, auto, Some(600)), Some(first_guess(9)));
    }

    #[test]
    fn paths_are_meant_from_the_repository_or_the_home_folder() {
        let paths = |path: &str| {
            of([Config {
                worktrees: Some(path.into()),
                ..Config::default()
            }])
            .worktrees
        };
        let home = PathBuf::from(std::env::var_os("HOME").unwrap());
        assert_eq!(paths("trees"), Some("/project/trees".into()));
        assert_eq!(paths("/elsewhere"), Some("/elsewhere".into()));
        assert_eq!(paths("~/trees"), Some(home.join("trees")));
        assert_eq!(paths("~other"), Some("/project/~other".into()));
        assert_eq!(paths(""), None);
    }
}
