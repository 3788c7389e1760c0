//! What went wrong, as people and shells are told it.
//!
//! Every error of the crates below becomes one of these at the edge, with a hint and an exit code.

use std::fmt::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use pleach_domain::problem::Problem;
use pleach_engine::fault::{Blame, Fault, Faults};
use pleach_system::secrets::{Hider, Secrets};
use serde_json::json;

use crate::output::{Reader, exact_line, one_line, tell, tell_error};

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default();
const DIM: Style = Style::new().dimmed();

/// Nobody reads more warnings than this.
const MOST_WARNINGS: usize = 10;

/// Nobody mends more errors than this before looking again.
const MOST_ERRORS: usize = 50;

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

/// A fault, and what it makes of the whole program: a command may also fail because a batch did.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) fault: Box<Fault>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        let fault = Box::new(Fault::new(Blame::User, code, message));
        Self { exit, fault }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.fault.hint = Some(hint.into());
        self
    }

    /// A place such as `TODO.md:41`.
    pub(crate) fn place(mut self, place: String) -> Self {
        self.fault.place = Some(place);
        self
    }

    pub(crate) fn of_plan(problem: &Problem, file: &str) -> Self {
        Fault::of_plan(problem, file).into()
    }
}

/// The same without secrets, which words of git and of servers may hold.
fn hidden(fault: &Fault, hider: &Hider) -> Fault {
    let mut hidden = fault.clone();
    let hide = |text: &mut String| *text = hider.hidden(std::mem::take(text));
    hide(&mut hidden.message);
    let others = [&mut hidden.place, &mut hidden.pointer, &mut hidden.hint];
    others.into_iter().flatten().for_each(hide);
    hidden
}

fn text(fault: &Fault, label: &str, style: Style) -> String {
    let mut text = String::new();
    for (number, line) in fault.message.lines().enumerate() {
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
    if let Some(place) = &fault.place {
        add(format_args!("  {DIM}┌{DIM:#} {}\n", one_line(place)));
    }
    for line in fault.pointer.iter().flat_map(|pointer| pointer.lines()) {
        add(format_args!("  {DIM}│{DIM:#} {}\n", exact_line(line)));
    }
    if let Some(hint) = &fault.hint {
        add(format_args!("{CYAN}hint{CYAN:#}: {}\n", one_line(hint)));
    }
    text
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

    /// The same, with which the program ends otherwise than who is to blame says.
    pub(crate) fn exiting(mut self, exit: Exit) -> Self {
        self.all.iter_mut().for_each(|failure| failure.exit = exit);
        self
    }

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
            let fault = hidden(&failure.fault, &hider);
            tell_error(format_args!("{}", text(&fault, "error", RED)));
        }
        let more = self.all.len().saturating_sub(MOST_ERRORS);
        if more > 0 {
            tell_error(format_args!(
                "{RED}error{RED:#}: {more} more; `pleach plan --json` lists them all\n"
            ));
        }
        if self.reader == Reader::Program {
            let first = hidden(&self.all[0].fault, &hider);
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
        let fault = Fault::of_plan(problem, file);
        tell_error(format_args!("{}", text(&fault, "warning", YELLOW)));
    }
    let more = problems.count();
    if more > 0 {
        tell_error(format_args!(
            "{YELLOW}warning{YELLOW:#}: {more} more; `pleach plan --json` lists them all\n"
        ));
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self {
            exit: match fault.blame {
                Blame::User => Exit::Usage,
                Blame::Environment => Exit::Environment,
                Blame::Pleach => Exit::Bug,
            },
            fault: Box::new(fault),
        }
    }
}

impl<E: Into<Faults>> From<E> for Failures {
    fn from(error: E) -> Self {
        let faults: Faults = error.into();
        Self {
            all: faults.into_vec().into_iter().map(Failure::from).collect(),
            reader: Reader::Person,
        }
    }
}
