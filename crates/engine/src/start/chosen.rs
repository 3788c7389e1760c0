//! What was chosen of a plan, and what is wrong with that.
//!
//! Knows the graph of the plan; nothing of agents or repositories.

use std::collections::BTreeSet;

use pleach_domain::graph::Graph;
use pleach_domain::id::TaskId;
use pleach_domain::next::NextRules;
use pleach_domain::problem::{Problem, ProblemCode};
use pleach_domain::select::{ChosenTasks, Selection, SelectionTerm, closed_phases, resolve};
use pleach_domain::task::TaskHold;

/// What is done about dependencies that were not chosen and are not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependencies {
    /// They must have been chosen.
    Chosen,
    /// They are added.
    Added,
}

#[derive(Debug)]
pub struct Chosen {
    /// The positions of the tasks, in plan order.
    pub tasks: Vec<usize>,
    pub errors: Vec<Problem>,
    pub warnings: Vec<Problem>,
    /// Why nothing is left to run, where that is as it should be.
    pub done: Option<Problem>,
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
    pub(crate) fn by_id(
        graph: &Graph<'_>,
        ids: &[TaskId],
        rules: NextRules,
        dependencies: Dependencies,
    ) -> Self {
        let mut tasks = BTreeSet::new();
        let mut notes = Vec::new();
        let mut errors = Vec::new();
        for id in ids {
            let named = Selection::one(&SelectionTerm::Id(id.as_str().to_owned()));
            let choice = resolve(&named, graph, rules);
            tasks.extend(choice.tasks);
            notes.extend(choice.notes);
            errors.extend(choice.errors);
        }
        let choice = ChosenTasks {
            tasks: tasks.into_iter().collect(),
            notes,
            errors,
        };
        let mut chosen = Self::of_choice(graph, choice, rules, dependencies);
        // A request for a batch wants one.
        chosen.errors.extend(chosen.done.take());
        chosen
    }

    fn of_choice(
        graph: &Graph<'_>,
        choice: ChosenTasks,
        rules: NextRules,
        dependencies: Dependencies,
    ) -> Self {
        let tasks = match dependencies {
            Dependencies::Chosen => choice.tasks,
            Dependencies::Added => with_free_needs(graph, &choice.tasks),
        };
        let mut errors = choice.errors;
        let (reached, beyond) = graph.errors_reaching(&tasks);
        errors.extend(reached);
        errors.extend(graph.missing_needs(&tasks));
        errors.extend(closed_phases(graph, &tasks, rules.threshold));
        let mut done = None;
        if tasks.is_empty() && errors.is_empty() {
            let problem = nothing_left(&choice.notes);
            if problem.code == ProblemCode::AlreadyComplete {
                done = Some(problem);
            } else {
                errors.push(problem);
            }
        }
        let mut warnings = choice.notes;
        warnings.extend(graph.warnings().iter().cloned());
        warnings.extend(beyond);
        Self {
            tasks,
            errors,
            warnings,
            done,
        }
    }
}

/// Adds what the chosen tasks need, but nothing that only its id starts.
fn with_free_needs(graph: &Graph<'_>, chosen: &[usize]) -> Vec<usize> {
    let is_free = |at: &usize| chosen.contains(at) || graph.task(*at).hold == TaskHold::None;
    let mut tasks = graph.with_needs(chosen);
    tasks.retain(is_free);
    tasks
}

/// Why a selection has no task: what it names is done, or cannot be started this way.
fn nothing_left(notes: &[Problem]) -> Problem {
    let done = notes
        .iter()
        .filter(|note| note.code == ProblemCode::AlreadyComplete);
    let done: Vec<&Problem> = done.collect();
    let problem = match done.as_slice() {
        [] => Problem::new(ProblemCode::TaskNotFound, "no open task matches"),
        [only] => Problem::new(ProblemCode::AlreadyComplete, only.message.clone()),
        many => {
            let message = format!("all {} selected tasks are done", many.len());
            Problem::new(ProblemCode::AlreadyComplete, message)
        }
    };
    problem.hint("`pleach plan` shows the open tasks")
}
