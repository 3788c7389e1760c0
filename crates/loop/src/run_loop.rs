//! The loop that owns a running batch.
//!
//! Asks the core what follows and what to do, stores that, tells it, and has it done; decides nothing itself.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};

use pleach_domain::batch::{Batch, Message, Progress, Spent};
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::history::History;
use pleach_domain::id::TaskId;
use pleach_domain::schedule::{Action, schedule};
use pleach_domain::task_state::Commit;

use super::answers::Answers;
use super::base_check::BaseCheck;
use super::executor::{Executor, LoopHandle};
use super::governing::FIRST_ADVICE;
use super::hiding::without_secrets;
use super::lander::Lander;
use super::marks::Marks;

use pleach_git::git::CommitId;
use pleach_log::database::Database;
use pleach_log::ownership::Reply;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::machine::Machine;
use pleach_system::process::Cancel;
use pleach_system::slots::{SlotGuard, Slots};

use super::proving::Probing;
use super::radar::RadarHandle;
use super::status_file::KeptStatus;
use super::timers::{Timers, chance};
use super::{ControlRequest, LoopInput, LoopNotice, RunError};
use crate::attempt::{Attempt, AttemptContext, Disposal, Finished, Probe};
use pleach_engine::batch_record::BatchRecord;
use pleach_engine::consent::SteeringFiles;

pub(super) struct Loop<'r> {
    pub(super) database: Database,
    pub(super) batch_id: u32,
    pub(super) record: BatchRecord,
    pub(super) context: Arc<AttemptContext>,
    pub(super) executor: Box<dyn Executor>,
    pub(super) batch: Batch,
    pub(super) base: CommitId,
    pub(super) tip: CommitId,
    pub(super) steering: SteeringFiles,
    pub(super) marks: Marks,
    pub(super) kept_status: Option<KeptStatus>,
    pub(super) history: History,
    pub(super) slots: Slots,
    /// Events that are applied and not stored yet; nothing acts on them before they are.
    pub(super) pending: Vec<Event>,
    /// How far the batch is, as it was told last.
    pub(super) progress: Progress,
    pub(super) outbox: Vec<Effect>,
    /// What a cluster brought, by its fences: over once what is pending is stored.
    pub(super) over_units: Vec<String>,
    pub(super) at_work: HashMap<usize, AtWork>,
    pub(super) probes: HashMap<u32, Probing>,
    /// The number of the last of them.
    pub(super) runs: u32,
    /// Whether the tests were asked, or need not be, what they say of the base.
    pub(super) base_check: BaseCheck,
    /// When this process began with the batch.
    pub(super) began: u64,
    pub(super) lander: Lander,
    /// Attempts that wait to hear what becomes of their worktree.
    pub(super) disposals: HashMap<usize, Sender<Disposal>>,
    /// Tasks whose worktree may be on its way out.
    pub(super) clearing: HashSet<usize>,
    pub(super) timers: Timers,
    pub(super) answers: Answers,
    pub(super) watch: RadarHandle,
    /// What attempts on nodes have made so far, with the number of the attempt.
    pub(super) snapshots: HashMap<usize, (u32, PathBuf)>,
    pub(super) waits_for_slots: bool,
    /// Whether somebody else is to go on with the batch.
    pub(super) wants_to_leave: bool,
    /// Whether the pause of the agent was stored, so that it counts as lifted when it is gone.
    pub(super) has_stored_pause: bool,
    pub(super) machine: Machine,
    pub(super) sender: Sender<LoopInput>,
    pub(super) told: &'r mut dyn FnMut(LoopNotice<'_>),
}

/// What is held while an agent is at a task.
pub(super) struct AtWork {
    pub(super) cancel: Cancel,
    pub(super) spent: Spent,
    #[expect(dead_code, reason = "holding it is its use")]
    pub(super) slot: Option<SlotGuard>,
}

/// Something to do after the events that call for it are stored.
pub(super) enum Effect {
    Attend(Box<Attempt>, LoopHandle),
    Judge(Box<Probe>, LoopHandle),
    Dispose(usize, Sender<Disposal>, Disposal),
    /// An agent may not work until then, for this reason.
    PauseAgent(u64, String),
    /// What a person made of a conflict is taken; the places where it came about may go.
    TidyUp(usize),
    Answer(Reply, pleach_log::ownership::Answer),
}

impl Loop<'_> {
    pub(super) fn run_to_the_end(&mut self, inbox: &Receiver<LoopInput>) -> Result<(), RunError> {
        for found in self.context.store.set_aside() {
            (self.told)(LoopNotice::Note(format!("store: {found}")));
        }
        if self.record.auto_slots {
            self.timers.look_at_machine(FIRST_ADVICE);
        }
        self.start_radar();
        loop {
            if !self.is_leaving() {
                self.do_what_can_be_done(inbox)?;
            }
            if self.batch.status.is_over() {
                return Ok(());
            }
            if self.is_leaving() && !self.is_busy() {
                return self.take_leave();
            }
            self.write_marks();
            self.listen(inbox)?;
        }
    }

    /// Sleeps until something is heard, then takes in everything that was said meanwhile.
    fn listen(&mut self, inbox: &Receiver<LoopInput>) -> Result<(), RunError> {
        // The loop holds a sender itself, so the channel never closes.
        let first = match self.timers.next() {
            Some(time) => inbox.recv_timeout(time),
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        self.hear_all(first.into_iter().chain(inbox.try_iter()))
    }

    /// Takes in what was said, and what it is time for; stores what follows.
    pub(super) fn hear_all(
        &mut self,
        all: impl Iterator<Item = LoopInput>,
    ) -> Result<(), RunError> {
        let (mut has_ended, mut has_begun) = (false, false);
        for heard in all {
            has_ended |= matches!(heard, LoopInput::Finished(..));
            has_begun |= matches!(heard, LoopInput::Placed { .. });
            self.hear(heard)?;
        }
        for task in self.timers.over() {
            self.decide(Message::PauseEnded(task));
        }
        self.govern()?;
        if has_ended {
            crash_point(CrashPoint::EndingHeard);
        }
        self.flush()?;
        if has_begun {
            crash_point(CrashPoint::PlaceStored);
        }
        if has_ended {
            crash_point(CrashPoint::EndingStored);
        }
        Ok(())
    }

    pub(super) fn hear(&mut self, heard: LoopInput) -> Result<(), RunError> {
        match heard {
            LoopInput::Control(asked) => self.obey(asked),
            LoopInput::LandingOnlyAsks => self.lander.only_asks(),
            LoopInput::Judged(ended) => self.take_in_judged(*ended)?,
            LoopInput::PushStep { event, stored } => self.take_in_push_step(event, &stored)?,
            LoopInput::LandingEnded(ended) => self.take_in_landing(*ended)?,
            LoopInput::Noted(note) => (self.told)(LoopNotice::Note(note)),
            LoopInput::Said {
                task,
                attempt,
                said,
            } => self.take_in_said(&task, attempt, said),
            LoopInput::Foreseen(pairs) => self.take_in_foreseen(pairs),
            LoopInput::RadarAsks(reply) => self.answer_radar(&reply),
            LoopInput::Launched(launched) => self.note_process(*launched)?,
            LoopInput::Finished(finished, disposal) => self.take_in_finished(*finished, disposal),
            LoopInput::Sending(units, go) => self.note_units(&units, &go)?,
            LoopInput::Placed {
                task,
                attempt,
                node,
            } => {
                self.decide(Message::Placed {
                    task,
                    attempt,
                    node,
                });
                self.check_base()?;
            }
            LoopInput::Snapshot {
                task,
                attempt,
                bundle,
            } => {
                if let Some(position) = self.batch.position(&task) {
                    self.snapshots.insert(position, (attempt, bundle));
                }
            }
            LoopInput::Cleared { task, notes } => {
                self.tell_notes(&task, notes);
                if let Some(position) = self.batch.position(&task) {
                    self.clearing.remove(&position);
                }
            }
        }
        Ok(())
    }

    /// Does what somebody outside asks.
    fn obey(&mut self, asked: ControlRequest) {
        match asked {
            ControlRequest::Asked(request, reply) => self.answer(request, reply),
            ControlRequest::Noted(note) => (self.told)(LoopNotice::Note(note)),
            ControlRequest::Cancel(rollback) => {
                self.decide(Message::Cancel(rollback));
            }
            ControlRequest::StopAtOnce => {
                for at_work in self.at_work.values() {
                    at_work.cancel.cancel_at_once();
                }
                self.stop_proving_at_once();
                self.lander.stop();
            }
            ControlRequest::Leave => self.leave(),
        }
    }

    fn take_in_finished(&mut self, finished: Finished, disposal: Sender<Disposal>) {
        self.tell_notes(&finished.task, finished.notes);
        self.over_units.extend(finished.fence);
        // One that was given up may end after the next one began, which has its own slot and worktree.
        let is_it = |at: &usize| self.batch.tasks[*at].state.attempt() == Some(finished.attempt);
        let Some(position) = self.batch.position(&finished.task).filter(is_it) else {
            return;
        };
        self.at_work.remove(&position);
        self.watch.hurry();
        self.disposals.insert(position, disposal);
        if let Some(session) = finished.session {
            self.decide(Message::SessionBegan(finished.task.clone(), session));
        }
        self.decide(Message::AttemptEnded {
            task: finished.task,
            attempt: finished.attempt,
            ending: finished.ending,
            kept: finished.kept.map(|commit| Commit(commit.to_string())),
            spent: finished.spent,
            chance: chance(),
        });
    }

    pub(super) fn tell_notes(&mut self, task: &TaskId, notes: Vec<String>) {
        for note in notes {
            (self.told)(LoopNotice::Note(format!("task {task}: {note}")));
        }
    }

    /// Takes in what follows from a message; tells whether anything does.
    pub(super) fn decide(&mut self, message: Message) -> bool {
        let is_cancel = matches!(message, Message::Cancel(_));
        let mut events = self.batch.decide(message);
        if is_cancel {
            self.stop_landing(&mut events);
        }
        let follows = !events.is_empty();
        for event in events {
            self.take_in(event);
        }
        follows
    }

    /// Applies an event; the core made it for this very state.
    pub(super) fn take_in(&mut self, event: Event) {
        let event = without_secrets(event, &self.context.hider);
        self.batch
            .apply(&event)
            .expect("the core decided it for this state");
        match &event {
            Event::Task { task, event } => self.follow_up(task, event),
            Event::Batch(BatchEvent::Proved { .. }) => {
                for task in self.batch.woven.clone() {
                    self.settle_task(task);
                }
            }
            Event::Batch(_) => {}
        }
        self.pending.push(event);
    }

    /// What an event means for marks, pauses and worktrees.
    fn follow_up(&mut self, task: &TaskId, event: &TaskEvent) {
        let Some(position) = self.batch.position(task) else {
            return;
        };
        match event {
            TaskEvent::Started { .. } => {
                let begun = self.record.tasks[position].begun();
                self.marks.set(begun);
            }
            TaskEvent::AttemptFailed { pause, .. } | TaskEvent::Overloaded { pause, .. } => {
                self.timers.pause(task, *pause);
            }
            TaskEvent::Limited { pause, error } => {
                self.wait_for_agent(task, *pause);
                // Over by the time that the task has rested.
                let until = pleach_log::database::now()
                    .saturating_add(*pause)
                    .saturating_sub(5);
                self.outbox.push(Effect::PauseAgent(until, error.clone()));
            }
            TaskEvent::Resolved { .. } => self.outbox.push(Effect::TidyUp(position)),
            _ => {}
        }
        self.settle_task(position);
    }

    /// Stores and tells what was applied, then does what it calls for.
    pub(super) fn flush(&mut self) -> Result<(), RunError> {
        if !self.pending.is_empty() {
            self.tell_progress();
            let events = std::mem::take(&mut self.pending);
            let stored = self.store_patiently(&events)?;
            for event in &stored {
                self.history.take_in(&event.event, event.at);
                (self.told)(LoopNotice::Event(event));
            }
        }
        for effect in std::mem::take(&mut self.outbox) {
            self.carry_out(effect);
        }
        self.end_units()?;
        self.answer_what_is_done();
        Ok(())
    }

    /// Stored with what changed it, so that whoever goes on knows it was told.
    fn tell_progress(&mut self) {
        let progress = self.batch.progress();
        if std::mem::replace(&mut self.progress, progress) != progress {
            self.pending.push(Event::Batch(progress.event()));
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Answer(reply, answer) => reply.send(answer),
            Effect::TidyUp(position) => self.tidy_up(position),
            Effect::PauseAgent(until, because) => {
                self.note_pause(until, &because);
                self.executor.take_back();
            }
            Effect::Dispose(position, line, disposal) => {
                if line.send(disposal).is_err() {
                    // An attempt that broke off says no more.
                    self.clearing.remove(&position);
                }
            }
            Effect::Judge(probe, handle) => self.executor.judge(probe, handle),
            Effect::Attend(attempt, handle) => self.executor.attend(attempt, handle),
        }
    }

    pub(super) fn do_what_can_be_done(
        &mut self,
        inbox: &Receiver<LoopInput>,
    ) -> Result<(), RunError> {
        loop {
            let mut moved = false;
            for action in schedule(&self.batch) {
                let to_start = match action {
                    Action::Start(task) => Some(task),
                    _ => None,
                };
                let acted = self.act(action, inbox)?;
                moved |= acted;
                // One that cannot start after all may close the phase that others were to start in.
                let is_at_work = |task: usize| self.batch.tasks[task].state.attempt().is_some();
                if acted && to_start.is_some_and(|task| !is_at_work(task)) {
                    break;
                }
            }
            self.flush()?;
            if !moved {
                self.stop_unwanted();
                return Ok(());
            }
        }
    }

    /// Does one thing; tells whether the state moved.
    fn act(&mut self, action: Action, inbox: &Receiver<LoopInput>) -> Result<bool, RunError> {
        Ok(match action {
            Action::Block { task, because } => {
                self.decide(Message::CannotStart(self.id(task), because))
            }
            Action::Cancel(task) => self.decide(Message::CancelTask(self.id(task))),
            Action::GiveUp(because) => self.decide(Message::GiveUp(because)),
            Action::Weave(task) => self.weave(task)?,
            Action::Prove => self.prove()?,
            Action::StopProving => {
                self.stop_proving();
                false
            }
            Action::Land => self.land()?,
            Action::Start(task) => self.start(task)?,
            Action::Ask(task) => {
                let task = self.id(task);
                self.take_in(Event::Task {
                    task,
                    event: TaskEvent::Waiting { consent: None },
                });
                true
            }
            Action::Note(event) => {
                let all_over = event == BatchEvent::Merging;
                self.take_in(Event::Batch(self.with_its_branch(event)));
                if all_over {
                    self.flush()?;
                    crash_point(CrashPoint::AllOver);
                }
                true
            }
            Action::Finish(event) => {
                self.finish(event, inbox)?;
                true
            }
            Action::Stop(task) => {
                if let Some(at_work) = self.at_work.get(&task) {
                    at_work.cancel.cancel();
                }
                false
            }
        })
    }

    pub(super) fn id(&self, task: usize) -> TaskId {
        self.batch.tasks[task].design.id.clone()
    }
}
