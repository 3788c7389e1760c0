//! Prints what became of a batch.

mod plan_marks;
mod table;

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use pleach_domain::batch::{BatchStatus, LandingResult, Proof};
use pleach_domain::task_state::Ending;
use pleach_engine::run::{Summary, TaskReport};
use pleach_log::view::usd;
use pleach_system::text::moment::rfc3339;
use pleach_system::text::shell_words::quoted;
use serde_json::json;

use self::table::SummaryTable;
use crate::columns::{seconds, terminal_width};
use crate::output::{one_line, tell};
use crate::preview::count;
use crate::report::proved_earlier;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

const INTERRUPTED: &str = "interrupted";

fn status_of(summary: &Summary) -> &'static str {
    if summary.status.is_over() {
        summary.status.as_str()
    } else {
        INTERRUPTED
    }
}

fn print_tasks(summary: &Summary) {
    let work: Duration = summary.tasks.iter().filter_map(|task| task.time).sum();
    let why = match &summary.status {
        BatchStatus::Failed { error } => format!(": {}", one_line(error)),
        _ => String::new(),
    };
    tell(format_args!(
        "\n{BOLD}Batch {} {}{BOLD:#} in {} {DIM}(agent time {}){DIM:#}{why}\n\n",
        summary.number,
        status_of(summary),
        seconds(summary.time),
        seconds(work),
    ));
    let width = terminal_width();
    let table = SummaryTable::new(&summary.tasks, width);
    for line in summary.tasks.iter().flat_map(|task| table.lines(task)) {
        tell(format_args!("{line}\n"));
    }
}

pub(crate) fn print(summary: &Summary) {
    print_tasks(summary);
    if !summary.status.is_over() {
        return print_how_to_go_on(summary);
    }
    let merged = summary
        .tasks
        .iter()
        .filter(|task| matches!(task.ending, Some(Ending::Merged { .. })))
        .count();
    let base: String = summary.base.as_str().chars().take(10).collect();
    match &summary.branch {
        _ if summary.folder.is_some() => print_in_place(summary, merged),
        Some(branch) => {
            tell(format_args!(
                "\n{} merged into {BOLD}{branch}{BOLD:#}, based on {base}\n",
                count(merged, "task"),
            ));
            print_ground(summary);
            print_proof(summary);
            if summary.is_of_lost_proof {
                tell(format_args!(
                    "  {branch} stays at the last proved result, from before the base moved\n"
                ));
            }
            print_landing(summary);
            let word = one_line(&quoted(branch));
            tell(format_args!(
                "  {DIM}view{DIM:#}     git log --graph --stat {base}..{word}\n"
            ));
            if summary.landed_in.is_none() {
                tell(format_args!(
                    "  {DIM}merge{DIM:#}    git merge --ff-only {word}\n"
                ));
            }
        }
        None if merged > 0 => tell(format_args!(
            "\n{} merged, but the branch could not be created in your repository; see the note above\n",
            count(merged, "task"),
        )),
        None => tell(format_args!(
            "\nNothing was merged, so there is no branch.\n"
        )),
    }
    for text in plan_marks::ticked(summary) {
        tell(format_args!("  {DIM}{text}{DIM:#}\n"));
    }
}

fn print_how_to_go_on(summary: &Summary) {
    let number = summary.number;
    let ended = summary.tasks.iter().filter(|task| task.ending.is_some());
    tell(format_args!(
        "\n{}/{} tasks finished; all work is kept\n  {DIM}resume{DIM:#}  pleach resume {number}\n  \
         {DIM}cancel{DIM:#}  pleach cancel {number}\n",
        ended.count(),
        summary.tasks.len(),
    ));
}

/// Where the work is when it was done in the user's own folder.
fn print_in_place(summary: &Summary, merged: usize) {
    let folder = summary.folder.as_ref().map(|folder| folder.display());
    let folder = one_line(&folder.map(|folder| folder.to_string()).unwrap_or_default());
    let number = summary.number;
    if merged == 0 {
        tell(format_args!(
            "\nNo task succeeded with changes in {folder}\n"
        ));
    } else {
        tell(format_args!(
            "\n{} done in {BOLD}{folder}{BOLD:#}; nothing is pushed\n",
            count(merged, "task"),
        ));
        print_proof(summary);
        tell(format_args!("  {DIM}view{DIM:#}  pleach diff {number}\n"));
    }
    let left = |task: &&TaskReport| {
        let ending = task.ending.as_ref();
        task.attempts > 0 && ending.is_some_and(|ending| !ending.is_success())
    };
    if let Some(task) = summary.tasks.iter().find(left) {
        tell(format_args!(
            "  changes of unsuccessful tasks also stay in the folder: pleach diff {number} {}\n",
            one_line(&quoted(task.id.as_str()))
        ));
    }
}

/// The batches that are not in the base and that it builds on.
fn print_ground(summary: &Summary) {
    for other in &summary.builds_on {
        tell(format_args!(
            "  builds on {}\n",
            one_line(&other.to_string())
        ));
    }
}

fn print_proof(summary: &Summary) {
    let flaky = match summary.flaky {
        0 => String::new(),
        flaky => format!("; {} flaky: failed, then passed", count(flaky, "result")),
    };
    match (&summary.test_command, &summary.proof) {
        (None, _) => tell(format_args!(
            "  {YELLOW}not proved{YELLOW:#}: no test command is set (validate)\n"
        )),
        (Some(command), Proof::Proved { tree }) => tell(format_args!(
            "  {GREEN}proved{GREEN:#}: tree {BOLD}{tree}{BOLD:#}, by `{}` {DIM}({}{flaky}){DIM:#}\n",
            one_line(command),
            how_proved(summary),
        )),
        (Some(_), Proof::Unproved { because, .. }) => tell(format_args!(
            "  {RED}not proved{RED:#}: {}\n",
            one_line(because)
        )),
        (Some(_), _) => tell(format_args!(
            "  {YELLOW}not proved{YELLOW:#}: the tests were cancelled\n"
        )),
    }
}

/// How often the tests ran for it, and when, if that was before.
fn how_proved(summary: &Summary) -> String {
    let runs = count(summary.test_runs, "run");
    match summary.proved_earlier {
        None => runs,
        Some(at) if summary.test_runs == 0 => proved_earlier(Some(at)),
        Some(at) => format!("{runs}; {}", proved_earlier(Some(at))),
    }
}

fn print_landing(summary: &Summary) {
    if let Some(branch) = &summary.landed_in {
        tell(format_args!(
            "  {GREEN}landed{GREEN:#}: fast-forwarded {BOLD}{}{BOLD:#}\n",
            one_line(branch)
        ));
    } else if let Some(url) = &summary.pr_url {
        tell(format_args!(
            "  {GREEN}landed{GREEN:#}: {BOLD}{url}{BOLD:#}\n"
        ));
    } else if let (Some(branch), Some(LandingResult::Landed)) = (&summary.pushed, &summary.landed) {
        tell(format_args!("  {GREEN}pushed{GREEN:#}: {branch}\n"));
    }
    if let Some(LandingResult::NotLanded { because, hint, .. }) = &summary.landed {
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
        let id = one_line(&quoted(task.id.as_str()));
        tell(format_args!(
            "  {DIM}logs{DIM:#}     pleach logs {number} {id}\n"
        ));
    }
    if let Some(task) = first(|ending| matches!(ending, Ending::Conflicted { .. })) {
        let id = one_line(&quoted(task.id.as_str()));
        tell(format_args!(
            "  {DIM}resolve{DIM:#}  pleach resolve {number} {id}\n"
        ));
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
        "provedAt": summary.proved_earlier.map(rfc3339),
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
                "taskId": task.task_id,
                "key": task.id.as_str(),
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
        "batchId": summary.id,
        "number": summary.number,
        "status": status_of(summary),
        "batchBranch": summary.branch,
        "base": summary.base.as_str(),
        "tip": summary.tip.as_str(),
        "seconds": summary.time.as_secs_f64(),
        "tasks": tasks,
        "ticked": summary.ticked.iter().map(|ticked| json!({"taskId": ticked.task.as_str(), "line": ticked.line})).collect::<Vec<_>>(),
        "prUrl": summary.pr_url,
        "buildsOn": summary.builds_on,
        "validation": validation(summary),
        "folder": summary.folder.as_ref().map(|folder| folder.to_string_lossy()),
    });
    tell(format_args!(
        "{}\n",
        json!({"event": "batch:summary", "data": data})
    ));
}
