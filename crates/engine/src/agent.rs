//! What an agent is: its words, its environment, and what its end means.
//!
//! Knows nothing of worktrees or batches beyond the names it is given.

mod choose;
mod command;
mod demo;
mod entry;
mod environment;
mod last_line;
mod said;
mod verdict;

use std::ffi::OsString;
use std::fmt::Debug;
use std::path::Path;

use crate::git::Identity;

pub use choose::{Chosen, NoAgent, choose};
pub use command::CommandAgent;
pub use demo::DemoAgent;
pub(crate) use entry::shortened;
pub use entry::{
    Conclusion, Entry, FileChange, Outcome, PlanStep, ToolKind, ToolStatus, Trouble, Usage,
};
pub(crate) use environment::{environment, is_allowed_to_all};
pub(crate) use last_line::{last_line, tail};
pub use said::Said;
pub use verdict::{Exit, TAIL, Verdict};

/// A program that works on a task.
pub trait Agent: Debug + Send + Sync {
    /// Its name in the configuration.
    fn name(&self) -> &str;

    /// What it is, in words for a person.
    fn description(&self) -> String;

    /// Checks that its program is there, so that no task fails for want of it.
    fn check_installed(&self) -> Result<(), NoAgent>;

    /// The program and its arguments.
    fn argv(&self, prompt_file: &Path) -> Vec<OsString>;

    /// Its whole environment: what is allowed of ours, and what is said of the task.
    fn environment(
        &self,
        identity: &Identity,
        said: &[(&str, OsString)],
    ) -> Vec<(OsString, OsString)>;

    /// Takes in a line that it printed.
    fn hear(&self, line: &[u8], said: &mut Said) {
        said.hear_command(line);
    }

    /// What its end means, given the last of its output, up to [`TAIL`] bytes.
    fn verdict(&self, exit: Exit, tail: &[u8]) -> Verdict;
}
