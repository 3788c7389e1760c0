//! Finds the tasks that a selection names.
//!
//! Knows what the plan says of its tasks; leaves missing dependencies to the graph.

use std::collections::{BTreeSet, HashSet};

use super::{Selection, Term};
use crate::graph::Graph;
use crate::id::{IdRange, PhaseNumber};
use crate::next::{NextRules, next};
use crate::phase::{OpenPhases, Threshold};
use crate::problem::{Code, Problem, nearest};
use crate::task::{Task, TaskStatus};

/// How many missing ids of a range are named.
const MOST_NAMED: usize = 10;

/// The tasks that were chosen, and what was passed over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Positions in plan order, each once.
    pub tasks: Vec<usize>,
    /// What was skipped and what is odd.
    pub notes: Vec<Problem>,
}

/// Finds the tasks of a selection that are still to do.
pub fn resolve(selection: &Selection, graph: &Graph<'_>, rules: NextRules) -> Choice {
    let mut search = Search {
        graph,
        chosen: BTreeSet::new(),
        notes: Vec::new(),
    };
    for term in selection.terms() {
        search.take(term, rules);
    }
    Choice {
        tasks: search.chosen.into_iter().collect(),
        notes: search.notes,
    }
}

/// One warning for each phase that was chosen though tasks before it are open and not chosen.
pub fn closed_phases(graph: &Graph<'_>, chosen: &[usize], threshold: Threshold) -> Vec<Problem> {
    let is_chosen: HashSet<usize> = chosen.iter().copied().collect();
    let tasks = graph.plan().tasks.iter().enumerate();
    // What is chosen too will be done before.
    let statuses = tasks.map(|(position, task)| {
        let done_before = is_chosen.contains(&position);
        (
            task.phase,
            if done_before {
                TaskStatus::Completed
            } else {
                task.status
            },
        )
    });
    let open = OpenPhases::of_statuses(statuses, threshold);
    let closed: BTreeSet<PhaseNumber> = chosen
        .iter()
        .map(|position| graph.task(*position))
        .filter(|task| task.follows_its_phase())
        .filter_map(|task| task.phase.filter(|phase| !open.is_open(*phase)))
        .collect();
    let warning = |phase| {
        let message = format!(
            "phase {phase} is not open: tasks of earlier phases are neither done nor chosen"
        );
        Problem::new(Code::PhaseNotOpen, message).hint("its tasks are taken because you chose them")
    };
    closed.into_iter().map(warning).collect()
}

struct Search<'g, 'p> {
    graph: &'g Graph<'p>,
    chosen: BTreeSet<usize>,
    notes: Vec<Problem>,
}

impl Search<'_, '_> {
    fn take(&mut self, term: &Term, rules: NextRules) {
        match term {
            Term::Id(id) => match self.graph.index().find(id) {
                Some(position) => self.take_named(position),
                None => self.note_missing(id),
            },
            Term::Range { first, last } => {
                let range = IdRange::between(first, last).expect("the parser checked it");
                self.take_range(&range);
            }
            Term::Phase(phase) => {
                let found = self.take_open(|task| task.phase == Some(*phase));
                self.note_if_none(found, &format!("phase {phase} has no open task"));
            }
            Term::All => {
                let found = self.take_open(|_| true);
                self.note_if_none(found, "every task is done");
            }
            Term::Label(label) => {
                let found = self.take_open(|task| task.labels.contains(label));
                self.note_if_none(found, &format!("no open task has the label {label}"));
            }
            Term::Failed => {
                let failed = self.positions(|task| task.status == TaskStatus::Failed);
                self.note_if_none(failed.len(), "no task failed");
                self.chosen.extend(failed);
            }
            Term::Next(count) => {
                let offers = next(self.graph, *count, rules);
                self.note_if_none(offers.len(), "no task can start now");
                for offer in offers {
                    self.take_named(offer.position);
                }
            }
        }
    }

    fn positions(&self, wanted: impl Fn(&Task) -> bool) -> Vec<usize> {
        let tasks = self.graph.plan().tasks.iter().enumerate();
        tasks
            .filter(|(_, task)| wanted(task))
            .map(|(position, _)| position)
            .collect()
    }

    /// Pending tasks and those in progress that satisfy a condition.
    fn take_open(&mut self, wanted: impl Fn(&Task) -> bool) -> usize {
        let open = self.positions(|task| {
            matches!(task.status, TaskStatus::Pending | TaskStatus::InProgress) && wanted(task)
        });
        for position in &open {
            self.take_named(*position);
        }
        open.len()
    }

    fn take_named(&mut self, position: usize) {
        let task = self.graph.task(position);
        if task.status.is_settled() {
            let message = format!("task {} is {} already", task.id, task.status.as_str());
            self.note(Problem::new(Code::AlreadyComplete, message).at(task.line));
            return;
        }
        if self.chosen.insert(position) && task.status == TaskStatus::InProgress {
            let message = format!(
                "task {} is marked in progress; it is taken as pending",
                task.id
            );
            self.note(Problem::new(Code::InProgress, message).at(task.line));
        }
    }

    fn take_range(&mut self, range: &IdRange<'_>) {
        let inside = self.positions(|task| range.contains(task.id.as_str()));
        let numbers = range.numbers();
        let named = (numbers.end() - numbers.start()).saturating_add(1);
        let missing = named.saturating_sub(u64::try_from(inside.len()).unwrap_or(u64::MAX));
        if missing > 0 {
            let is_missing = |id: &String| self.graph.index().find(id).is_none();
            let some: Vec<String> = range.ids().filter(is_missing).take(MOST_NAMED).collect();
            let more = missing.saturating_sub(u64::try_from(some.len()).unwrap_or(u64::MAX));
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            self.note(Problem::new(
                Code::TaskNotFound,
                format!("the range names no task for {}{more}", some.join(", ")),
            ));
        }
        for position in inside {
            self.take_named(position);
        }
    }

    fn note_missing(&mut self, id: &str) {
        let problem = Problem::new(Code::TaskNotFound, format!("there is no task {id}"));
        let problem = match nearest(id, self.graph.index().ids()) {
            Some(near) => problem.hint(format!("did you mean {near}?")),
            None => problem.hint("`pleach plan` lists the tasks"),
        };
        self.note(problem);
    }

    fn note_if_none(&mut self, found: usize, message: &str) {
        if found == 0 {
            self.note(Problem::new(Code::TaskNotFound, message));
        }
    }

    fn note(&mut self, problem: Problem) {
        self.notes.push(problem);
    }
}
