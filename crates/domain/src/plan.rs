//! A plan: tasks as a person wrote them, with their phases, notes and stages.
//!
//! Knows no file format and draws no conclusions; `graph` does that.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::id::{PhaseNumber, TaskId};
use crate::problem::Problem;
use crate::task::Task;

/// Everything that was read from one source, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    pub tasks: Vec<Task>,
    pub phases: Vec<Phase>,
    /// Tasks that a note puts in order.
    pub sequences: Vec<Sequence>,
    pub stages: Vec<Stage>,
    /// What is wrong with the text itself.
    pub errors: Vec<Problem>,
    /// What is odd about the text itself.
    pub warnings: Vec<Problem>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    pub number: PhaseNumber,
    pub title: String,
    pub line: u32,
    /// What its agents are asked to see true.
    pub checks: Vec<String>,
}

/// Tasks that run in the order written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    pub tasks: Vec<TaskId>,
    /// The group as its author named it, such as `3.1-3.4`.
    pub group: String,
    /// Why they are in order; may be empty.
    pub reason: String,
    pub line: u32,
}

/// One batch of an execution plan: woven and validated before the next starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    pub id: String,
    pub tasks: Vec<TaskId>,
    pub can_parallel: bool,
    pub line: u32,
}

impl Plan {
    pub fn index(&self) -> Index {
        let mut positions = HashMap::with_capacity(self.tasks.len());
        let mut doubles = Vec::new();
        for (position, task) in self.tasks.iter().enumerate() {
            match positions.entry(task.id.clone()) {
                Entry::Vacant(vacant) => {
                    vacant.insert(position);
                }
                Entry::Occupied(first) => doubles.push((*first.get(), position)),
            }
        }
        Index { positions, doubles }
    }

    /// The sequence that each task belongs to; the first, if there are several.
    pub fn sequence_of_task(&self) -> HashMap<&TaskId, &Sequence> {
        let mut found = HashMap::new();
        for sequence in &self.sequences {
            for task in &sequence.tasks {
                found.entry(task).or_insert(sequence);
            }
        }
        found
    }

    pub fn acceptance(&self, task: &Task) -> &[String] {
        self.phases
            .iter()
            .find(|phase| Some(phase.number) == task.phase)
            .map_or(&[], |phase| &phase.checks)
    }
}

/// Finds the position of a task by its id.
///
/// Holds the ids themselves: a look at the task would be a look at far memory, half a million times.
#[derive(Debug, Clone)]
pub struct Index {
    positions: HashMap<TaskId, usize>,
    doubles: Vec<(usize, usize)>,
}

impl Index {
    /// The position of the task; `12` finds `#12` and the other way round.
    pub fn find(&self, id: &str) -> Option<usize> {
        let exact = self.positions.get(id);
        let position = exact.or_else(|| match id.strip_prefix('#') {
            Some(bare) => self.positions.get(bare),
            None => self.positions.get(format!("#{id}").as_str()),
        });
        position.copied()
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.positions.keys().map(TaskId::as_str)
    }

    /// Positions of tasks that have the same id: the first, and each other one.
    pub fn doubles(&self) -> &[(usize, usize)] {
        &self.doubles
    }
}
