//! A batch before and after its loop: what is asked for, what is prepared, what is taken up, what became of it.
//!
//! The loop itself is `pleach-loop`, and whoever runs a batch is handed it as `RunBatch`.

mod cluster;
mod consenting;
mod controls;
mod earlier;
mod in_place;
mod interrupted;
mod paths;
mod prepared;
mod previous_batch;
mod rehearsal;
mod request;
mod summary;
mod take_over;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

use pleach_domain::batch::{Batch, Design, Message};
use pleach_domain::choice::Where;
use pleach_domain::id::{BatchNumber, TaskId};

pub(crate) use cluster::usual_settings as usual_cluster_settings;
pub use cluster::{NoCluster, PlannedSubmission, places};
pub use controls::{ControlRequest, Controls, LoopNotice, Progress};
pub use earlier::EarlierBatches;
pub use in_place::{FolderLock, InPlaceError, where_tasks_work};
pub use interrupted::interrupted;
pub use pleach_log::batch_paths::WorkPlace;
pub use pleach_log::earlier::BuildsOn;
pub use prepared::{BatchToRun, OpenedBatch};
pub use rehearsal::{Rehearsal, rehearse};
pub use request::{Fetch, Proofs, RunRequest, prepare};
pub use summary::{Summary, TaskReport, TickedTask};
pub use take_over::PATIENCE;

use pleach_git::git::{CommitId, GitError, Store, StoreError};
use pleach_git::weave::WeaveError;
use pleach_git::worktree::WorktreeError;
use pleach_log::batch_paths::project_name;
use pleach_log::database::{Database, DatabaseError, LoadedBatch, Provenance, StoredEvent};
use pleach_log::ownership::{BatchLock, OwnershipError};
use pleach_log::view::Narrator;
use pleach_system::process::ProcessError;
use pleach_system::sandbox::NoSandbox;
use pleach_system::secrets::Secrets;
use pleach_system::state_folder::{StateFolder, StateFolderError};

use crate::batch_record::BatchRecord;
use crate::consent::{Steering, SteeringFiles};
use crate::project_secrets::secrets_of;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Store(Box<StoreError>),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Weave(Box<WeaveError>),
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
    #[error(transparent)]
    Cluster(#[from] NoCluster),
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

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}

impl From<WeaveError> for RunError {
    fn from(error: WeaveError) -> Self {
        Self::Weave(Box::new(error))
    }
}

impl From<WorktreeError> for RunError {
    fn from(error: WorktreeError) -> Self {
        Self::Worktree(Box::new(error))
    }
}

impl RunError {
    pub fn io(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

/// Runs a batch that is ready to its end, or until it is left.
pub type RunBatch = fn(Prepared, &mut dyn FnMut(LoopNotice<'_>)) -> Result<Summary, RunError>;

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
    asked: Receiver<ControlRequest>,
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
    let (ask, asked) = channel();
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
        controls: Controls { ask },
        asked,
    }))
}

/// What a stored batch is, by its events.
pub fn replay(
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

    /// Where its attempts and tests run.
    pub fn runs_on(&self) -> Where {
        self.record.runs_on()
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
}
