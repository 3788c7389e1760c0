//! What a plan says besides its tasks: the checks of phases, and dependencies in words.

use super::Picture;
use super::words::one_line;

/// More remarks than this are only counted.
const MOST_REMARKS: usize = 20;

/// The remarks on what is drawn, each with what it is about.
pub(super) fn remarks(picture: &Picture<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for phase in &picture.graph.plan().phases {
        let is_drawn = picture
            .chosen
            .iter()
            .any(|at| picture.task(*at).phase == Some(phase.number));
        for check in phase.checks.iter().filter(|_| is_drawn) {
            found.push((format!("check of phase {}", phase.number), one_line(check)));
        }
    }
    for task in picture.chosen.iter().map(|at| picture.task(*at)) {
        for note in &task.notes {
            found.push((
                format!("note on {}", one_line(task.id.as_str())),
                format!("depends on {}", one_line(note)),
            ));
        }
    }
    let more = found.len().saturating_sub(MOST_REMARKS);
    found.truncate(MOST_REMARKS);
    if more > 0 {
        found.push(("and".to_owned(), format!("{more} more checks and notes")));
    }
    found
}

#[cfg(test)]
mod tests {
    use pleach_domain::graph::{Graph, Order, OrderRules, Strictness};

    use super::*;

    #[test]
    fn checks_and_dependencies_in_words_are_shown() {
        let text = "## Phase 1: A\n- [ ] 1.1 X\n\n**VERIFY Phase 1:**\n- [ ] it stands\n\n### 7. B\n**Dependencies**: Soundness (Complete)\n";
        let document = pleach_formats::read(text);
        let graph = Graph::new(&document.plan, Strictness::AsWritten);
        let order = Order::new(&graph, &[true, true], OrderRules::default());
        let picture = Picture {
            name: "TODO.md",
            graph: &graph,
            order: &order,
            chosen: &[0, 1],
        };
        let lines: Vec<String> = remarks(&picture)
            .iter()
            .map(|(label, text)| format!("{label}: {text}"))
            .collect();
        assert_eq!(
            lines,
            [
                "check of phase 1: it stands",
                "note on 7: depends on Soundness (Complete)"
            ]
        );
    }
}
