//! Draws a plan that is too big for a card a task: one card a wave, with counts.

use std::fmt::Write as _;

use super::canvas::{Canvas, MARGIN, escaped, share, write_text};
use super::measure::{fit, text_width};
use crate::draw::Picture;
use crate::draw::wait_reasons::WaitReasons;
use crate::draw::words::{count, one_line, real};

const COLUMNS: usize = 6;
const WIDTH: f64 = 200.0;
const HEIGHT: f64 = 92.0;
const GAP: f64 = 24.0;
/// The waves beyond this share one card.
const MOST_WAVES: usize = 119;

/// One card.
struct Wave {
    name: String,
    tasks: usize,
    /// The task on the longest chain.
    critical: Option<usize>,
    tooltip: String,
}

pub(super) fn draw(picture: &Picture<'_>, stuck: &[usize]) -> String {
    let waves = waves(picture, stuck);
    let rows = waves.len().div_ceil(COLUMNS);
    let columns = waves.len().min(COLUMNS);
    let mut canvas = Canvas::new(picture, stuck.len(), &[]);
    let top = canvas.top();
    let width = 2.0 * MARGIN + real(columns) * (WIDTH + GAP) - GAP;
    let height = top + real(rows) * (HEIGHT + GAP) - GAP + MARGIN;
    canvas.open(width, height);
    let most = waves.iter().map(|wave| wave.tasks).max().unwrap_or(1);
    for (place, wave) in waves.iter().enumerate() {
        let left = MARGIN + real(place % COLUMNS) * (WIDTH + GAP);
        let y = top + real(place / COLUMNS) * (HEIGHT + GAP);
        if place % COLUMNS > 0 {
            let (x, y) = (left - GAP + 4.0, y + HEIGHT / 2.0);
            let _ = writeln!(
                canvas.out,
                r#"<g class="tie"><path class="line" d="M{x:.1} {y:.1}h16" marker-end="url(#head)"/></g>"#
            );
        }
        card(&mut canvas.out, picture, wave, most, (left, y));
    }
    canvas.close()
}

fn waves(picture: &Picture<'_>, stuck: &[usize]) -> Vec<Wave> {
    let is_critical = picture.is_critical();
    let waiting = WaitReasons::new(picture);
    let all = &picture.order.waves;
    let (shown, rest) = all.split_at(all.len().min(MOST_WAVES));
    let mut waves = Vec::new();
    for (number, tasks) in (1..).zip(shown) {
        let gates = tasks.iter().filter_map(|at| waiting.gate(*at));
        let gate = gates.min().map(|gate| gate.to_string());
        waves.push(Wave {
            name: format!("Wave {number}"),
            tasks: tasks.len(),
            critical: tasks.iter().copied().find(|at| is_critical[*at]),
            tooltip: gate.unwrap_or_default(),
        });
    }
    if !rest.is_empty() {
        waves.push(Wave {
            name: format!("Waves {}–{}", shown.len() + 1, all.len()),
            tasks: rest.iter().map(Vec::len).sum(),
            critical: None,
            tooltip: String::new(),
        });
    }
    if !stuck.is_empty() {
        waves.push(Wave {
            name: "In no wave".to_owned(),
            tasks: stuck.len(),
            critical: None,
            tooltip: "in a cycle or waiting for one".to_owned(),
        });
    }
    waves
}

fn card(out: &mut String, picture: &Picture<'_>, wave: &Wave, most: usize, at: (f64, f64)) {
    let (left, top) = at;
    let _ = writeln!(
        out,
        r#"<g class="card" transform="translate({left:.1} {top:.1})">"#
    );
    if !wave.tooltip.is_empty() {
        let _ = writeln!(out, "<title>{}</title>", escaped(&wave.tooltip));
    }
    let _ = writeln!(
        out,
        r#"<rect class="face" width="{WIDTH:.1}" height="{HEIGHT:.1}" rx="8"/>"#
    );
    write_text(out, "quiet", 14.0, 22.0, &wave.name);
    write_text(out, "number", 14.0, 44.0, &count(wave.tasks, "task"));
    let bar = share(wave.tasks, most, WIDTH - 28.0).max(2.0);
    let _ = writeln!(
        out,
        r#"<rect class="bar" x="14" y="54" width="{bar:.1}" height="4" rx="2"/>"#
    );
    if let Some(position) = wave.critical {
        let task = picture.task(position);
        let id = fit(&one_line(task.id.as_str()), WIDTH / 3.0, 11.0);
        let title_at = 14.0 + text_width(&id, 11.0) + 6.0;
        let title = fit(&one_line(&task.title), WIDTH - title_at - 12.0, 11.0);
        write_text(out, "quiet accent", 14.0, 78.0, &id);
        write_text(out, "quiet", title_at, 78.0, &title);
    }
    out.push_str("</g>\n");
}
