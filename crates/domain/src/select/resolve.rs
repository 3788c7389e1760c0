//! Finds the tasks that a selection names.
//!
//! Knows what the plan says of its tasks; leaves missing dependencies to the graph.

use std::collections::{BTreeSet, HashSet};

use super::{Selection, SelectionTerm};
use crate::graph::Graph;
use crate::id::{IdRange, PhaseNumber};
use crate::next::{NextRules, next};
use crate::phase::{Threshold, shortfalls};
use crate::problem::{Problem, ProblemCode, nearest_id};
use crate::task::{Task, TaskHold, TaskStatus};

/// How many missing ids of a range are named.
const MOST_NAMED: usize = 10;

/// The tasks that were chosen, what was passed over, and what does not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChosenTasks {
    /// Positions in plan order, each once.
    pub tasks: Vec<usize>,
    /// What was skipped and what is odd.
    pub notes: Vec<Problem>,
    pub errors: Vec<Problem>,
}

/// Finds the tasks of a selection that are still to do.
pub fn resolve(selection: &Selection, graph: &Graph<'_>, rules: NextRules) -> ChosenTasks {
    let mut search = Resolver {
        graph,
        chosen: BTreeSet::new(),
        notes: Vec::new(),
        errors: Vec::new(),
    };
    for term in selection.terms() {
        search.take(term, rules);
    }
    ChosenTasks {
        tasks: search.chosen.into_iter().collect(),
        notes: search.notes,
        errors: search.errors,
    }
}

/// The tasks that are done among those that a selection names by id, range, phase or label.
pub fn done_among(selection: &Selection, graph: &Graph<'_>) -> Vec<usize> {
    let is_named = |task: &Task| {
        selection.terms().iter().any(|term| match term {
            SelectionTerm::Id(id) => task.id.as_str() == id,
            SelectionTerm::Range { first, last } => {
                IdRange::between(first, last).is_some_and(|range| range.contains(task.id.as_str()))
            }
            SelectionTerm::Phase(phase) => task.phase == Some(*phase),
            SelectionTerm::Label(label) => task.labels.contains(label),
            SelectionTerm::All | SelectionTerm::Failed | SelectionTerm::Next(_) => false,
        })
    };
    let tasks = graph.plan().tasks.iter().enumerate();
    tasks
        .filter(|(_, task)| task.status.is_settled() && is_named(task))
        .map(|(position, _)| position)
        .collect()
}

/// One error for each phase that was chosen though too little of an earlier one is done or chosen.
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
    let Some(short) = shortfalls(statuses, threshold).next() else {
        return Vec::new();
    };
    let closed: BTreeSet<PhaseNumber> = chosen
        .iter()
        .map(|position| graph.task(*position))
        .filter(|task| task.follows_its_phase())
        .filter_map(|task| task.phase.filter(|phase| *phase > short.phase))
        .collect();
    let error = |phase| {
        let message = format!("phase {phase} is not open: {short}");
        let hint = format!(
            "also select phase:{}, or pass --phase-threshold 0",
            short.phase
        );
        Problem::new(ProblemCode::PhaseNotOpen, message).hint(hint)
    };
    closed.into_iter().map(error).collect()
}

struct Resolver<'g, 'p> {
    graph: &'g Graph<'p>,
    chosen: BTreeSet<usize>,
    notes: Vec<Problem>,
    errors: Vec<Problem>,
}

impl Resolver<'_, '_> {
    fn take(&mut self, term: &SelectionTerm, rules: NextRules) {
        match term {
            SelectionTerm::Id(id) => match self.graph.index().find(id) {
                Some(position) => self.take_named(position),
                None => self.refuse_missing(id),
            },
            SelectionTerm::Range { first, last } => {
                let range = IdRange::between(first, last).expect("the parser checked it");
                self.take_range(&range);
            }
            SelectionTerm::Phase(phase) => {
                self.take_open(&format!("phase {phase}"), |task| task.phase == Some(*phase));
            }
            SelectionTerm::All => self.take_open("the plan", |_| true),
            SelectionTerm::Label(label) => self.take_open(&format!("label {label}"), |task| {
                task.labels.contains(label)
            }),
            SelectionTerm::Failed => {
                let failed = self.positions(|task| task.status == TaskStatus::Failed);
                if failed.is_empty() {
                    self.note(Problem::new(
                        ProblemCode::AlreadyComplete,
                        "there are no failed tasks",
                    ));
                }
                self.chosen.extend(failed);
            }
            SelectionTerm::Next(count) => {
                let offers = next(self.graph, *count, rules);
                if offers.is_empty() {
                    self.note_none_left("the plan", &self.positions(|_| true));
                }
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

    /// Pending tasks and those in progress that satisfy a condition, unless something holds them.
    fn take_open(&mut self, whole: &str, wanted: impl Fn(&Task) -> bool) {
        let all = self.positions(wanted);
        if all.is_empty() {
            let problem = Problem::new(ProblemCode::TaskNotFound, format!("{whole} has no tasks"));
            self.errors
                .push(problem.hint("`pleach plan` lists the tasks"));
            return;
        }
        let before = self.chosen.len();
        let mut found = 0;
        for position in &all {
            let status = self.graph.task(*position).status;
            if matches!(status, TaskStatus::Pending | TaskStatus::InProgress)
                && !self.is_held(*position)
            {
                self.take_named(*position);
                found += 1;
            }
        }
        if found == 0 && before == self.chosen.len() {
            self.note_none_left(whole, &all);
        }
    }

    /// Whether only its id starts a task; what is passed over is said.
    fn is_held(&mut self, position: usize) -> bool {
        let task = self.graph.task(position);
        let (code, why) = match task.hold {
            TaskHold::None => return false,
            TaskHold::Blocked => (
                ProblemCode::Blocked,
                "is blocked; select it by its id to run it",
            ),
            TaskHold::InLiveBatch => (ProblemCode::InProgress, "is in a running batch"),
        };
        let message = format!("task {} {why}", task.id);
        self.note(Problem::new(code, message).at(task.line));
        true
    }

    /// Says why nothing of a part of the plan can be taken: it is done, or it cannot start.
    fn note_none_left(&mut self, whole: &str, all: &[usize]) {
        let is_done = |at: &usize| self.graph.task(*at).status.is_settled();
        let open = all.iter().filter(|at| !is_done(at)).count();
        if open == 0 {
            let message = match all.len() {
                1 => format!("the only task of {whole} is done"),
                many => format!("all {many} tasks of {whole} are done"),
            };
            self.note(Problem::new(ProblemCode::AlreadyComplete, message));
        } else {
            let message = format!("no task of {whole} can start now; {open} are open");
            let problem = Problem::new(ProblemCode::TaskNotFound, message);
            self.errors
                .push(problem.hint("`pleach plan` shows what they wait for"));
        }
    }

    fn take_named(&mut self, position: usize) {
        let task = self.graph.task(position);
        if task.status.is_settled() {
            let message = format!("task {} is already {}", task.id, task.status.as_str());
            self.note(Problem::new(ProblemCode::AlreadyComplete, message).at(task.line));
            return;
        }
        let is_unattended = task.status == TaskStatus::InProgress && task.hold == TaskHold::None;
        if self.chosen.insert(position) && is_unattended {
            let message = format!(
                "task {} is marked in progress; treating it as pending",
                task.id
            );
            self.note(Problem::new(ProblemCode::InProgress, message).at(task.line));
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
            let problem = Problem::new(
                ProblemCode::TaskNotFound,
                format!(
                    "the range includes tasks that do not exist: {}{more}",
                    some.join(", ")
                ),
            );
            // Finished tasks are archived out of plans, so that ranges have gaps.
            if inside.is_empty() {
                self.errors
                    .push(problem.hint("`pleach plan` lists the tasks"));
            } else {
                self.note(problem);
            }
        }
        for position in inside {
            if !self.is_held(position) {
                self.take_named(position);
            }
        }
    }

    fn refuse_missing(&mut self, id: &str) {
        let problem = Problem::new(ProblemCode::TaskNotFound, format!("task {id} not found"));
        self.errors
            .push(match nearest_id(id, self.graph.index().ids()) {
                Some(near) => problem.hint(format!("did you mean {near}?")),
                None => problem.hint("`pleach plan` lists the tasks"),
            });
    }

    fn note(&mut self, problem: Problem) {
        self.notes.push(problem);
    }
}
