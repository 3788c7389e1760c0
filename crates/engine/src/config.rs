//! One layer of configuration: a file, the environment, or the flags of a command.
//!
//! Knows the keys that exist and what they take; nothing of defaults.

mod error;
mod fields;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use error::{ConfigError, Origin};
pub use fields::duration;

use pleach_domain::batch::{Landing, OnConflict};
use pleach_domain::governor::first_guess;
use serde::{Deserialize, Serialize};

use crate::forge::ForgeKind;
use crate::weave::Strategy;
use fields::{Fields, Word};

/// The file in the repository.
pub const FILE_NAME: &str = "pleach.toml";

/// Every key there is.
const KNOWN: [&str; 38] = [
    "base",
    "plan",
    "agent",
    "max_parallel",
    "parallel_limit",
    "mode",
    "queue_auto_approve",
    "stop_on_failure",
    "on_conflict",
    "merge",
    "validate",
    "validate_timeout",
    "validate_env",
    "on_invalid",
    "land",
    "retries",
    "retry_pause",
    "task_timeout",
    "stall_timeout",
    "setup",
    "cache",
    "branch_prefix",
    "task_branch",
    "batch_branch",
    "sandbox",
    "sandbox_write",
    "budget_usd",
    "budget_tokens",
    "task_budget_usd",
    "task_budget_tokens",
    "min_free_disk",
    "radar",
    "keep_failed",
    "keep_work",
    "worktrees",
    "prompt",
    "agents",
    "forge",
];

/// Keys that are more than one value, and so no variable.
const COMPOUND: [&str; 5] = ["agents", "validate_env", "cache", "sandbox_write", "forge"];

/// What an agent's table may say.
const OF_AGENT: [&str; 4] = ["command", "args", "env", "model"];

/// What one layer says; what it does not say is left to the layers below.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// The ref that batches start from.
    pub base: Option<String>,
    /// The plan in use.
    pub plan: Option<PathBuf>,
    /// The name of the agent to run.
    pub agent: Option<String>,
    /// The model that it is to use, whatever its own table says; only a flag sets it.
    pub model: Option<String>,
    /// How many tasks of a batch run at once.
    pub max_parallel: Option<MaxParallel>,
    /// How many tasks run at once over all batches of this user.
    pub parallel_limit: Option<usize>,
    /// Whether tasks run side by side or one by one.
    pub mode: Option<Mode>,
    /// Whether a queue goes on without being asked.
    pub queue_auto_approve: Option<bool>,
    /// Whether nothing new starts once a task has failed.
    pub stop_on_failure: Option<bool>,
    /// What becomes of a task that does not merge.
    pub on_conflict: Option<OnConflict>,
    /// Which history leads to the woven tree.
    pub merge: Option<Strategy>,
    /// A command of the shell that tests what is woven.
    pub validate: Option<String>,
    /// How long that command may take.
    pub validate_timeout: Option<Duration>,
    /// Names of environment variables that it gets besides the usual ones.
    pub validate_env: Option<Vec<String>>,
    /// What a red result means.
    pub on_invalid: Option<OnInvalid>,
    /// Where the result goes.
    pub land: Option<Landing>,
    /// What kind of server it goes to.
    pub forge: Option<ForgeKind>,
    /// How often a task is tried again.
    pub retries: Option<u32>,
    /// How long the first pause before another try is.
    pub retry_pause: Option<Duration>,
    /// How long a task may take.
    pub task_timeout: Option<Duration>,
    /// How long an agent may be silent.
    pub stall_timeout: Option<Duration>,
    /// A command of the shell that prepares each worktree.
    pub setup: Option<String>,
    /// Paths that stay when a worktree is used again.
    pub cache: Option<Vec<String>>,
    /// What the names of all branches begin with.
    pub branch_prefix: Option<String>,
    /// The pattern of the name of a task's branch.
    pub task_branch: Option<String>,
    /// The pattern of the name of a batch's branch.
    pub batch_branch: Option<String>,
    /// What holds setup, agents and tests.
    pub sandbox: Option<SandboxChoice>,
    /// Paths that they may write to besides.
    pub sandbox_write: Option<Vec<String>>,
    /// What a batch may cost, in millionths of a dollar.
    pub budget_usd: Option<u64>,
    /// How many tokens a batch may take.
    pub budget_tokens: Option<u64>,
    /// What a task may cost, in millionths of a dollar.
    pub task_budget_usd: Option<u64>,
    /// How many tokens a task may take.
    pub task_budget_tokens: Option<u64>,
    /// With less free space than this, in bytes, nothing new starts.
    pub min_free_disk: Option<u64>,
    /// How often coming conflicts are looked for; never, if that is zero.
    pub radar: Option<Duration>,
    /// Whether the worktrees of tasks that did not make it stay.
    pub keep_failed: Option<bool>,
    /// How long work that was kept stays.
    pub keep_work: Option<Duration>,
    /// The folder for worktrees.
    pub worktrees: Option<PathBuf>,
    /// The file of the prompt's template.
    pub prompt: Option<PathBuf>,
    /// What is said of agents, by name.
    pub agents: BTreeMap<String, AgentConfig>,
}

/// What one layer says of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentConfig {
    /// The program and its arguments.
    pub command: Option<Vec<String>>,
    /// Further arguments.
    pub args: Option<Vec<String>>,
    /// Names of environment variables that it gets besides the usual ones.
    pub env: Option<Vec<String>>,
    /// The model that it is to use.
    pub model: Option<String>,
}

/// How many tasks of a batch run at once, as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxParallel {
    /// At most so many.
    AtMost(usize),
    /// As many as the machine and the agents bear.
    Auto,
}

impl MaxParallel {
    /// How many to begin with, for so many tasks.
    pub fn first_guess(self, tasks: usize) -> usize {
        match self {
            Self::AtMost(number) => number,
            Self::Auto => first_guess(tasks),
        }
    }
}

/// What holds the programs that are run on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxChoice {
    /// Nothing: they can do whatever the user can.
    None,
    /// The kernel lets them write to the worktree, caches and temporary files.
    Landlock,
    /// The kernel lets them write to the worktree and temporary files alone.
    Strict,
    /// A program of the user's that is put before theirs.
    Wrapper(Vec<String>),
}

/// Whether tasks run side by side or one by one, as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Side by side.
    Parallel,
    /// One by one, each after a person's approval.
    Queue,
    /// One by one, approved beforehand.
    Serial,
}

impl Word for Mode {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("parallel", Self::Parallel),
        ("queue", Self::Queue),
        ("serial", Self::Serial),
    ];
}

impl Word for OnConflict {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("skip", Self::Skip),
        ("fail", Self::Fail),
        ("rerun", Self::Rerun),
    ];
}

impl Word for Strategy {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("merge", Self::Merge),
        ("squash", Self::Squash),
        ("rebase", Self::Rebase),
        ("octopus", Self::Octopus),
    ];
}

/// What a red result means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnInvalid {
    /// The guilty tasks are found and left out.
    #[default]
    Drop,
    /// The batch fails.
    Fail,
}

impl Word for OnInvalid {
    const WORDS: &'static [(&'static str, Self)] = &[("drop", Self::Drop), ("fail", Self::Fail)];
}

impl Word for Landing {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("none", Self::Nowhere),
        ("push", Self::Push),
        ("pr", Self::PullRequest),
    ];
}

impl Word for ForgeKind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("github", Self::GitHub),
        ("gitlab", Self::GitLab),
        ("gitea", Self::Gitea),
        ("none", Self::None),
    ];
}

impl Config {
    /// Reads the configuration of a repository; one without the file says nothing.
    pub fn load(repository: &Path) -> Result<Self, ConfigError> {
        Self::load_file(repository.join(FILE_NAME))
    }

    /// Reads the user's own configuration, which holds for all repositories.
    pub fn load_users() -> Result<Self, ConfigError> {
        let set = |name| {
            let value = std::env::var_os(name).map(PathBuf::from);
            value.filter(|path| path.is_absolute())
        };
        let folder = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
        match folder {
            Some(folder) => Self::load_file(folder.join("pleach/config.toml")),
            None => Ok(Self::default()),
        }
    }

    /// Reads the variables of the environment that are named like keys, `PLEACH_RETRIES` for one.
    pub fn from_environment() -> Result<Self, ConfigError> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// Everything but flags: the user's file, the repository's, and the environment; later wins.
    pub fn load_all(repository: &Path) -> Result<Self, ConfigError> {
        let files = Self::load(repository)?.over(Self::load_users()?);
        Ok(Self::from_environment()?.over(files))
    }

    fn load_file(path: PathBuf) -> Result<Self, ConfigError> {
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, &Origin::File(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(ConfigError::Io { path, source }),
        }
    }

    fn parse(text: &str, origin: &Origin) -> Result<Self, ConfigError> {
        let table = text.parse().map_err(|error: toml::de::Error| {
            let origin = origin.clone();
            let message = error.to_string();
            ConfigError::Malformed { origin, message }
        })?;
        Self::of_table(table, origin)
    }

    fn from_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let mut all = Self::default();
        for key in KNOWN.iter().filter(|key| !COMPOUND.contains(key)) {
            let name = format!("PLEACH_{}", key.to_ascii_uppercase());
            let Some(value) = lookup(&name).filter(|value| !value.is_empty()) else {
                continue;
            };
            let origin = Origin::Variable(name);
            let value = value.into_string().map_err(|_| ConfigError::Wrong {
                origin: origin.clone(),
                key: (*key).to_owned(),
                wanted: "text".to_owned(),
                nearest: None,
            })?;
            let table = toml::Table::from_iter([((*key).to_owned(), value.into())]);
            all = Self::of_table(table, &origin)?.over(all);
        }
        Ok(all)
    }

    fn of_table(table: toml::Table, origin: &Origin) -> Result<Self, ConfigError> {
        let mut fields = Fields::of(table, origin);
        let config = Self {
            base: fields.text("base")?,
            plan: fields.text("plan")?.map(PathBuf::from),
            agent: fields.text("agent")?,
            model: None,
            max_parallel: fields.max_parallel("max_parallel")?,
            parallel_limit: fields.number("parallel_limit", 1..=64)?,
            mode: fields.word("mode")?,
            queue_auto_approve: fields.switch("queue_auto_approve")?,
            stop_on_failure: fields.switch("stop_on_failure")?,
            on_conflict: fields.word("on_conflict")?,
            merge: fields.word("merge")?,
            validate: fields.text("validate")?,
            validate_timeout: fields.time("validate_timeout")?,
            validate_env: fields.list("validate_env")?,
            on_invalid: fields.word("on_invalid")?,
            land: fields.word("land")?,
            forge: forge(&mut fields)?,
            retries: fields.number("retries", 0..=20)?,
            retry_pause: fields.time("retry_pause")?,
            task_timeout: fields.time("task_timeout")?,
            stall_timeout: fields.time("stall_timeout")?,
            setup: fields.text("setup")?,
            cache: fields.cached_paths("cache")?,
            branch_prefix: fields.text("branch_prefix")?,
            task_branch: fields.text("task_branch")?,
            batch_branch: fields.text("batch_branch")?,
            sandbox: fields.sandbox("sandbox")?,
            sandbox_write: fields.list("sandbox_write")?,
            budget_usd: fields.money("budget_usd")?,
            budget_tokens: fields.number("budget_tokens", 1..=i64::MAX)?,
            task_budget_usd: fields.money("task_budget_usd")?,
            task_budget_tokens: fields.number("task_budget_tokens", 1..=i64::MAX)?,
            min_free_disk: fields.size("min_free_disk")?,
            radar: fields.time_or_off("radar")?,
            keep_failed: fields.switch("keep_failed")?,
            keep_work: fields.time("keep_work")?,
            worktrees: fields.text("worktrees")?.map(PathBuf::from),
            prompt: fields.text("prompt")?.map(PathBuf::from),
            agents: agents(&mut fields)?,
        };
        fields.rest(&KNOWN)?;
        Ok(config)
    }

    /// This layer upon another: what this one says counts.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        let mut agents = below.agents;
        for (name, agent) in self.agents {
            let lower = agents.remove(&name).unwrap_or_default();
            agents.insert(name, agent.over(lower));
        }
        Self {
            base: self.base.or(below.base),
            plan: self.plan.or(below.plan),
            agent: self.agent.or(below.agent),
            model: self.model.or(below.model),
            max_parallel: self.max_parallel.or(below.max_parallel),
            parallel_limit: self.parallel_limit.or(below.parallel_limit),
            mode: self.mode.or(below.mode),
            queue_auto_approve: self.queue_auto_approve.or(below.queue_auto_approve),
            stop_on_failure: self.stop_on_failure.or(below.stop_on_failure),
            on_conflict: self.on_conflict.or(below.on_conflict),
            merge: self.merge.or(below.merge),
            validate: self.validate.or(below.validate),
            validate_timeout: self.validate_timeout.or(below.validate_timeout),
            validate_env: self.validate_env.or(below.validate_env),
            on_invalid: self.on_invalid.or(below.on_invalid),
            land: self.land.or(below.land),
            forge: self.forge.or(below.forge),
            retries: self.retries.or(below.retries),
            retry_pause: self.retry_pause.or(below.retry_pause),
            task_timeout: self.task_timeout.or(below.task_timeout),
            stall_timeout: self.stall_timeout.or(below.stall_timeout),
            setup: self.setup.or(below.setup),
            cache: self.cache.or(below.cache),
            branch_prefix: self.branch_prefix.or(below.branch_prefix),
            task_branch: self.task_branch.or(below.task_branch),
            batch_branch: self.batch_branch.or(below.batch_branch),
            sandbox: self.sandbox.or(below.sandbox),
            sandbox_write: self.sandbox_write.or(below.sandbox_write),
            budget_usd: self.budget_usd.or(below.budget_usd),
            budget_tokens: self.budget_tokens.or(below.budget_tokens),
            task_budget_usd: self.task_budget_usd.or(below.task_budget_usd),
            task_budget_tokens: self.task_budget_tokens.or(below.task_budget_tokens),
            min_free_disk: self.min_free_disk.or(below.min_free_disk),
            radar: self.radar.or(below.radar),
            keep_failed: self.keep_failed.or(below.keep_failed),
            keep_work: self.keep_work.or(below.keep_work),
            worktrees: self.worktrees.or(below.worktrees),
            prompt: self.prompt.or(below.prompt),
            agents,
        }
    }
}

impl AgentConfig {
    fn over(self, below: Self) -> Self {
        Self {
            command: self.command.or(below.command),
            args: self.args.or(below.args),
            env: self.env.or(below.env),
            model: self.model.or(below.model),
        }
    }
}

fn agents(fields: &mut Fields<'_>) -> Result<BTreeMap<String, AgentConfig>, ConfigError> {
    let mut agents = BTreeMap::new();
    let Some(mut all) = fields.table("agents")? else {
        return Ok(agents);
    };
    for name in all.keys() {
        let Some(mut fields) = all.table(&name)? else {
            continue;
        };
        let agent = AgentConfig {
            command: fields.list("command")?,
            args: fields.list("args")?,
            env: fields.list("env")?,
            model: fields.text("model")?,
        };
        fields.rest(&OF_AGENT)?;
        agents.insert(name, agent);
    }
    Ok(agents)
}

fn forge(fields: &mut Fields<'_>) -> Result<Option<ForgeKind>, ConfigError> {
    let Some(mut fields) = fields.table("forge")? else {
        return Ok(None);
    };
    let kind = fields.word("kind")?;
    fields.rest(&["kind"])?;
    Ok(kind)
}

#[cfg(test)]
mod tests;
