//! How agents end, as the dice have it.

use pleach_domain::batch::{AttemptEnding, Chance, Message, Spent};
use pleach_domain::task_state::{Commit, TaskState};

use super::{OrCrash, World};

impl World<'_> {
    pub(super) fn attempt_ended(&mut self, at: usize, ending: AttemptEnding) -> OrCrash {
        let task = self.id(at);
        if self.dice.one_in(3) {
            let session = format!("session-{}", self.dice.below(3));
            self.hear(Message::SessionBegan(task.clone(), session))?;
        }
        let kept = self.dice.one_in(2).then(|| Commit("kept".into()));
        let chance = Chance(u16::try_from(self.dice.below(1_000)).unwrap());
        let spent = self.dice.one_in(2).then(|| Spent {
            tokens: self.dice.below(100) as u64,
            micro_usd: 0,
        });
        self.hear(Message::AttemptEnded {
            task,
            ending,
            kept,
            spent,
            chance,
        })
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
            _ => AttemptEnding::Built {
                commit: Commit(format!("{at}.{}", self.batch.tasks[at].attempts)),
                files: vec![format!("f{at}")],
            },
        }
    }
}
