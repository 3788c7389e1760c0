//! What went wrong, as people and shells are told it.
//!
//! Every error of the crates below becomes one of these at the edge, with a hint and an exit code.

use std::fmt::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use pleach_domain::problem::Problem;
use pleach_domain::select::SelectionError;
use pleach_engine::agent::NoAgent;
use pleach_engine::causes::with_causes;
use pleach_engine::config::ConfigError;
use pleach_engine::control::ControlError;
use pleach_engine::database::DatabaseError;
use pleach_engine::git::{GitError, PutError, StoreError};
use pleach_engine::init::InitError;
use pleach_engine::plan_file::PlanFileError;
use pleach_engine::plan_in_use::NoPlan;
use pleach_engine::prompt::UnknownPlace;
use pleach_engine::run::{InPlaceError, RunError};
use pleach_engine::sandbox::NoSandbox;
use pleach_engine::secrets::{Hider, Secrets};
use pleach_engine::state_folder::StateFolderError;
use pleach_engine::stored_batch::LookupError;
use pleach_engine::view::ViewError;
use pleach_engine::weave::WeaveError;
use pleach_engine::worktree::WorktreeError;
use serde_json::json;

use crate::output::{Reader, one_line, tell, tell_error};

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default();
const DIM: Style = Style::new().dimmed();

/// Nobody reads more warnings than this.
const MOST_WARNINGS: usize = 10;

/// Nobody mends more errors than this before looking again.
const MOST_ERRORS: usize = 50;

/// What most often is the matter when git fails.
const ROOM_FOR_GIT: &str = "check that there is room, in TMPDIR as well, and that the repository can be written to; `git fsck` tells \
                            whether it is whole";

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    Success,
    SomeTaskFailed,
    Usage,
    Environment,
    Bug,
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Success => 0,
            Exit::SomeTaskFailed => 1,
            Exit::Usage => 2,
            Exit::Environment => 3,
            Exit::Bug => 70,
            Exit::Interrupted => 130,
        })
    }
}

/// One thing that went wrong.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// A place such as `TODO.md:41`.
    pub(crate) place: Option<String>,
    /// Two lines that point at a word.
    pub(crate) pointer: Option<String>,
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            exit,
            code,
            message: message.into(),
            place: None,
            pointer: None,
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A problem of a plan's file.
    pub(crate) fn of_plan(problem: &Problem, file: &str) -> Self {
        Self {
            place: problem.line.map(|line| format!("{file}:{line}")),
            hint: problem.hint.clone(),
            ..Self::new(Exit::Usage, problem.code.as_str(), &problem.message)
        }
    }

    /// The same without secrets, which words of git and of servers may hold.
    fn hidden(&self, hider: &Hider) -> Self {
        let hidden = |text: &String| hider.hidden(text.clone());
        Self {
            message: hidden(&self.message),
            place: self.place.as_ref().map(hidden),
            pointer: self.pointer.as_ref().map(hidden),
            hint: self.hint.as_ref().map(hidden),
            ..*self
        }
    }

    fn text(&self, label: &str, style: Style) -> String {
        let mut text = String::new();
        for (number, line) in self.message.lines().enumerate() {
            let line = one_line(line);
            if number == 0 {
                text = format!("{style}{label}{style:#}: {line}\n");
            } else {
                text.push_str("  ");
                text.push_str(&line);
                text.push('\n');
            }
        }
        let mut add = |line: std::fmt::Arguments<'_>| {
            text.write_fmt(line).expect("writing to a string works");
        };
        if let Some(place) = &self.place {
            add(format_args!("  {DIM}┌{DIM:#} {}\n", one_line(place)));
        }
        for line in self.pointer.iter().flat_map(|pointer| pointer.lines()) {
            add(format_args!("  {DIM}│{DIM:#} {line}\n"));
        }
        if let Some(hint) = &self.hint {
            add(format_args!("{CYAN}hint{CYAN:#}: {}\n", one_line(hint)));
        }
        text
    }
}

/// Everything that went wrong; never empty.
#[derive(Debug)]
pub(crate) struct Failures {
    all: Vec<Failure>,
    reader: Reader,
}

impl Failures {
    /// Several at once; nothing, if there is none.
    pub(crate) fn check(all: Vec<Failure>) -> Result<(), Self> {
        if all.is_empty() {
            Ok(())
        } else {
            Err(Self {
                all,
                reader: Reader::Person,
            })
        }
    }

    /// The same, told to whoever reads.
    pub(crate) fn told_to(mut self, reader: Reader) -> Self {
        self.reader = reader;
        self
    }

    pub(crate) fn exit(&self) -> Exit {
        self.all[0].exit
    }

    /// Prints to standard error, and for programs the first one to standard output.
    pub(crate) fn print(&self) {
        let hider = Secrets::of_environment(&[]).hider();
        for failure in self.all.iter().take(MOST_ERRORS) {
            let failure = failure.hidden(&hider);
            tell_error(format_args!("{}", failure.text("error", RED)));
        }
        let more = self.all.len().saturating_sub(MOST_ERRORS);
        if more > 0 {
            tell_error(format_args!(
                "{RED}error{RED:#}: and {more} more; `pleach plan --json` lists all\n"
            ));
        }
        if self.reader == Reader::Program {
            let first = self.all[0].hidden(&hider);
            let error = json!({"code": first.code, "message": first.message, "hint": first.hint});
            tell(format_args!("{}\n", json!({ "error": error })));
        }
    }
}

impl From<Failure> for Failures {
    fn from(failure: Failure) -> Self {
        Self {
            all: vec![failure],
            reader: Reader::Person,
        }
    }
}

/// Prints what is odd and stops nothing; of a great many only the first.
pub(crate) fn warn<'p>(problems: impl IntoIterator<Item = &'p Problem>, file: &str) {
    let mut problems = problems.into_iter();
    for problem in problems.by_ref().take(MOST_WARNINGS) {
        let failure = Failure::of_plan(problem, file);
        tell_error(format_args!("{}", failure.text("warning", YELLOW)));
    }
    let more = problems.count();
    if more > 0 {
        tell_error(format_args!(
            "{YELLOW}warning{YELLOW:#}: and {more} more; `pleach plan --json` lists all\n"
        ));
    }
}

impl From<SelectionError> for Failures {
    fn from(error: SelectionError) -> Self {
        Failure {
            pointer: Some(error.pointer()),
            ..Failure::new(Exit::Usage, "bad_selection", &error.message).hint(&error.hint)
        }
        .into()
    }
}

impl From<PlanFileError> for Failures {
    fn from(error: PlanFileError) -> Self {
        Failure::new(Exit::Usage, "bad_file", with_causes(&error))
            .hint(error.hint())
            .into()
    }
}

impl From<NoPlan> for Failures {
    fn from(error: NoPlan) -> Self {
        if let NoPlan::Config(error) = error {
            return error.into();
        }
        Failure::new(Exit::Usage, "no_plan", with_causes(&error))
            .hint(error.hint())
            .into()
    }
}

impl From<ConfigError> for Failures {
    fn from(error: ConfigError) -> Self {
        let each = error.each().iter().map(|error| {
            Failure::new(Exit::Usage, "bad_config", with_causes(error)).hint(error.hint())
        });
        Self {
            all: each.collect(),
            reader: Reader::Person,
        }
    }
}

impl From<InitError> for Failures {
    fn from(error: InitError) -> Self {
        let (exit, code) = match error {
            InitError::Config(error) => return error.into(),
            InitError::Exists { .. } => (Exit::Usage, "file_exists"),
            InitError::Io { .. } => (Exit::Environment, "not_written"),
        };
        Failure::new(exit, code, with_causes(&error))
            .hint(error.hint())
            .into()
    }
}

impl From<NoAgent> for Failures {
    fn from(error: NoAgent) -> Self {
        Failure::new(Exit::Environment, "no_agent", error.to_string())
            .hint(error.hint())
            .into()
    }
}

impl From<StateFolderError> for Failures {
    fn from(error: StateFolderError) -> Self {
        Failure::new(Exit::Environment, "state_folder", with_causes(&error))
            .hint(error.hint())
            .into()
    }
}

impl From<StoreError> for Failures {
    fn from(error: StoreError) -> Self {
        let (exit, code) = match error {
            StoreError::BaseNotFound { .. } => (Exit::Usage, "base_not_found"),
            StoreError::Login { .. } => (Exit::Environment, "login"),
            _ => (Exit::Environment, "repository"),
        };
        let is_git = matches!(error, StoreError::Git(_));
        let of_git = || is_git.then(|| ROOM_FOR_GIT.to_owned());
        Failure {
            hint: error.hint().or_else(of_git),
            ..Failure::new(exit, code, with_causes(&error))
        }
        .into()
    }
}

impl From<GitError> for Failures {
    fn from(error: GitError) -> Self {
        let failure = Failure::new(Exit::Environment, "git", with_causes(&error));
        match error {
            GitError::NotInstalled => failure.hint("install git and put it on the PATH").into(),
            GitError::TooOld { needed, .. } => failure
                .hint(format!("install git {needed} or newer"))
                .into(),
            _ => failure.hint(ROOM_FOR_GIT).into(),
        }
    }
}

impl From<PutError> for Failures {
    fn from(error: PutError) -> Self {
        match error {
            PutError::Git(error) => error.into(),
            PutError::Store(error) => error.into(),
            _ => Failure {
                hint: error.hint(),
                ..Failure::new(Exit::Usage, "branch", error.to_string())
            }
            .into(),
        }
    }
}

impl From<WeaveError> for Failures {
    fn from(error: WeaveError) -> Self {
        match error {
            WeaveError::Git(error) => error.into(),
            WeaveError::Store(error) => error.into(),
            WeaveError::Io { .. } => Failure::new(Exit::Environment, "weave", with_causes(&error))
                .hint("check that there is room and that the folder can be written to, or set TMPDIR to another one")
                .into(),
            WeaveError::Objects { .. } => Failure::new(Exit::Environment, "weave", with_causes(&error))
                .hint(ROOM_FOR_GIT)
                .into(),
            WeaveError::UnknownHash(_) | WeaveError::TooDeep => {
                Failure::new(Exit::Environment, "weave", with_causes(&error)).into()
            }
        }
    }
}

impl From<WorktreeError> for Failures {
    fn from(error: WorktreeError) -> Self {
        match error {
            WorktreeError::Git(error) => error.into(),
            WorktreeError::Store(error) => error.into(),
            _ => Failure::new(Exit::Environment, "worktree", with_causes(&error)).into(),
        }
    }
}

impl From<DatabaseError> for Failures {
    fn from(error: DatabaseError) -> Self {
        let (exit, code) = match error {
            DatabaseError::TaskBusy { .. } => (Exit::Usage, "task_busy"),
            _ => (Exit::Environment, "database"),
        };
        Failure {
            hint: error.hint().map(str::to_owned),
            ..Failure::new(exit, code, with_causes(&error))
        }
        .into()
    }
}

impl From<UnknownPlace> for Failures {
    fn from(error: UnknownPlace) -> Self {
        Failure::new(Exit::Usage, "bad_prompt", error.to_string())
            .hint(error.hint())
            .into()
    }
}

impl From<RunError> for Failures {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => error.into(),
            RunError::Git(error) => error.into(),
            RunError::State(error) => error.into(),
            RunError::Weave(error) => error.into(),
            RunError::Worktree(error) => (*error).into(),
            RunError::Database(error) => error.into(),
            RunError::Sandbox(error) => error.into(),
            RunError::InPlace(error) => {
                let exit = match error {
                    InPlaceError::Busy { .. } => Exit::Usage,
                    InPlaceError::NeedsRepository { .. } | InPlaceError::Unfit { .. } => {
                        Exit::Environment
                    }
                };
                Failure::new(exit, error.code(), error.to_string())
                    .hint(error.hint())
                    .into()
            }
            RunError::NoBatch(_) => Failure::new(Exit::Usage, "batch_not_found", error.to_string())
                .hint("`pleach status --all` lists the batches there are")
                .into(),
            RunError::Over(_) => Failure::new(Exit::Usage, "batch_over", error.to_string())
                .hint("`pleach retry BATCH TASK` opens it again")
                .into(),
            RunError::Ownership(_)
            | RunError::Process(_)
            | RunError::Unreadable { .. }
            | RunError::Io { .. } => {
                Failure::new(Exit::Environment, "run", with_causes(&error)).into()
            }
        }
    }
}

impl From<NoSandbox> for Failures {
    fn from(error: NoSandbox) -> Self {
        Failure::new(Exit::Environment, "no_sandbox", error.to_string())
            .hint(error.hint())
            .into()
    }
}

impl From<ViewError> for Failures {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::Database(error) => error.into(),
            _ => Failure::new(Exit::Environment, "database", with_causes(&error)).into(),
        }
    }
}

impl From<LookupError> for Failures {
    fn from(error: LookupError) -> Self {
        let code = match error {
            LookupError::NoBatch(_) => "batch_not_found",
            LookupError::NoTask { .. } => "task_not_found",
            LookupError::View(error) => return error.into(),
        };
        Failure {
            hint: error.hint(),
            ..Failure::new(Exit::Usage, code, error.to_string())
        }
        .into()
    }
}

impl From<ControlError> for Failures {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Lookup(error) => error.into(),
            ControlError::Run(error) => (*error).into(),
            ControlError::Refused {
                code,
                message,
                hint,
            } => Failure::new(Exit::Usage, code, message).hint(hint).into(),
            ControlError::Ask(error) => {
                Failure::new(Exit::Environment, "owner", with_causes(&error))
                    .hint("`pleach status` shows whether anybody runs it")
                    .into()
            }
        }
    }
}
