//! The sheet a plan is drawn on: its style, its headline and its legend.

use std::fmt::Write as _;

use pleach_domain::task::TaskStatus;

use super::measure::{fit, text_width};
use crate::draw::Picture;
use crate::draw::words::{count, duration, one_line, real};

pub(super) const MARGIN: f64 = 28.0;
/// Narrower pictures would cut the headline.
const NARROWEST: f64 = 560.0;

const STYLE: &str = include_str!("style.css");

const HEADS: &str = r#"<defs>
<marker id="head" markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto"><path class="head" d="M1 1.2L6.4 4L1 6.8z"/></marker>
<marker id="head-critical" markerUnits="userSpaceOnUse" markerWidth="10" markerHeight="10" refX="7.4" refY="5" orient="auto"><path class="head critical" d="M1 1.4L8 5L1 8.6z"/></marker>
</defs>
"#;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineStyle {
    Needs,
    After,
}

impl LineStyle {
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Needs => "needs",
            Self::After => "after",
        }
    }
}

pub(super) enum LegendEntry {
    /// The classes of a line and what it means.
    Line(&'static str, &'static str),
    Dot(TaskStatus, &'static str),
}

pub(super) struct Canvas<'s> {
    pub(super) out: String,
    name: String,
    facts: String,
    samples: &'s [LegendEntry],
}

impl<'s> Canvas<'s> {
    pub(super) fn new(picture: &Picture<'_>, stuck: usize, samples: &'s [LegendEntry]) -> Self {
        Self {
            out: String::new(),
            name: one_line(picture.name),
            facts: facts(picture, stuck),
            samples,
        }
    }

    /// Where the drawing begins, below headline and legend.
    pub(super) fn top(&self) -> f64 {
        if self.samples.is_empty() { 92.0 } else { 120.0 }
    }

    /// Writes everything up to the drawing itself.
    pub(super) fn open(&mut self, width: f64, height: f64) {
        let width = width.max(NARROWEST);
        let label = escaped(&format!("{}: {}", self.name, self.facts));
        let _ = writeln!(
            self.out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="pleach" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" role="img" aria-label="{label}">"#
        );
        let _ = writeln!(self.out, "<style>\n{STYLE}</style>");
        self.out.push_str(HEADS);
        self.out
            .push_str("<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n");
        let room = width - 2.0 * MARGIN;
        let name = fit(&self.name, room, 20.0);
        let facts = fit(&self.facts, room, 13.0);
        self.text("name", MARGIN, 46.0, &name);
        self.text("facts", MARGIN, 70.0, &facts);
        self.legend();
    }

    fn legend(&mut self) {
        let y = 96.0;
        let mut x = MARGIN;
        for sample in self.samples {
            let (label, width) = match sample {
                LegendEntry::Line(class, label) => {
                    let head = if class.contains("critical") {
                        "head-critical"
                    } else {
                        "head"
                    };
                    let _ = write!(
                        self.out,
                        r#"<g class="tie {class}"><path class="line" d="M{x:.1} {:.1}h24" marker-end="url(#{head})"/></g>"#,
                        y - 4.0
                    );
                    (label, 32.0)
                }
                LegendEntry::Dot(status, label) => {
                    let _ = write!(
                        self.out,
                        r#"<circle class="dot {}" cx="{:.1}" cy="{:.1}" r="3.5"/>"#,
                        status.as_str(),
                        x + 4.0,
                        y - 4.0
                    );
                    (label, 14.0)
                }
            };
            self.text("quiet", x + width, y, label);
            x += width + text_width(label, 11.0) + 22.0;
        }
    }

    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        write_text(&mut self.out, class, x, y, text);
    }

    pub(super) fn close(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }
}

fn facts(picture: &Picture<'_>, stuck: usize) -> String {
    let mut facts = vec![match picture.in_waves() + stuck {
        0 => "nothing to do".to_owned(),
        open => format!("{} to do", count(open, "task")),
    }];
    let settled = picture.settled().len();
    if settled > 0 {
        facts.push(format!("{settled} done"));
    }
    let order = picture.order;
    if !order.waves.is_empty() {
        facts.push(count(order.waves.len(), "wave"));
    }
    let path = picture.chain();
    if !path.is_empty() {
        let mut chain = format!("critical path of {}", path.len());
        if path.iter().all(|at| picture.task(*at).effort.is_some()) {
            chain.push_str(", about ");
            chain.push_str(&duration(order.remaining[path[0]]));
        }
        facts.push(chain);
    }
    facts.join(" · ")
}

pub(super) fn write_text(out: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let text = escaped(text);
    let _ = writeln!(
        out,
        r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{text}</text>"#
    );
}

/// The text as XML; what XML forbids must be gone by now, and is left out if it is not.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' => safe.push('\n'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => safe.push(c),
        }
    }
    safe
}

pub(super) fn share(part: usize, whole: usize, length: f64) -> f64 {
    real(part) / real(whole.max(1)) * length
}
