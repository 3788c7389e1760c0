//! One execution of some tasks: its state, and which events follow from what is heard.
//!
//! Knows nothing of git, processes or time; `schedule` says what to do next.

use std::collections::HashMap;

use crate::event::{BatchEvent, Event, TaskEvent};
use crate::graph::{Graph, Order, Rules};
use crate::id::{PhaseNumber, TaskId};
use crate::phase::Threshold;
use crate::task::{Priority, TaskStatus};
use crate::task_state::{Commit, Ending, IllegalMove, TaskState};

/// A batch and all that is known of its tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// Its tasks, in plan order.
    pub tasks: Vec<BatchTask>,
    /// Where it stands.
    pub status: BatchStatus,
    /// The positions of woven tasks, in the order they were woven.
    pub woven: Vec<usize>,
    /// The positions of built tasks, in the order they were built.
    pub built: Vec<usize>,
    /// When its phases open.
    pub threshold: Threshold,
    /// Tasks of the plan that were settled before, by phase.
    pub settled_before: Vec<(PhaseNumber, TaskStatus)>,
    positions: HashMap<TaskId, usize>,
}

/// A task of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchTask {
    /// Its id in the plan.
    pub id: TaskId,
    /// Where it stands.
    pub state: TaskState,
    /// The tasks it needs, by position in the batch.
    pub needs: Vec<usize>,
    /// The tasks it merely comes after, by position in the batch.
    pub after: Vec<usize>,
    /// The phase it stands in.
    pub phase: Option<PhaseNumber>,
    /// Whether it waits for its phase to open.
    pub follows_phase: bool,
    /// Minutes to the end of the longest chain behind it.
    pub remaining: u64,
    /// How much it matters.
    pub priority: Priority,
}

/// Where a batch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchStatus {
    /// It has not begun.
    Pending,
    /// Its tasks run.
    Running,
    /// A person asked to stop it.
    Cancelling,
    /// Something was merged, or nothing needed to be.
    Completed,
    /// Nothing was merged.
    Failed,
    /// A person stopped it.
    Cancelled,
}

impl BatchStatus {
    /// The word for it on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Cancelling => "cancelling",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing more can happen to it.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// The status after an event, if the event is legal.
    pub fn after(self, event: BatchEvent) -> Option<Self> {
        match (self, event) {
            (Self::Pending, BatchEvent::Started) => Some(Self::Running),
            (Self::Running, BatchEvent::CancelRequested) => Some(Self::Cancelling),
            (Self::Running, BatchEvent::Completed) => Some(Self::Completed),
            (Self::Running, BatchEvent::Failed) => Some(Self::Failed),
            (Self::Cancelling, BatchEvent::Cancelled) => Some(Self::Cancelled),
            _ => None,
        }
    }
}

/// How an agent's attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptEnding {
    /// It left a commit.
    Built(Commit),
    /// It changed nothing.
    Unchanged,
    /// It failed.
    Failed(String),
    /// It took too long.
    TimedOut,
    /// It was stopped on request.
    Stopped,
}

/// What weaving a branch gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WeaveEnding {
    /// The new tip of the batch branch.
    Woven(Commit),
    /// It does not merge cleanly.
    Conflict {
        /// The files that conflict.
        files: Vec<String>,
        /// The woven tasks that touched them.
        with: Vec<TaskId>,
    },
    /// It could not even be tried.
    Failed(String),
}

/// What the loop of a batch can hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// An attempt is over.
    AttemptEnded(TaskId, AttemptEnding),
    /// A branch was woven, or not.
    WeaveEnded(TaskId, WeaveEnding),
    /// A task cannot start where it would have to.
    CannotStart(TaskId, String),
    /// A person wants it to stop.
    Cancel,
}

/// An event that does not fit the state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEvent {
    /// The task is in the wrong state.
    #[error("task {task}: {source}")]
    Task {
        /// The task.
        task: TaskId,
        /// What is wrong.
        source: IllegalMove,
    },
    /// The task is not in the batch.
    #[error("task {0} is not in the batch")]
    Stranger(TaskId),
    /// The batch is in the wrong state.
    #[error("a batch that is {state} cannot be {event}")]
    Batch {
        /// Where it stands.
        state: &'static str,
        /// What was said to have happened.
        event: &'static str,
    },
}

impl Batch {
    /// A batch of the chosen tasks (positions in the plan, ascending), not begun.
    pub fn of(graph: &Graph<'_>, chosen: &[usize], rules: Rules) -> Self {
        let mut members = vec![false; graph.plan().tasks.len()];
        let mut place = HashMap::new();
        for (number, position) in chosen.iter().enumerate() {
            members[*position] = true;
            place.insert(*position, number);
        }
        let order = Order::of(graph, &members, rules);
        let within = |positions: Vec<usize>| -> Vec<usize> {
            positions
                .iter()
                .filter_map(|at| place.get(at).copied())
                .collect()
        };
        let mut tasks: Vec<BatchTask> = chosen
            .iter()
            .map(|position| {
                let task = graph.task(*position);
                BatchTask {
                    id: task.id.clone(),
                    state: TaskState::Queued,
                    needs: within(graph.needs(*position).collect()),
                    after: Vec::new(),
                    phase: task.phase,
                    follows_phase: task.follows_its_phase(),
                    remaining: order.remaining[*position],
                    priority: task.priority,
                }
            })
            .collect();
        for pair in &order.ordered {
            if let (Some(first), Some(then)) = (place.get(&pair.first), place.get(&pair.then)) {
                tasks[*then].after.push(*first);
            }
        }
        let settled = graph
            .plan()
            .tasks
            .iter()
            .filter(|task| task.status.is_settled());
        Self {
            positions: tasks.iter().map(|task| task.id.clone()).zip(0..).collect(),
            tasks,
            status: BatchStatus::Pending,
            woven: Vec::new(),
            built: Vec::new(),
            threshold: rules.threshold,
            settled_before: settled
                .filter_map(|task| task.phase.map(|phase| (phase, task.status)))
                .collect(),
        }
    }

    /// The position of a task in the batch.
    pub fn position(&self, task: &TaskId) -> Option<usize> {
        self.positions.get(task).copied()
    }

    /// The events that follow from something heard; nothing, if it comes too late to matter.
    pub fn decide(&self, message: Message) -> Vec<Event> {
        match message {
            Message::AttemptEnded(task, ending) => vec![Event::Task {
                task,
                event: match ending {
                    AttemptEnding::Built(commit) => TaskEvent::Built { commit },
                    AttemptEnding::Unchanged => TaskEvent::Unchanged,
                    AttemptEnding::Failed(error) => TaskEvent::Failed { error },
                    AttemptEnding::TimedOut => TaskEvent::TimedOut,
                    AttemptEnding::Stopped => TaskEvent::Cancelled,
                },
            }],
            Message::WeaveEnded(task, ending) => vec![Event::Task {
                task,
                event: match ending {
                    WeaveEnding::Woven(tip) => TaskEvent::Woven { tip },
                    WeaveEnding::Conflict { files, with } => TaskEvent::Conflicted { files, with },
                    WeaveEnding::Failed(error) => TaskEvent::Failed { error },
                },
            }],
            Message::CannotStart(task, because) => vec![Event::Task {
                task,
                event: TaskEvent::Blocked { because },
            }],
            Message::Cancel => self.decide_cancel(),
        }
    }

    fn decide_cancel(&self) -> Vec<Event> {
        if self.status != BatchStatus::Running {
            return Vec::new();
        }
        let mut events = vec![Event::Batch(BatchEvent::CancelRequested)];
        for task in &self.tasks {
            let event = match task.state {
                TaskState::Queued => TaskEvent::Cancelled,
                TaskState::Running { .. } => TaskEvent::StopRequested,
                _ => continue,
            };
            events.push(Event::Task {
                task: task.id.clone(),
                event,
            });
        }
        events
    }

    /// Takes an event into the state, live and in replay alike.
    pub fn apply(&mut self, event: &Event) -> Result<(), BadEvent> {
        match event {
            Event::Batch(event) => {
                self.status = self.status.after(*event).ok_or(BadEvent::Batch {
                    state: self.status.as_str(),
                    event: event.participle(),
                })?;
            }
            Event::Task { task, event } => {
                let position = self
                    .position(task)
                    .ok_or_else(|| BadEvent::Stranger(task.clone()))?;
                let next = self.tasks[position].state.after(event);
                let next = next.map_err(|source| BadEvent::Task {
                    task: task.clone(),
                    source,
                })?;
                self.built.retain(|built| *built != position);
                match &next {
                    TaskState::Built { .. } => self.built.push(position),
                    TaskState::Ended(Ending::Merged { .. }) => self.woven.push(position),
                    _ => {}
                }
                self.tasks[position].state = next;
            }
        }
        Ok(())
    }

    /// The woven tasks that must be in the basis of a task, in the order they were woven.
    pub fn basis_of(&self, position: usize) -> Vec<usize> {
        let task = &self.tasks[position];
        let waited_for = self.waited_for(position);
        let of_earlier_phase = |other: usize| {
            let phase = self.tasks[other].phase;
            task.follows_phase && phase.is_some() && phase < task.phase
        };
        let belongs = |other: &usize| waited_for[*other] || of_earlier_phase(*other);
        self.woven.iter().copied().filter(belongs).collect()
    }

    /// Everything a task waits for, through tasks that were left out as well.
    fn waited_for(&self, position: usize) -> Vec<bool> {
        let mut reached = vec![false; self.tasks.len()];
        let mut stack = vec![position];
        while let Some(at) = stack.pop() {
            let task = &self.tasks[at];
            for before in task.needs.iter().chain(&task.after) {
                if !std::mem::replace(&mut reached[*before], true) {
                    stack.push(*before);
                }
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn every_batch_status_meets_every_event() {
        let mut table = format!("{:<12}", "");
        for event in BatchEvent::one_of_each() {
            write!(table, "{:<15}", event.participle()).unwrap();
        }
        for status in [
            BatchStatus::Pending,
            BatchStatus::Running,
            BatchStatus::Cancelling,
            BatchStatus::Completed,
            BatchStatus::Failed,
            BatchStatus::Cancelled,
        ] {
            write!(table, "\n{:<12}", status.as_str()).unwrap();
            for event in BatchEvent::one_of_each() {
                let next = status.after(event).map_or("·", BatchStatus::as_str);
                write!(table, "{next:<15}").unwrap();
            }
        }
        insta::assert_snapshot!(table);
    }
}
