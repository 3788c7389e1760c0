//! The tasks of a batch in columns, each with what became of it.

use anstyle::Style;
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Ending;
use pleach_engine::run::TaskReport;
use unicode_width::UnicodeWidthStr as _;

use super::{BOLD, DIM, GREEN, PLAIN, RED, YELLOW};
use crate::amounts;
use crate::columns::{cut, padded, seconds};
use crate::line::Line;
use crate::output::one_line;
use crate::report::with_whom;

const WIDEST_TITLE: usize = 48;
const NARROWEST_TITLE: usize = 8;
/// As wide as the widest word for how a task ends.
const OUTCOME: usize = 10;

/// How long agents were at it, how many of them, and what they cost.
fn time(task: &TaskReport) -> String {
    let Some(time) = task.time else {
        return String::new();
    };
    let mut words = Vec::new();
    if task.attempts > 1 {
        words.push(format!("{} attempts", task.attempts));
    }
    words.push(seconds(time));
    words.extend(amounts::spent(task.spent.micro_usd, task.spent.tokens));
    words.join(", ")
}

pub(super) struct SummaryTable {
    /// None where nobody minds.
    width: Option<usize>,
    id: usize,
    title: usize,
    /// None where times have no room beside the rest.
    time: Option<usize>,
}

impl SummaryTable {
    pub(super) fn new(tasks: &[TaskReport], width: Option<usize>) -> Self {
        let widest = |of: &dyn Fn(&TaskReport) -> usize| tasks.iter().map(of).max().unwrap_or(0);
        let id = widest(&|task| task.id.as_str().width());
        let time = widest(&|task| time(task).width());
        let title = widest(&|task| task.title.width()).min(WIDEST_TITLE);
        // Two spaces and a sign with a space; spaces behind id, title and outcome.
        let fixed = 4 + id + 2 + 2 + OUTCOME;
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(fixed));
        let beside = room.saturating_sub(1 + time);
        let (room, time) = if beside >= NARROWEST_TITLE.min(title) {
            (beside, Some(time))
        } else {
            (room, None)
        };
        Self {
            width,
            id,
            title: title.min(room.max(NARROWEST_TITLE)),
            time,
        }
    }

    /// One line, or more where it does not fit.
    pub(super) fn lines(&self, task: &TaskReport) -> Vec<Line> {
        let Some(ending) = &task.ending else {
            return Vec::new();
        };
        let (style, sign) = sign_of(ending);
        let outcome = ending.outcome().replace('_', " ");
        let title = padded(&cut(&one_line(&task.title), self.title), self.title);
        let time = time(task);
        let line = Line::new().and(style, format!("  {sign} "));
        let line = line.and(BOLD, padded(task.id.as_str(), self.id));
        let line = line.and(PLAIN, format!("  {title}  "));
        let line = line.and(style, format!("{outcome:<OUTCOME$}"));
        let line = match self.time {
            Some(column) => line.and(PLAIN, format!(" {time:>column$}")),
            None => line,
        };
        let time = Some(time).filter(|_| self.time.is_none());
        let what = one_line(&what_happened(ending, &task.files));
        let branch = task.branch.as_ref().filter(|_| !ending.is_success());
        let branch = branch.map(|branch| format!("→ {branch}"));
        let details = time.into_iter().chain([what]).chain(branch);
        self.fitting(line, details.filter(|text| !text.is_empty()).collect())
    }

    /// The line with its details behind it, or below it, or each on a line of its own.
    fn fitting(&self, line: Line, details: Vec<String>) -> Vec<Line> {
        let width = self.width.unwrap_or(usize::MAX);
        let whole = details.join(" ");
        if whole.is_empty() {
            return vec![line.cut(width)];
        }
        if line.width() + 2 + whole.width() <= width {
            return vec![line.and(DIM, format!("  {whole}"))];
        }
        let indent = " ".repeat(self.id + 6);
        let details = if indent.width() + whole.width() <= width {
            vec![whole]
        } else {
            details
        };
        let below = details
            .iter()
            .map(|text| Line::new().and(DIM, format!("{indent}{text}")));
        let lines = [line].into_iter().chain(below);
        lines.map(|line| line.cut(width)).collect()
    }
}

fn sign_of(ending: &Ending) -> (Style, &'static str) {
    match ending {
        Ending::Merged { .. } => (GREEN, "✓"),
        Ending::NoChanges { .. } => (GREEN, "·"),
        Ending::Conflicted { .. }
        | Ending::Invalid { .. }
        | Ending::Failed { .. }
        | Ending::TimedOut => (RED, "✗"),
        Ending::Blocked { .. } | Ending::Cancelled => (YELLOW, "○"),
    }
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
            format!(
                "{}{}",
                files.join(", "),
                with_whom(with.iter().map(TaskId::as_str))
            )
        }
        Ending::Failed { error } => error.clone(),
        Ending::Blocked { because } | Ending::Invalid { because, .. } => because.clone(),
        Ending::NoChanges { reason } => reason.clone().unwrap_or_default(),
        Ending::TimedOut | Ending::Cancelled => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pleach_domain::batch::Spent;
    use pleach_domain::task_state::Commit;

    use super::*;

    fn task(id: &str, title: &str, ending: Ending, files: &[&str]) -> TaskReport {
        let is_success = ending.is_success();
        TaskReport {
            home: None,
            id: TaskId::new(id),
            task_id: String::new(),
            title: title.to_owned(),
            time: Some(Duration::from_secs(75)),
            attempts: if is_success { 1 } else { 3 },
            spent: Spent {
                tokens: 1_200,
                micro_usd: if is_success { 0 } else { 500_000 },
            },
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            branch: (!is_success).then(|| format!("pleach/task-1/{id}")),
            ending: Some(ending),
        }
    }

    #[test]
    fn tasks_fit_into_every_terminal_and_say_files_partners_and_branches() {
        let commit = Commit("c1".into());
        let merged = || Ending::Merged {
            commit: commit.clone(),
        };
        let conflicted = Ending::Conflicted {
            commit: commit.clone(),
            files: vec!["src/greenhouse/opening_hours.rs".into()],
            with: vec![TaskId::new("1.1")],
        };
        let failed = Ending::Failed {
            error: "the agent exited with 1: no offer from any glazier".into(),
        };
        let tasks = [
            task(
                "1.1",
                "Write a watering plan",
                merged(),
                &["a", "b", "c", "d", "e"],
            ),
            task(
                "1.2",
                "植物を植える: plant a third bed",
                merged(),
                &["beds.csv"],
            ),
            task("2.1", "Open the greenhouse on Sundays", conflicted, &[]),
            task("2.2", "Order the glass", failed, &[]),
            task(
                "2.3",
                "Look for ivy",
                Ending::NoChanges { reason: None },
                &[],
            ),
        ];
        let mut drawn = String::new();
        for width in [None, Some(120), Some(80), Some(60), Some(40)] {
            let table = SummaryTable::new(&tasks, width);
            let lines = tasks.iter().flat_map(|task| table.lines(task));
            drawn.push_str(&"─".repeat(width.unwrap_or(4)));
            drawn.push('\n');
            for line in lines {
                assert!(
                    line.width() <= width.unwrap_or(usize::MAX),
                    "{}",
                    line.plain()
                );
                drawn.push_str(line.plain().trim_end());
                drawn.push('\n');
            }
        }
        insta::assert_snapshot!(drawn);
    }
}
