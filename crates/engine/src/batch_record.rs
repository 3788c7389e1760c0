//! What is stored of a batch when it is made: everything that another process needs to go on with it.
//!
//! Plain data; it never changes afterwards.

mod attempt_settings;
mod cluster_settings;

use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::batch::Design;
use pleach_domain::id::TaskId;
use pleach_domain::task::TaskStatus;
use pleach_formats::{Change, Document, Identity, Marker};
use serde::{Deserialize, Serialize};

use crate::plan_to_run::{PlanOrigin, TaskHome};
use pleach_domain::choice::{ForgeKind, Strategy, Where};
use pleach_log::batch_paths::{WorkPlace, segment_of};
use pleach_log::branches::BranchNames;
use pleach_log::database::BatchTask;
use pleach_log::earlier::{BuildsOn, Earlier};
use pleach_log::task_ids::TaskIds;
use pleach_system::files::stored_path::StoredPath;
use pleach_system::secrets::Hider;

pub use attempt_settings::AttemptSettings;
pub use cluster_settings::{ClusterSettings, UnitSizes};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BatchRecord {
    pub design: Design,
    /// Its tasks, in the order of the design.
    pub tasks: Vec<TaskRecord>,
    /// The folder that the user stood in.
    #[serde(with = "pleach_system::files::stored_path")]
    pub folder: PathBuf,
    /// Where its plan is kept; tasks of others say so themselves.
    pub plan: PlanOrigin,
    #[serde(default)]
    pub status_file: Option<StoredPath>,
    pub base: String,
    #[serde(flatten)]
    pub attempts: AttemptSettings,
    /// Whether the worktrees of tasks that did not make it stay.
    pub keep_failed: bool,
    /// Where worktrees go, if not to the state folder.
    pub worktrees: Option<StoredPath>,
    pub merge: Strategy,
    #[serde(default)]
    pub prove_again: bool,
    /// What kind of server the project lives on, where its address does not tell.
    #[serde(default)]
    pub forge: Option<ForgeKind>,
    /// The branch of the server that the result is meant for, where the base is one.
    #[serde(default)]
    pub target: Option<String>,
    /// The branch of the user's repository that the base is, if it is one.
    #[serde(default)]
    pub base_branch: Option<String>,
    /// How often coming conflicts are looked for, if at all.
    #[serde(default)]
    pub radar: Option<Duration>,
    /// How branches are named in the user's repository and on the server.
    #[serde(default)]
    pub branches: BranchNames,
    /// How many agents run over all batches of this user.
    pub parallel_limit: usize,
    /// Whether the number of slots follows the machine.
    #[serde(default)]
    pub auto_slots: bool,
    /// With less free space than this, in bytes, nothing new starts.
    #[serde(default)]
    pub min_free_disk: u64,
    #[serde(default)]
    pub place: WorkPlace,
    /// The cluster that its attempts and tests are given to, if any.
    #[serde(default)]
    pub cluster: Option<ClusterSettings>,
    /// Work of earlier batches that some of its tasks build on and its base lacks.
    #[serde(default)]
    pub earlier: Earlier,
    /// The batches that are in its base because a person chose the last one's branch for it.
    #[serde(default)]
    pub stands_on: Vec<BuildsOn>,
}

impl BatchRecord {
    pub fn task_ids(&self, project: &str) -> TaskIds {
        let tasks = self.tasks.iter();
        let tasks = tasks.map(|task| (&task.id, task.opaque_id.as_deref()));
        TaskIds::of(project, &self.plan.key(), tasks)
    }

    pub fn plans(&self) -> Vec<&PlanOrigin> {
        let mut plans = vec![&self.plan];
        for home in self.tasks.iter().filter_map(|task| task.home.as_ref()) {
            if !plans.contains(&&home.plan) {
                plans.push(&home.plan);
            }
        }
        plans
    }

    pub fn home_of<'r>(&'r self, task: &'r TaskRecord) -> (&'r PlanOrigin, &'r TaskId) {
        match &task.home {
            Some(home) => (&home.plan, &home.key),
            None => (&self.plan, &task.id),
        }
    }

    /// What a task is called in refs and paths.
    pub fn segment(&self, id: &TaskId) -> String {
        let found = self.tasks.iter().find(|task| task.id == *id);
        segment_of(found.and_then(|task| task.segment.as_deref()), id)
    }

    pub fn is_in_place(&self) -> bool {
        self.place == WorkPlace::InPlace
    }

    /// Where its attempts and tests run.
    pub fn runs_on(&self) -> Where {
        match self.cluster {
            Some(_) => Where::Slurm,
            None => Where::Local,
        }
    }

    /// The batches that its tasks build on and that are not where it is meant to go.
    pub fn builds_on(&self) -> Vec<BuildsOn> {
        let mut told = self.earlier.told_all();
        told.extend(self.stands_on.iter().cloned());
        told
    }

    pub fn slots(&self) -> usize {
        self.design.settings.mode.slots()
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskRecord {
    /// Its id in the batch, which is its key in the batch's plan.
    pub id: TaskId,
    /// Where it is kept, if not in the batch's plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<TaskHome>,
    /// What it is called in refs and paths; batches of earlier versions have none.
    #[serde(default)]
    pub segment: Option<String>,
    /// What programs know it by; batches of earlier versions do not say it.
    #[serde(default)]
    pub opaque_id: Option<String>,
    pub title: String,
    #[serde(default)]
    pub details: String,
    pub prompt: String,
    pub mark: Option<PlanMark>,
    /// How far it was on the board, for a task that is kept there.
    #[serde(default)]
    pub on_board: Option<TaskStatus>,
    /// The size that it wants of a cluster's node, if it chooses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
}

#[derive(Debug, Clone)]
pub enum Marking {
    /// An edit of a plan's file, which is that of the batch if none is named.
    InFile(Option<PathBuf>, Change),
    OnBoard(TaskId, TaskStatus),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlanMark {
    identity: Identity,
    /// The text that stood there.
    before: String,
    shows_progress: bool,
}

impl PlanMark {
    pub fn read(document: &Document, text: &str, position: usize) -> Option<Self> {
        Some(Self {
            identity: document.places[position].identity,
            before: document.marker_text(text, position)?,
            shows_progress: document.refuses(position, &Marker::InProgress).is_none(),
        })
    }
}

impl TaskRecord {
    /// The same without secrets; a title that held one cannot be found in the plan again, so nothing is marked there.
    #[must_use]
    pub fn hidden(self, hider: &Hider) -> Self {
        let title = hider.hidden(self.title.clone());
        Self {
            details: hider.hidden(self.details),
            prompt: hider.hidden(self.prompt),
            mark: self.mark.filter(|_| title == self.title),
            title,
            id: self.id,
            home: self.home,
            segment: self.segment,
            opaque_id: self.opaque_id,
            on_board: self.on_board,
            size: self.size,
        }
    }

    pub fn as_stored(&self) -> BatchTask {
        let id = self.id.clone();
        match &self.home {
            None => BatchTask::Own(id),
            Some(home) => BatchTask::Joined {
                id,
                plan: home.plan.key(),
                key: home.key.clone(),
            },
        }
    }

    pub fn segment(&self) -> String {
        segment_of(self.segment.as_deref(), &self.id)
    }

    /// That it is in progress, if the plan can say so.
    pub fn begun(&self) -> Option<Marking> {
        if self.on_board.is_some() {
            return Some(self.now(TaskStatus::InProgress));
        }
        let mark = self.mark.as_ref().filter(|mark| mark.shows_progress)?;
        Some(self.change(mark, Marker::InProgress))
    }

    /// That it is done, if the plan can say so.
    pub fn done(&self) -> Option<Marking> {
        if self.on_board.is_some() {
            return Some(self.now(TaskStatus::Completed));
        }
        let mark = self.mark.as_ref()?;
        Some(self.change(mark, Marker::Completed))
    }

    /// What stood there before it began, if that was written over.
    pub fn as_before(&self) -> Option<Marking> {
        if let Some(before) = self.on_board {
            return Some(self.now(before));
        }
        let mark = self.mark.as_ref().filter(|mark| mark.shows_progress)?;
        Some(self.change(mark, Marker::Restored(mark.before.clone())))
    }

    /// What stood there before it was done, for work that was taken back.
    pub fn taken_back(&self) -> Option<Marking> {
        if let Some(before) = self.on_board {
            return Some(self.now(before));
        }
        let mark = self.mark.as_ref()?;
        Some(self.change(mark, Marker::TakenBack(mark.before.clone())))
    }

    fn now(&self, status: TaskStatus) -> Marking {
        Marking::OnBoard(self.key().clone(), status)
    }

    fn change(&self, mark: &PlanMark, to: Marker) -> Marking {
        let change = Change {
            id: self.key().clone(),
            title: self.title.clone(),
            identity: mark.identity,
            to,
        };
        let file = self.home.as_ref().and_then(|home| home.plan.path());
        Marking::InFile(file.map(Path::to_owned), change)
    }

    fn key(&self) -> &TaskId {
        self.home.as_ref().map_or(&self.id, |home| &home.key)
    }
}
