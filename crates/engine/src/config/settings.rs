//! The settings that hold: all layers of configuration laid upon each other, and the defaults below.
//!
//! Knows nothing of where a layer is from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::batch::{Budget, Landing, NoChanges, OnConflict};
use pleach_domain::phase::Threshold;

use crate::config::branches::{BranchNames, Fault, check};
use crate::config::{AgentConfig, Config, ConfigError, Layers, MaxParallel, Mode, OnInvalid};
use crate::regular_file::read_settings;
use pleach_domain::choice::ForgeKind;
use pleach_domain::choice::Strategy;
use pleach_domain::choice::{NetworkChoice, SandboxChoice};

/// Everything that can be set, with paths that are absolute if the repository's is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The ref that batches start from, if not the current branch.
    pub base: Option<String>,
    /// The plan in use.
    pub plan: Option<PathBuf>,
    /// The name of the agent to run.
    pub agent: Option<String>,
    /// The model that it is to use, whatever its own table says.
    pub model: Option<String>,
    /// What is said of agents, by name.
    pub agents: BTreeMap<String, AgentConfig>,
    /// How many tasks of a batch run at once.
    pub max_parallel: MaxParallel,
    /// How many tasks run at once over all batches of this user.
    pub parallel_limit: usize,
    /// Whether tasks run side by side or one by one.
    pub mode: RunMode,
    /// Whether a queue goes on without being asked.
    pub queue_auto_approve: bool,
    /// Whether nothing new starts once a task has failed.
    pub stop_on_failure: bool,
    /// What becomes of a task that does not merge.
    pub on_conflict: OnConflict,
    /// Which history leads to the woven tree.
    pub merge: Strategy,
    /// A command of the shell that tests what is woven.
    pub validate: Option<String>,
    /// How long that command may take.
    pub validate_timeout: Duration,
    /// Names of environment variables that it gets besides the usual ones.
    pub validate_env: Vec<String>,
    /// What a red result means.
    pub on_invalid: OnInvalid,
    /// What an agent has done that changed nothing and did not say why.
    pub no_changes: NoChanges,
    /// The share of earlier phases that must be done before a phase opens.
    pub phase_threshold: Threshold,
    /// Where the result goes.
    pub land: Landing,
    /// What kind of server it goes to, if its address does not tell.
    pub forge: Option<ForgeKind>,
    /// How often a task is tried again.
    pub retries: u32,
    /// How long the first pause before another try is.
    pub retry_pause: Duration,
    /// The longest wait for a usage limit.
    pub limit_wait: Duration,
    /// How long a task may take.
    pub task_timeout: Duration,
    /// How long an agent may be silent.
    pub stall_timeout: Duration,
    /// A command of the shell that prepares each worktree.
    pub setup: Option<String>,
    /// Paths within a worktree that stay when it is used again.
    pub cache: Vec<String>,
    /// What the names of all branches begin with.
    pub branch_prefix: String,
    /// The pattern of the name of a task's branch.
    pub task_branch: String,
    /// The pattern of the name of a batch's branch.
    pub batch_branch: String,
    /// What holds setup, agents and tests; the best there is, if nobody says.
    pub sandbox: Option<SandboxChoice>,
    /// Paths that they may write to besides.
    pub sandbox_write: Vec<PathBuf>,
    /// Closed paths that they may read all the same.
    pub sandbox_read: Vec<PathBuf>,
    /// Whom they reach over the network.
    pub network: NetworkChoice,
    /// What a batch may take.
    pub budget: Budget,
    /// What a task may take.
    pub task_budget: Budget,
    /// With less free space than this, in bytes, nothing new starts.
    pub min_free_disk: u64,
    /// How often coming conflicts are looked for, if at all.
    pub radar: Option<Duration>,
    /// Whether the worktrees of tasks that did not make it stay.
    pub keep_failed: bool,
    /// How long work that was kept stays.
    pub keep_work: Duration,
    /// The folder for worktrees, if not the state folder.
    pub worktrees: Option<PathBuf>,
    /// The file of the prompt's template.
    pub prompt: Option<PathBuf>,
}

/// Whether tasks run side by side or one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMode {
    /// Side by side.
    Parallel,
    /// One by one.
    Queue,
}

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
        let said = layers.merged().settled();
        let place = |path| resolve(path, repository);
        let places = |paths| resolve_all(paths, repository);
        let settings = Self {
            base: said.base.filter(|text| !text.is_empty()),
            plan: place(said.plan)?,
            agent: said.agent.filter(|text| !text.is_empty()),
            model: said.model.filter(|text| !text.is_empty()),
            agents: said.agents,
            max_parallel: said.max_parallel,
            parallel_limit: said.parallel_limit,
            mode: match said.mode {
                Mode::Parallel => RunMode::Parallel,
                Mode::Queue | Mode::Serial => RunMode::Queue,
            },
            queue_auto_approve: said.mode == Mode::Serial || said.queue_auto_approve,
            stop_on_failure: said.stop_on_failure,
            on_conflict: said.on_conflict,
            merge: said.merge,
            validate: said.validate.filter(|text| !text.trim().is_empty()),
            validate_timeout: said.validate_timeout,
            validate_env: said.validate_env,
            on_invalid: said.on_invalid,
            no_changes: said.no_changes,
            phase_threshold: said.phase_threshold,
            land: said.land,
            forge: said.forge,
            retries: said.retries,
            retry_pause: said.retry_pause,
            limit_wait: said.limit_wait,
            task_timeout: said.task_timeout,
            stall_timeout: said.stall_timeout,
            setup: said.setup.filter(|text| !text.trim().is_empty()),
            cache: said.cache,
            branch_prefix: said.branch_prefix,
            task_branch: said.task_branch,
            batch_branch: said.batch_branch,
            sandbox: said.sandbox,
            sandbox_write: places(said.sandbox_write)?,
            sandbox_read: places(said.sandbox_read)?,
            network: said.network,
            budget: Budget {
                micro_usd: said.budget_usd,
                tokens: said.budget_tokens,
            },
            task_budget: Budget {
                micro_usd: said.task_budget_usd,
                tokens: said.task_budget_tokens,
            },
            min_free_disk: said.min_free_disk,
            radar: Some(said.radar).filter(|time| !time.is_zero()),
            keep_failed: said.keep_failed,
            keep_work: said.keep_work,
            worktrees: place(said.worktrees)?,
            prompt: place(said.prompt)?,
        };
        settings.check_branches(layers)?;
        Ok(settings)
    }

    /// The patterns of branches have to fit together, whoever set them.
    fn check_branches(&self, layers: &Layers) -> Result<(), ConfigError> {
        let faults = check(&BranchNames::of(self)).into_iter();
        let faults = faults.map(|Fault { key, why }| ConfigError::Branches {
            origin: layers.origin_of(key),
            key,
            why,
        });
        ConfigError::check(faults.collect())
    }

    /// Reads the prompt's template, if one is set.
    pub fn load_prompt(&self) -> Result<Option<String>, ConfigError> {
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

/// A path from the repository, or from the home folder; an empty one is none.
fn resolve(path: Option<PathBuf>, repository: &Path) -> Result<Option<PathBuf>, ConfigError> {
    let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) else {
        return Ok(None);
    };
    let Ok(below) = path.strip_prefix("~") else {
        return Ok(Some(repository.join(path)));
    };
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    match home {
        Some(home) => Ok(Some(Path::new(&home).join(below))),
        None => Err(ConfigError::Homeless { path }),
    }
}

fn resolve_all(paths: Vec<String>, repository: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    let paths = paths.into_iter();
    let paths = paths.map(|path| resolve(Some(path.into()), repository));
    paths.filter_map(Result::transpose).collect()
}

#[cfg(test)]
mod tests {
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
        let mode = |mode| Config {
            mode: Some(mode),
            queue_auto_approve: Some(false),
            ..Config::default()
        };
        let serial = of([mode(Mode::Serial)]);
        assert_eq!(
            (serial.mode, serial.queue_auto_approve),
            (RunMode::Queue, true)
        );
        let queue = of([mode(Mode::Serial), mode(Mode::Queue)]);
        assert_eq!(
            (queue.mode, queue.queue_auto_approve),
            (RunMode::Queue, false)
        );
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
