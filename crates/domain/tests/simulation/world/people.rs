//! What people do with a batch, at good times and at bad ones; and messages that come too late.

use pleach_domain::batch::{
    AttemptEnding, BatchStatus, LandingRequest, Message, Proof, WeaveEnding,
};
use pleach_domain::event::{BatchEvent, PredictedConflict, Rollback, UnprovedReason};
use pleach_domain::id::TaskId;
use pleach_domain::task_state::{Commit, Consent, SteeringFile};

use super::{OrCrash, World};
use crate::ledger::NO_CONSENT;

const UNSUCCESSFUL: [&str; 6] = [
    "conflicted",
    "invalid",
    "failed",
    "timed_out",
    "blocked",
    "cancelled",
];

impl World<'_> {
    /// Every third task of some worlds changes what steers agents.
    pub(super) fn lacks_consent(&self, task: usize) -> Option<Consent> {
        if !self.steers {
            return None;
        }
        let files = self
            .batch
            .basis_of(task)
            .into_iter()
            .filter(|at| at % 3 == 0);
        let files = files.map(|at| SteeringFile {
            path: format!("steering of {at}"),
            blob: None,
        });
        let known = &self.batch.consented;
        let files: Vec<SteeringFile> = files.filter(|file| !known.contains(file)).collect();
        (!files.is_empty()).then_some(Consent { files })
    }

    /// Somebody looks at what is under way, and sees this or that coming.
    pub(super) fn look_ahead(&mut self) -> OrCrash {
        let at_work: Vec<usize> = self.agents.keys().copied().collect();
        let mut pairs = Vec::new();
        if at_work.len() > 1 && !self.dice.one_in(3) {
            let one = self.dice.below(at_work.len() - 1);
            pairs.push(PredictedConflict {
                a: self.id(at_work[one]),
                b: self.id(at_work[one + 1]),
                files: vec!["f".into()],
            });
        }
        let events = self.batch.predict(pairs);
        self.store(events)
    }

    /// A person acts, at a good time or a bad one; or a message comes twice.
    pub(super) fn somebody_wants(&mut self) -> OrCrash {
        let tasks = self.design.tasks.len();
        if tasks == 0 {
            return self.hear(Message::Cancel(Rollback::Keep));
        }
        let at = self.dice.below(tasks);
        let task = self.id(at);
        let rollback = self.dice.pick(&[Rollback::Keep, Rollback::Remove]);
        match self.dice.below(27) {
            25 | 26 => {
                let judged = self.base_judged();
                self.hear(Message::BaseTestsRan(judged))
            }
            20 | 23 | 24 => {
                let because = self
                    .dice
                    .one_in(2)
                    .then(|| "the disk is nearly full".into());
                self.hear(Message::Pause(because))
            }
            21 | 22 => {
                let slots = 1 + self.dice.below(5);
                let because = crate::ledger::ADVICE.into();
                self.hear(Message::SetSlots { slots, because })
            }
            0..4 => self.hear(Message::CancelTask(task)),
            4 => self.hear(Message::Stop),
            5 => self.hear(Message::Cancel(rollback)),
            6 => self.hear(Message::Approve),
            7 => self.hear(Message::CannotStart(task, NO_CONSENT.into())),
            8 => self.hear(Message::PauseEnded(task)),
            9 if !self.agents.contains_key(&at) => self.attempt_ended(at, &AttemptEnding::TimedOut),
            10 if self.batch.built.is_empty() => self.hear(Message::WeaveEnded(
                task,
                WeaveEnding::Woven(Commit("late".into())),
            )),
            11..13 => {
                let at = self.one_that_is(&["conflicted"]).unwrap_or(at);
                let resolve = self.resolution(at);
                self.hear(resolve)
            }
            13 => self.hear(Message::Land(LandingRequest {
                into: None,
                despite_findings: false,
                unproved: false,
                prove_again: false,
            })),
            14..16 => {
                self.check_too_late(&task);
                Ok(())
            }
            _ => {
                let at = self.one_that_is(&UNSUCCESSFUL).unwrap_or(at);
                let task = self.id(at);
                self.hear(Message::Retry(vec![task]))
            }
        }
    }

    fn one_that_is(&mut self, outcomes: &[&str]) -> Option<usize> {
        let tasks = self.batch.tasks.iter().enumerate();
        let such = tasks.filter(|(_, task)| outcomes.contains(&task.state.as_str()));
        let such: Vec<usize> = such.map(|(at, _)| at).collect();
        (!such.is_empty()).then(|| self.dice.pick(&such))
    }

    /// What nobody waits for any more, or not yet, changes nothing.
    pub(super) fn check_too_late(&self, task: &TaskId) {
        let commit = || Commit("late".into());
        let late = match &self.batch.proof {
            Proof::Searching(_) => Vec::new(),
            _ => vec![
                Message::TestsRan(BatchEvent::NoLongerMerges {
                    strand: task.clone(),
                    files: Vec::new(),
                    with: Vec::new(),
                }),
                Message::Proved {
                    base: commit(),
                    tip: commit(),
                    tree: "late".into(),
                    apart: false,
                },
                Message::NotProved(UnprovedReason::Trouble, "late".into()),
            ],
        };
        let landing = match (&self.batch.status, &self.batch.landed) {
            (BatchStatus::Landing, None) => Vec::new(),
            _ => vec![
                Message::BaseMoved {
                    base: commit(),
                    tip: commit(),
                    fell_out: vec![(task.clone(), Vec::new(), Vec::new())],
                    apart: false,
                },
                Message::Landed(BatchEvent::Pushed {
                    branch: "late".into(),
                    commit: commit(),
                }),
            ],
        };
        for message in late.into_iter().chain(landing) {
            assert_eq!(self.batch.decide(message.clone()), [], "{message:?}");
        }
    }

    fn resolution(&mut self, at: usize) -> Message {
        self.resolutions += 1;
        Message::Resolve {
            task: self.id(at),
            commit: Commit(format!("{at} resolved {}", self.resolutions)),
            basis: Commit("basis".into()),
            files: vec!["f".into()],
        }
    }

    /// Somebody wants more of a batch that is over, or tells that nobody does.
    pub(super) fn reopen(&mut self, alive: &mut OrCrash) -> bool {
        let tasks = self.design.tasks.len();
        let message = match self.dice.below(4) {
            0 => Message::Land(LandingRequest {
                into: self.dice.one_in(3).then(|| "main".to_owned()),
                despite_findings: self.dice.one_in(2),
                unproved: self.dice.one_in(3),
                prove_again: self.dice.one_in(4),
            }),
            1 if tasks > 0 => {
                let any = self.dice.below(tasks);
                let at = self.one_that_is(&["conflicted"]).unwrap_or(any);
                self.resolution(at)
            }
            _ => {
                let some = (0..tasks).filter(|_| self.dice.one_in(2));
                Message::Retry(some.map(|at| self.design.tasks[at].id.clone()).collect())
            }
        };
        let events = self.batch.decide(message);
        if self.reopenings_left == 0 || events.is_empty() {
            return false;
        }
        self.reopenings_left -= 1;
        *alive = self.store(events);
        true
    }
}
