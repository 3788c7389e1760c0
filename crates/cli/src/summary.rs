//! Prints what became of a batch.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use pleach_domain::batch::{BatchStatus, Landed, Proof};
use pleach_domain::task_state::Ending;
use pleach_engine::run::{Summary, TaskReport};
use pleach_engine::view::usd;
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::columns::{cut, padded, seconds};
use crate::output::{one_line, tell};
use crate::preview::count;
use crate::report::with_whom;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// For people.
pub(crate) fn print(summary: &Summary) {
    let work: Duration = summary.tasks.iter().filter_map(|task| task.time).sum();
    let why = match &summary.status {
        BatchStatus::Failed { error } => format!(": {}", one_line(error)),
        _ => String::new(),
    };
    tell(format_args!(
        "\n{BOLD}Batch {} {}{BOLD:#} in {} {DIM}({} of work){DIM:#}{why}\n\n",
        summary.number,
        summary.status.as_str(),
        seconds(summary.time),
        seconds(work),
    ));
    let id_width = summary
        .tasks
        .iter()
        .map(|task| task.id.as_str().width())
        .max()
        .unwrap_or(0);
    let title_width = summary
        .tasks
        .iter()
        .map(|task| task.title.width())
        .max()
        .unwrap_or(0)
        .min(48);
    let times: Vec<String> = summary.tasks.iter().map(time).collect();
    let time_width = times.iter().map(|time| time.width()).max().unwrap_or(0);
    for (task, time) in summary.tasks.iter().zip(times) {
        let time = format!("{}{time}", " ".repeat(time_width - time.width()));
        print_task(task, id_width, title_width, &time);
    }
    let merged = summary
        .tasks
        .iter()
        .filter(|task| matches!(task.ending, Some(Ending::Merged { .. })))
        .count();
    let base: String = summary.base.as_str().chars().take(10).collect();
    match &summary.branch {
        Some(branch) => {
            tell(format_args!(
                "\n{} merged into {BOLD}{branch}{BOLD:#}, on top of {base}\n",
                count(merged, "task"),
            ));
            print_proof(summary);
            print_landing(summary);
            tell(format_args!(
                "  {DIM}look at it{DIM:#}  git log --graph --stat {base}..{branch}\n  \
                 {DIM}take it{DIM:#}     git merge --ff-only {branch}\n",
            ));
        }
        None if merged > 0 => tell(format_args!(
            "\n{} merged, but not brought to your repository; see the note above\n",
            count(merged, "task"),
        )),
        None => tell(format_args!(
            "\nNothing was merged, so there is no branch.\n"
        )),
    }
}

/// What the tests say of the result.
fn print_proof(summary: &Summary) {
    let flaky = match summary.flaky {
        0 => String::new(),
        flaky => format!("; {} flaky: red, then green", count(flaky, "result")),
    };
    match (&summary.test_command, &summary.proof) {
        (None, _) => tell(format_args!(
            "  {YELLOW}not proved{YELLOW:#}: no test command is set (validate)\n"
        )),
        (Some(command), Proof::Proved { tree }) => tell(format_args!(
            "  {GREEN}proved{GREEN:#}: tree {BOLD}{tree}{BOLD:#}, by `{}` {DIM}({}{flaky}){DIM:#}\n",
            one_line(command),
            count(summary.test_runs, "run"),
        )),
        (Some(_), Proof::Unproved { because, .. }) => tell(format_args!(
            "  {RED}not proved{RED:#}: {}\n",
            one_line(because)
        )),
        (Some(_), _) => tell(format_args!(
            "  {YELLOW}not proved{YELLOW:#}: the tests were not run to an end\n"
        )),
    }
}

/// Where the result is, and what to do where it is not.
fn print_landing(summary: &Summary) {
    if let Some(url) = &summary.pr_url {
        tell(format_args!(
            "  {GREEN}landed{GREEN:#}: {BOLD}{url}{BOLD:#}\n"
        ));
    } else if let (Some(branch), Some(Landed::There)) = (&summary.pushed, &summary.landed) {
        tell(format_args!("  {GREEN}pushed{GREEN:#}: {branch}\n"));
    }
    if let Some(Landed::Not { because, hint }) = &summary.landed {
        tell(format_args!(
            "  {YELLOW}not landed{YELLOW:#}: {}\n",
            one_line(because)
        ));
        if let Some(hint) = hint {
            tell(format_args!("              {}\n", one_line(hint)));
        }
    }
}

/// Where to read on, if something failed, and what a person can do.
pub(crate) fn print_why(summary: &Summary) {
    let number = summary.number;
    let first = |is_so: fn(&Ending) -> bool| {
        let mut tasks = summary.tasks.iter();
        tasks.find(|task| task.ending.as_ref().is_some_and(is_so))
    };
    if let Some(task) = first(|ending| matches!(ending, Ending::Failed { .. } | Ending::TimedOut)) {
        let id = &task.id;
        tell(format_args!(
            "  {DIM}see why{DIM:#}     pleach logs {number} {id}\n"
        ));
    }
    if let Some(task) = first(|ending| matches!(ending, Ending::Conflicted { .. })) {
        let id = &task.id;
        tell(format_args!(
            "  {DIM}resolve it{DIM:#}  pleach resolve {number} {id}\n"
        ));
    }
}

/// How long agents were at it, and how many of them.
fn time(task: &TaskReport) -> String {
    match (task.time, task.attempts) {
        (None, _) => String::new(),
        (Some(time), 0 | 1) => seconds(time),
        (Some(time), attempts) => format!("{attempts} attempts, {}", seconds(time)),
    }
}

fn print_task(task: &TaskReport, id_width: usize, title_width: usize, time: &str) {
    let Some(ending) = &task.ending else { return };
    let (style, sign) = match ending {
        Ending::Merged { .. } => (GREEN, "✓"),
        Ending::NoChanges => (GREEN, "·"),
        Ending::Conflicted { .. }
        | Ending::Invalid { .. }
        | Ending::Failed { .. }
        | Ending::TimedOut => (RED, "✗"),
        Ending::Blocked { .. } | Ending::Cancelled => (YELLOW, "○"),
    };
    let outcome = ending.outcome().replace('_', " ");
    let title = padded(&cut(&one_line(&task.title), title_width), title_width);
    let branch = task
        .branch
        .as_ref()
        .filter(|_| !ending.is_success())
        .map(|branch| format!(" → {branch}"))
        .unwrap_or_default();
    let id = padded(task.id.as_str(), id_width);
    tell(format_args!(
        "  {style}{sign}{style:#} {BOLD}{id}{BOLD:#}  {title}  {style}{outcome:<10}{style:#} {time}  {DIM}{}{branch}{DIM:#}\n",
        one_line(&what_happened(ending, &task.files)),
    ));
}

fn what_happened(ending: &Ending, files: &[String]) -> String {
    match ending {
        Ending::Merged { .. } => match files {
            [first, second, third, rest @ ..] if !rest.is_empty() => {
                format!("{first}, {second}, {third} and {} more", rest.len())
            }
            _ => files.join(", "),
        },
        Ending::Conflicted { files, with, .. } => {
            format!("{}{}", files.join(", "), with_whom(with))
        }
        Ending::Failed { error } => error.clone(),
        Ending::Blocked { because } | Ending::Invalid { because, .. } => because.clone(),
        Ending::NoChanges | Ending::TimedOut | Ending::Cancelled => String::new(),
    }
}

fn validation(summary: &Summary) -> serde_json::Value {
    let (verdict, tree, reason) = match (&summary.test_command, &summary.proof) {
        (None, _) => ("not_configured", None, None),
        (Some(_), Proof::Proved { tree }) => ("proved", Some(tree), None),
        (Some(_), Proof::Unproved { because, .. }) => ("not_proved", None, Some(because)),
        (Some(_), Proof::Unknown | Proof::Searching(_)) => ("unknown", None, None),
    };
    json!({
        "command": summary.test_command,
        "verdict": verdict,
        "tree": tree,
        "reason": reason,
        "runs": summary.test_runs,
        "flaky": summary.flaky,
    })
}

/// For programs: the last line of the stream.
pub(crate) fn print_json(summary: &Summary) {
    let tasks: Vec<_> = summary
        .tasks
        .iter()
        .map(|task| {
            json!({
                "taskId": task.id.as_str(),
                "title": task.title,
                "outcome": task.ending.as_ref().map(Ending::outcome),
                "seconds": task.time.map(|time| time.as_secs_f64()),
                "attempts": task.attempts,
                "tokens": Some(task.spent.tokens).filter(|tokens| *tokens > 0),
                "cost": Some(usd(task.spent.micro_usd)).filter(|cost| *cost > 0.0),
                "files": task.files,
                "branch": task.branch,
            })
        })
        .collect();
    let data = json!({
        "batchId": summary.number,
        "status": summary.status.as_str(),
        "batchBranch": summary.branch,
        "base": summary.base.as_str(),
        "tip": summary.tip.as_str(),
        "seconds": summary.time.as_secs_f64(),
        "tasks": tasks,
        "prUrl": summary.pr_url,
        "validation": validation(summary),
    });
    tell(format_args!(
        "{}\n",
        json!({"event": "batch:summary", "data": data})
    ));
}
