//! How far a plan is, phase by phase, and when it may be done.
//!
//! The plan says what is done; the database adds what is under way, what failed, and how long things take.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use pleach_domain::batch::{Barriers, BatchSettings, Design};
use pleach_domain::graph::{Graph, Rules, Strictness};
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::plan::Plan;
use pleach_domain::task::{Hold, Task, TaskStatus};
use serde::Serialize;

use crate::database::{Among, BatchFilter, Database, PlanMark, now};
use crate::moment::rfc3339;
use crate::state_folder::StateFolder;
use crate::view::{BatchView, TaskStatusWord, ViewError};

/// So many batches back it is looked for what became of a task.
const LOOK_BACK: usize = 50;

/// The outcome of a task that was never tried.
const BLOCKED: &str = "blocked";

/// How many tasks stand where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
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
#[expect(missing_docs, reason = "the names say it")]
pub struct PhaseOutlook {
    pub phase: Option<u32>,
    pub title: String,
    #[serde(flatten)]
    pub tally: Tally,
}

/// How far a plan is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct Outlook {
    #[serde(flatten)]
    pub total: Tally,
    pub phases: Vec<PhaseOutlook>,
    /// The batches of the plan that run.
    pub batches: Vec<BatchNumber>,
    /// How many tasks run at once.
    pub at_once: usize,
    /// How long tasks took so far, if any is known.
    pub mean_seconds: Option<f64>,
    pub seconds_left: Option<f64>,
    pub estimated_end: Option<String>,
}

/// What a plan stands in.
#[derive(Debug)]
pub struct Setting<'a> {
    /// Where batches are.
    pub state: &'a StateFolder,
    /// What is known of them.
    pub database: &'a Database,
    /// The project, if there is one.
    pub project: Option<&'a str>,
    /// The plan's name in the database; none, if its states come from elsewhere.
    pub plan: Option<&'a str>,
    /// How many tasks run at once where no batch says otherwise.
    pub at_once: usize,
}

/// What became of a task in the last batch that it was in.
#[derive(Debug, Clone, Copy)]
struct Last {
    stands: TaskStatusWord,
    seconds: f64,
    /// When the batch was made, in milliseconds since 1970.
    at: u64,
    /// Whether the batch runs and the task is not over.
    is_live: bool,
    was_blocked: bool,
}

/// What the database says of the tasks of a plan.
#[derive(Default)]
struct Known {
    tasks: HashMap<TaskId, Last>,
    marks: HashMap<TaskId, PlanMark>,
    batches: Vec<BatchNumber>,
    slots: usize,
    past: HashMap<TaskId, Duration>,
}

impl Outlook {
    /// Counts, and estimates the end.
    pub fn of(plan: &Plan, setting: &Setting<'_>) -> Result<Self, ViewError> {
        let known = Known::of(setting, Among::All)?;
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

/// How long tasks of a plan (positions, ascending) take in a batch of their own, given how long each of them does.
pub fn plan_seconds_left(
    plan: &Plan,
    chosen: &[usize],
    rules: Rules,
    at_once: usize,
    took: impl Fn(&Task) -> f64,
) -> Option<f64> {
    let graph = Graph::of(plan, Strictness::AsWritten);
    let settings = BatchSettings::default();
    let design = Design::of(&graph, chosen, rules, Barriers::Stages, settings);
    let left = chosen.iter().map(|at| Some(took(&plan.tasks[*at])));
    batch_seconds_left(&design, &left.collect::<Vec<_>>(), at_once)
}

/// How long everything takes, given what is left of each task and how many run at once; none for no task.
#[expect(clippy::cast_precision_loss, reason = "no plan has 2^52 tasks")]
fn seconds_left(tasks: impl IntoIterator<Item = f64>, at_once: usize) -> Option<f64> {
    let mut longest: f64 = 0.0;
    let mut sum = 0.0;
    let mut count: usize = 0;
    for left in tasks {
        let left = left.max(0.0);
        longest = longest.max(left);
        sum += left;
        count += 1;
    }
    let slots = at_once.min(count).max(1);
    (count > 0).then(|| longest.max(sum / slots as f64))
}

/// The same for a batch, given what is left of each task that is not over: stages and phases follow each other, and within
/// one nothing is faster than its longest chain.
pub fn batch_seconds_left(design: &Design, left: &[Option<f64>], at_once: usize) -> Option<f64> {
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (position, task) in design.tasks.iter().enumerate() {
        if left[position].is_some() {
            let phase = task.phase.filter(|_| task.follows_phase);
            groups
                .entry((task.stage, phase))
                .or_default()
                .push(position);
        }
    }
    let each = groups.values().map(|group| {
        let mut chains = HashMap::new();
        let members: HashSet<usize> = group.iter().copied().collect();
        let chain = |position: &usize| chain(design, left, &members, &mut chains, *position);
        let longest = group.iter().map(chain).fold(0.0, f64::max);
        let alone = group.iter().filter_map(|position| left[*position]);
        seconds_left(alone, at_once).map_or(longest, |spread| spread.max(longest))
    });
    (!groups.is_empty()).then(|| each.sum())
}

/// How long it takes until a task is over, with what it waits for among the members.
fn chain(
    design: &Design,
    left: &[Option<f64>],
    members: &HashSet<usize>,
    known: &mut HashMap<usize, f64>,
    position: usize,
) -> f64 {
    if let Some(known) = known.get(&position) {
        return *known;
    }
    let task = &design.tasks[position];
    let mut before = 0.0_f64;
    for earlier in task.needs.iter().chain(&task.after) {
        if members.contains(earlier) {
            before = before.max(chain(design, left, members, known, *earlier));
        }
    }
    let total = before + left[position].unwrap_or(0.0).max(0.0);
    known.insert(position, total);
    total
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
pub fn recall(plan: &mut Plan, setting: &Setting<'_>, recall: Recall) -> Result<(), ViewError> {
    let among = match recall {
        Recall::ForRun => Among::Open,
        Recall::ForNext | Recall::ForFailed => Among::All,
    };
    let known = Known::of(setting, among)?;
    for task in &mut plan.tasks {
        let status = known.status_of(task);
        let last = known.last(task);
        let is_settled = task.status.is_settled();
        if last.is_some_and(|last| last.is_live && !is_settled) {
            task.hold = Hold::InLiveBatch;
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

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate is neither negative nor longer than a life"
)]
pub(crate) fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1_000.0) as u64
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

impl Known {
    fn of(setting: &Setting<'_>, among: Among) -> Result<Self, ViewError> {
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
            let last = Last {
                stands,
                seconds: task.seconds,
                at,
                // What a batch has done stays with it until it is over, also while nobody runs it.
                is_live: is_live && task.outcome.is_none()
                    || view.completed_at.is_none() && stands == TaskStatusWord::Completed,
                was_blocked: task.outcome == Some(BLOCKED),
            };
            self.tasks.entry(key.clone()).or_insert(last);
        }
    }

    /// What became of a task last, unless a person said something of it since.
    fn last(&self, task: &Task) -> Option<Last> {
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
        plan_seconds_left(plan, &open, Rules::default(), at_once, |task| {
            let took = self.past.get(&task.id).map(Duration::as_secs_f64);
            let spent = match self.tasks.get(&task.id) {
                Some(last) if last.stands == TaskStatusWord::Running => last.seconds,
                _ => 0.0,
            };
            took.unwrap_or(mean) - spent
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(plan: &str, left: &[Option<f64>], at_once: usize, expected: Option<f64>) {
        let plan = pleach_formats::read(plan).plan;
        let graph = Graph::of(&plan, Strictness::AsWritten);
        let all: Vec<usize> = (0..plan.tasks.len()).collect();
        let (rules, settings) = (Rules::default(), BatchSettings::default());
        let design = Design::of(&graph, &all, rules, Barriers::Stages, settings);
        assert_eq!(batch_seconds_left(&design, left, at_once), expected);
    }

    #[test]
    fn no_batch_ends_before_its_longest_chain() {
        let chain =
            "- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.1)\n- [ ] 1.3 C (depends: 1.2)\n- [ ] 1.4 D\n";
        let two = Some(2.0);
        check(chain, &[two; 4], 4, Some(6.0));
        check(chain, &[two; 4], 1, Some(8.0));
        check(chain, &[None, Some(0.5), two, None], 4, Some(2.5));
        check(chain, &[None; 4], 4, None);
        let phases = "## Phase 1: A\n- [ ] 1.1 A\n- [ ] 1.2 B\n## Phase 2: B\n- [ ] 2.1 C\n";
        check(phases, &[two; 3], 3, Some(4.0));
    }

    #[test]
    fn tasks_that_are_to_run_wait_for_each_other_too() {
        let plan =
            pleach_formats::read("- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.1)\n- [ ] 1.3 C\n").plan;
        let seconds =
            |chosen: &[usize]| plan_seconds_left(&plan, chosen, Rules::default(), 3, |_| 2.0);
        assert_eq!(seconds(&[0, 1, 2]), Some(4.0));
        assert_eq!(seconds(&[1, 2]), Some(2.0));
        assert_eq!(seconds(&[]), None);
    }
}
