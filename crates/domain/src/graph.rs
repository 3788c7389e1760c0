//! The checked graph of a plan: who needs whom, and everything that is wrong with it at once.
//!
//! Knows the edges that people wrote; `order` adds the ones that follow from them.

mod collision;
mod cycle;
mod edges;
mod order;
mod predecessors;

use std::collections::HashSet;

pub use edges::Edges;
pub use order::{ImpliedEdge, Order, OrderRules, Overlap};
pub use predecessors::PredecessorKind;

use crate::plan::{Index, Plan};
use crate::problem::{Problem, ProblemCode, nearest_id};
use crate::task::{Dependency, IfUnknown, Task};

/// How many unknown names get a "did you mean": each costs a look at every task.
const MOST_SUGGESTIONS: usize = 20;

/// What a dependency on a task that is not in the plan counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// What the dialect of its plan says.
    #[default]
    AsWritten,
    /// Always an error.
    Strict,
}

/// A plan with its written edges resolved.
#[derive(Debug)]
pub struct Graph<'p> {
    plan: &'p Plan,
    index: Index,
    own_needs: Edges,
    /// The same, and the task before them in a note.
    needs: Edges,
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl<'p> Graph<'p> {
    /// Resolves the edges of a plan and collects every error.
    pub fn new(plan: &'p Plan, strictness: Strictness) -> Self {
        let index = plan.index();
        let mut graph = Self {
            own_needs: Edges::from_pairs(0, &[]),
            needs: Edges::from_pairs(0, &[]),
            errors: plan.errors.clone(),
            warnings: plan.warnings.clone(),
            plan,
            index,
        };
        graph.report_duplicates();
        graph.resolve_needs(strictness);
        graph.check_stages();
        graph.report_cycles();
        let line = |problem: &Problem| problem.line.unwrap_or(0);
        graph.errors.sort_by_key(line);
        graph.warnings.sort_by_key(line);
        graph
    }

    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    pub fn task(&self, position: usize) -> &'p Task {
        &self.plan.tasks[position]
    }

    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The positions of the tasks that a task needs: its own dependencies in the order written, then the task
    /// before it in a note.
    pub fn needs(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        self.needs
            .targets(position)
            .iter()
            .map(|need| *need as usize)
    }

    /// The positions of a task's own dependencies, in the order written.
    pub fn own_needs(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        let needs = self.own_needs.targets(position).iter();
        needs.map(|need| *need as usize)
    }

    pub fn errors(&self) -> &[Problem] {
        &self.errors
    }

    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The needs of `position` that are not settled.
    pub fn open_needs(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        self.needs(position)
            .filter(|need| !self.task(*need).status.is_settled())
    }

    pub fn open_members(&self) -> Vec<bool> {
        let tasks = self.plan.tasks.iter();
        tasks.map(|task| !task.status.is_settled()).collect()
    }

    /// Adds to the chosen tasks whatever they need and is still open.
    pub fn with_needs(&self, chosen: &[usize]) -> Vec<usize> {
        let mut taken = vec![false; self.plan.tasks.len()];
        let mut stack = chosen.to_vec();
        while let Some(position) = stack.pop() {
            if !std::mem::replace(&mut taken[position], true) {
                stack.extend(self.open_needs(position));
            }
        }
        (0..taken.len())
            .filter(|position| taken[*position])
            .collect()
    }

    /// The chosen tasks that need something open which was not chosen, each with that.
    pub fn needs_beyond(&self, chosen: &[usize]) -> Vec<(usize, Vec<usize>)> {
        let mut taken = vec![false; self.plan.tasks.len()];
        for position in chosen {
            taken[*position] = true;
        }
        let beyond = |position: &usize| {
            let needs = self.open_needs(*position).filter(|need| !taken[*need]);
            (*position, needs.collect::<Vec<_>>())
        };
        let all = chosen.iter().map(beyond);
        all.filter(|(_, needs)| !needs.is_empty()).collect()
    }

    /// One error a task that needs something open which was not chosen.
    pub fn missing_needs(&self, chosen: &[usize]) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (position, missing) in self.needs_beyond(chosen) {
            let missing: Vec<&str> = missing
                .iter()
                .map(|need| self.task(*need).id.as_str())
                .collect();
            let task = self.task(position);
            let message = format!(
                "task {} needs {}, which {} not done and not selected",
                task.id,
                missing.join(", "),
                if missing.len() == 1 { "is" } else { "are" },
            );
            problems.push(
                Problem::new(ProblemCode::MissingDependencies, message)
                    .at(task.line)
                    .hint("pass --with-deps to select them too")
                    .about([task.id.clone()]),
            );
        }
        problems
    }

    /// Splits the errors into those that the chosen tasks reach through their needs, and the rest.
    pub fn errors_reaching(&self, chosen: &[usize]) -> (Vec<Problem>, Vec<Problem>) {
        let reached = self.with_needs(chosen);
        let mut taken = vec![false; self.plan.tasks.len()];
        for position in reached {
            taken[position] = true;
        }
        self.errors.iter().cloned().partition(|problem| {
            problem.tasks.is_empty()
                || problem
                    .tasks
                    .iter()
                    .any(|id| self.index.find(id.as_str()).is_some_and(|at| taken[at]))
        })
    }

    fn report_duplicates(&mut self) {
        for (first, again) in self.index.doubles() {
            let task = self.task(*again);
            let message = format!(
                "task {} is defined at line {} and again at line {}",
                task.id,
                self.task(*first).line,
                task.line
            );
            self.errors.push(
                Problem::new(ProblemCode::DuplicateId, message)
                    .at(task.line)
                    .hint("give each task its own id")
                    .about([task.id.clone()]),
            );
        }
    }

    fn resolve_needs(&mut self, strictness: Strictness) {
        let mut pairs = Vec::new();
        let mut suggestions = MOST_SUGGESTIONS;
        for (position, task) in self.plan.tasks.iter().enumerate() {
            for need in &task.needs {
                match self.index.find(need.on.as_str()) {
                    Some(found) if found == position => self.errors.push(
                        Problem::new(
                            ProblemCode::SelfDependency,
                            format!("task {} depends on itself", task.id),
                        )
                        .at(need.line)
                        .hint("remove the dependency")
                        .about([task.id.clone()]),
                    ),
                    Some(found) => pairs.push((narrow(position), narrow(found))),
                    None if need.if_unknown == IfUnknown::SaidDone => {}
                    None => {
                        let lenient = need.if_unknown == IfUnknown::TakenAsDone
                            && strictness == Strictness::AsWritten;
                        let mut problem = self.unknown_need(task, need, &mut suggestions);
                        if lenient {
                            problem.message.push_str("; treating it as done");
                            self.warnings.push(problem);
                        } else {
                            self.errors.push(problem);
                        }
                    }
                }
            }
        }
        let tasks = self.plan.tasks.len();
        self.own_needs = Edges::from_pairs(tasks, &pairs);
        let of_notes = self.needs_of_notes();
        self.needs = if of_notes.is_empty() {
            self.own_needs.clone()
        } else {
            pairs.extend(of_notes);
            Edges::from_pairs(tasks, &pairs)
        };
    }

    /// Each open task of a note needs the open one before it, once.
    fn needs_of_notes(&self) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let mut known = HashSet::new();
        for sequence in &self.plan.sequences {
            let inside = sequence.tasks.iter();
            let inside = inside.filter_map(|id| self.index.find(id.as_str()));
            let open = inside.filter(|at| !self.task(*at).status.is_settled());
            let open: Vec<usize> = open.collect();
            for pair in open.windows(2).filter(|pair| pair[0] != pair[1]) {
                let is_written = self.own_needs(pair[1]).any(|need| need == pair[0]);
                if !is_written && known.insert((pair[1], pair[0])) {
                    found.push((narrow(pair[1]), narrow(pair[0])));
                }
            }
        }
        found
    }

    fn unknown_need(&self, task: &Task, need: &Dependency, suggestions: &mut usize) -> Problem {
        let about = format!("task {} depends on {}", task.id, need.on);
        if need.if_unknown == IfUnknown::Unlisted {
            let message = format!("{about}, which is open and not in the status file");
            return Problem::new(ProblemCode::UnknownDependency, message)
                .hint("add the task to the status file")
                .about([task.id.clone()]);
        }
        let message = format!("{about}, which is not in the plan");
        let problem = Problem::new(ProblemCode::UnknownDependency, message)
            .at(need.line)
            .about([task.id.clone()]);
        if *suggestions == 0 {
            return problem;
        }
        *suggestions -= 1;
        let others = self.index.ids().filter(|id| *id != task.id.as_str());
        match nearest_id(need.on.as_str(), others) {
            Some(near) => problem.hint(format!("did you mean {near}?")),
            None => problem.hint("remove it, or add the task"),
        }
    }

    fn check_stages(&mut self) {
        let mut stage_of = vec![None; self.plan.tasks.len()];
        for stage in &self.plan.stages {
            for id in &stage.tasks {
                match self.index.find(id.as_str()) {
                    None => self.errors.push(
                        Problem::new(
                            ProblemCode::TaskNotFound,
                            format!(
                                "batch {} lists task {id}, which is not in \"tasks\"",
                                stage.id
                            ),
                        )
                        .at(stage.line)
                        .hint("add the task, or remove it from the batch")
                        .about([id.clone()]),
                    ),
                    Some(position) => {
                        if let Some(earlier) = stage_of[position].replace(&stage.id) {
                            self.errors.push(
                                Problem::new(
                                    ProblemCode::BadPlan,
                                    format!(
                                        "task {id} is in batch {earlier} and in batch {}",
                                        stage.id
                                    ),
                                )
                                .at(stage.line)
                                .hint("list each task in one batch only")
                                .about([id.clone()]),
                            );
                        }
                    }
                }
            }
        }
        if self.plan.stages.is_empty() {
            return;
        }
        for (task, stage) in self.plan.tasks.iter().zip(&stage_of) {
            if stage.is_none() {
                self.warnings.push(
                    Problem::new(
                        ProblemCode::BadPlan,
                        format!("task {} is in no batch; it runs as soon as it can", task.id),
                    )
                    .at(task.line)
                    .about([task.id.clone()]),
                );
            }
        }
    }

    fn report_cycles(&mut self) {
        let everything = vec![true; self.plan.tasks.len()];
        let written = order::written_edges(self, &everything);
        for cycle in cycle::find(&written, self.plan.tasks.len()) {
            self.errors.push(self.describe_cycle(&cycle));
        }
    }

    fn describe_cycle(&self, cycle: &[usize]) -> Problem {
        let first = self.task(cycle[0]);
        let ids: Vec<&str> = cycle
            .iter()
            .chain(&cycle[..1])
            .map(|position| self.task(*position).id.as_str())
            .collect();
        let second = cycle.get(1).map(|position| &self.task(*position).id);
        let written_at = first.needs.iter().find(|need| Some(&need.on) == second);
        Problem::new(
            ProblemCode::Cycle,
            format!("dependency cycle: {}", ids.join(" → ")),
        )
        .at(written_at.map_or(first.line, |need| need.line))
        .hint("remove one of these dependencies")
        .about(cycle.iter().map(|position| self.task(*position).id.clone()))
    }
}

fn narrow(position: usize) -> u32 {
    u32::try_from(position).expect("a plan file is too small for 2^32 tasks")
}
