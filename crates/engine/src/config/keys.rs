//! Every key there is: what it is for, what it takes, and what it is when nobody sets it.
//!
//! The only place that lists them: layers, `Settings`, `pleach config` and `pleach init` follow from it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::choice::{
    ForgeKind, Landing, NetworkChoice, NoChanges, OnConflict, OnInvalid, RunMode, SandboxChoice,
    SecretDelivery, Strategy, Where,
};
use pleach_domain::phase::Threshold;
use toml_edit::Value;

use super::error::ConfigError;
use super::fields::Fields;
use super::kinds::{
    CachedPaths, Count, Dollars, FreeText, List, OneOf, Parallel, PathList, PathValue, Sandbox,
    SbatchOptions, Share, Shell, Size, Switch, Time, TimeBetween, TimeOrOff, USUAL_LIMIT_WAIT,
    UpToAWeek, ValueKind, ValueRules,
};
use super::named::{AgentConfig, SizeConfig, all_over};
use super::{DEFAULT_SIZE, MaxParallel};

/// A key of the configuration.
#[derive(Debug)]
pub struct Key {
    /// Its name, as in a file.
    pub name: &'static str,
    /// What it is for, in a sentence.
    pub about: &'static str,
    /// What holds when nobody sets it and it has no default of its own.
    pub otherwise: &'static str,
    /// A value that one could write, as in a file.
    pub(super) example: &'static str,
    pub(super) default: fn() -> Option<Value>,
    pub(super) rules: ValueRules,
    pub(super) said: fn(&Config) -> Option<Value>,
}

/// What a key is once all layers are known: its value if it has a default, else perhaps none.
macro_rules! setting {
    ($value:ty) => { Option<$value> };
    ($value:ty = $default:expr) => { $value };
}

macro_rules! settle {
    ($kind:ty, $said:expr, $repository:expr) => {
        $said
            .filter(|said| !<$kind as ValueKind>::is_nothing(said))
            .map(|said| <$kind as ValueKind>::meant(said, $repository))
            .transpose()?
    };
    ($kind:ty, $said:expr, $repository:expr, $default:expr) => {
        <$kind as ValueKind>::meant($said.unwrap_or_else(|| $default), $repository)?
    };
}

macro_rules! default_value {
    ($kind:ty) => {
        None
    };
    ($kind:ty = $default:expr) => {
        Some(<$kind as ValueKind>::write(&$default))
    };
}

/// `name` where it is not the field's own.
macro_rules! name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

macro_rules! keys {
    ($(
        #[doc = $about:literal]
        $field:ident $([$name:literal])?: $value:ty as $kind:ty $(= $default:expr)?, $example:literal $(or $otherwise:literal)?;
    )*) => {
        /// What one layer says; what it does not say is left to the layers below.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Config {
            $(#[doc = $about] pub $field: Option<$value>,)*
            /// The model that the agent is to use, whatever its own table says; only a flag sets it.
            pub model: Option<String>,
            /// What is said of agents, by name.
            pub agents: BTreeMap<String, AgentConfig>,
            /// How large units on a cluster are, by name.
            pub sizes: BTreeMap<String, SizeConfig>,
        }

        /// Everything that can be set, with paths that are absolute if the repository's is.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Settings {
            $(#[doc = $about] pub $field: setting!($value $(= $default)?),)*
            /// The model that the agent is to use, whatever its own table says.
            pub model: Option<String>,
            /// What is said of agents, by name.
            pub agents: BTreeMap<String, AgentConfig>,
            /// How large units on a cluster are, by name.
            pub sizes: BTreeMap<String, SizeConfig>,
            /// The keys that somebody says anything of.
            pub said: Vec<&'static str>,
        }

        /// Every key, in the order in which they are shown; those of agents come besides.
        pub const KEYS: &[Key] = &[$(Key {
            name: name!($field $($name)?),
            about: $about.trim_ascii(),
            otherwise: concat!($($otherwise)?),
            example: $example,
            default: || default_value!($kind $(= $default)?),
            rules: ValueRules::of::<$kind>(),
            said: |config| config.$field.as_ref().map(<$kind as ValueKind>::write),
        },)*];

        impl Config {
            /// Takes everything out of a table that is known.
            pub(super) fn take(fields: &mut Fields<'_>) -> Self {
                Self {
                    $($field: fields.take::<$kind>(name!($field $($name)?)),)*
                    model: None,
                    agents: fields.named(),
                    sizes: fields.named(),
                }
            }

            /// This layer upon another: what this one says counts.
            #[must_use]
            pub fn over(self, below: Self) -> Self {
                Self {
                    $($field: self.$field.or(below.$field),)*
                    model: self.model.or(below.model),
                    agents: all_over(self.agents, below.agents),
                    sizes: all_over(self.sizes, below.sizes),
                }
            }

            /// With the defaults for what is not said; paths are meant from the repository.
            pub(super) fn settled(self, repository: &Path) -> Result<Settings, ConfigError> {
                let said = KEYS.iter().filter(|key| key.is_said_by(&self));
                Ok(Settings {
                    said: said.map(|key| key.name).collect(),
                    $($field: settle!($kind, self.$field, repository $(, $default)?),)*
                    model: self.model.filter(|model| !model.is_empty()),
                    agents: self.agents,
                    sizes: self.sizes,
                })
            }
        }
    };
}

keys! {
    /// The ref that batches start from.
    base: String as FreeText, "\"main\"" or "the current branch, or its upstream if that is ahead";
    /// The plan in use.
    plan: PathBuf as PathValue, "\"TODO.md\"" or "TODO.md, or the only plan with open tasks in docs/plans";
    /// The name of the agent to run.
    agent: String as FreeText, "\"mine\"" or "the only one installed";
    /// The number of tasks of a batch that run at once.
    max_parallel: MaxParallel as Parallel = MaxParallel::AtMost(3), "\"auto\"";
    /// The number of tasks that run at once, over all batches of this user.
    parallel_limit: usize as Count<usize, 1, 64> = 8, "4";
    /// Whether tasks run in parallel or one at a time.
    mode: RunMode as OneOf<RunMode> = RunMode::default(), "\"queue\"";
    /// Whether a queue starts its next task without approval.
    queue_auto_approve: bool as Switch = false, "true";
    /// Whether the rest of a batch is cancelled as soon as a task fails.
    stop_on_failure: bool as Switch = false, "true";
    /// What to do with a task that does not merge cleanly.
    on_conflict: OnConflict as OneOf<OnConflict> = OnConflict::default(), "\"rerun\"";
    /// The history to write; the resulting tree is the same.
    merge: Strategy as OneOf<Strategy> = Strategy::default(), "\"squash\"";
    /// The shell command that tests the woven result.
    validate: String as Shell, "\"cargo test\"" or "none, nothing is tested";
    /// The time limit for the tests.
    validate_timeout: Duration as Time = Duration::from_mins(30), "\"1h\"";
    /// Names of additional environment variables for the tests.
    validate_env: Vec<String> as List = Vec::new(), "[\"DATABASE_URL\"]";
    /// What to do if the tests fail: drop the tasks that break them, or fail the batch.
    on_invalid: OnInvalid as OneOf<OnInvalid> = OnInvalid::default(), "\"fail\"";
    /// How the result lands.
    land: Landing as OneOf<Landing> = Landing::PullRequest, "\"none\"";
    /// What to do if an agent changes nothing and gives no reason: ask it again, or take the task as done.
    no_changes: NoChanges as OneOf<NoChanges> = NoChanges::default(), "\"done\"";
    /// The share of each earlier phase that must be done before a phase opens.
    phase_threshold: Threshold as Share = Threshold::default(), "1.0";
    /// The number of retries of a failed task.
    retries: u32 as Count<u32, 0, 20> = 2, "0";
    /// The pause before the first retry.
    retry_pause: Duration as Time = Duration::from_secs(5), "\"30s\"";
    /// The longest wait for a usage limit.
    limit_wait: Duration as UpToAWeek = USUAL_LIMIT_WAIT, "\"1h\"";
    /// The time limit for a task.
    task_timeout: Duration as Time = Duration::from_hours(1), "\"2h\"";
    /// How long an agent may print nothing before it is stopped.
    stall_timeout: Duration as Time = Duration::from_mins(10), "\"30m\"";
    /// The shell command that prepares each worktree.
    setup: String as Shell, "\"npm ci\"" or "none";
    /// Paths to keep when a worktree is reused.
    cache: Vec<String> as CachedPaths = Vec::new(), "[\"target\"]";
    /// The prefix of all branch names.
    branch_prefix: String as FreeText = "pleach".to_owned(), "\"bot\"";
    /// The pattern of task branch names.
    task_branch: String as FreeText = "{{prefix}}/task-{{batch}}/{{task}}".to_owned(), "\"{{prefix}}/t/{{batch}}-{{task}}\"";
    /// The pattern of batch branch names.
    batch_branch: String as FreeText = "{{prefix}}/batch-{{batch}}".to_owned(), "\"{{prefix}}/b/{{batch}}\"";
    /// The sandbox for setup, agents and tests.
    sandbox: SandboxChoice as Sandbox, "\"strict\"" or "landlock where the kernel has it";
    /// Additional paths that they may write to.
    sandbox_write: Vec<PathBuf> as PathList = Vec::new(), "[\"~/.m2\"]";
    /// Paths that are closed by default and that they may read.
    sandbox_read: Vec<PathBuf> as PathList = Vec::new(), "[\"~/.npmrc\"]";
    /// Whether they have network access.
    network: NetworkChoice as OneOf<NetworkChoice> = NetworkChoice::default(), "\"none\"";
    /// The budget of a batch, in dollars.
    budget_usd: u64 as Dollars, "20" or "no limit";
    /// The budget of a batch, in tokens.
    budget_tokens: u64 as Count<u64, 1, { i64::MAX }>, "5000000" or "no limit";
    /// The budget of a task, in dollars.
    task_budget_usd: u64 as Dollars, "2.5" or "no limit";
    /// The budget of a task, in tokens.
    task_budget_tokens: u64 as Count<u64, 1, { i64::MAX }>, "500000" or "no limit";
    /// No task starts with less free disk space than this.
    min_free_disk: u64 as Size = 2 << 30, "\"5GiB\"";
    /// How often to check for likely conflicts.
    radar: Duration as TimeOrOff = Duration::from_secs(30), "\"off\"";
    /// Whether to keep the worktrees of unsuccessful tasks.
    keep_failed: bool as Switch = true, "false";
    /// How long kept work is stored.
    keep_work: Duration as Time = Duration::from_hours(90 * 24), "\"30d\"";
    /// The folder for worktrees.
    worktrees: PathBuf as PathValue, "\"~/trees\"" or "the state folder";
    /// The file of the prompt template.
    prompt: PathBuf as PathValue, "\"prompt.md\"" or "the built-in prompt";
    /// The size of what runs the tests on a cluster, by its name.
    validate_size: String as FreeText = DEFAULT_SIZE.to_owned(), "\"large\"";
    /// Where attempts and tests run.
    place ["where"]: Where as OneOf<Where> = Where::default(), "\"slurm\"";
    /// The folder that this machine and the nodes of a cluster share, under the same path.
    cluster_share ["cluster.share"]: PathBuf as PathValue, "\"/scratch/me/pleach\"" or "none, no cluster is used";
    /// The folder on a node's own disk, or the variable there that names it.
    cluster_scratch ["cluster.scratch"]: String as FreeText = "$TMPDIR".to_owned(), "\"/local\"";
    /// How often the cluster's queue is asked.
    cluster_look ["cluster.look"]: Duration as TimeBetween<10, { u64::MAX }> = Duration::from_secs(30), "\"1m\"";
    /// How long a node may be out of reach before it ends what it runs.
    cluster_lease ["cluster.lease"]: Duration as TimeBetween<30, 600> = Duration::from_secs(90), "\"5m\"";
    /// The number of units that a cluster has at once, over all batches.
    cluster_most ["cluster.most"]: usize as Count<usize, 1, 10_000> = 500, "100";
    /// How secrets reach a node.
    cluster_secrets ["cluster.secrets"]: SecretDelivery as OneOf<SecretDelivery> = SecretDelivery::default(), "\"file\"";
    /// The partition to submit to.
    slurm_partition ["slurm.partition"]: String as FreeText, "\"agents\"" or "Slurm's own";
    /// The account to submit with.
    slurm_account ["slurm.account"]: String as FreeText, "\"me\"" or "Slurm's own";
    /// The quality of service to ask for.
    slurm_qos ["slurm.qos"]: String as FreeText, "\"low\"" or "Slurm's own";
    /// The features that nodes must have.
    slurm_constraint ["slurm.constraint"]: String as FreeText, "\"avx512\"" or "none";
    /// The reservation to submit to.
    slurm_reservation ["slurm.reservation"]: String as FreeText, "\"agents\"" or "none";
    /// Further options for sbatch.
    slurm_args ["slurm.args"]: Vec<String> as SbatchOptions = Vec::new(), "[\"--licenses=a\"]";
    /// The folder of Slurm's programs.
    slurm_bin ["slurm.bin"]: PathBuf as PathValue, "\"/opt/slurm/bin\"" or "found on the PATH";
    /// The kind of forge.
    forge ["forge.kind"]: ForgeKind as OneOf<ForgeKind>, "\"github\"" or "detected from the remote";
}

impl Key {
    /// The key of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The variable of the environment that sets it.
    pub fn variable(&self) -> String {
        let name = self.name.replace('.', "_").to_ascii_uppercase();
        format!("{}{name}", super::VARIABLES)
    }

    /// What it takes, in words.
    pub fn wanted(&self) -> String {
        (self.rules.wanted)()
    }

    /// Its default as a file would say it, if it has one.
    pub(crate) fn default_text(&self) -> Option<String> {
        Some((self.default)()?.to_string())
    }

    /// Whether a layer says anything of it.
    pub(crate) fn is_said_by(&self, layer: &Config) -> bool {
        (self.said)(layer).is_some()
    }

    /// How a file would say what somebody wrote as plain text.
    pub(crate) fn text_of(&self, text: &str) -> String {
        (self.rules.of_text)(text).to_string()
    }

    /// A value that one could write, as a file would say it.
    pub fn example(&self) -> &'static str {
        self.example
    }
}
