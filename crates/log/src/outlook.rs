//! How far a plan is, phase by phase, and when it may be done.
//!
//! The plan says what is done; the database adds what is under way, what failed, and how long things take.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use pleach_domain::estimate::plan_seconds_left;
use pleach_domain::graph::OrderRules;
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::plan::Plan;
use pleach_domain::task::{Task, TaskHold, TaskStatus};
use serde::Serialize;

use crate::database::{BatchFilter, BatchScope, Database, PlanMark, now};
use crate::view::{BatchView, ViewError};
use pleach_domain::task_state::TaskOutcome;
use pleach_domain::task_status_word::TaskStatusWord;
use pleach_system::state_folder::StateFolder;
use pleach_system::text::moment::{milliseconds, rfc3339};

/// So many batches back it is looked for what became of a task.
const LOOK_BACK: usize = 50;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    pub total: usize,
    pub completed: usize,
    pub in_progress: usize,
    pub failed: usize,
    /// Left out on purpose.
    pub skipped: usize,
    pub open: usize,
    /// Of what is completed or left out on purpose, rounded down.
    pub percentage: usize,
}

/// A phase of the plan; the one without a number holds what is in none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseOutlook {
    pub phase: Option<u32>,
    pub title: String,
    #[serde(flatten)]
    pub tally: Tally,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outlook {
    #[serde(flatten)]
    pub total: Tally,
    pub phases: Vec<PhaseOutlook>,
    /// The batches of the plan that run.
    pub batches: Vec<BatchNumber>,
    pub at_once: usize,
    pub mean_seconds: Option<f64>,
    pub seconds_left: Option<f64>,
    pub estimated_end: Option<String>,
}

#[derive(Debug)]
pub struct OutlookInput<'a> {
    pub state: &'a StateFolder,
    pub database: &'a Database,
    pub project: Option<&'a str>,
    /// The plan's name in the database; none, if its states come from elsewhere.
    pub plan: Option<&'a str>,
    /// How many tasks run at once where no batch says otherwise.
    pub at_once: usize,
}

/// What became of a task in the last batch that it was in.
#[derive(Debug, Clone, Copy)]
struct LastAttempt {
    stands: TaskStatusWord,
    seconds: f64,
    /// When the batch was made, in milliseconds since 1970.
    at: u64,
    /// Whether the batch runs and the task is not over.
    is_live: bool,
    was_blocked: bool,
}

#[derive(Default)]
struct StoredFacts {
    tasks: HashMap<TaskId, LastAttempt>,
    marks: HashMap<TaskId, PlanMark>,
    batches: Vec<BatchNumber>,
    slots: usize,
    past: HashMap<TaskId, Duration>,
}

impl Outlook {
    pub fn compute(plan: &Plan, setting: &OutlookInput<'_>) -> Result<Self, ViewError> {
        let known = StoredFacts::read(setting, BatchScope::All)?;
        let titles: HashMap<u32, &str> = plan
            .phases
            .iter()
            .map(|phase| (phase.number.0, phase.title.as_str()))
            .collect();
        let mut phases: BTreeMap<Option<u32>, Tally> = BTreeMap::new();
        let mut total = Tally::default();
        for task in &plan.tasks {
            let stands = known.status_of(task);
            phases
                .entry(task.phase.map(|phase| phase.0))
                .or_default()
                .count(stands);
            total.count(stands);
        }
        let at_once = match known.slots {
            0 => setting.at_once,
            slots => slots,
        };
        let left = known.seconds_left(plan, at_once);
        let phases = phases.into_iter().map(|(phase, tally)| PhaseOutlook {
            title: phase
                .and_then(|phase| titles.get(&phase))
                .map_or_else(String::new, |title| (*title).to_owned()),
            phase,
            tally,
        });
        let end = |left: f64| rfc3339(now().saturating_add(milliseconds(left)));
        Ok(Self {
            phases: phases.collect(),
            total,
            mean_seconds: known.mean(),
            estimated_end: left.map(end),
            seconds_left: left,
            batches: known.batches,
            at_once,
        })
    }
}

/// What the database adds to what a plan says of its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recall {
    /// What runs, and what a person left out: whatever failed is still wanted.
    ForRun,
    /// What failed as well.
    ForNext,
    /// What failed, and what was blocked behind it.
    ForFailed,
}

/// Gives the open tasks of a plan the states that the database knows.
pub fn recall(
    plan: &mut Plan,
    setting: &OutlookInput<'_>,
    recall: Recall,
) -> Result<(), ViewError> {
    let among = match recall {
        Recall::ForRun => BatchScope::Open,
        Recall::ForNext | Recall::ForFailed => BatchScope::All,
    };
    let known = StoredFacts::read(setting, among)?;
    for task in &mut plan.tasks {
        let status = known.status_of(task);
        let last = known.last(task);
        let is_settled = task.status.is_settled();
        if last.is_some_and(|last| last.is_live && !is_settled) {
            task.hold = TaskHold::InLiveBatch;
        }
        let was_blocked = !is_settled && last.is_some_and(|last| last.was_blocked);
        task.status = match (recall, status) {
            (Recall::ForRun, TaskStatus::Failed) => task.status,
            (Recall::ForFailed, TaskStatus::Pending) if was_blocked => TaskStatus::Failed,
            (_, status) => status,
        };
    }
    Ok(())
}

impl Tally {
    fn count(&mut self, status: TaskStatus) {
        self.total += 1;
        let counted = match status {
            TaskStatus::Completed => &mut self.completed,
            TaskStatus::InProgress => &mut self.in_progress,
            TaskStatus::Failed => &mut self.failed,
            TaskStatus::Skipped | TaskStatus::Cancelled => &mut self.skipped,
            TaskStatus::Pending => &mut self.open,
        };
        *counted += 1;
        self.percentage = 100 * (self.completed + self.skipped) / self.total;
    }
}

impl StoredFacts {
    fn read(setting: &OutlookInput<'_>, among: BatchScope) -> Result<Self, ViewError> {
        let (Some(project), Some(plan)) = (setting.project, setting.plan) else {
            return Ok(Self::default());
        };
        let filter = BatchFilter {
            project: Some(project),
            among,
        };
        let mut known = Self {
            past: setting.database.past_durations(project, plan)?,
            marks: setting.database.plan_marks(project, plan)?,
            ..Self::default()
        };
        let mut keys = setting.database.tasks_by_batch(project, plan)?;
        let rows = setting.database.batches(filter)?.into_iter();
        let rows = rows.filter_map(|row| Some((keys.remove(&row.id)?, row)));
        // Newest first: what a later batch says of a task counts.
        for (keys, row) in rows.take(LOOK_BACK) {
            let view = BatchView::load(setting.state, setting.database, row.id)?;
            let view = view.expect("rows of batches stay");
            known.take_in(&view, &keys, row.created_at);
        }
        Ok(known)
    }

    /// Takes in the tasks of the plan, given their keys by their ids in the batch.
    fn take_in(&mut self, view: &BatchView, keys: &HashMap<TaskId, TaskId>, at: u64) {
        let is_live = view.completed_at.is_none() && !view.interrupted;
        if is_live {
            self.batches.push(view.number);
            self.slots += view.settings.max_concurrent;
        }
        for task in &view.tasks {
            let Some(key) = keys.get(&task.key) else {
                continue;
            };
            let stands = match task.status {
                TaskStatusWord::Running if !is_live => TaskStatusWord::Queued,
                stands => stands,
            };
            let last = LastAttempt {
                stands,
                seconds: task.seconds,
                at,
                // What a batch has done stays with it until it is over, also while nobody runs it.
                is_live: is_live && task.outcome.is_none()
                    || view.completed_at.is_none() && stands == TaskStatusWord::Completed,
                was_blocked: task.outcome == Some(TaskOutcome::Blocked),
            };
            self.tasks.entry(key.clone()).or_insert(last);
        }
    }

    /// What became of a task last, unless a person said something of it since.
    fn last(&self, task: &Task) -> Option<LastAttempt> {
        let last = self.tasks.get(&task.id).copied();
        last.filter(|last| self.mark(task).is_none_or(|mark| mark.at < last.at))
    }

    fn mark(&self, task: &Task) -> Option<&PlanMark> {
        let is_same =
            |mark: &&PlanMark| mark.title.as_ref().is_none_or(|title| *title == task.title);
        self.marks.get(&task.id).filter(is_same)
    }

    /// What the plan says, and where that leaves it open, what became of it last.
    fn status_of(&self, task: &Task) -> TaskStatus {
        if !matches!(task.status, TaskStatus::Pending | TaskStatus::InProgress) {
            return task.status;
        }
        let Some(last) = self.last(task) else {
            return self.mark(task).map_or(task.status, |mark| mark.status);
        };
        match last.stands {
            TaskStatusWord::Running => TaskStatus::InProgress,
            _ if last.was_blocked => TaskStatus::Pending,
            TaskStatusWord::Failed | TaskStatusWord::Skipped => TaskStatus::Failed,
            TaskStatusWord::Cancelled => TaskStatus::Pending,
            _ => task.status,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "no plan has 2^52 tasks")]
    fn mean(&self) -> Option<f64> {
        let sum: f64 = self.past.values().map(Duration::as_secs_f64).sum();
        (!self.past.is_empty()).then(|| sum / self.past.len() as f64)
    }

    /// What is left takes as long as it took before, or as tasks take on average.
    fn seconds_left(&self, plan: &Plan, at_once: usize) -> Option<f64> {
        let mean = self.mean()?;
        let is_open = |at: &usize| {
            let status = self.status_of(&plan.tasks[*at]);
            matches!(status, TaskStatus::Pending | TaskStatus::InProgress)
        };
        let open: Vec<usize> = (0..plan.tasks.len()).filter(is_open).collect();
        plan_seconds_left(plan, &open, OrderRules::default(), at_once, |task| {
            let took = self.past.get(&task.id).map(Duration::as_secs_f64);
            let spent = match self.tasks.get(&task.id) {
                Some(last) if last.stands == TaskStatusWord::Running => last.seconds,
                _ => 0.0,
            };
            took.unwrap_or(mean) - spent
        })
    }
}
