//! Draws a plan as a picture of its own: waves are columns, tasks are cards.
//!
//! Nothing in it is loaded or run; colours follow the reader's light or dark.

mod canvas;
mod measure;
mod overview;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use pleach_domain::task::{Task, TaskStatus};

use super::layout::{Heights, Layout, Position, Pull, layout};
use super::wait_reasons::WaitReasons;
use super::words::{count, few, one_line, real};
use super::{Picture, Tie};
use canvas::{Canvas, LegendEntry, LineStyle, MARGIN};
use measure::{fit, lines, text_width};

/// More tasks than this are drawn as one card a wave.
const MOST_CARDS: usize = 400;
/// More waves than this would make it too wide to read.
const MOST_COLUMNS: usize = 60;
/// More tasks than this get small cards.
const MOST_ROOMY: usize = 90;
const HEADING: f64 = 52.0;
/// How far the shade of a column reaches beyond its cards.
const SHADE: f64 = 12.0;

#[derive(Clone, Copy)]
struct Sizes {
    width: f64,
    gutter: f64,
    heights: Heights,
}

const ROOMY: Sizes = Sizes {
    width: 228.0,
    gutter: 84.0,
    heights: Heights {
        card: 72.0,
        lane: 6.0,
        gap: 12.0,
        rows: 10,
    },
};

const SMALL: Sizes = Sizes {
    width: 232.0,
    gutter: 96.0,
    heights: Heights {
        card: 28.0,
        lane: 2.0,
        gap: 6.0,
        rows: 30,
    },
};

/// Draws the open tasks as cards; done ones are only counted.
pub(crate) fn draw(picture: &Picture<'_>) -> String {
    let stuck = picture.stuck();
    let tasks = picture.in_waves() + stuck.len();
    if tasks > MOST_CARDS || picture.order.waves.len() > MOST_COLUMNS {
        return overview::draw(picture, &stuck);
    }
    let sizes = if tasks > MOST_ROOMY { SMALL } else { ROOMY };
    let mut columns = picture.order.waves.clone();
    if !stuck.is_empty() {
        columns.push(stuck.clone());
    }
    let waiting = WaitReasons::new(picture);
    let curves = curves(picture, &waiting, &columns);
    let pulls: Vec<Pull> = curves.iter().map(Curve::pull).collect();
    let layout = layout(&columns, &pulls, sizes.heights);
    let sheet = SvgPlan {
        lefts: lefts(&layout.spans, sizes),
        picture,
        waiting,
        is_critical: picture.is_critical(),
        layout,
        sizes,
    };
    sheet.draw(&columns, &curves, &stuck)
}

struct Curve {
    first: usize,
    then: usize,
    look: LineStyle,
    is_critical: bool,
    title: String,
}

impl Curve {
    /// The longest chain is kept the straightest.
    fn pull(&self) -> Pull {
        Pull {
            first: self.first,
            then: self.then,
            weight: if self.is_critical { 8.0 } else { 1.0 },
        }
    }
}

/// Every tie that leads from a column to a later one, and the gates on the longest chain.
fn curves(
    picture: &Picture<'_>,
    waiting: &WaitReasons<'_, '_>,
    columns: &[Vec<usize>],
) -> Vec<Curve> {
    let mut column_of = HashMap::new();
    for (column, tasks) in columns.iter().enumerate() {
        column_of.extend(tasks.iter().map(|task| (*task, column)));
    }
    let steps: HashSet<(usize, usize)> = picture.critical_steps().into_iter().collect();
    let id = |position: usize| one_line(picture.task(position).id.as_str());
    let mut tied = HashSet::new();
    let mut curves = Vec::new();
    for link in picture.links() {
        let (first, then) = (link.first, link.then);
        let (Some(from), Some(to)) = (column_of.get(&first), column_of.get(&then)) else {
            continue;
        };
        if from >= to {
            continue;
        }
        tied.insert((first, then));
        let (look, title) = match link.tie {
            Tie::Needs => (
                LineStyle::Needs,
                format!("{} needs {}", id(then), id(first)),
            ),
            Tie::After(because) => {
                let because = one_line(because);
                let title = format!("{} comes after {}: {because}", id(then), id(first));
                (LineStyle::After, title)
            }
        };
        let is_critical = steps.contains(&(first, then));
        curves.push(Curve {
            first,
            then,
            look,
            is_critical,
            title,
        });
    }
    for (first, then) in picture.critical_steps() {
        if !tied.contains(&(first, then)) {
            let gate = waiting.gate(then).map(|gate| gate.to_string());
            let title = gate.unwrap_or_else(|| format!("{} waits for {}", id(then), id(first)));
            curves.push(Curve {
                first,
                then,
                look: LineStyle::After,
                is_critical: true,
                title,
            });
        }
    }
    // What is drawn last lies on top.
    curves.sort_by_key(|curve| curve.is_critical);
    curves
}

fn lefts(spans: &[usize], sizes: Sizes) -> Vec<f64> {
    let mut next = MARGIN + SHADE;
    let mut lefts = Vec::new();
    for span in spans {
        lefts.push(next);
        next += span_width(*span, sizes) + sizes.gutter;
    }
    lefts
}

fn span_width(span: usize, sizes: Sizes) -> f64 {
    let gap = sizes.heights.gap;
    real(span) * (sizes.width + gap) - gap
}

struct SvgPlan<'p, 'a> {
    picture: &'p Picture<'a>,
    waiting: WaitReasons<'p, 'a>,
    is_critical: Vec<bool>,
    layout: Layout,
    sizes: Sizes,
    lefts: Vec<f64>,
}

impl SvgPlan<'_, '_> {
    fn draw(&self, columns: &[Vec<usize>], curves: &[Curve], stuck: &[usize]) -> String {
        let width = match columns.len().checked_sub(1) {
            None => 0.0,
            Some(last) => self.right(last) + SHADE,
        };
        let tasks = columns.iter().flatten();
        let samples = samples(tasks.map(|at| self.picture.task(*at)), curves);
        let mut canvas = Canvas::new(self.picture, stuck.len(), &samples);
        let top = canvas.top();
        let height = top + HEADING + self.layout.height + SHADE;
        canvas.open(width + MARGIN, height + MARGIN);
        for (column, tasks) in columns.iter().enumerate() {
            self.column(&mut canvas, column, tasks, top, height - top);
        }
        for (curve, route) in curves.iter().zip(&self.layout.routes) {
            self.curve(&mut canvas.out, curve, route, top + HEADING);
        }
        for position in columns.iter().flatten() {
            self.card(&mut canvas.out, *position, top + HEADING);
        }
        canvas.close()
    }

    fn right(&self, column: usize) -> f64 {
        self.lefts[column] + span_width(self.layout.spans[column], self.sizes)
    }

    fn slot_left(&self, slot: usize) -> f64 {
        real(slot) * (self.sizes.width + self.sizes.heights.gap)
    }

    fn column(&self, canvas: &mut Canvas, column: usize, tasks: &[usize], top: f64, height: f64) {
        let is_stuck = column == self.picture.order.waves.len();
        let name = if is_stuck {
            "In no wave".to_owned()
        } else {
            format!("Wave {}", column + 1)
        };
        let mut facts = count(tasks.len(), "task");
        let gates = tasks.iter().filter_map(|at| self.waiting.gate(*at));
        if let Some(gate) = gates.min() {
            let _ = write!(facts, " · {gate}");
        } else if is_stuck {
            facts.push_str(" in a cycle or waiting for one");
        }
        let left = self.lefts[column];
        let width = self.right(column) - left;
        let out = &mut canvas.out;
        let _ = writeln!(
            out,
            r#"<rect class="shade" x="{:.1}" y="{top:.1}" width="{:.1}" height="{height:.1}" rx="12"/>"#,
            left - SHADE,
            width + 2.0 * SHADE,
        );
        canvas.text("wave", left, top + 22.0, &name);
        canvas.text("quiet", left, top + 38.0, &fit(&facts, width, 11.0));
    }

    fn curve(&self, out: &mut String, curve: &Curve, route: &[Position], top: f64) {
        let path = self.path(route, top);
        let class = curve.look.class();
        let critical = if curve.is_critical { " critical" } else { "" };
        let head = if curve.is_critical {
            "head-critical"
        } else {
            "head"
        };
        let title = canvas::escaped(&curve.title);
        let _ = writeln!(
            out,
            r#"<g class="tie {class}{critical}"><title>{title}</title><path class="reach" d="{path}"/><path class="line" d="{path}" marker-end="url(#{head})"/></g>"#
        );
    }

    /// A smooth line through the places, level where it passes a column.
    fn path(&self, route: &[Position], top: f64) -> String {
        let mut path = String::new();
        let mut at = None;
        for (place, is_last) in (1..).zip(route).map(|(n, place)| (place, n == route.len())) {
            let left = self.lefts[place.column];
            let right = self.right(place.column);
            let y = place.y + top;
            let Some((from, height)) = at else {
                let start = left + self.slot_left(place.slot) + self.sizes.width;
                let _ = write!(path, "M{start:.1} {y:.1}H{right:.1}");
                at = Some((right, y));
                continue;
            };
            let to: f64 = if is_last { left - 1.0 } else { left };
            let bend = f64::midpoint(from, to);
            let _ = write!(
                path,
                "C{bend:.1} {height:.1} {bend:.1} {y:.1} {to:.1} {y:.1}"
            );
            if !is_last {
                let _ = write!(path, "H{right:.1}");
            }
            at = Some((right, y));
        }
        path
    }

    fn card(&self, out: &mut String, position: usize, top: f64) {
        let task = self.picture.task(position);
        let place = self.layout.cards[&position];
        let height = self.sizes.heights.card;
        let left = self.lefts[place.column] + self.slot_left(place.slot);
        let top = place.y + top - height / 2.0;
        let mut class = String::from("card");
        if self.is_critical[position] {
            class.push_str(" critical");
        }
        if self.picture.order.wave_of[position].is_none() {
            class.push_str(" stuck");
        }
        let _ = writeln!(
            out,
            r#"<g class="{class}" transform="translate({left:.1} {top:.1})"><title>{}</title>"#,
            canvas::escaped(&self.tooltip(position)),
        );
        let _ = writeln!(
            out,
            r#"<rect class="face" width="{:.1}" height="{height:.1}" rx="8"/>"#,
            self.sizes.width,
        );
        if height < ROOMY.heights.card {
            small_face(out, task, self.sizes.width);
        } else {
            roomy_face(out, task, self.sizes.width);
        }
        out.push_str("</g>\n");
    }

    fn tooltip(&self, position: usize) -> String {
        let task = self.picture.task(position);
        let mut lines = vec![format!("{} · {}", task.id, one_line(&task.title))];
        if task.status != TaskStatus::Pending {
            lines.push(task.status.as_str().replace('_', " "));
        }
        lines.extend(self.waiting.reasons(position));
        lines.extend(self.waiting.gate(position).map(|gate| gate.to_string()));
        if let Some(phase) = task.phase {
            lines.push(format!("phase {phase}"));
        }
        if !task.files.is_empty() {
            lines.push(few(task.files.iter().map(String::as_str), 6));
        }
        lines.join("\n")
    }
}

fn roomy_face(out: &mut String, task: &Task, width: f64) {
    let facts = facts(task);
    let id_room = width - 26.0 - 24.0 - text_width(&facts, 11.0);
    let id = fit(&one_line(task.id.as_str()), id_room, 11.0);
    dot(out, 16.0, 18.0, task.status);
    canvas::write_text(out, "id", 27.0, 22.0, &id);
    if !facts.is_empty() {
        canvas::write_text(out, "quiet end", width - 12.0, 22.0, &facts);
    }
    let title = lines(&one_line(&task.title), width - 24.0, 13.0, 2);
    for (number, line) in title.iter().enumerate() {
        canvas::write_text(out, "title", 12.0, 43.0 + real(number) * 17.0, line);
    }
}

fn small_face(out: &mut String, task: &Task, width: f64) {
    let id = fit(&one_line(task.id.as_str()), width / 3.0, 11.0);
    let title_at = 22.0 + text_width(&id, 11.0) + 8.0;
    let title = fit(&one_line(&task.title), width - title_at - 10.0, 12.0);
    dot(out, 13.0, 14.0, task.status);
    canvas::write_text(out, "id", 22.0, 18.0, &id);
    canvas::write_text(out, "small", title_at, 18.0, &title);
}

fn facts(task: &Task) -> String {
    let phase = task.phase.map(|phase| format!("phase {phase}"));
    let files = (!task.files.is_empty()).then(|| count(task.files.len(), "file"));
    let facts: Vec<String> = phase.into_iter().chain(files).collect();
    facts.join(" · ")
}

fn dot(out: &mut String, x: f64, y: f64, status: TaskStatus) {
    let status = status.as_str();
    let _ = write!(
        out,
        r#"<circle class="dot {status}" cx="{x:.1}" cy="{y:.1}" r="3.5"/>"#
    );
}

/// What the legend explains: only what occurs.
fn samples<'t>(tasks: impl Iterator<Item = &'t Task>, curves: &[Curve]) -> Vec<LegendEntry> {
    let statuses: HashSet<TaskStatus> = tasks.map(|task| task.status).collect();
    let looks = |look: LineStyle| curves.iter().any(|curve| curve.look == look);
    let mut samples = Vec::new();
    if looks(LineStyle::Needs) {
        samples.push(LegendEntry::Line("needs", "needs"));
    }
    if looks(LineStyle::After) {
        samples.push(LegendEntry::Line("after", "comes after"));
    }
    if curves.iter().any(|curve| curve.is_critical) {
        samples.push(LegendEntry::Line("needs critical", "critical path"));
    }
    if statuses.contains(&TaskStatus::InProgress) {
        samples.push(LegendEntry::Dot(TaskStatus::InProgress, "in progress"));
    }
    if statuses.contains(&TaskStatus::Failed) {
        samples.push(LegendEntry::Dot(TaskStatus::Failed, "failed"));
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::sample::{self, drawn};

    #[test]
    fn every_open_task_is_a_card_and_every_tie_a_curve() {
        let svg = drawn(sample::SECTIONS, draw);
        assert_eq!(svg.matches("<g class=\"card").count(), 5);
        assert_eq!(svg.matches("<g class=\"card critical\"").count(), 3);
        assert!(svg.contains("<title>64 comes after 62: both declare docs/plan.md</title>"));
        assert!(svg.contains("<title>65 needs 62</title>"));
        assert!(
            svg.contains("5 tasks to do · 1 done · 3 waves · critical path of 3, about 4 h 30 min")
        );
        assert!(svg.contains("class=\"dot in_progress\""));
    }

    #[test]
    fn the_longest_chain_goes_on_behind_a_closed_phase() {
        let svg = drawn(sample::PHASED, draw);
        let gate = "<g class=\"tie after critical\"><title>phase 2 waits for phase 1</title>";
        assert!(svg.contains(gate), "{svg}");
    }

    #[test]
    fn nothing_in_a_title_is_markup() {
        let svg = drawn(sample::NASTY, draw);
        assert!(!svg.contains("<script") && !svg.contains("<b>"));
        assert!(svg.contains("&lt;script&gt;"));
        assert!(!svg.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{ffff}'));
        let tags: Vec<&str> = svg.split('<').skip(1).collect();
        assert!(tags.iter().all(|tag| tag.matches('>').count() == 1));
        for name in ["svg", "g", "text", "title"] {
            let opened = tags.iter().filter(|tag| {
                let rest = tag.strip_prefix(name);
                rest.is_some_and(|rest| rest.starts_with([' ', '>']))
            });
            let closing = format!("/{name}>");
            let closed = tags.iter().filter(|tag| tag.starts_with(&closing));
            assert_eq!(opened.count(), closed.count(), "{name}");
        }
    }

    #[test]
    fn nothing_is_loaded_or_run() {
        let svg = drawn(&sample::grid(4, 5), draw);
        for word in ["<script", "href", "url(http", "@import", "<image", "onload"] {
            assert!(!svg.contains(word), "{word}");
        }
        assert_eq!(svg.matches("http").count(), 1, "only the namespace");
    }

    #[test]
    fn tasks_in_a_cycle_have_a_column_of_their_own() {
        let svg = drawn(sample::CYCLE, draw);
        assert!(svg.contains(">In no wave</text>"));
        assert_eq!(svg.matches("card stuck").count(), 3);
    }

    #[test]
    fn a_big_plan_is_drawn_by_waves() {
        let svg = drawn(&sample::grid(10, 100), draw);
        assert_eq!(svg.matches("<g class=\"card").count(), 10);
        assert!(svg.contains(">100 tasks</text>"));
        let svg = drawn(&sample::grid(500, 1), draw);
        assert!(svg.contains(">Waves 120–500</text>"));
    }

    #[test]
    fn a_finished_plan_is_a_headline() {
        let svg = drawn("- [x] One\n", draw);
        assert!(svg.contains("nothing to do · 1 done"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
