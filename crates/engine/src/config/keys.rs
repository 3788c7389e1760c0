//! Every key there is: what it is for, what it takes, and what it is when nobody sets it.
//!
//! The only place that lists them; layers, settings, `pleach config` and `pleach init` follow from it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use pleach_domain::batch::{Landing, NoChanges, OnConflict};
use pleach_domain::choice::{ForgeKind, NetworkChoice, SandboxChoice, Strategy};
use pleach_domain::phase::Threshold;
use toml_edit::Value;

use super::fields::Fields;
use super::kinds::{
    CachedPaths, Count, Dollars, Kind, List, OneOf, Parallel, Place, Sandbox, Share, Size, Switch,
    Text, Time, TimeOrOff, UpToAWeek,
};
use super::{AgentConfig, MaxParallel, Mode, OnInvalid};

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
    pub(super) wanted: fn() -> String,
    pub(super) of_text: fn(&str) -> Value,
    pub(super) is_fit: fn(&Value) -> bool,
    pub(super) nearest: fn(&Value) -> Option<String>,
    pub(super) said: fn(&Config) -> Option<Value>,
}

/// What a key is once all layers are known: its value if it has a default, else perhaps none.
macro_rules! settled {
    ($value:ty) => { Option<$value> };
    ($value:ty = $default:expr) => { $value };
}

macro_rules! settle {
    ($said:expr) => {
        $said
    };
    ($said:expr, $default:expr) => {
        $said.unwrap_or_else(|| $default)
    };
}

macro_rules! default_value {
    ($kind:ty) => {
        None
    };
    ($kind:ty = $default:expr) => {
        Some(<$kind as Kind>::write(&$default))
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
        }

        /// What all layers together say, with the defaults.
        #[derive(Debug)]
        pub(crate) struct Settled {
            $(pub(crate) $field: settled!($value $(= $default)?),)*
            pub(crate) model: Option<String>,
            pub(crate) agents: BTreeMap<String, AgentConfig>,
        }

        /// Every key, in the order in which they are shown; those of agents come besides.
        pub const KEYS: &[Key] = &[$(Key {
            name: name!($field $($name)?),
            about: $about.trim_ascii(),
            otherwise: concat!($($otherwise)?),
            example: $example,
            default: || default_value!($kind $(= $default)?),
            wanted: <$kind as Kind>::wanted,
            of_text: <$kind as Kind>::of_text,
            is_fit: |value| <$kind as Kind>::read(value).is_some(),
            nearest: <$kind as Kind>::nearest,
            said: |config| config.$field.as_ref().map(<$kind as Kind>::write),
        },)*];

        impl Config {
            /// Takes everything out of a table that is known.
            pub(super) fn take(fields: &mut Fields<'_>) -> Self {
                Self {
                    $($field: fields.take::<$kind>(name!($field $($name)?)),)*
                    model: None,
                    agents: fields.agents(),
                }
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
                    $($field: self.$field.or(below.$field),)*
                    model: self.model.or(below.model),
                    agents,
                }
            }

            /// With the defaults for what is not said.
            pub(crate) fn settled(self) -> Settled {
                Settled {
                    $($field: settle!(self.$field $(, $default)?),)*
                    model: self.model,
                    agents: self.agents,
                }
            }
        }
    };
}

keys! {
    /// The ref that batches start from.
    base: String as Text, "\"main\"" or "the current branch, or its upstream if that is ahead";
    /// The plan in use.
    plan: PathBuf as Place, "\"TODO.md\"" or "TODO.md, or the only plan with open tasks in docs/plans";
    /// The name of the agent to run.
    agent: String as Text, "\"mine\"" or "the only one there is";
    /// How many tasks of a batch run at once.
    max_parallel: MaxParallel as Parallel = MaxParallel::AtMost(3), "\"auto\"";
    /// How many tasks run at once over all batches of this user.
    parallel_limit: usize as Count<usize, 1, 64> = 8, "4";
    /// Whether tasks run side by side or one by one.
    mode: Mode as OneOf<Mode> = Mode::Parallel, "\"queue\"";
    /// Whether a queue goes on without being asked.
    queue_auto_approve: bool as Switch = false, "true";
    /// Whether nothing new starts once a task has failed.
    stop_on_failure: bool as Switch = false, "true";
    /// What becomes of a task that does not merge.
    on_conflict: OnConflict as OneOf<OnConflict> = OnConflict::default(), "\"rerun\"";
    /// Which history leads to the woven tree.
    merge: Strategy as OneOf<Strategy> = Strategy::default(), "\"squash\"";
    /// A command of the shell that tests what is woven.
    validate: String as Text, "\"cargo test\"" or "none: nothing is tested";
    /// How long that command may take.
    validate_timeout: Duration as Time = Duration::from_mins(30), "\"1h\"";
    /// Names of environment variables that it gets besides the usual ones.
    validate_env: Vec<String> as List = Vec::new(), "[\"DATABASE_URL\"]";
    /// What a red result means: the guilty tasks go, or the batch fails.
    on_invalid: OnInvalid as OneOf<OnInvalid> = OnInvalid::default(), "\"fail\"";
    /// Where the result goes.
    land: Landing as OneOf<Landing> = Landing::PullRequest, "\"none\"";
    /// What an agent has done that changed nothing and did not say why: nothing, so that it is asked once more, or its task.
    no_changes: NoChanges as OneOf<NoChanges> = NoChanges::default(), "\"done\"";
    /// The share of earlier phases that must be done before a phase opens.
    phase_threshold: Threshold as Share = Threshold::default(), "1.0";
    /// How often a task is tried again.
    retries: u32 as Count<u32, 0, 20> = 2, "0";
    /// How long the first pause before another try is.
    retry_pause: Duration as Time = Duration::from_secs(5), "\"30s\"";
    /// The longest wait for a usage limit.
    limit_wait: Duration as UpToAWeek = Duration::from_hours(6), "\"1h\"";
    /// How long a task may take.
    task_timeout: Duration as Time = Duration::from_hours(1), "\"2h\"";
    /// How long an agent may be silent.
    stall_timeout: Duration as Time = Duration::from_mins(10), "\"30m\"";
    /// A command of the shell that prepares each worktree.
    setup: String as Text, "\"npm ci\"" or "none";
    /// Paths that stay when a worktree is used again.
    cache: Vec<String> as CachedPaths = Vec::new(), "[\"target\"]";
    /// What the names of all branches begin with.
    branch_prefix: String as Text = "pleach".to_owned(), "\"bot\"";
    /// The pattern of the name of a task's branch.
    task_branch: String as Text = "{{prefix}}/task-{{batch}}/{{task}}".to_owned(), "\"{{prefix}}/t/{{batch}}-{{task}}\"";
    /// The pattern of the name of a batch's branch.
    batch_branch: String as Text = "{{prefix}}/batch-{{batch}}".to_owned(), "\"{{prefix}}/b/{{batch}}\"";
    /// What holds setup, agents and tests.
    sandbox: SandboxChoice as Sandbox, "\"strict\"" or "landlock where the kernel has it";
    /// Paths that they may write to besides.
    sandbox_write: Vec<String> as List = Vec::new(), "[\"~/.m2\"]";
    /// Closed paths that they may read all the same.
    sandbox_read: Vec<String> as List = Vec::new(), "[\"~/.npmrc\"]";
    /// Whether they reach anybody over the network.
    network: NetworkChoice as OneOf<NetworkChoice> = NetworkChoice::default(), "\"none\"";
    /// What a batch may cost, in dollars.
    budget_usd: u64 as Dollars, "20" or "no limit";
    /// How many tokens a batch may take.
    budget_tokens: u64 as Count<u64, 1, { i64::MAX }>, "5000000" or "no limit";
    /// What a task may cost, in dollars.
    task_budget_usd: u64 as Dollars, "2.5" or "no limit";
    /// How many tokens a task may take.
    task_budget_tokens: u64 as Count<u64, 1, { i64::MAX }>, "500000" or "no limit";
    /// With less free space than this, nothing new starts.
    min_free_disk: u64 as Size = 2 << 30, "\"5GiB\"";
    /// How often coming conflicts are looked for.
    radar: Duration as TimeOrOff = Duration::from_secs(30), "\"off\"";
    /// Whether the worktrees of tasks that did not make it stay.
    keep_failed: bool as Switch = true, "false";
    /// How long work that was kept stays.
    keep_work: Duration as Time = Duration::from_hours(90 * 24), "\"30d\"";
    /// The folder for worktrees.
    worktrees: PathBuf as Place, "\"~/trees\"" or "the state folder";
    /// The file of the prompt's template.
    prompt: PathBuf as Place, "\"prompt.md\"" or "none: the usual words";
    /// What kind of server the result goes to.
    forge ["forge.kind"]: ForgeKind as OneOf<ForgeKind>, "\"github\"" or "found from its address";
}

impl Key {
    /// The key of a name.
    pub fn of(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The variable of the environment that sets it.
    pub fn variable(&self) -> String {
        let name = self.name.replace('.', "_").to_ascii_uppercase();
        format!("{}{name}", super::VARIABLES)
    }

    /// What it takes, in words.
    pub fn wanted(&self) -> String {
        (self.wanted)()
    }

    /// Its default as a file would say it, if it has one.
    pub fn default_text(&self) -> Option<String> {
        Some((self.default)()?.to_string())
    }

    /// Whether a layer says anything of it.
    pub(crate) fn is_said_by(&self, layer: &Config) -> bool {
        (self.said)(layer).is_some()
    }

    /// How a file would say what somebody wrote as plain text.
    pub(crate) fn text_of(&self, text: &str) -> String {
        (self.of_text)(text).to_string()
    }

    /// A value that one could write, as a file would say it.
    pub fn example(&self) -> &'static str {
        self.example
    }
}
