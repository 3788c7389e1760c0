//! Runs a batch: one loop owns it, agents work in their own worktrees, branches are woven as they finish.
//!
//! The loop hears messages, asks the core which events follow, stores and tells them, then acts. Whatever dies
//! with its process is in the database and in git, and another process goes on from there.

mod after_task;
mod answers;
mod attempt;
mod base_check;
mod continuing;
mod dispatcher;
mod executor;
mod finish;
mod governing;
mod ground;
mod handover;
mod hiding;
mod in_place;
mod land_locally;
mod lander;
pub mod landing;
mod loop_input;
mod marks;
mod node_runner;
mod node_visit;
mod patience;
mod proving;
mod radar;
mod recovery;
mod resolution;
mod run_loop;
mod spool;
mod starting;
mod status_file;
mod timers;
mod unit_secrets;
mod units;
mod weaver;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use pleach_domain::batch::{BatchStatus, Message};
use pleach_domain::event::{BatchEvent, Event};
use pleach_domain::history::History;
use pleach_engine::batch_record::BatchRecord;
use pleach_engine::run::{
    BatchToRun, ControlRequest, LoopNotice, Prepared, Progress, RunError, Summary, TaskReport,
    TickedTask, replay,
};
use pleach_git::git::CommitId;
use pleach_git::worktree::Included;
use pleach_log::batch_paths::{last_probe_log, project_name};
use pleach_log::database::StoredEvent;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::machine::Machine;
use pleach_system::slots::Slots;

pub use base_check::BASE_CHECK;
pub use node_runner::node_run;
pub use node_visit::examine_node;

use self::attempt::{AttemptContext, Spares};
use self::dispatcher::{ClusterExecutor, ClusterPlace, PlaceInput};
use self::executor::{Executor, LocalExecutor};
use self::loop_input::LoopInput;
use self::marks::Marks;
use self::run_loop::Loop;
use self::status_file::KeptStatus;
use pleach_engine::cluster::{self, cluster_of};

/// Runs a batch to its end, or until it is left.
pub fn run_batch(
    mut prepared: Prepared,
    told: &mut dyn FnMut(LoopNotice<'_>),
) -> Result<Summary, RunError> {
    let hider = prepared.hider();
    let told: &mut dyn FnMut(LoopNotice<'_>) = &mut |what| told(what.hidden(&hider));
    for note in prepared.take_notes() {
        told(LoopNotice::Note(note));
    }
    let opened = prepared.open()?;
    for created in opened.batch.events.iter().filter(|_| opened.is_new) {
        told(LoopNotice::Event(created));
    }
    let id = opened.batch.id;
    let door = opened.controls.open_door(&opened.lock)?;
    let (sender, inbox) = channel();
    pass_on(opened.asked, sender.clone())?;
    let mut run = Loop::new(opened.batch, sender, told)?;
    run.tell_what_is_not_kept();
    let ran = run.run(opened.first, &inbox, || {
        if let Some(begun) = opened.begun {
            // Whoever does not listen any more has no use for it.
            let _ = begun.send(id);
        }
    });
    // Whoever still waits to be heard is told that nobody listens.
    drop(inbox);
    ran?;
    let summary = run.summary();
    drop(door);
    drop(opened.lock);
    drop(opened.folder);
    Ok(summary)
}

/// Has the loop hear what is asked from outside, until nobody is left who could ask.
fn pass_on(asked: Receiver<ControlRequest>, inbox: Sender<LoopInput>) -> Result<(), RunError> {
    let thread = std::thread::Builder::new().name("controls".to_owned());
    let pass_on = move || {
        let mut asked = asked.into_iter();
        // A loop that is over hears nothing, and its askers find the door shut.
        while asked
            .next()
            .is_some_and(|request| inbox.send(LoopInput::Control(request)).is_ok())
        {}
    };
    thread
        .spawn(pass_on)
        .map_err(RunError::io("listen to who controls the batch"))?;
    Ok(())
}

impl<'r> Loop<'r> {
    /// A loop that goes on where the events of its batch end.
    fn new(
        ready: BatchToRun,
        sender: Sender<LoopInput>,
        told: &'r mut dyn FnMut(LoopNotice<'_>),
    ) -> Result<Self, RunError> {
        let batch = replay(ready.number, &ready.record, &ready.events)?;
        let moved = batch.base.as_ref().and_then(|base| base.0.parse().ok());
        let base: CommitId = moved.unwrap_or_else(|| ready.base.clone());
        let folder = ready.state.batch(ready.id);
        let slots = Slots::new(&ready.state, ready.record.parallel_limit)?;
        let marks = Marks::new(&ready.record, &ready.state, &ready.store);
        let context = Arc::new(AttemptContext {
            included: Included::list(&ready.store, &base)?,
            agent: ready.record.attempts.agent.agent(&ready.program),
            folder: folder.clone(),
            trees: trees_of(&ready),
            node: None,
            shared_folder: { ready.record.is_in_place() }.then(|| ready.record.folder.clone()),
            number: ready.number,
            settings: ready.record.attempts.clone(),
            spares: Spares::new(ready.record.slots()),
            hider: ready.secrets.hider(),
            secrets: ready.secrets,
            wrapper: wrapper(ready.program.clone()),
            program: ready.program,
            state: ready.state,
            store: ready.store,
        });
        Ok(Loop {
            slots,
            marks,
            kept_status: KeptStatus::of(&ready.record),
            history: history_of(&ready.record, &ready.events),
            executor: executor_of(&ready.record, &context)?,
            context,
            batch_id: ready.id,
            record: ready.record,
            database: ready.database,
            tip: base.clone(),
            base,
            runs: last_probe_log(&folder).unwrap_or(0).max(batch.last_log()),
            base_check: base_check::BaseCheck::Due,
            began: pleach_log::database::now(),
            progress: batch.progress(),
            batch,
            steering: ready.steering,
            pending: Vec::new(),
            outbox: Vec::new(),
            over_units: Vec::new(),
            at_work: HashMap::new(),
            probes: HashMap::new(),
            lander: lander::Lander::default(),
            disposals: HashMap::new(),
            clearing: HashSet::new(),
            timers: timers::Timers::default(),
            answers: answers::Answers::default(),
            watch: radar::RadarHandle::default(),
            snapshots: HashMap::new(),
            waits_for_slots: false,
            wants_to_leave: false,
            has_stored_pause: true,
            machine: Machine::default(),
            sender,
            told,
        })
    }

    /// Begins, or goes on, and says so once what is to be said to it first is done; to the end.
    fn run(
        &mut self,
        first: Option<Message>,
        inbox: &Receiver<LoopInput>,
        begun: impl FnOnce(),
    ) -> Result<(), RunError> {
        match &self.batch.status {
            BatchStatus::Pending => self.begin(),
            status if status.is_over() => self.continue_ended_batch(),
            _ => self.take_up(),
        }?;
        if let Some(message) = first {
            self.decide(message);
            self.flush()?;
        }
        begun();
        self.run_to_the_end(inbox)
    }

    fn begin(&mut self) -> Result<(), RunError> {
        self.take_in(Event::Batch(BatchEvent::Started));
        self.flush()?;
        crash_point(CrashPoint::BatchStarted);
        Ok(())
    }
}

fn executor_of(
    record: &BatchRecord,
    context: &Arc<AttemptContext>,
) -> Result<Box<dyn Executor>, RunError> {
    let Some(settings) = &record.cluster else {
        return Ok(Box::new(LocalExecutor(Arc::clone(context))));
    };
    let input = PlaceInput {
        state: &context.state,
        store: &context.store,
        program: &context.wrapper,
        radar: record.radar,
        min_free_disk: record.min_free_disk,
    };
    let place = ClusterPlace::prepare(settings, &input)?;
    let cluster = cluster_of(&settings.slurm, &place.home);
    let sizes = record.unit_sizes();
    let started = ClusterExecutor::start(cluster, (place, sizes), Arc::clone(context));
    Ok(Box::new(
        started.map_err(RunError::io("start the dispatcher"))?,
    ))
}

/// Where the worktrees of the batch are.
fn trees_of(ready: &BatchToRun) -> PathBuf {
    let root = ready.record.worktrees.as_ref().map(|root| root.0.as_path());
    let project = project_name(&ready.store);
    ready.state.worktrees(root, &project, ready.number)
}

fn history_of(record: &BatchRecord, events: &[StoredEvent]) -> History {
    let mut history = History::new(&record.design, record.runs_on());
    for stored in events {
        history.take_in(&stored.event, stored.at);
    }
    history
}

/// The program that wraps agents: this very one, even if its file is replaced by a newer one while a batch runs.
fn wrapper(program: PathBuf) -> PathBuf {
    let is_own = std::env::current_exe().is_ok_and(|own| own == program);
    if is_own {
        PathBuf::from("/proc/self/exe")
    } else {
        program
    }
}

#[cfg(test)]
mod tests;
