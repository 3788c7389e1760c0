//! Draws how far a plan is: a bar for each phase, and when it may be done.

use std::time::Duration;

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use pleach_log::outlook::{Outlook, Tally};
use unicode_width::UnicodeWidthStr as _;

use super::words::one_line;
use crate::columns::{about, cut, padded, seconds};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();
const RED: Style = AnsiColor::Red.on_default();

const WIDEST_BAR: usize = 30;
const NARROWEST_BAR: usize = 10;
const WIDEST_NAME: usize = 32;

/// A line for each phase, one for all of them, and one for what comes.
pub(crate) fn draw(outlook: &Outlook, width: Option<usize>) -> Vec<String> {
    let names: Vec<String> = outlook
        .phases
        .iter()
        .map(|phase| match phase.phase {
            Some(number) if phase.title.is_empty() => format!("Phase {number}"),
            Some(number) => format!("Phase {number}: {}", one_line(&phase.title)),
            None if outlook.phases.len() == 1 => "Tasks".to_owned(),
            None => "No phase".to_owned(),
        })
        .collect();
    let width = width.unwrap_or(100);
    let widest = names.iter().map(|name| name.width()).max().unwrap_or(0);
    // A bar, a share, and a few words.
    let name = widest.min(WIDEST_NAME).min(width.saturating_sub(36)).max(5);
    let bar = width.saturating_sub(name + 30);
    let bar = bar.clamp(NARROWEST_BAR, WIDEST_BAR);
    let room = width.saturating_sub(name + bar + 10);
    let mut lines: Vec<String> = outlook
        .phases
        .iter()
        .zip(&names)
        .map(|(phase, title)| line(title, &phase.tally, name, bar, room))
        .collect();
    if outlook.phases.len() > 1 {
        lines.push(line("All", &outlook.total, name, bar, room));
    }
    let comes = what_comes(outlook);
    if !comes.is_empty() {
        lines.push(format!("{DIM}{}{DIM:#}", cut(&comes, width)));
    }
    lines
}

fn line(name: &str, tally: &Tally, width: usize, bar: usize, room: usize) -> String {
    let name = padded(&cut(name, width), width);
    let mut facts = vec![format!(
        "{}/{}",
        tally.completed + tally.skipped,
        tally.total
    )];
    for (count, word) in [(tally.in_progress, "running"), (tally.failed, "failed")] {
        if count > 0 {
            facts.push(format!("{count} {word}"));
        }
    }
    let facts = cut(&facts.join(", "), room);
    format!(
        "{BOLD}{name}{BOLD:#}  {}  {:>3} %  {facts}",
        drawn(tally, bar),
        tally.percentage
    )
}

/// Parts that are not empty are seen, however small they are.
fn drawn(tally: &Tally, width: usize) -> String {
    let share = |count: usize| match count {
        0 => 0,
        _ => (count * width / tally.total.max(1)).max(1),
    };
    let parts = [
        (tally.failed, RED, "▒"),
        (tally.in_progress, CYAN, "▓"),
        (tally.completed + tally.skipped, GREEN, "█"),
    ];
    // Where nothing is open, the last part takes what rounding leaves.
    let last = parts.iter().rposition(|(count, ..)| *count > 0);
    let last = last.filter(|_| tally.open == 0);
    let mut left = width;
    let mut text = String::new();
    for (place, (count, style, sign)) in parts.into_iter().enumerate() {
        let cells = if Some(place) == last {
            left
        } else {
            share(count).min(left)
        };
        left -= cells;
        if cells > 0 {
            text.insert_str(0, &format!("{style}{}{style:#}", sign.repeat(cells)));
        }
    }
    let _ = write!(text, "{DIM}{}{DIM:#}", "░".repeat(left));
    text
}

fn what_comes(outlook: &Outlook) -> String {
    let mut facts = Vec::new();
    // Whoever takes longer than usual makes every estimate nothing.
    if let Some(left) = outlook.seconds_left.filter(|left| *left >= 1.0) {
        let at_once = outlook.at_once;
        let mean = outlook.mean_seconds.map(time).map(seconds);
        let mean = mean.unwrap_or_default();
        facts.push(format!(
            "about {} left, {at_once} at once; tasks took {mean} on average",
            about(time(left))
        ));
    }
    if let [first, ..] = outlook.batches[..] {
        facts.push(match outlook.batches.len() {
            1 => format!("batch {first} runs"),
            count => format!("{count} batches run"),
        });
    }
    facts.join("; ")
}

fn time(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
