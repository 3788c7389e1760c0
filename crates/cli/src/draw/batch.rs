//! Draws a batch as a table: how far it is, where each task stands, and what is to do.
//!
//! Knows no terminal but its width.

use std::fmt::Write as _;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use pleach_domain::batch::BatchStatusWord;
use pleach_domain::task_state::TaskWord;
use pleach_log::view::{BatchView, TaskView, UnitView, ValidationView, Verdict};
use pleach_system::text::moment::local_time;
use unicode_width::UnicodeWidthStr as _;

use super::words::{count, one_line};
use crate::amounts;
use crate::columns::{about, cut, padded, seconds};
use crate::consent::few_names;
use crate::report::{in_files, with_whom};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();
const PLAIN: Style = Style::new();

/// Titles wider than this are cut even where there is room.
const WIDEST_TITLE: usize = 48;
/// Narrower than this they say nothing.
const NARROWEST_TITLE: usize = 12;
const STATE: usize = 10;
/// Names of nodes are short; a longer one is cut.
const WIDEST_NODE: usize = 16;
/// The longest word for a batch.
const STATUS_WIDTH: usize = 11;

/// Whether it needs saying which repository a batch is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepositoryLabel {
    Omitted,
    Shown,
}

/// A batch with its tasks, a line each, and a line below what needs explaining.
pub(crate) fn draw(batch: &BatchView, width: Option<usize>, home: RepositoryLabel) -> Vec<String> {
    let mut lines = head(batch, width, home);
    let table = BatchTable::new(batch, width);
    for task in &batch.tasks {
        lines.extend(table.row(batch, task));
    }
    lines.extend(foot(batch, width));
    lines
}

/// The same in at most so many lines: what is over or has not begun gives way first.
pub(crate) fn draw_within(
    batch: &BatchView,
    width: Option<usize>,
    home: RepositoryLabel,
    height: usize,
) -> Vec<String> {
    let whole = draw(batch, width, home);
    if whole.len() <= height {
        return whole;
    }
    let table = BatchTable::new(batch, width);
    let mut lines = head(batch, width, home);
    let foot = foot(batch, width);
    let room = height.saturating_sub(lines.len() + foot.len() + 1);
    let mut left_out = 0;
    let mut rows = Vec::new();
    let mut tasks: Vec<&TaskView> = batch.tasks.iter().collect();
    tasks.sort_by_key(|task| match sign_of(batch, task).1 {
        "▶" | "◷" => 0,
        "✗" => 1,
        _ => 2,
    });
    for task in tasks {
        let row = table.row(batch, task);
        if left_out > 0 || rows.len() + row.len() > room {
            left_out += 1;
        } else {
            rows.extend(row);
        }
    }
    lines.extend(rows);
    lines.push(format!("  {DIM}… and {left_out} more{DIM:#}"));
    lines.extend(foot);
    lines.truncate(height);
    lines
}

/// Batches on one line each, in columns: when they were made, how long they took, and where, if that needs saying.
pub(crate) fn history(
    batches: &[BatchView],
    width: Option<usize>,
    home: RepositoryLabel,
) -> Vec<String> {
    let widest = |texts: &[String]| texts.iter().map(|text| text.width()).max().unwrap_or(0);
    let texts =
        |text: &dyn Fn(&BatchView) -> String| -> Vec<String> { batches.iter().map(text).collect() };
    let numbers = texts(&|batch| format!("batch {}", batch.number));
    let homes = texts(&|batch| match home {
        RepositoryLabel::Omitted => String::new(),
        RepositoryLabel::Shown => one_line(&batch.main_repo_path.to_string_lossy()),
    });
    let times = texts(&|batch| match batch.started_at {
        Some(_) => seconds(Duration::from_secs_f64(batch.seconds)),
        None => String::new(),
    });
    let (column, place, time) = (widest(&numbers), widest(&homes), widest(&times));
    let rows = batches.iter().enumerate().map(|(at, batch)| {
        let (style, word) = status_of(batch);
        let made = local_time(&batch.created_at);
        let gap = if place == 0 { "" } else { "  " };
        let home = padded(&homes[at], place);
        let rest = format!(
            "{made}  {:>time$}  {home}{gap}{}",
            times[at],
            facts_of(batch)
        );
        let used = column + 2 + STATUS_WIDTH + 2;
        let rest = cut(
            &rest,
            width.map_or(usize::MAX, |width| width.saturating_sub(used)),
        );
        let number = padded(&numbers[at], column);
        format!("{BOLD}{number}{BOLD:#}  {style}{word:<STATUS_WIDTH$}{style:#}  {rest}")
    });
    rows.collect()
}

/// A batch on one line, for those who only want to hear of changes.
pub(crate) fn brief(batch: &BatchView, width: Option<usize>) -> String {
    let (style, word) = status_of(batch);
    let start = format!("batch {}  ", batch.number);
    let used = start.width() + STATUS_WIDTH + 1;
    let rest = cut(
        &facts_of(batch),
        width.map_or(usize::MAX, |width| width.saturating_sub(used)),
    );
    format!("{BOLD}{start}{BOLD:#}{style}{word:<STATUS_WIDTH$}{style:#} {rest}")
}

/// How many tasks of a batch stand where, and its branch.
fn facts_of(batch: &BatchView) -> String {
    let progress = &batch.progress;
    let mut facts = vec![format!("{}/{} merged", progress.completed, progress.total)];
    for (number, noun) in [
        (progress.running, "running"),
        (progress.failed, "failed"),
        (progress.skipped, "left out"),
        (progress.cancelled, "cancelled"),
    ] {
        if number > 0 {
            facts.push(format!("{number} {noun}"));
        }
    }
    let facts = facts.join(", ");
    let branch = batch.batch_branch.as_deref().filter(|_| batch.has_branch);
    let branch = branch.map(|branch| format!("  → {}", one_line(branch)));
    format!("{facts}{}", branch.unwrap_or_default())
}

fn status_of(batch: &BatchView) -> (Style, &'static str) {
    match batch.status {
        _ if batch.interrupted => (YELLOW, "interrupted"),
        BatchStatusWord::Completed => (GREEN, "completed"),
        BatchStatusWord::Failed => (RED, "failed"),
        BatchStatusWord::Cancelled => (YELLOW, "cancelled"),
        other => (CYAN, other.as_str()),
    }
}

fn head(batch: &BatchView, width: Option<usize>, home: RepositoryLabel) -> Vec<String> {
    let (style, word) = status_of(batch);
    let progress = &batch.progress;
    let over = progress.total - progress.queued - progress.running;
    let mut facts = vec![format!("{over}/{} finished", progress.total)];
    if batch.started_at.is_some() {
        facts.push(seconds(Duration::from_secs_f64(batch.seconds)));
    }
    if let Some(left) = batch.seconds_left.filter(|left| *left >= 1.0) {
        facts.push(format!(
            "about {} left",
            about(Duration::from_secs_f64(left))
        ));
    }
    let cost: f64 = batch.tasks.iter().filter_map(|task| task.cost).sum();
    if cost > 0.0 {
        facts.push(format!("${cost:.2}"));
    }
    if let Some(task) = batch.tasks.first() {
        facts.push(format!("sandbox {}", one_line(&task.sandbox)));
    }
    let used = format!("Batch {} {word}  ", batch.number).width();
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(used));
    let facts = cut(&facts.join(", "), room);
    let mut lines = vec![format!(
        "{BOLD}Batch {}{BOLD:#} {style}{word}{style:#}  {facts}",
        batch.number
    )];
    if home == RepositoryLabel::Shown {
        let path = one_line(&batch.main_repo_path.to_string_lossy());
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(2));
        lines.push(format!("  {DIM}{}{DIM:#}", cut(&path, room)));
    }
    lines
}

fn foot(batch: &BatchView, width: Option<usize>) -> Vec<String> {
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(2));
    let mut lines = Vec::new();
    let mut say = |style: Style, text: &str| {
        lines.push(format!("  {style}{}{style:#}", cut(text, room)));
    };
    let id = batch.number;
    if batch.interrupted {
        say(YELLOW, "interrupted: no process is running it");
        say(PLAIN, &format!("resume  pleach resume {id}"));
        say(PLAIN, &format!("cancel  pleach cancel {id}"));
    } else if let Some(error) = &batch.error {
        say(RED, &one_line(error));
    }
    if let Some(because) = &batch.held {
        say(YELLOW, &format!("paused: {}", one_line(because)));
    }
    if let Some(branch) = batch.batch_branch.as_ref().filter(|_| batch.has_branch) {
        say(PLAIN, &format!("→ {}", one_line(branch)));
        let (style, text) = proof_of(&batch.validation);
        say(style, &text);
    }
    if let Some(url) = &batch.pr_url {
        say(GREEN, &format!("landed: {}", one_line(url)));
    }
    if let Some(why) = &batch.validation.not_landed {
        say(YELLOW, &format!("not landed: {}", one_line(why)));
    }
    lines
}

fn proof_of(validation: &ValidationView) -> (Style, String) {
    let runs = validation.runs.iter().filter(|run| run.number.is_some());
    let reason = validation.reason.as_deref().unwrap_or_default();
    match validation.verdict {
        Verdict::NotConfigured => (
            YELLOW,
            "not proved: no test command is set (validate)".to_owned(),
        ),
        Verdict::Unknown if validation.base_red => {
            (RED, "the tests already fail on the base".to_owned())
        }
        Verdict::Unknown => (YELLOW, "not proved yet".to_owned()),
        Verdict::Running => (
            CYAN,
            format!("testing: {} so far", count(runs.count(), "run")),
        ),
        Verdict::Proved => {
            let tree = validation.tree.as_deref().unwrap_or_default();
            let earlier = validation.proved_at.is_some();
            let earlier = if earlier { " (proved earlier)" } else { "" };
            (GREEN, format!("proved: tree {tree}{earlier}"))
        }
        Verdict::BaseRed | Verdict::Red | Verdict::Trouble => {
            (RED, format!("not proved: {}", one_line(reason)))
        }
    }
}

struct BatchTable {
    id: usize,
    title: usize,
    /// Nothing where no task has a node.
    node: usize,
    time: usize,
    width: usize,
}

impl BatchTable {
    fn new(batch: &BatchView, width: Option<usize>) -> Self {
        let width = width.unwrap_or(usize::MAX);
        let widest =
            |of: &dyn Fn(&TaskView) -> usize| batch.tasks.iter().map(of).max().unwrap_or(0);
        let id = widest(&|task| one_line(task.key.as_str()).width()).min(24);
        let time = widest(&|task| time_of(task).width());
        let node = widest(&|task| node_of(task).width()).min(WIDEST_NODE);
        let behind = if node == 0 { 0 } else { node + 1 };
        let used = 2 + 2 + id + 2 + 2 + STATE + 1 + behind + time;
        let room = width.saturating_sub(used).max(NARROWEST_TITLE);
        let title = widest(&|task| one_line(&task.title).width());
        Self {
            id,
            title: title.min(WIDEST_TITLE).min(room),
            node,
            time,
            width,
        }
    }

    fn row(&self, batch: &BatchView, task: &TaskView) -> Vec<String> {
        let (style, sign) = sign_of(batch, task);
        let word = task.state.as_str().replace('_', " ");
        let id = padded(&cut(&one_line(task.key.as_str()), self.id), self.id);
        let title = cut(&one_line(&task.title), self.title);
        let title = padded(&title, self.title);
        let time = time_of(task);
        let mut rest = String::new();
        if self.node > 0 {
            let node = cut(&node_of(task), self.node);
            rest = format!(" {}", padded(&node, self.node));
        }
        if !time.is_empty() {
            let gap = " ".repeat(self.time - time.width());
            let _ = write!(rest, " {gap}{time}");
        }
        let rest = rest.trim_end();
        let end = if rest.is_empty() {
            format!("{style}{word}{style:#}")
        } else {
            format!("{style}{word:<STATE$}{style:#}{rest}")
        };
        let mut lines = vec![format!(
            "  {style}{sign}{style:#} {BOLD}{id}{BOLD:#}  {title}  {end}"
        )];
        let indent = " ".repeat(2 + 2 + self.id + 2);
        let room = self.width.saturating_sub(indent.width());
        for note in notes(batch, task) {
            let note = cut(&one_line(&note), room);
            lines.push(format!("{indent}{DIM}{note}{DIM:#}"));
        }
        lines
    }
}

fn sign_of(batch: &BatchView, task: &TaskView) -> (Style, &'static str) {
    match task.state {
        TaskWord::Completed | TaskWord::Merged => (GREEN, "✓"),
        TaskWord::NoChanges => (GREEN, "·"),
        TaskWord::Failed | TaskWord::TimedOut | TaskWord::Conflicted | TaskWord::Invalid => {
            (RED, "✗")
        }
        TaskWord::Blocked | TaskWord::Cancelled | TaskWord::Skipped => (YELLOW, "○"),
        TaskWord::Waiting | TaskWord::Limited => (YELLOW, "◷"),
        TaskWord::Queued | TaskWord::Pending => (DIM, "◌"),
        TaskWord::Running | TaskWord::Stopping | TaskWord::Built | TaskWord::InProgress => {
            if batch.interrupted {
                (YELLOW, "◌")
            } else {
                (CYAN, "▶")
            }
        }
    }
}

fn node_of(task: &TaskView) -> String {
    task.node.as_deref().map(one_line).unwrap_or_default()
}

fn time_of(task: &TaskView) -> String {
    if task.started_at.is_none() {
        return String::new();
    }
    let mut time = seconds(Duration::from_secs_f64(task.seconds));
    if task.attempts > 1 {
        let _ = write!(time, " ×{}", task.attempts);
    }
    if let Some(cost) = task.cost {
        let _ = write!(time, " ${cost:.2}");
    } else if let Some(tokens) = task.tokens.and_then(amounts::tokens) {
        let _ = write!(time, " {tokens} tokens");
    }
    time
}

/// What there is to say about a task, and where its work is if it was left out.
fn notes(batch: &BatchView, task: &TaskView) -> Vec<String> {
    let mut notes = Vec::new();
    let conflict = batch.conflicts.iter();
    let conflict = conflict.filter(|conflict| conflict.task_id == task.task_id);
    for conflict in conflict {
        notes.push(format!(
            "{}{}",
            conflict.files.join(", "),
            with_whom(conflict.with.iter().map(|task| batch.key_of(task)))
        ));
    }
    for coming in &batch.predicted_conflicts {
        if let Some(other) = coming.other_than(&task.task_id) {
            let other = batch.key_of(other);
            let files = in_files(&coming.files);
            notes.push(format!("likely conflict with {other}{files}"));
        }
    }
    notes.extend(task.unit.as_ref().and_then(UnitView::line));
    match (task.state, &task.error) {
        (TaskWord::Waiting, _) if !task.consent.is_empty() => {
            let files = few_names(task.consent.iter().map(String::as_str));
            notes.push(format!(
                "needs your consent: pleach approve {} ({files})",
                batch.number
            ));
        }
        (TaskWord::Waiting, _) => notes.push(format!(
            "waiting for approval: pleach approve {}",
            batch.number
        )),
        (TaskWord::Conflicted, _) | (_, None) => {}
        (TaskWord::Queued, Some(error)) => notes.push(format!("last attempt: {error}")),
        (_, Some(error)) => notes.push(error.clone()),
    }
    if batch.interrupted && matches!(task.state, TaskWord::Running | TaskWord::Stopping) {
        notes.push("interrupted".to_owned());
    }
    if let Some(branch) = &task.branch
        && task.has_branch
        && !matches!(
            task.state,
            TaskWord::Merged | TaskWord::Queued | TaskWord::Running
        )
    {
        notes.push(format!("→ {branch}"));
    }
    notes
}
