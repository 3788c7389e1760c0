//! Draws a plan for Graphviz, one rank a wave.

use std::fmt::Write as _;

use super::wait_reasons::WaitReasons;
use super::words::{count, one_line};
use super::{Picture, Tie};
use crate::columns::cut;

/// The longest line of a title in a box.
const WIDEST_LINE: usize = 32;
/// How many lines of a title a box has.
const MOST_LINES: usize = 3;

const OPENING: &str = r##"digraph plan {
  rankdir=LR
  nodesep=0.2
  ranksep=0.7
  fontname="Helvetica"
  node [shape=box style=rounded fontname="Helvetica" fontsize=11 color="#c4c6cf" fontcolor="#1b1b1f"]
  edge [fontname="Helvetica" fontsize=9 arrowsize=0.6 color="#9a9ca5" fontcolor="#6f6e77"]
"##;

/// Draws every chosen task, what it needs and what it merely follows.
pub(crate) fn draw(picture: &Picture<'_>) -> String {
    let mut graph = String::from(OPENING);
    let _ = writeln!(graph, "  label=\"{}\"", escaped(&one_line(picture.name)));
    let is_critical = picture.is_critical();
    for (number, wave) in (1..).zip(&picture.order.waves) {
        let title = format!("Wave {number}\\n{}", count(wave.len(), "task"));
        let _ = writeln!(graph, "  subgraph wave{number} {{\n    rank=same");
        let _ = writeln!(graph, "    w{number} [shape=plaintext label=\"{title}\"]");
        for position in wave {
            let look = if is_critical[*position] {
                " class=critical color=\"#5e6ad2\" penwidth=2"
            } else {
                ""
            };
            node(&mut graph, picture, *position, look);
        }
        graph.push_str("  }\n");
    }
    let done = " class=done style=\"rounded,filled\" fillcolor=\"#f0f0f2\" fontcolor=\"#8a8f98\"";
    for position in picture.settled() {
        node(&mut graph, picture, position, done);
    }
    for position in picture.stuck() {
        let look = " class=stuck style=\"rounded,dashed\" color=\"#e5484d\"";
        node(&mut graph, picture, position, look);
    }
    edges(&mut graph, picture);
    wave_edges(&mut graph, picture);
    graph.push_str("}\n");
    graph
}

fn node(graph: &mut String, picture: &Picture<'_>, position: usize, look: &str) {
    let task = picture.task(position);
    let id = escaped(&one_line(task.id.as_str()));
    let title = wrapped(&one_line(&task.title));
    let title: Vec<String> = title.iter().map(|line| escaped(line)).collect();
    let title = title.join("\\n");
    let _ = writeln!(graph, "    n{position} [label=\"{id}\\n{title}\"{look}]");
}

fn edges(graph: &mut String, picture: &Picture<'_>) {
    let critical: std::collections::HashSet<(usize, usize)> =
        picture.critical_steps().into_iter().collect();
    for link in picture.links() {
        let (first, then) = (link.first, link.then);
        let _ = write!(graph, "  n{first} -> n{then}");
        let mut look = Vec::new();
        if let Tie::After(because) = link.tie {
            look.push(format!(
                "style=dashed label=\"{}\"",
                escaped(&cut(&one_line(because), WIDEST_LINE))
            ));
        }
        if critical.contains(&(first, then)) {
            look.push("color=\"#5e6ad2\" penwidth=2".to_owned());
        }
        if !look.is_empty() {
            let _ = write!(graph, " [{}]", look.join(" "));
        }
        graph.push('\n');
    }
}

/// The headings of the waves follow each other, which keeps the ranks in order.
fn wave_edges(graph: &mut String, picture: &Picture<'_>) {
    let waiting = WaitReasons::new(picture);
    for (number, wave) in (1..).zip(&picture.order.waves).skip(1) {
        let before = number - 1;
        let mut gates = wave.iter().filter_map(|position| waiting.gate(*position));
        let _ = match gates.next() {
            Some(gate) => {
                let reason = escaped(&gate.to_string());
                writeln!(
                    graph,
                    "  w{before} -> w{number} [style=dashed label=\"{reason}\"]"
                )
            }
            None => writeln!(graph, "  w{before} -> w{number} [style=invis]"),
        };
    }
}

/// The text in lines of whole words where possible; the last one may be cut.
fn wrapped(text: &str) -> Vec<String> {
    use unicode_width::UnicodeWidthStr as _;
    let mut lines: Vec<String> = Vec::new();
    let mut words = text.split(' ').peekable();
    while let Some(first) = words.next_if(|_| lines.len() < MOST_LINES) {
        let mut line = first.to_owned();
        let is_last = lines.len() + 1 == MOST_LINES;
        while let Some(word) =
            words.next_if(|word| is_last || line.width() + 1 + word.width() <= WIDEST_LINE)
        {
            line.push(' ');
            line.push_str(word);
        }
        lines.push(cut(&line, WIDEST_LINE));
    }
    lines
}

/// The text inside a quoted string; Graphviz also resolves HTML entities there.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => safe.push_str("\\\""),
            '\\' => safe.push_str("\\\\"),
            '&' => safe.push_str("&amp;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::sample::{self, drawn};

    #[test]
    fn waves_are_ranks_and_ties_are_edges() {
        let graph = drawn(sample::SECTIONS, draw);
        let body = graph.strip_prefix(OPENING).unwrap();
        insta::assert_snapshot!(body, @r##"
          label="TODO.md"
          subgraph wave1 {
            rank=same
            w1 [shape=plaintext label="Wave 1\n2 tasks"]
            n1 [label="61\nRead the plan" class=critical color="#5e6ad2" penwidth=2]
            n2 [label="62\nWrite the docs"]
          }
          subgraph wave2 {
            rank=same
            w2 [shape=plaintext label="Wave 2\n2 tasks"]
            n3 [label="63\nCheck the graph" class=critical color="#5e6ad2" penwidth=2]
            n4 [label="64\nExplain the graph"]
          }
          subgraph wave3 {
            rank=same
            w3 [shape=plaintext label="Wave 3\n1 task"]
            n5 [label="65\nDraw it" class=critical color="#5e6ad2" penwidth=2]
          }
            n0 [label="60\nSet up the crate" class=done style="rounded,filled" fillcolor="#f0f0f2" fontcolor="#8a8f98"]
          n0 -> n1
          n1 -> n3 [color="#5e6ad2" penwidth=2]
          n2 -> n4 [style=dashed label="both declare docs/plan.md"]
          n2 -> n5
          n3 -> n5 [color="#5e6ad2" penwidth=2]
          w1 -> w2 [style=invis]
          w2 -> w3 [style=invis]
        }
        "##);
    }

    #[test]
    fn a_closed_phase_is_an_edge_between_waves() {
        let graph = drawn(sample::PHASED, draw);
        let edge = "w1 -> w2 [style=dashed label=\"phase 2 waits for phase 1\"]";
        assert!(graph.contains(edge), "{graph}");
    }

    #[test]
    fn no_title_breaks_out_of_its_label() {
        assert_eq!(escaped(r#"a "b" \N &lt;"#), r#"a \"b\" \\N &amp;lt;"#);
        let graph = drawn(sample::NASTY, draw);
        assert!(!graph.contains(|c: char| c.is_control() && c != '\n'));
        for line in graph.lines() {
            let quotes = line.replace("\\\\", "").replace("\\\"", "");
            assert_eq!(quotes.matches('"').count() % 2, 0, "{line}");
        }
    }

    #[test]
    fn titles_are_wrapped_and_long_ones_cut() {
        assert_eq!(wrapped("short"), ["short"]);
        let lines = wrapped(&"seven letters ".repeat(20));
        assert_eq!(lines.len(), MOST_LINES);
        assert!(lines.last().unwrap().ends_with('…'));
    }
}
