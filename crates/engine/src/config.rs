//! What can be configured, and everything that is: files, the environment and flags upon each other.
//!
//! Knows which keys exist and who said what; `settings` makes use of it.

mod edit;
mod error;
mod fields;
mod keys;
mod kinds;
mod layers;
mod named;
mod settings;

pub use edit::{ConfigEdit, ConfigScope, set, set_all, unknown_key};
pub use error::{ConfigError, SettingOrigin};
pub use keys::{Config, KEYS, Key, Settings};
pub use kinds::duration;
pub(crate) use kinds::{MOST_LIMIT_WAIT, USUAL_LIMIT_WAIT};
pub(crate) use layers::users_file;
pub use layers::{Layers, MisspeltVariable, ResolvedSetting, misspelt_variables};
pub use named::{AgentConfig, SizeConfig};

pub const FILE_NAME: &str = "pleach.toml";

/// How the variables begin that set keys.
const VARIABLES: &str = "PLEACH_";

/// The size of what chooses none; it is there even if nobody says anything of it.
pub const DEFAULT_SIZE: &str = "default";

/// So many tasks of a batch may run at once on this machine.
const MOST_HERE: usize = 64;

/// How many tasks of a batch run at once, as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxParallel {
    AtMost(usize),
    /// As many as the machine and the agents bear.
    Auto,
}

#[cfg(test)]
mod tests;
