//! How agents get their machines and end, as the dice have it.

use pleach_domain::batch::{AttemptEnding, Batch, Jitter, Message, Spent};
use pleach_domain::event::{Event, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_domain::task_state::{Commit, TaskState};

use super::{OrCrash, World};

/// How often in a row a task may be lost before it fails.
const MOST_LOSSES: u32 = 6;

impl World<'_> {
    /// An agent gets a machine or ends.
    pub(super) fn agent_moves(&mut self, at: usize) -> OrCrash {
        if self.dice.one_in(4) {
            let (task, attempt) = (self.id(at), self.batch.tasks[at].attempts);
            let attempt = self.dice.pick(&[attempt, attempt, attempt, attempt + 1]);
            let node = format!("n{}", self.dice.below(3));
            return self.hear(Message::Placed {
                task,
                attempt,
                node,
            });
        }
        let agent = self.agents.remove(&at).flatten();
        let ending = agent.unwrap_or_else(|| self.draw_ending(at));
        if self.dice.one_in(5) {
            // It is over, and its result is on disk, but nobody has heard of it.
            self.agents.insert(at, Some(ending));
            return Ok(());
        }
        self.attempt_ended(at, &ending)
    }

    pub(super) fn attempt_ended(&mut self, at: usize, ending: &AttemptEnding) -> OrCrash {
        let task = self.id(at);
        if self.dice.one_in(3) {
            let session = format!("session-{}", self.dice.below(3));
            self.hear(Message::SessionBegan(task.clone(), session))?;
        }
        let kept = self.dice.one_in(2).then(|| Commit("kept".into()));
        let chance = Jitter(u16::try_from(self.dice.below(1_000)).unwrap());
        let spent = self.dice.one_in(2).then(|| Spent {
            tokens: self.dice.below(100) as u64,
            micro_usd: 0,
        });
        let ended = |attempt| Message::AttemptEnded {
            task: task.clone(),
            attempt,
            ending: ending.clone(),
            kept: kept.clone(),
            spent,
            chance,
        };
        let attempt = self.batch.tasks[at].attempts;
        for other in [attempt.wrapping_sub(1), attempt + 1] {
            let events = self.batch.decide(ended(other));
            assert_eq!(events, [], "attempt {other} ends instead of {attempt}");
        }
        let events = self.batch.decide(ended(attempt));
        if matches!(ending, AttemptEnding::Lost(_)) {
            check_loss(&self.batch, &task, &events);
        }
        self.store(events)
    }

    pub(super) fn draw_ending(&mut self, at: usize) -> AttemptEnding {
        let stopping = matches!(self.batch.tasks[at].state, TaskState::Stopping { .. });
        if stopping && !self.dice.one_in(4) {
            return AttemptEnding::Stopped;
        }
        let error = || "exit 1".to_owned();
        let throw = self.dice.below(24);
        let calm = self.dice.below(100) < self.calm;
        match if calm { 23 } else { throw } {
            0..3 => {
                let is_declared = self.dice.one_in(2);
                AttemptEnding::Unchanged(is_declared.then(|| "it is there already".to_owned()))
            }
            3..6 => AttemptEnding::Failed(error()),
            6 => AttemptEnding::Hopeless(error()),
            7 => AttemptEnding::TimedOut,
            8 => AttemptEnding::NoWorktree(error()),
            9..12 if self.limits_left > 0 => {
                self.limits_left -= 1;
                let stated = self.dice.one_in(2).then_some(60_000);
                if self.dice.one_in(2) {
                    AttemptEnding::Limited(error(), stated)
                } else {
                    AttemptEnding::Overloaded(error(), stated)
                }
            }
            12..15 if self.losses_left > 0 => {
                self.losses_left -= 1;
                AttemptEnding::Lost("n1 went down".into())
            }
            _ => AttemptEnding::Built {
                commit: Commit(format!("{at}.{}", self.batch.tasks[at].attempts)),
                files: vec![format!("f{at}")],
            },
        }
    }
}

/// A loss is no failure, unless it is one too many in a row.
fn check_loss(batch: &Batch, task: &TaskId, events: &[Event]) {
    let before = &batch.tasks[batch.position(task).unwrap()];
    let Some(Event::Task { event, .. }) = events.last() else {
        assert_eq!(before.state.attempt(), None, "a loss is heard of");
        return;
    };
    match event {
        TaskEvent::Lost { .. } => assert!(before.losses + 1 < MOST_LOSSES),
        TaskEvent::Cancelled => assert!(matches!(before.state, TaskState::Stopping { .. })),
        TaskEvent::Failed { error } if error.contains("budget") => {}
        TaskEvent::Failed { error } => {
            assert!(error.starts_with("lost 6 times"), "{error}");
            assert_eq!(before.losses + 1, MOST_LOSSES);
        }
        event => panic!("a loss is no {event:?}"),
    }
}
