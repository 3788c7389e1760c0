//! Prints what became of a batch.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use pleach_domain::batch::BatchStatus;
use pleach_domain::task_state::Ending;
use pleach_engine::run::{Summary, TaskReport};
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
        Some(branch) => tell(format_args!(
            "\n{} merged into {BOLD}{branch}{BOLD:#}, on top of {base}; no tests were run\n  \
             {DIM}look at it{DIM:#}  git log --graph --stat {base}..{branch}\n  \
             {DIM}take it{DIM:#}     git merge --ff-only {branch}\n",
            count(merged, "task"),
        )),
        None if merged > 0 => tell(format_args!(
            "\n{} merged, but not brought to your repository; see the note above\n",
            count(merged, "task"),
        )),
        None => tell(format_args!(
            "\nNothing was merged, so there is no branch.\n"
        )),
    }
}

/// Where to read on, if something failed.
pub(crate) fn print_why(summary: &Summary) {
    let failed = |ending: &Ending| matches!(ending, Ending::Failed { .. } | Ending::TimedOut);
    let mut tasks = summary.tasks.iter();
    if let Some(task) = tasks.find(|task| task.ending.as_ref().is_some_and(failed)) {
        let (number, id) = (summary.number, &task.id);
        tell(format_args!(
            "  {DIM}see why{DIM:#}     pleach logs {number} {id}\n"
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
        Ending::Conflicted { .. } | Ending::Failed { .. } | Ending::TimedOut => (RED, "✗"),
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
        Ending::Blocked { because } => because.clone(),
        Ending::NoChanges | Ending::TimedOut | Ending::Cancelled => String::new(),
    }
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
        "validation": null,
    });
    tell(format_args!(
        "{}\n",
        json!({"event": "batch:summary", "data": data})
    ));
}
