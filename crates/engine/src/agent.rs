//! What an agent is: its words, its environment, and what its end means.
//!
//! Knows nothing of worktrees or batches beyond the names it is given.

mod choose;
mod command;
mod demo;
mod environment;
mod no_changes;
mod presence;
mod preset_agent;
mod verdict;
mod version;

use std::ffi::OsString;
use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

use pleach_domain::batch::Spent;
use pleach_driver::Exit;

use pleach_git::git::Identity;

pub use choose::{ChosenAgent, NoAgent, choose};
pub use command::CommandAgent;
pub use demo::DemoAgent;
pub(crate) use environment::environment;
pub use no_changes::no_changes_needed;
pub use presence::{LoginState, Presence};
pub use preset_agent::{DRIVE, PresetAgent};
pub use verdict::AttemptVerdict;
pub use version::Versions;

pub trait Agent: Debug + Send + Sync {
    fn name(&self) -> &str;

    fn description(&self) -> String;

    /// Checks that its program is there, so that no task fails for want of it.
    fn check_installed(&self) -> Result<(), NoAgent>;

    fn launch(&self, brief: &Brief<'_>) -> Launch;

    /// What its end means, given the last of its output, as much as `last_line` reads.
    fn verdict(&self, exit: Exit, tail: &[u8]) -> AttemptVerdict;
}

#[derive(Debug, Clone, Copy)]
pub struct Brief<'a> {
    /// Pleach's own program.
    pub program: &'a Path,
    pub prompt: &'a str,
    pub prompt_file: &'a Path,
    pub identity: &'a Identity,
    /// Variables that tell it of its task.
    pub said: &'a [(&'a str, OsString)],
    /// Its own session that goes on here.
    pub session: Option<&'a str>,
    /// What it is asked in that session, if it is not simply to go on.
    pub question: Option<&'a str>,
    /// What that session took before.
    pub spent: Spent,
    /// Whether something holds it, so that it need not ask before it does things.
    pub is_held: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub argv: Vec<OsString>,
    /// Its whole environment: what is allowed of ours, and what is said of the task.
    pub env: Vec<(OsString, OsString)>,
    pub input: Input,
    /// How long it alone is asked to stop before everybody is that it started.
    pub polite: Option<Duration>,
    /// The tool that it is, whose folders it keeps its own things in.
    pub tool: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    Prompt,
    Text(String),
}
