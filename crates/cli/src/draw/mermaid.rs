//! Draws a plan as a mermaid flowchart, one subgraph a wave.
//!
//! Every character of a task that means something to mermaid or Markdown is written as its code.

use std::fmt::Write as _;

use super::wait_reasons::WaitReasons;
use super::words::{count, one_line};
use super::{Picture, Tie};
use crate::columns::cut;

const WIDEST_TITLE: usize = 60;

const CLASSES: &str = "  \
classDef critical stroke:#5e6ad2,stroke-width:2px
  classDef done opacity:0.55
  classDef stuck stroke:#e5484d,stroke-dasharray:4
";

/// Draws every chosen task, what it needs and what it merely follows.
pub(crate) fn draw(picture: &Picture<'_>) -> String {
    let mut chart = String::from("flowchart LR\n");
    let settled = picture.settled();
    let stuck = picture.stuck();
    boxes(&mut chart, picture, "done", "Done", &settled);
    for (number, wave) in (1..).zip(&picture.order.waves) {
        let title = format!("Wave {number} · {}", count(wave.len(), "task"));
        boxes(&mut chart, picture, &format!("w{number}"), &title, wave);
    }
    boxes(&mut chart, picture, "stuck", "In no wave", &stuck);
    arrows(&mut chart, picture);
    gates(&mut chart, picture);
    chart.push_str(CLASSES);
    assign(&mut chart, "critical", picture.chain());
    assign(&mut chart, "done", &settled);
    assign(&mut chart, "stuck", &stuck);
    chart
}

fn boxes(chart: &mut String, picture: &Picture<'_>, name: &str, title: &str, tasks: &[usize]) {
    if tasks.is_empty() {
        return;
    }
    let _ = writeln!(chart, "  subgraph {name}[\"{}\"]", escaped(title));
    // Otherwise a subgraph that no arrow reaches into lies across.
    chart.push_str("    direction LR\n");
    for position in tasks {
        let task = picture.task(*position);
        let title = cut(&one_line(&task.title), WIDEST_TITLE);
        let label = escaped(&format!("{} · {title}", task.id));
        let _ = writeln!(chart, "    n{position}[\"{label}\"]");
    }
    chart.push_str("  end\n");
}

fn arrows(chart: &mut String, picture: &Picture<'_>) {
    for link in picture.links() {
        let (first, then) = (link.first, link.then);
        let _ = match link.tie {
            Tie::Needs => writeln!(chart, "  n{first} --> n{then}"),
            Tie::After(because) => {
                let because = escaped(&cut(&one_line(because), WIDEST_TITLE));
                writeln!(chart, "  n{first} -.->|\"{because}\"| n{then}")
            }
        };
    }
}

/// Waves that a phase or a stage holds back follow the wave before them as a whole.
fn gates(chart: &mut String, picture: &Picture<'_>) {
    let waiting = WaitReasons::new(picture);
    for (number, wave) in (1..).zip(&picture.order.waves).skip(1) {
        let mut gates = wave.iter().filter_map(|position| waiting.gate(*position));
        let before = number - 1;
        if let Some(gate) = gates.next() {
            let reason = escaped(&gate.to_string());
            let _ = writeln!(chart, "  w{before} -.->|\"{reason}\"| w{number}");
        }
    }
}

fn assign(chart: &mut String, class: &str, tasks: &[usize]) {
    if tasks.is_empty() {
        return;
    }
    let names: Vec<String> = tasks.iter().map(|at| format!("n{at}")).collect();
    let _ = writeln!(chart, "  class {} {class}", names.join(","));
}

/// The text with everything but letters, digits and a few harmless signs as `#code;`.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in one_line(text).chars() {
        // A dash at the start would open a list.
        let is_plain = c.is_alphanumeric()
            || matches!(c, ' ' | ',' | '/' | '·' | '…')
            || (c == '-' && !safe.is_empty());
        if is_plain {
            safe.push(c);
        } else {
            let _ = write!(safe, "#{};", u32::from(c));
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::sample::{self, drawn};

    #[test]
    fn waves_are_subgraphs_and_ties_are_arrows() {
        insta::assert_snapshot!(drawn(sample::SECTIONS, draw), @r#"
        flowchart LR
          subgraph done["Done"]
            direction LR
            n0["60 · Set up the crate"]
          end
          subgraph w1["Wave 1 · 2 tasks"]
            direction LR
            n1["61 · Read the plan"]
            n2["62 · Write the docs"]
          end
          subgraph w2["Wave 2 · 2 tasks"]
            direction LR
            n3["63 · Check the graph"]
            n4["64 · Explain the graph"]
          end
          subgraph w3["Wave 3 · 1 task"]
            direction LR
            n5["65 · Draw it"]
          end
          n0 --> n1
          n1 --> n3
          n2 -.->|"both declare docs/plan#46;md"| n4
          n2 --> n5
          n3 --> n5
          classDef critical stroke:#5e6ad2,stroke-width:2px
          classDef done opacity:0.55
          classDef stuck stroke:#e5484d,stroke-dasharray:4
          class n1,n3,n5 critical
          class n0 done
        "#);
    }

    #[test]
    fn a_closed_phase_is_an_arrow_between_waves() {
        let chart = drawn(sample::PHASED, draw);
        assert!(chart.contains("  w1 -.->|\"phase 2 waits for phase 1\"| w2\n"));
        assert!(chart.contains("  n2 --> n3\n"));
    }

    #[test]
    fn no_title_breaks_out_of_its_box() {
        let chart = drawn(sample::NASTY, draw);
        let boxes = chart.lines().filter(|line| line.starts_with("    n"));
        for line in boxes {
            let (_, label) = line.split_once("[\"").unwrap();
            let label = label.strip_suffix("\"]").unwrap();
            let harmful = |c: char| "\"`<>&[]{}|%:\\*_$@.()".contains(c) || c.is_control();
            assert!(!label.contains(harmful), "{label}");
        }
        assert!(chart.contains("#96;quoted#96; #34;text#34;"), "{chart}");
    }

    #[test]
    fn tasks_in_a_cycle_stand_apart() {
        let chart = drawn(sample::CYCLE, draw);
        assert!(chart.contains("subgraph stuck[\"In no wave\"]"));
        assert!(chart.contains("class n0,n1,n2 stuck"));
        assert!(chart.contains("n0 --> n1") && chart.contains("n1 --> n0"));
    }
}
