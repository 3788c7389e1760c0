//! What is told of a task that was left out: why, and how to come by its work.
//!
//! Its work is in the author's repository only, so what gets it are commands for the author.

use pleach_domain::id::{BatchNumber, TaskId};
use pleach_system::text::neutral_text::{code, cut, escaped};

use super::words::{named, number, time, up_to};
use super::{LONGEST_NAME, LONGEST_TEXT, MOST_NAMES, TaskAccount, TaskFate};

pub(super) fn item(batch: BatchNumber, task: &TaskAccount) -> String {
    let mut spent = Vec::new();
    if task.attempts > 1 {
        spent.push(number(task.attempts as usize, "attempt"));
    }
    spent.extend(task.time.map(time));
    let spent = match spent.as_slice() {
        [] => String::new(),
        spent => format!(" ({})", spent.join(", ")),
    };
    format!(
        "- {}{spent}\\\n  {}\\\n  {}\n",
        named(task),
        why(&task.fate),
        how(batch, task)
    )
}

fn why(fate: &TaskFate) -> String {
    match fate {
        TaskFate::Conflicted { files, with } => {
            let files = files.iter().map(|file| code(&cut(file, LONGEST_NAME)));
            let files = match files.len() {
                0 => String::new(),
                _ => format!(" in {}", up_to(MOST_NAMES, files)),
            };
            match with.as_slice() {
                [] => format!("**Conflict** with the base{files}."),
                with => format!("**Conflict** with {}{files}.", tasks(with)),
            }
        }
        TaskFate::Invalid { with } => match with.as_slice() {
            [] => "**Breaks the tests** on the base alone.".to_owned(),
            with => format!("**Breaks the tests** together with {}.", tasks(with)),
        },
        TaskFate::Failed { error } => format!("**Failed:** {}", told(error)),
        TaskFate::TimedOut => "**Timed out.**".to_owned(),
        TaskFate::Blocked { because } => format!("**Blocked:** {}", told(because)),
        TaskFate::Cancelled | TaskFate::Merged | TaskFate::NoChanges => "**Cancelled.**".to_owned(),
    }
}

fn told(text: &str) -> String {
    match escaped(&cut(text, LONGEST_TEXT)).as_str() {
        "" => "reason unknown.".to_owned(),
        text => text.to_owned(),
    }
}

fn tasks(ids: &[TaskId]) -> String {
    let word = if ids.len() == 1 { "task" } else { "tasks" };
    let ids = ids
        .iter()
        .map(|id| escaped(&cut(id.as_str(), LONGEST_NAME / 2)));
    format!("{word} {}", up_to(MOST_NAMES, ids))
}

/// The commands that show its work, bring it back or try again.
fn how(batch: BatchNumber, task: &TaskAccount) -> String {
    let id = as_argument(&task.id);
    let command = |verb: &str| format!("`pleach {verb} {batch} {id}`");
    match &task.branch {
        Some(branch) => format!(
            "Its work is on {} in the author's repository: {} shows it, {} retries it.",
            code(&cut(branch, LONGEST_NAME)),
            command("diff"),
            command("retry"),
        ),
        None if task.attempts > 0 => format!(
            "{} restores its work, {} retries it.",
            command("recover"),
            command("retry"),
        ),
        None => format!("{} retries it.", command("retry")),
    }
}

/// An id as it can be pasted into a shell, or a mark in its place.
fn as_argument(id: &TaskId) -> &str {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let text = id.as_str();
    // Such as are no options, and as nothing else could be made of.
    if text.len() <= LONGEST_NAME / 2
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(is_plain)
    {
        text
    } else {
        "TASK"
    }
}
