//! Shows what a run would do, and asks whether it may.
//!
//! The only place that reads the keyboard.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::Path;

use anstyle::Style;
use pleach_domain::batch::Landing;
use pleach_engine::agent::Agent;
use pleach_engine::config::MaxParallel;
use pleach_engine::settings::{RunMode, Settings};

use crate::failure::{Exit, Failure, Failures};
use crate::output::tell_error;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// What a run would do.
pub(crate) struct Preview<'a> {
    pub(crate) plan: &'a Path,
    pub(crate) tasks: usize,
    pub(crate) waves: usize,
    pub(crate) settings: &'a Settings,
    pub(crate) agent: &'a dyn Agent,
}

impl Preview<'_> {
    /// Prints it to standard error, so that standard output stays the run's own.
    pub(crate) fn print(&self) {
        let what = self.agent.description();
        let row =
            |name: &str, value: &str| tell_error(format_args!("  {DIM}{name:<8}{DIM:#} {value}\n"));
        tell_error(format_args!(
            "{BOLD}{} of {}{BOLD:#}\n",
            count(self.tasks, "task"),
            self.plan.display()
        ));
        let turns = match self.settings.mode {
            RunMode::Parallel => match self.settings.max_parallel {
                MaxParallel::AtMost(number) => format!("at most {number} at once"),
                auto @ MaxParallel::Auto => {
                    format!("{} at once to begin with", auto.first_guess(self.tasks))
                }
            },
            RunMode::Queue if self.settings.queue_auto_approve => "one by one".to_owned(),
            RunMode::Queue => "one by one, each when you approve it".to_owned(),
        };
        let waves = count(self.waves, "wave");
        row("order", &format!("{waves}, {turns}"));
        row("agent", &format!("{} ({what})", self.agent.name()));
        if let Some(setup) = &self.settings.setup {
            row("setup", setup);
        }
        let tests = self.settings.validate.as_deref();
        row(
            "tests",
            tests.unwrap_or("none: no command is set (validate)"),
        );
        let lands = match self.settings.land {
            Landing::Nowhere => "a local branch",
            Landing::Push => "pushed to a branch of the server",
            Landing::PullRequest => "pushed, with one pull request",
        };
        row("result", lands);
        row("sandbox", "none: the agent can do whatever you can");
    }
}

/// A number with its noun.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// Gets the user's consent to the agent and to what steers it, or fails.
pub(crate) fn ask(steering: &[&str]) -> Result<(), Failures> {
    if !std::io::stdin().is_terminal() {
        let failure = Failure::new(
            Exit::Environment,
            "no_consent",
            "nobody is there to consent to this run",
        );
        return Err(failure
            .hint("add --yes to consent to the agent and to the files that steer it")
            .into());
    }
    if !steering.is_empty() {
        tell_error(format_args!(
            "  files that steer agents or Pleach, as committed:\n"
        ));
        for path in steering {
            tell_error(format_args!("    {path}\n"));
        }
    }
    if asks("Run it?") == Some(true) {
        return Ok(());
    }
    Err(
        Failure::new(Exit::Environment, "no_consent", "nothing was run")
            .hint("answer y to run it")
            .into(),
    )
}

/// Asks a question that is answered with yes or no; no answer, if nobody is there.
pub(crate) fn asks(question: &str) -> Option<bool> {
    if !std::io::stdin().is_terminal() {
        return None;
    }
    tell_error(format_args!("{question} [y/N] "));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    let says_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    Some(read.is_ok() && says_yes)
}
