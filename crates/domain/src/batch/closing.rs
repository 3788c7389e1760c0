//! Which events follow at the end of a batch or stage: proofs, what they leave out, and landing.
//!
//! Decides and changes nothing; `Batch::apply` does.

use super::decide::of_task;
use super::{
    Batch, BatchStatus, LandingRequest, LandingResult, Proof, ProofSearch, Pushed, Validation,
};
use crate::event::{BatchEvent, Event, Rollback, TaskEvent, UnprovedReason};
use crate::id::TaskId;
use crate::task_state::{Commit, Ending, TaskState, broken_need};

/// A task whose branch does not merge any more: its files, and whom it collides with.
pub type DroppedStrand = (TaskId, Vec<String>, Vec<TaskId>);

impl Batch {
    pub(super) fn judged(&self, event: BatchEvent) -> Vec<Event> {
        match &self.proof {
            Proof::Searching(_) if self.status.after(&event).is_some() => vec![Event::Batch(event)],
            _ => Vec::new(),
        }
    }

    /// A search asks the base for itself.
    pub(super) fn base_judged(&self, event: BatchEvent) -> Vec<Event> {
        let is_searching = matches!(self.proof, Proof::Searching(_));
        if is_searching || self.status != BatchStatus::Running {
            return Vec::new();
        }
        vec![Event::Batch(event)]
    }

    /// What the search left out goes, and the rest is proved.
    pub(super) fn proved(&self, rewoven: BatchEvent, tree: String) -> Vec<Event> {
        let Proof::Searching(searching) = &self.proof else {
            return Vec::new();
        };
        if self.design.settings.validation == Validation::Fail && searching.is_red() {
            let because = "the tests fail on the woven result, and on_invalid is \"fail\"";
            return self.not_proved(UnprovedReason::Red, because.to_owned());
        }
        let proved = BatchEvent::Proved { tree };
        if self.status.after(&proved).is_none() {
            return Vec::new();
        }
        let mut events = self.left_out(searching);
        if !events.is_empty() {
            events.push(Event::Batch(rewoven));
        }
        events.push(Event::Batch(proved));
        events
    }

    fn left_out(&self, searching: &ProofSearch) -> Vec<Event> {
        let mut events = Vec::new();
        let mut gone = Vec::new();
        for (position, because, with) in self.guilty(searching) {
            let id = &self.tasks[position].design.id;
            gone.push((position, "invalid"));
            events.push(of_task(id, TaskEvent::Invalid { because, with }));
        }
        for (place, files, with) in &searching.no_longer_merging {
            let position = searching.strands[*place];
            let id = &self.tasks[position].design.id;
            gone.push((position, "conflicted"));
            events.push(conflicted(id, files, with));
        }
        events.extend(self.blocked_by(&gone));
        events
    }

    /// What needs a task that goes out goes with it.
    fn blocked_by(&self, gone: &[(usize, &str)]) -> Vec<Event> {
        let positions: Vec<usize> = gone.iter().map(|(position, _)| *position).collect();
        let needing = self.needing(&positions);
        needing
            .iter()
            .map(|position| {
                let task = &self.tasks[*position].design;
                let directly = gone.iter().find(|(gone, _)| task.needs.contains(gone));
                let through = task.needs.iter().find(|need| needing.contains(need));
                let (need, outcome) = match (directly, through) {
                    (Some((need, outcome)), _) => (*need, *outcome),
                    (None, through) => (*through.unwrap_or(position), "blocked"),
                };
                let need = &self.tasks[need].design.id;
                let because = broken_need(need, outcome);
                of_task(&task.id, TaskEvent::Blocked { because })
            })
            .collect()
    }

    pub(super) fn not_proved(&self, doubt: UnprovedReason, because: String) -> Vec<Event> {
        self.judged(BatchEvent::NotProved { doubt, because })
    }

    /// Everything is woven onto another base, as far as it merges there.
    pub(super) fn rewoven(&self, rewoven: BatchEvent, fell_out: &[DroppedStrand]) -> Vec<Event> {
        if !self.is_landing() {
            return Vec::new();
        }
        let mut events = Vec::new();
        let mut gone = Vec::new();
        for (task, files, with) in fell_out {
            let position = self.position(task);
            if let Some(position) = position.filter(|at| self.woven.contains(at)) {
                gone.push((position, "conflicted"));
                events.push(conflicted(task, files, with));
            }
        }
        events.extend(self.blocked_by(&gone));
        events.push(Event::Batch(rewoven));
        events
    }

    pub(super) fn in_landing(&self, event: BatchEvent) -> Vec<Event> {
        // What was stopped may have got there all the same.
        let is_stopped = self.status == BatchStatus::Landing
            && matches!(self.landed, Some(LandingResult::NotLanded { .. }))
            && !matches!(event, BatchEvent::NotLanded { .. });
        let wanted = self.is_landing() || is_stopped;
        wanted.then_some(Event::Batch(event)).into_iter().collect()
    }

    /// The batch ends as it would have, and lands when a person wants it to.
    pub(super) fn stop_landing(&self) -> Vec<Event> {
        self.in_landing(BatchEvent::NotLanded {
            because: "landing was cancelled".to_owned(),
            hint: None,
            no_server: false,
        })
    }

    fn is_landing(&self) -> bool {
        self.status == BatchStatus::Landing && self.landed.is_none()
    }

    /// A person wants what is woven landed; nothing, where its branch went with a cancel.
    pub(super) fn land(&self, asked: LandingRequest) -> Vec<Event> {
        if !self.status.is_over() || self.woven.is_empty() || self.rolled_back {
            return Vec::new();
        }
        vec![Event::Batch(BatchEvent::LandingAsked {
            into: asked.into,
            despite_findings: asked.despite_findings,
            unproved: asked.unproved,
            prove_again: asked.prove_again,
        })]
    }

    /// A person's commit takes the place of a branch that did not merge, and what was blocked by it goes on.
    pub(super) fn resolve(&self, task: &TaskId, event: &TaskEvent) -> Vec<Event> {
        let position = self.position(task).filter(|position| {
            let task = &self.tasks[*position];
            // Its branch holds what it needs, so it cannot go in without.
            let mut needs = task.design.needs.iter();
            let has_needs = needs.all(|need| self.tasks[*need].state.is_success());
            has_needs && matches!(task.state, TaskState::Ended(Ending::Conflicted { .. }))
        });
        let Some(position) = position else {
            return Vec::new();
        };
        if self.status.is_stopping() || self.status.is_closing() {
            return Vec::new();
        }
        let mut events = Vec::new();
        if self.status.is_over() {
            events.push(Event::Batch(BatchEvent::Reopened));
        }
        events.push(of_task(task, event.clone()));
        for blocked in self.blocked_behind(&[position]) {
            let id = &self.tasks[blocked].design.id;
            events.push(of_task(id, TaskEvent::Retried));
        }
        events
    }

    pub(super) fn apply_to_landing(&mut self, event: &BatchEvent) {
        match event {
            BatchEvent::Cancelled => {
                let rollback = Rollback::Remove;
                self.rolled_back = self.status == BatchStatus::Cancelling { rollback };
            }
            BatchEvent::Reopened => {
                self.rolled_back = false;
                self.landed = None;
                self.landing_asked = None;
                self.base_moves = 0;
            }
            BatchEvent::LandingAsked { .. } => {
                self.landed = None;
                self.base_moves = 0;
                self.landing_asked = asked_in(event);
            }
            BatchEvent::Landing { into } => self.landing_into.clone_from(into),
            BatchEvent::Pushing { branch, commit, .. } => {
                self.pushing = Some(self.with_what_is_woven(branch, commit));
            }
            BatchEvent::Pushed { branch, commit } => self.note_pushed(branch, commit),
            BatchEvent::Rewoven { apart: true, .. } => {
                self.pushed = None;
                self.pushing = None;
                self.follows = self.pr_url.take();
            }
            BatchEvent::Landed { pr_url, .. } => {
                self.landed = Some(LandingResult::Landed);
                self.landings += 1;
                if pr_url.is_some() {
                    self.pr_url.clone_from(pr_url);
                }
            }
            BatchEvent::NotLanded {
                because,
                hint,
                no_server,
            } => {
                self.landed = Some(LandingResult::NotLanded {
                    because: because.clone(),
                    hint: hint.clone(),
                    no_server: *no_server,
                });
            }
            _ => {}
        }
    }
}

impl Batch {
    fn note_pushed(&mut self, branch: &str, commit: &Commit) {
        let now = self.with_what_is_woven(branch, commit);
        // It may be heard of long after it was pushed, when something else is woven.
        let is_it = |meant: &Pushed| meant.branch == branch && meant.commit == *commit;
        let pushed = self.pushing.take().filter(is_it);
        let pushed = pushed.unwrap_or_else(|| now.clone());
        if pushed == now {
            self.tip = Some(commit.clone());
        }
        self.pushed = Some(pushed);
    }

    /// A branch of the server that has what is woven now.
    fn with_what_is_woven(&self, branch: &str, commit: &Commit) -> Pushed {
        Pushed {
            branch: branch.to_owned(),
            commit: commit.clone(),
            tasks: self.woven.clone(),
            base: self.base.clone(),
        }
    }
}

fn asked_in(event: &BatchEvent) -> Option<LandingRequest> {
    match event {
        BatchEvent::LandingAsked {
            into,
            despite_findings,
            unproved,
            prove_again,
        } => Some(LandingRequest {
            into: into.clone(),
            despite_findings: *despite_findings,
            unproved: *unproved,
            prove_again: *prove_again,
        }),
        _ => None,
    }
}

fn conflicted(task: &TaskId, files: &[String], with: &[TaskId]) -> Event {
    of_task(
        task,
        TaskEvent::Conflicted {
            files: files.to_vec(),
            with: with.to_vec(),
        },
    )
}
