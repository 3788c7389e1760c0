//! Draws the live view: a state, a size and a moment give lines.
//!
//! Knows neither terminals nor clocks.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use pleach_domain::batch::{BatchStatus, Proof, Spent};
use pleach_domain::task_state::{Ending, TaskState};
use unicode_width::UnicodeWidthStr as _;

use super::state::{LiveState, StopRequest};
use crate::amounts;
use crate::columns::{about, cut, elapsed, padded};
use crate::consent::few_names;
use crate::line::Line;
use crate::output::one_line;
use crate::report::landing;
use crate::terminal::TerminalSize;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const RED: Style = AnsiColor::Red.on_default();

const SPINNER: [&str; 8] = ["⣾", "⣽", "⣻", "⢿", "⡿", "⣟", "⣯", "⣷"];
/// How long a sign of the spinner stands at least, in milliseconds.
const TURN: u64 = 100;
const WIDEST_ID: usize = 12;
const WIDEST_BAR: usize = 30;
const NARROWEST_BAR: usize = 8;
/// Wide enough for `59m 59s`.
const TIME: usize = 7;
/// What is narrower says nothing any more.
const NARROWEST_ACTION: usize = 8;
const NARROWEST_TITLE: usize = 10;

/// When it is drawn, and how moments are said to whoever looks.
pub(crate) struct DrawClock<'a> {
    /// In milliseconds since 1970.
    pub(crate) now: u64,
    /// The time of day of a moment, such as `14:05`.
    pub(crate) clock: &'a dyn Fn(u64) -> String,
}

/// The lines of the view: the whole batch first, then whatever is under way or waits, as far as there is room.
pub(crate) fn draw(state: &LiveState, size: TerminalSize, moment: &DrawClock<'_>) -> Vec<Line> {
    let width = size.width();
    let mut lines = vec![total(state, width, moment)];
    lines.extend(notices(state));
    let rows = rows(state, moment);
    let room = size.rows.saturating_sub(lines.len() + 1);
    let shown = if rows.len() <= room {
        rows.len()
    } else {
        room.saturating_sub(1)
    };
    let table = LiveTable::new(&rows[..shown], width);
    lines.extend(rows[..shown].iter().map(|row| table.line(row)));
    if shown < rows.len() && room > 0 {
        let more = format!("  … and {} more", rows.len() - shown);
        lines.push(Line::new().and(DIM, more));
    }
    lines.into_iter().map(|line| line.cut(width)).collect()
}

fn notices(state: &LiveState) -> Vec<Line> {
    let mut notices = Vec::new();
    let mut say = |text: &str| notices.push(Line::new().and(YELLOW, format!("  {text}")));
    match state.stop {
        StopRequest::Not => {}
        StopRequest::Asked => {
            say("stopping: asked running agents to stop; Ctrl-C again stops them at once");
        }
        StopRequest::AtOnce => say("stopping at once; all work is kept"),
    }
    if let Some(why) = &state.batch.held {
        say(&format!("paused: {}", one_line(why)));
    }
    notices
}

fn total(state: &LiveState, width: usize, moment: &DrawClock<'_>) -> Line {
    let tasks = &state.batch.tasks;
    let count =
        |wanted: fn(&TaskState) -> bool| tasks.iter().filter(|task| wanted(&task.state)).count();
    let over = count(|state| state.ending().is_some());
    let good = count(TaskState::is_success);
    let all = tasks.len().max(1);
    let bar = (width / 4).clamp(NARROWEST_BAR, WIDEST_BAR);
    let mut line = Line::new();
    if let Some(number) = state.number {
        line.push(BOLD, format!("Batch {number}  "));
    }
    let cells = |count: usize| (count * bar).div_ceil(all).min(bar);
    let (green, both) = (cells(good), cells(over));
    line.push(GREEN, "█".repeat(green));
    line.push(RED, "▒".repeat(both.saturating_sub(green)));
    line.push(DIM, "░".repeat(bar - both.max(green)));
    line.push(PLAIN, format!(" {:>3} %", over * 100 / all));
    for (style, fact) in facts(state, over, moment) {
        let is_room = line.width() + 2 + fact.width() <= width;
        if is_room {
            line.push(style, format!("  {fact}"));
        }
    }
    line
}

/// What is said of the whole, most important first.
fn facts(state: &LiveState, over: usize, moment: &DrawClock<'_>) -> Vec<(Style, String)> {
    let mut facts = vec![(PLAIN, format!("{over}/{}", state.batch.tasks.len()))];
    let time = Duration::from_millis(state.history.time.until(moment.now));
    facts.push((DIM, elapsed(time)));
    if let Some(left) = state.left(moment.now) {
        facts.push((PLAIN, format!("about {} left", about(left))));
        let end = moment.now + u64::try_from(left.as_millis()).unwrap_or(0);
        facts.push((DIM, format!("ends {}", (moment.clock)(end))));
    }
    let spent = state.spent();
    facts.extend(amounts::cost(spent.micro_usd).map(|cost| (PLAIN, cost)));
    facts.extend(amounts::tokens(spent.tokens).map(|tokens| (DIM, format!("{tokens} tokens"))));
    facts
}

struct LiveRow {
    style: Style,
    sign: &'static str,
    id: String,
    title: String,
    time: String,
    what: String,
    /// The same in fewer words, for whoever has no room.
    briefly: Option<String>,
    spent: Spent,
}

fn rows(state: &LiveState, moment: &DrawClock<'_>) -> Vec<LiveRow> {
    let mut rows: Vec<(u8, u64, LiveRow)> = Vec::new();
    for (place, task) in state.batch.tasks.iter().enumerate() {
        let since = state.times[place].since;
        if let Some((rank, row)) = task_row(state, place, &task.state, moment) {
            rows.push((rank, since, row));
        }
    }
    // Whoever waits for a person comes first, then what runs longest.
    rows.sort_by_key(|(rank, since, _)| (*rank, *since));
    let mut rows: Vec<LiveRow> = rows.into_iter().map(|(.., row)| row).collect();
    rows.extend(closing_row(state, moment));
    rows
}

fn task_row(
    state: &LiveState,
    place: usize,
    stands: &TaskState,
    moment: &DrawClock<'_>,
) -> Option<(u8, LiveRow)> {
    let times = &state.times[place];
    let spinner = spinner(moment.now);
    let batch = state
        .number
        .map_or_else(String::new, |number| number.to_string());
    let until = |pause: &u64| (moment.clock)(times.since + pause);
    let left = |pause: &u64| {
        let left = (times.since + pause).saturating_sub(moment.now);
        Duration::from_millis(left).as_secs_f64().ceil()
    };
    let action = times.action.as_deref().map(one_line).unwrap_or_default();
    let action = match &state.batch.tasks[place].node {
        Some(node) if action.is_empty() => format!("on {}", one_line(node)),
        Some(node) => format!("{}: {action}", one_line(node)),
        None => action,
    };
    let (rank, style, sign, what) = match stands {
        TaskState::Waiting {
            consent: Some(consent),
        } => {
            let files = few_names(consent.files.iter().map(|file| file.path.as_str()));
            let what = format!("needs your consent: pleach approve {batch} ({files})");
            (0, YELLOW, "◷", what)
        }
        TaskState::Waiting { consent: None } => {
            let what = format!("waiting for approval: pleach approve {batch}");
            (0, YELLOW, "◷", what)
        }
        TaskState::Running { .. } if state.waits_for_node(place) => {
            let what = times
                .action
                .as_deref()
                .map_or("in the queue".into(), one_line);
            (3, DIM, "◌", what)
        }
        TaskState::Running { attempt: 0 | 1 } => (1, CYAN, spinner, action),
        TaskState::Running { attempt } if action.is_empty() => {
            (1, CYAN, spinner, format!("attempt {attempt}"))
        }
        TaskState::Running { .. } => (1, CYAN, spinner, action),
        TaskState::Stopping { .. } => (1, YELLOW, spinner, "stopping".to_owned()),
        TaskState::Built { .. } => (1, CYAN, spinner, "weaving".to_owned()),
        TaskState::Limited { pause } => (2, YELLOW, "◷", format!("limited until {}", until(pause))),
        TaskState::RetryPause { pause } => (2, YELLOW, "◷", format!("retry in {}s", left(pause))),
        _ => return None,
    };
    let row = LiveRow {
        style,
        sign,
        id: one_line(state.batch.design.tasks[place].id.as_str()),
        title: one_line(&state.titles[place]),
        time: since(times.since, moment.now),
        what,
        briefly: matches!(stands, TaskState::Waiting { .. })
            .then(|| format!("approve: pleach approve {batch}")),
        spent: times.spent,
    };
    Some((rank, row))
}

/// What is done with the whole once all tasks are over.
fn closing_row(state: &LiveState, moment: &DrawClock<'_>) -> Option<LiveRow> {
    let merged = state.batch.tasks.iter();
    let merged = merged.filter(|task| matches!(task.state.ending(), Some(Ending::Merged { .. })));
    let merged = merged.count();
    let (title, what) = match state.batch.status {
        BatchStatus::Merging => ("weaving", format!("{merged} branches into one")),
        BatchStatus::Validating if matches!(state.batch.proof, Proof::Proved { .. }) => {
            ("proved", "creating the batch branch".to_owned())
        }
        BatchStatus::Validating => {
            let runs = state.batch.test_runs.len();
            (
                "testing",
                format!("test run {} on the woven result", runs + 1),
            )
        }
        BatchStatus::Landing => ("landing", landing(state.batch.landing_into.as_deref())),
        _ => return None,
    };
    Some(LiveRow {
        style: CYAN,
        sign: spinner(moment.now),
        id: String::new(),
        title: title.to_owned(),
        time: since(state.stepped, moment.now),
        what,
        briefly: None,
        spent: Spent::default(),
    })
}

struct LiveTable {
    width: usize,
    id: usize,
    title: usize,
    what: usize,
    tokens: usize,
    cost: usize,
}

impl LiveTable {
    fn new(rows: &[LiveRow], width: usize) -> Self {
        let widest = |of: &dyn Fn(&LiveRow) -> usize| rows.iter().map(of).max().unwrap_or(0);
        let id = widest(&|row| row.id.width()).min(WIDEST_ID);
        let mut tokens_width =
            widest(&|row| amounts::tokens(row.spent.tokens).map_or(0, |text| text.width()));
        let mut cost_width =
            widest(&|row| amounts::cost(row.spent.micro_usd).map_or(0, |text| text.width()));
        let behind = |column: usize| if column == 0 { 0 } else { column + 2 };
        // Two spaces, the sign and a space; id, title and time with two spaces behind each.
        let fixed = 4 + behind(id) + 2 + TIME + 2;
        let mut rest = width.saturating_sub(fixed + behind(tokens_width) + behind(cost_width));
        if rest < NARROWEST_TITLE + NARROWEST_ACTION * 2 {
            rest += behind(tokens_width);
            tokens_width = 0;
        }
        if rest < NARROWEST_TITLE + NARROWEST_ACTION {
            rest += behind(cost_width);
            cost_width = 0;
        }
        let what = widest(&|row| row.what.width());
        let title = widest(&|row| row.title.width());
        let title = if title + what <= rest {
            title
        } else {
            // Neither takes more than it needs, and the title the smaller part.
            let part = (rest * 2 / 5).max(NARROWEST_TITLE);
            title.min(part.max(rest.saturating_sub(what)))
        };
        let what = rest.saturating_sub(title);
        Self {
            width,
            id,
            title: if what < NARROWEST_ACTION { rest } else { title },
            what: if what < NARROWEST_ACTION { 0 } else { what },
            tokens: tokens_width,
            cost: cost_width,
        }
    }

    fn line(&self, row: &LiveRow) -> Line {
        let mut line = Line::new().and(row.style, format!("  {} ", row.sign));
        if self.id > 0 {
            line.push(BOLD, padded(&cut(&row.id, self.id), self.id));
            line.push(PLAIN, "  ");
        }
        let style = if row.style == YELLOW { YELLOW } else { DIM };
        if row.style == YELLOW && row.what.width() > self.what {
            return self.waiting(line, row);
        }
        line.push(PLAIN, padded(&cut(&row.title, self.title), self.title));
        line.push(DIM, format!("  {:>TIME$}", row.time));
        let what = cut(&row.what, self.what);
        line.push(style, format!("  {}", padded(&what, self.what)));
        for (width, text) in [
            (self.tokens, amounts::tokens(row.spent.tokens)),
            (self.cost, amounts::cost(row.spent.micro_usd)),
        ] {
            if width > 0 {
                line.push(PLAIN, format!("  {:>width$}", text.unwrap_or_default()));
            }
        }
        line
    }
}

impl LiveTable {
    /// What somebody waits for comes first where there is no room for all of it.
    fn waiting(&self, mut line: Line, row: &LiveRow) -> Line {
        let room = self.width.saturating_sub(line.width());
        let briefly = row.briefly.as_ref().filter(|_| row.what.width() > room);
        let what = cut(briefly.unwrap_or(&row.what), room);
        let title = room.saturating_sub(what.width() + 2);
        if title >= NARROWEST_ACTION {
            line.push(PLAIN, format!("{}  ", cut(&row.title, title)));
        }
        line.and(YELLOW, what)
    }
}

fn spinner(now: u64) -> &'static str {
    let turns = now / TURN % SPINNER.len() as u64;
    usize::try_from(turns).map_or(SPINNER[0], |turn| SPINNER[turn])
}

fn since(begin: u64, now: u64) -> String {
    elapsed(Duration::from_millis(now.saturating_sub(begin)))
}
