//! Runs a batch: one loop owns it, agents work in their own worktrees, branches are woven as they finish.
//!
//! The loop hears messages, asks the core which events follow, stores and tells them, then acts. Whatever dies
//! with its process is in the database and in git, and another process goes on from there.

mod after_task;
mod answers;
mod base_check;
mod consenting;
mod continuing;
mod earlier;
mod executor;
mod finish;
mod governing;
mod ground;
mod handover;
mod hiding;
mod in_place;
mod interrupted;
mod land_locally;
mod lander;
mod loop_messages;
mod marks;
mod paths;
mod patience;
mod prepared;
mod previous_batch;
mod proving;
mod radar;
mod recovery;
mod rehearsal;
mod request;
mod resolution;
mod run_loop;
mod status_file;
mod summary;
mod take_over;
mod timers;
mod weaver;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use pleach_domain::batch::{Batch, BatchStatus, Design, Message};
use pleach_domain::event::{BatchEvent, Event};
use pleach_domain::id::{BatchNumber, TaskId};

pub use crate::attempt::{last_probe_log, probe_folder};
pub use base_check::BASE_CHECK;
pub use earlier::EarlierBatches;
pub use in_place::{InPlaceError, where_tasks_work};
pub use interrupted::interrupted;
pub use loop_messages::{Controls, LoopNotice, Progress};
pub use pleach_log::batch_paths::WorkPlace;
pub use pleach_log::earlier::BuildsOn;

pub use rehearsal::{Rehearsal, rehearse};
pub use request::{Fetch, Proofs, RunRequest, prepare};
pub use summary::{Summary, TaskReport, TickedTask};

use pleach_git::git::{CommitId, GitError, Store, StoreError};
use pleach_git::weave::WeaveError;
use pleach_git::worktree::{Included, WorktreeError};
use pleach_log::batch_paths::project_name;
use pleach_log::database::{Database, DatabaseError, LoadedBatch, Provenance, StoredEvent};
use pleach_log::ownership::{BatchLock, OwnershipError};
use pleach_log::view::Narrator;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::machine::Machine;
use pleach_system::process::ProcessError;
use pleach_system::sandbox::NoSandbox;
use pleach_system::secrets::Secrets;
use pleach_system::slots::Slots;
use pleach_system::state_folder::{StateFolder, StateFolderError};

use self::executor::LocalExecutor;
use self::loop_messages::LoopInput;
use self::marks::Marks;
use self::run_loop::Loop;
use self::status_file::KeptStatus;
use crate::attempt::{AttemptContext, Spares};
use crate::batch_record::BatchRecord;
use crate::consent::{Steering, SteeringFiles};
use crate::project_secrets::secrets_of;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Weave(#[from] WeaveError),
    #[error(transparent)]
    Worktree(Box<WorktreeError>),
    #[error(transparent)]
    State(#[from] StateFolderError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Ownership(#[from] OwnershipError),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Sandbox(#[from] NoSandbox),
    #[error(transparent)]
    InPlace(#[from] InPlaceError),
    #[error("batch {0} not found")]
    NoBatch(u32),
    #[error("no batch of this project has a branch")]
    NoLastBatch,
    #[error("batch {0} is already finished")]
    Over(BatchNumber),
    #[error("could not read the record of batch {batch}: {message}")]
    Unreadable { batch: BatchNumber, message: String },
    #[error("could not {doing}")]
    Io {
        doing: &'static str,
        source: std::io::Error,
    },
}

impl RunError {
    fn io(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

/// A batch that is ready to run: everything was looked at, nothing was changed.
#[derive(Debug)]
pub struct Prepared {
    database: Database,
    state: StateFolder,
    store: Store,
    base: CommitId,
    steering: SteeringFiles,
    /// What needs consent; nothing for a batch that has begun.
    consent: Option<Steering>,
    secrets: Secrets,
    record: BatchRecord,
    program: PathBuf,
    /// What people should know of it before it runs, unless somebody has told them.
    notes: Vec<String>,
    opening: Opening,
    provenance: Provenance,
    /// Hears the id of the batch once it has begun, with what was said to it first.
    begun: Option<Sender<u32>>,
    /// The hold on the folder that its tasks work in, if that is the user's.
    folder_lock: Option<in_place::FolderLock>,
    controls: Controls,
    inbox: Receiver<LoopInput>,
}

#[derive(Debug)]
enum Opening {
    Fresh,
    /// It ran before, and this is to be said to it first.
    TakenUp {
        id: u32,
        number: BatchNumber,
        lock: BatchLock,
        events: Vec<StoredEvent>,
        first: Option<Message>,
    },
}

/// Takes up a batch that nobody runs, and says something to it first; `None` if somebody does run it.
pub fn take_up(
    state: &StateFolder,
    id: u32,
    program: &Path,
    first: Option<Message>,
) -> Result<Option<Prepared>, RunError> {
    let database = Database::open(state)?;
    // Before it is read: nobody changes it then.
    if database.load(id)?.is_none() {
        return Err(RunError::NoBatch(id));
    }
    let Some(lock) = BatchLock::take(&state.batch(id))? else {
        return Ok(None);
    };
    let loaded = database.load(id)?.ok_or(RunError::NoBatch(id))?;
    let LoadedBatch {
        number,
        record,
        events,
        ..
    } = loaded;
    let unreadable = |message: String| RunError::Unreadable {
        batch: number,
        message,
    };
    let record: BatchRecord =
        serde_json::from_str(&record).map_err(|error| unreadable(error.to_string()))?;
    if first.is_none() && replay(number, &record, &events)?.status.is_over() {
        return Err(RunError::Over(number));
    }
    let (store, folder_lock) = request::reopen(state, &record)?;
    let base: CommitId = record
        .base
        .parse()
        .map_err(|_| unreadable("its base is not a commit".to_owned()))?;
    let steering = SteeringFiles::at(&store, &base)?;
    let secrets = secrets_of(&store, &base, &record.attempts.passed_on());
    let (inbox_sender, inbox) = channel();
    Ok(Some(Prepared {
        database,
        state: state.clone(),
        store,
        base,
        steering,
        consent: None,
        secrets,
        record,
        program: program.to_owned(),
        notes: Vec::new(),
        opening: Opening::TakenUp {
            id,
            number,
            lock,
            events,
            first,
        },
        provenance: Provenance::default(),
        begun: None,
        folder_lock,
        controls: Controls {
            inbox: inbox_sender,
        },
        inbox,
    }))
}

fn replay(
    number: BatchNumber,
    record: &BatchRecord,
    events: &[StoredEvent],
) -> Result<Batch, RunError> {
    let mut batch = Batch::new(record.design.clone());
    for stored in events {
        batch
            .apply(&stored.event)
            .map_err(|error| RunError::Unreadable {
                batch: number,
                message: error.to_string(),
            })?;
    }
    Ok(batch)
}

impl Prepared {
    pub fn base(&self) -> &CommitId {
        &self.base
    }

    /// The same, if it is a commit of the user's own repository.
    pub fn base_in_repository(&self) -> Option<&CommitId> {
        (!self.record.is_in_place()).then_some(&self.base)
    }

    pub fn steering(&self) -> &SteeringFiles {
        &self.steering
    }

    pub fn design(&self) -> &Design {
        &self.record.design
    }

    pub fn narrator(&self) -> Narrator {
        let (id, number, events) = match &self.opening {
            Opening::Fresh => (0, BatchNumber(0), Vec::new()),
            Opening::TakenUp {
                id, number, events, ..
            } => (*id, *number, events.clone()),
        };
        let loaded = LoadedBatch {
            id,
            number,
            project: project_name(&self.store),
            repository: self.record.folder.clone(),
            plan: self.record.plan.key(),
            record: serde_json::to_string(&self.record).expect("a record is plain data"),
            created_at: 0,
            events,
        };
        Narrator::before(&loaded, u64::MAX).expect("a record is read as it is written")
    }

    pub fn titles(&self) -> HashMap<TaskId, String> {
        let tasks = self.record.tasks.iter();
        tasks
            .map(|task| (task.id.clone(), task.title.clone()))
            .collect()
    }

    #[must_use]
    pub fn made_for(mut self, provenance: Provenance) -> Self {
        self.provenance = provenance;
        self
    }

    /// The id of the batch, told when it has begun and what was said to it first is stored.
    pub(crate) fn begun(&mut self) -> Receiver<u32> {
        let (say, begun) = channel();
        self.begun = Some(say);
        begun
    }

    pub fn controls(&self) -> Controls {
        self.controls.clone()
    }

    /// Runs the batch to its end, or until it is left.
    pub fn run(mut self, told: &mut dyn FnMut(LoopNotice<'_>)) -> Result<Summary, RunError> {
        let hider = self.secrets.hider();
        let told: &mut dyn FnMut(LoopNotice<'_>) = &mut |what| told(what.hidden(&hider));
        for note in self.take_notes() {
            told(LoopNotice::Note(note));
        }
        // Held to the end.
        let _folder = self.folder_lock.take();
        let opening = std::mem::replace(&mut self.opening, Opening::Fresh);
        let (batch, lock, events, first) = match opening {
            Opening::TakenUp {
                id,
                number,
                lock,
                events,
                first,
            } => ((id, number), lock, events, first),
            Opening::Fresh => {
                let (created, lock) = request::create(
                    &self.state,
                    &mut self.database,
                    &self.store,
                    &self.record,
                    &self.provenance,
                )?;
                told(LoopNotice::Event(&created));
                let batch = (created.batch, created.number);
                (batch, lock, vec![created], None)
            }
        };
        let begun = self.begun.take();
        let door = self.controls.open_door(&lock)?;
        let (mut run, inbox) = self.into_loop(batch, &events, told)?;
        run.tell_what_is_not_kept();
        match &run.batch.status {
            BatchStatus::Pending => run.begin(),
            status if status.is_over() => run.continue_ended_batch(),
            _ => run.take_up(),
        }?;
        if let Some(message) = first {
            run.decide(message);
            run.flush()?;
        }
        if let Some(begun) = begun {
            // Whoever does not listen any more has no use for it.
            let _ = begun.send(batch.0);
        }
        run.run_to_the_end(&inbox)?;
        let summary = run.summary();
        drop(door);
        drop(lock);
        Ok(summary)
    }

    fn into_loop<'r>(
        self,
        (id, number): (u32, BatchNumber),
        events: &[StoredEvent],
        told: &'r mut dyn FnMut(LoopNotice<'_>),
    ) -> Result<(Loop<'r>, Receiver<LoopInput>), RunError> {
        let batch = replay(number, &self.record, events)?;
        let (trees, history) = (self.trees(number), self.history(events));
        let moved = batch.base.as_ref().and_then(|base| base.0.parse().ok());
        let base: CommitId = moved.unwrap_or(self.base);
        let folder = self.state.batch(id);
        let slots = Slots::new(&self.state, self.record.parallel_limit)?;
        let marks = Marks::new(&self.record, &self.state, &self.store);
        let included = Included::list(&self.store, &base);
        let context = Arc::new(AttemptContext {
            included: included.map_err(Box::new).map_err(RunError::Worktree)?,
            agent: self.record.attempts.agent.agent(&self.program),
            folder: folder.clone(),
            trees,
            shared_folder: { self.record.is_in_place() }.then(|| self.record.folder.clone()),
            number,
            settings: self.record.attempts.clone(),
            spares: Spares::new(self.record.slots()),
            hider: self.secrets.hider(),
            secrets: self.secrets,
            wrapper: wrapper(self.program.clone()),
            program: self.program,
            state: self.state,
            store: self.store,
        });
        let run = Loop {
            slots,
            marks,
            kept_status: KeptStatus::of(&self.record),
            executor: Box::new(LocalExecutor(Arc::clone(&context))),
            context,
            batch_id: id,
            record: self.record,
            database: self.database,
            tip: base.clone(),
            base,
            runs: last_probe_log(&folder).unwrap_or(0).max(batch.last_log()),
            base_check: base_check::BaseCheck::Due,
            began: pleach_log::database::now(),
            progress: batch.progress(),
            batch,
            steering: self.steering,
            history,
            pending: Vec::new(),
            outbox: Vec::new(),
            at_work: HashMap::new(),
            probes: HashMap::new(),
            lander: lander::Lander::default(),
            disposals: HashMap::new(),
            clearing: HashSet::new(),
            timers: timers::Timers::default(),
            answers: answers::Answers::default(),
            watch: radar::RadarHandle::default(),
            waits_for_slots: false,
            wants_to_leave: false,
            has_stored_pause: true,
            machine: Machine::default(),
            sender: self.controls.inbox,
            told,
        };
        Ok((run, self.inbox))
    }
}

impl Loop<'_> {
    fn begin(&mut self) -> Result<(), RunError> {
        self.take_in(Event::Batch(BatchEvent::Started));
        self.flush()?;
        crash_point(CrashPoint::BatchStarted);
        Ok(())
    }
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
