//! What was chosen of a plan, and what is wrong with that.
//!
//! Knows the graph of the plan; nothing of agents or repositories.

use std::collections::BTreeSet;

use pleach_domain::graph::Graph;
use pleach_domain::id::TaskId;
use pleach_domain::next::NextRules;
use pleach_domain::problem::{Code, Problem};
use pleach_domain::select::{Choice, Selection, Term, closed_phases, resolve};

/// What is done about dependencies that were not chosen and are not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependencies {
    /// They must have been chosen.
    Chosen,
    /// They are added.
    Added,
}

/// What was chosen of a plan, and what is wrong with that.
#[derive(Debug)]
pub struct Chosen {
    /// The positions of the tasks, in plan order.
    pub tasks: Vec<usize>,
    /// What keeps them from running.
    pub errors: Vec<Problem>,
    /// What is odd and stops nothing.
    pub warnings: Vec<Problem>,
}

impl Chosen {
    /// The tasks of a selection; errors that it does not reach are warnings.
    pub fn of(
        graph: &Graph<'_>,
        selection: &Selection,
        rules: NextRules,
        dependencies: Dependencies,
    ) -> Self {
        Self::of_choice(graph, resolve(selection, graph, rules), rules, dependencies)
    }

    /// The tasks of these ids; what is done already is left out with a warning.
    pub fn by_id(
        graph: &Graph<'_>,
        ids: &[TaskId],
        rules: NextRules,
        dependencies: Dependencies,
    ) -> Self {
        let mut tasks = BTreeSet::new();
        let mut notes = Vec::new();
        for id in ids {
            let named = Selection::one(&Term::Id(id.as_str().to_owned()));
            let choice = resolve(&named, graph, rules);
            tasks.extend(choice.tasks);
            notes.extend(choice.notes);
        }
        let choice = Choice {
            tasks: tasks.into_iter().collect(),
            notes,
        };
        Self::of_choice(graph, choice, rules, dependencies)
    }

    fn of_choice(
        graph: &Graph<'_>,
        Choice { tasks, notes }: Choice,
        rules: NextRules,
        dependencies: Dependencies,
    ) -> Self {
        let tasks = match dependencies {
            Dependencies::Chosen => tasks,
            Dependencies::Added => graph.with_needs(&tasks),
        };
        let (mut errors, beyond) = graph.errors_reaching(&tasks);
        errors.extend(graph.missing_needs(&tasks));
        let mut warnings = graph.warnings().to_vec();
        warnings.extend(beyond);
        if tasks.is_empty() && errors.is_empty() {
            let code = notes.last().map_or(Code::TaskNotFound, |note| note.code);
            let problem = Problem::new(code, "nothing is left of the selection");
            errors.push(problem.hint("`pleach plan` shows what is to do"));
        }
        warnings.extend(notes);
        warnings.extend(closed_phases(graph, &tasks, rules.threshold));
        Self {
            tasks,
            errors,
            warnings,
        }
    }
}
