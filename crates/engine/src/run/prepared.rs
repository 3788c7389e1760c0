//! What is known of a batch before it runs here, for whoever shows it, and what its loop gets of it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use pleach_domain::batch::Message;
use pleach_domain::id::BatchNumber;
use pleach_domain::id::TaskId;
use pleach_git::git::{CommitId, Store, Unpushed};
use pleach_log::batch_paths::project_name;
use pleach_log::database::{Database, StoredEvent};
use pleach_log::earlier::BuildsOn;
use pleach_log::ownership::BatchLock;
use pleach_system::secrets::{Hider, Secrets};
use pleach_system::state_folder::StateFolder;

use super::in_place::FolderLock;
use super::{ControlRequest, Controls, Opening, Prepared, RunError, cluster, request};
use crate::batch_record::BatchRecord;
use crate::consent::SteeringFiles;
use crate::plan_to_run::by_id_in_batch;

/// A stored batch that this process alone may go on with, for as long as this is held.
#[derive(Debug)]
pub struct OpenedBatch {
    pub lock: BatchLock,
    /// The hold on the folder that its tasks work in, if that is the user's.
    pub folder: Option<FolderLock>,
    pub is_new: bool,
    /// What is to be said to it first.
    pub first: Option<Message>,
    /// Hears its id once it has begun and that is done.
    pub begun: Option<Sender<u32>>,
    pub controls: Controls,
    pub asked: Receiver<ControlRequest>,
    pub batch: BatchToRun,
}

/// What a loop needs to know of its batch.
#[derive(Debug)]
pub struct BatchToRun {
    pub id: u32,
    pub number: BatchNumber,
    /// What has happened to it, in order.
    pub events: Vec<StoredEvent>,
    pub database: Database,
    pub state: StateFolder,
    pub store: Store,
    pub base: CommitId,
    pub steering: SteeringFiles,
    pub secrets: Secrets,
    pub record: BatchRecord,
    pub program: PathBuf,
}

impl Prepared {
    /// Stores the batch if it is new; its cluster, if it has one, is asked before that.
    pub fn open(mut self) -> Result<OpenedBatch, RunError> {
        let is_new = matches!(self.opening, Opening::Fresh);
        if is_new {
            cluster::survey(&self.record)?;
        }
        let (id, number, lock, events, first) = match self.opening {
            Opening::TakenUp {
                id,
                number,
                lock,
                events,
                first,
            } => (id, number, lock, events, first),
            Opening::Fresh => {
                let (created, lock) = request::create(
                    &self.state,
                    &mut self.database,
                    &self.store,
                    &self.record,
                    &self.provenance,
                )?;
                (created.batch, created.number, lock, vec![created], None)
            }
        };
        Ok(OpenedBatch {
            lock,
            folder: self.folder_lock,
            is_new,
            first,
            begun: self.begun,
            controls: self.controls,
            asked: self.asked,
            batch: BatchToRun {
                id,
                number,
                events,
                database: self.database,
                state: self.state,
                store: self.store,
                base: self.base,
                steering: self.steering,
                secrets: self.secrets,
                record: self.record,
                program: self.program,
            },
        })
    }

    pub fn hider(&self) -> Hider {
        self.secrets.hider()
    }

    pub fn id(&self) -> Option<u32> {
        match &self.opening {
            Opening::Fresh => None,
            Opening::TakenUp { id, .. } => Some(*id),
        }
    }

    /// What happened to it before, in order.
    pub fn events(&self) -> &[StoredEvent] {
        match &self.opening {
            Opening::Fresh => &[],
            Opening::TakenUp { events, .. } => events,
        }
    }

    /// The batches that its tasks build on and that are not in its base.
    pub fn builds_on(&self) -> Vec<BuildsOn> {
        self.record.builds_on()
    }

    /// How long tasks of its plans took when they were last done.
    pub fn past_durations(&self) -> Result<HashMap<TaskId, Duration>, RunError> {
        let project = project_name(&self.store);
        let homes = self.record.tasks.iter();
        let homes = homes.filter_map(|task| Some((&task.id, task.home.clone()?)));
        let look_up = |plan: &str| self.database.past_durations(&project, plan);
        Ok(by_id_in_batch(&self.record.plan, homes, look_up)?)
    }

    /// What of the repository and of the user's git is not followed, for whoever shows it; what nobody takes is told when
    /// the batch runs.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// The user's own commits that its result would take along to the server, as far as they are known.
    pub fn unpushed(&self) -> Option<Unpushed> {
        let pushes = self.record.design.settings.landing.pushes();
        let base = self.record.base.parse().ok().filter(|_| pushes)?;
        let unpushed = self.store.unpushed(&base, self.record.target.as_deref());
        unpushed.unwrap_or_default()
    }
}
