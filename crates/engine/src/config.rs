//! What can be configured, and everything that is: files, the environment and flags upon each other.
//!
//! Knows which keys exist and who said what; `settings` makes use of it.

mod edit;
mod error;
mod fields;
mod keys;
mod kinds;
mod layers;
mod settings;

pub use edit::{ConfigEdit, ConfigScope, set, set_all, unknown_key};
pub use error::{ConfigError, SettingOrigin};
pub use keys::{Config, KEYS, Key, Settings};
pub use kinds::duration;
pub(crate) use kinds::{MOST_LIMIT_WAIT, USUAL_LIMIT_WAIT};
pub(crate) use layers::users_file;
pub use layers::{Layers, MisspeltVariable, ResolvedSetting, misspelt_variables};

pub const FILE_NAME: &str = "pleach.toml";

/// How the variables begin that set keys.
const VARIABLES: &str = "PLEACH_";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentConfig {
    /// The preset that it is like: a name, or `acp:` and a command.
    pub preset: Option<String>,
    pub command: Option<Vec<String>>,
    pub args: Option<Vec<String>>,
    /// Names of environment variables that it gets besides the usual ones.
    pub env: Option<Vec<String>>,
    pub model: Option<String>,
}

impl AgentConfig {
    fn over(self, below: Self) -> Self {
        Self {
            preset: self.preset.or(below.preset),
            command: self.command.or(below.command),
            args: self.args.or(below.args),
            env: self.env.or(below.env),
            model: self.model.or(below.model),
        }
    }
}

/// How many tasks of a batch run at once, as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxParallel {
    AtMost(usize),
    /// As many as the machine and the agents bear.
    Auto,
}

impl MaxParallel {
    pub fn first_guess(self, tasks: usize) -> usize {
        match self {
            Self::AtMost(number) => number,
            Self::Auto => pleach_domain::governor::first_guess(tasks),
        }
    }
}

#[cfg(test)]
mod tests;
