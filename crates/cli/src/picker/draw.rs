//! Draws the list of tasks to tick: a list and a size give lines.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr as _;

use super::list::List;
use crate::columns::{cut, padded};
use crate::line::Line;
use crate::terminal::TerminalSize;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

const WIDEST_ID: usize = 16;
/// What is narrower says nothing any more.
const NARROWEST_REMARK: usize = 12;
const HELP: [&str; 2] = [
    "space select · a all or none · / filter · enter run · q quit",
    "space · a all · / filter · enter · q",
];

/// How many tasks there is room for besides the rest.
pub(crate) fn page(size: TerminalSize) -> usize {
    // A headline, a line for notes, and the keys; the last row is left alone.
    size.rows.saturating_sub(4).max(1)
}

/// The lines of the list; the last one is where the cursor stands.
pub(crate) fn draw(list: &List, name: &str, size: TerminalSize) -> Vec<Line> {
    let width = size.width();
    let mut lines = vec![headline(list, name)];
    let (rows, at) = rows(list, width);
    let page = page(size);
    // The line that the keys are about is never the last one that is seen, if there are others.
    let first = at
        .saturating_sub(page / 2)
        .min(rows.len().saturating_sub(page));
    lines.extend(rows.into_iter().skip(first).take(page));
    if let Some(note) = &list.note {
        lines.push(Line::new().and(YELLOW, note.clone()));
    } else {
        lines.push(Line::new());
    }
    lines.push(foot(list, width));
    lines.into_iter().map(|line| line.cut(width)).collect()
}

fn headline(list: &List, name: &str) -> Line {
    let mut line = Line::new().and(BOLD, format!("Select tasks from {name}"));
    line.push(
        PLAIN,
        format!("  {} of {} selected", list.ticked(), list.choices.len()),
    );
    if !list.filter.is_empty() {
        line.push(DIM, format!(", {} shown", list.shown.len()));
    }
    line
}

fn foot(list: &List, width: usize) -> Line {
    if list.is_filtering {
        return Line::new().and(CYAN, "/").and(PLAIN, list.filter.clone());
    }
    let help = HELP.iter().find(|help| help.width() <= width);
    Line::new().and(DIM, *help.unwrap_or(&HELP[1]))
}

/// All tasks that are shown, with their headings, and the line of the one that the keys are about.
fn rows(list: &List, width: usize) -> (Vec<Line>, usize) {
    let ids = list
        .shown
        .iter()
        .map(|place| list.choices[*place].id.width());
    let id = ids.max().unwrap_or(0).min(WIDEST_ID);
    let mut rows = Vec::new();
    let mut at = 0;
    let mut group = &None;
    for (number, place) in list.shown.iter().enumerate() {
        let choice = &list.choices[*place];
        if choice.group != *group {
            group = &choice.group;
            let heading = group.as_deref().unwrap_or("No phase");
            rows.push(Line::new().and(BOLD, format!("  {heading}")));
        }
        let is_at = number == list.cursor;
        if is_at {
            at = rows.len();
        }
        rows.push(row(list, *place, is_at, id, width));
    }
    if rows.is_empty() {
        rows.push(Line::new().and(DIM, "  no task matches"));
    }
    (rows, at)
}

fn row(list: &List, place: usize, is_at: bool, id: usize, width: usize) -> Line {
    let choice = &list.choices[place];
    let line = Line::new().and(CYAN, if is_at { "› " } else { "  " });
    let line = if list.ticked[place] {
        line.and(GREEN, "[x]")
    } else {
        line.and(DIM, "[ ]")
    };
    let style = if is_at { BOLD } else { PLAIN };
    let line = line.and(style, format!(" {}  ", padded(&cut(&choice.id, id), id)));
    let room = width.saturating_sub(line.width());
    let whole = choice.title.width() + 2 + choice.remark.width();
    if choice.remark.is_empty() || room < NARROWEST_REMARK * 2 {
        return line.and(style, cut(&choice.title, room));
    }
    let title = if whole <= room {
        choice.title.clone()
    } else {
        let part = (room * 3 / 5).max(room.saturating_sub(choice.remark.width() + 2));
        cut(&choice.title, part)
    };
    line.and(style, title)
        .and(DIM, format!("  {}", choice.remark))
}
