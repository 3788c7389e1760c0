//! What is asked for when a batch is to run, and a first look at everything it needs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

use pleach_domain::batch::{Barriers, BatchSettings, Design, Fallback, OnFailure, Validation};
use pleach_domain::choice::OnInvalid;
use pleach_domain::graph::{Graph, OrderRules, Strictness};
use pleach_domain::id::TaskId;
use pleach_domain::plan::Plan;
use pleach_domain::task::{Effort, TaskStatus};
use pleach_git::git::{CommitId, Git, Logins, NotFollowed, Store, task_segments};
use pleach_git::weave::WeaveFolder;
use pleach_log::batch_paths::WorkPlace;
use pleach_log::batch_paths::project_name;
use pleach_log::database::{BatchTask, Database, NewBatch, Provenance, StoredEvent};
use pleach_log::earlier::Earlier;
use pleach_log::ownership::BatchLock;
use pleach_log::task_ids;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::files::stored_path::StoredPath;
use pleach_system::sandbox::{SandboxPolicy, clear_temporary_files};
use pleach_system::state_folder::StateFolder;

use super::cluster;
use super::earlier::{EarlierBatches, EarlierWork};
use super::in_place::{self, FolderLock};
use super::previous_batch::PreviousBatch;
use super::take_over::TakenOver;
use super::{Controls, Opening, Prepared, RunError, paths};
use crate::agent::ChosenAgent;
use crate::batch_record::{AttemptSettings, BatchRecord, PlanMark, TaskRecord};
use crate::config::Settings;
use crate::consent::{Steering, SteeringFiles, steering_settings};
use crate::plan_to_run::{PlanOrigin, PlanToRun, by_id_in_batch};
use crate::project_secrets::secrets_of;
use crate::prompt::{Template, prompt};

#[derive(Debug)]
pub struct RunRequest {
    pub folder: PathBuf,
    pub plan: PlanToRun,
    /// The positions of the chosen tasks.
    pub chosen: Vec<usize>,
    pub rules: OrderRules,
    pub barriers: Barriers,
    /// What to do when running several at once does not work out.
    pub fallback: Fallback,
    pub settings: Settings,
    pub agent: ChosenAgent,
    /// What agents are told besides their task, or instead of the usual words.
    pub template: Option<Template>,
    /// Settings that the person has just typed, so that nobody else can have made them.
    pub typed: Vec<&'static str>,
    pub grace: Duration,
    pub state: StateFolder,
    /// Pleach's own program, which git calls back and which wraps agents.
    pub program: PathBuf,
    pub fetch: Fetch,
    pub earlier: EarlierBatches,
    /// A status file that is kept, by its whole path.
    pub status_file: Option<PathBuf>,
    pub proofs: Proofs,
}

/// Which verdicts of the tests count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proofs {
    /// Those that are remembered, too.
    Remembered,
    /// Those that this batch comes to.
    Again,
}

/// Whether the project's server is asked before the base is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetch {
    /// Nothing is asked; the base is what the user's repository knows.
    Nothing,
    /// `origin` is fetched into the store first, and the base follows it.
    Origin,
}

/// Looks at the repository or the folder, the state folder and the database.
pub fn prepare(mut request: RunRequest) -> Result<Prepared, RunError> {
    let settings = &request.settings;
    let sandbox = SandboxPolicy::choose(settings.sandbox.as_ref(), &settings.sandbox_write)?
        .reading(&settings.sandbox_read)
        .on_network(settings.network, &request.program)?;
    let place = in_place::where_tasks_work(&request.folder, request.settings.mode)?;
    let cluster = cluster::settings_of(&request, place)?;
    let files = request.plan.origins().filter_map(PlanOrigin::path);
    let left_out = files.flat_map(|plan| in_place::paths_of_plan(plan, &request.folder));
    let left_out: Vec<PathBuf> = left_out.collect();
    let last = PreviousBatch::asked_for(&request)?;
    let branch = last.as_ref().map(|last| last.branch.clone());
    request.settings.base = branch.or(request.settings.base);
    let (store, base, folder_lock) = open_place(&request, place, &left_out)?;
    let steering = SteeringFiles::at(&store, &base)?;
    let database = Database::open(&request.state)?;
    clear_temporary_files(&request.state);
    // What a killed run left behind; a worktree that may hold work stays.
    pleach_git::worktree::sweep(&store)?;
    let plan = weigh_by_the_past(&mut request.plan, &database, &store)?;
    let project = project_name(&store);
    let look_up = |plan: &str| database.task_ids(&project, plan);
    let ids = by_id_in_batch(&plan, request.plan.homes(), look_up)?;
    let mut record = record(&request, plan, base.to_string());
    record.attempts.sandbox = sandbox;
    record.cluster = cluster;
    give_ids(&mut record, &request, &project, ids);
    let secrets = secrets_of(&store, &base, &record.attempts.passed_on());
    let hider = secrets.hider();
    let template = request.template.as_ref().map(Template::text);
    let settings = &request.settings;
    let said = steering_settings(settings, &request.agent, template, &request.typed);
    let consent = Steering::new(&steering, said, &hider);
    let tasks = std::mem::take(&mut record.tasks).into_iter();
    record.tasks = tasks.map(|task| task.hidden(&hider)).collect();
    match place {
        WorkPlace::Worktrees => {
            aim(&mut record, &request, &store, last)?;
            earlier_work(&request, &record, &database, &store, &base)?.note_in(&mut record);
        }
        WorkPlace::InPlace => record.put_in_place(&left_out),
    }
    let notes = notes(&request, &store, &base, place)?;
    let (ask, asked) = channel();
    Ok(Prepared {
        database,
        notes,
        state: request.state,
        store,
        base,
        consent: Some(consent),
        steering,
        secrets,
        record,
        program: request.program,
        opening: Opening::Fresh,
        provenance: Provenance::default(),
        begun: None,
        folder_lock,
        controls: Controls { ask },
        asked,
    })
}

/// What of the repository, of the user's git and of the settings is not followed.
fn notes(
    request: &RunRequest,
    store: &Store,
    base: &CommitId,
    place: WorkPlace,
) -> Result<Vec<String>, RunError> {
    let mut notes = match place {
        WorkPlace::Worktrees => in_words(&store.not_followed(base)?),
        WorkPlace::InPlace => Vec::new(),
    };
    notes.extend(cluster::note(&request.settings));
    Ok(notes)
}

pub(super) fn in_words(not_followed: &[NotFollowed]) -> Vec<String> {
    not_followed.iter().map(ToString::to_string).collect()
}

/// Notes the branches, here and on the server, that a batch is meant for.
fn aim(
    record: &mut BatchRecord,
    request: &RunRequest,
    store: &Store,
    last: Option<PreviousBatch>,
) -> Result<(), RunError> {
    let named = request.settings.base.as_deref();
    // On top of the last batch the branch is meant that is checked out.
    record.base_branch = store.base_branch(named.filter(|_| last.is_none()))?;
    match last {
        Some(last) => (record.target, record.stands_on) = (last.target, last.stands_on),
        None => record.target = store.target_branch(named)?,
    }
    Ok(())
}

fn earlier_work(
    request: &RunRequest,
    record: &BatchRecord,
    database: &Database,
    store: &Store,
    base: &CommitId,
) -> Result<EarlierWork, RunError> {
    let project = project_name(store);
    let weave_folder = || WeaveFolder::of_store(store);
    let of_plan = (project.as_str(), &record.plan);
    EarlierWork::find(request, database, of_plan, (store, &weave_folder), base)
}

/// The store of a run and the commit it starts from; of one in a folder, with a hold on that.
fn open_place(
    request: &RunRequest,
    place: WorkPlace,
    left_out: &[PathBuf],
) -> Result<(Store, CommitId, Option<FolderLock>), RunError> {
    match place {
        WorkPlace::Worktrees => {
            let (store, base) = open_repository(request)?;
            Ok((store, base, None))
        }
        WorkPlace::InPlace => {
            let (store, lock) = in_place::open(&request.state, &request.folder, left_out.to_vec())?;
            let base = in_place::base(&store)?;
            Ok((store, base, Some(lock)))
        }
    }
}

fn open_repository(request: &RunRequest) -> Result<(Store, CommitId), RunError> {
    let store = Store::open(Git::find()?, &request.state.stores(), &request.folder)?;
    for place in request.settings.branch_names().places() {
        store.check_prefixes(&place)?;
    }
    store.check_writable()?;
    let named = request.settings.base.as_deref();
    let base = match request.fetch {
        Fetch::Nothing => store.resolve_base(named)?,
        Fetch::Origin => {
            store.fetch_origin(&Logins::of_user(&request.program))?;
            store.resolve_fetched_base(named)?
        }
    };
    Ok((store, base))
}

/// Opens the store of a batch that was begun before; of one in a folder, with a hold on that.
pub(super) fn reopen(
    state: &StateFolder,
    record: &BatchRecord,
) -> Result<(Store, Option<FolderLock>), RunError> {
    match record.place {
        WorkPlace::Worktrees => {
            let store = Store::open(Git::find()?, &state.stores(), &record.folder)?;
            Ok((store, None))
        }
        WorkPlace::InPlace => {
            let left_out = record.attempts.leave_out.iter().map(|path| path.0.clone());
            let (store, lock) = in_place::open(state, &record.folder, left_out.collect())?;
            Ok((store, Some(lock)))
        }
    }
}

/// Weighs the tasks of a plan by how long they took; gives the plan's settled origin.
fn weigh_by_the_past(
    plan: &mut PlanToRun,
    database: &Database,
    store: &Store,
) -> Result<PlanOrigin, RunError> {
    let origin = plan.origin.settled();
    let origin = origin.map_err(RunError::io("find the plan"))?;
    let project = project_name(store);
    let look_up = |plan: &str| database.past_durations(&project, plan);
    let past = by_id_in_batch(&origin, plan.homes(), look_up)?;
    weigh(&mut plan.document.plan, &past);
    Ok(origin)
}

/// What a task took last time says more than what somebody thought it would.
fn weigh(plan: &mut Plan, past: &HashMap<TaskId, Duration>) {
    for task in &mut plan.tasks {
        if let Some(time) = past.get(&task.id) {
            let minutes = time.as_secs().div_ceil(60).max(1);
            task.effort = Some(Effort(u32::try_from(minutes).unwrap_or(u32::MAX)));
        }
    }
}

fn record(request: &RunRequest, plan: PlanOrigin, base: String) -> BatchRecord {
    let graph = Graph::new(&request.plan.document.plan, Strictness::AsWritten);
    let design = Design::new(
        &graph,
        &request.chosen,
        request.rules,
        request.barriers,
        batch_settings(request),
    );
    let settings = &request.settings;
    BatchRecord {
        tasks: task_records(request),
        design,
        folder: request.folder.clone(),
        status_file: request.status_file.clone().map(StoredPath),
        plan,
        base,
        attempts: attempt_settings(request),
        keep_failed: settings.keep_failed,
        worktrees: settings.worktrees.clone().map(StoredPath),
        merge: settings.merge,
        prove_again: request.proofs == Proofs::Again,
        forge: settings.forge,
        target: None,
        base_branch: None,
        radar: Some(settings.radar).filter(|pause| !pause.is_zero()),
        branches: settings.branch_names(),
        parallel_limit: settings.parallel_limit,
        auto_slots: settings.has_auto_slots(),
        min_free_disk: settings.min_free_disk,
        place: WorkPlace::Worktrees,
        cluster: None,
        earlier: Earlier::default(),
        stands_on: Vec::new(),
    }
}

pub(super) fn attempt_settings(request: &RunRequest) -> AttemptSettings {
    let files = request.plan.origins().filter_map(PlanOrigin::path);
    let leave_out = files.flat_map(|path| paths::paths_of_plan(path, &request.folder));
    AttemptSettings {
        leave_out: leave_out.map(StoredPath).collect(),
        ..AttemptSettings::of(&request.settings, request.agent.clone(), request.grace)
    }
}

/// Says what programs know the tasks by: what the board says, else what follows from the plan file.
fn give_ids(
    record: &mut BatchRecord,
    request: &RunRequest,
    project: &str,
    mut known: HashMap<TaskId, String>,
) {
    let places = &request.plan.document.places;
    let mut ids = Vec::new();
    for (task, position) in record.tasks.iter().zip(&request.chosen) {
        let known = known.remove(&task.id);
        ids.push(known.unwrap_or_else(|| {
            let (plan, key) = record.home_of(task);
            let title = &request.plan.document.plan.tasks[*position].title;
            let identity = places[*position].identity;
            task_ids::of_file(project, &plan.key(), (key, title), identity)
        }));
    }
    for (task, id) in record.tasks.iter_mut().zip(ids) {
        task.opaque_id = Some(id);
    }
}

fn task_records(request: &RunRequest) -> Vec<TaskRecord> {
    let (plan, document) = (&request.plan, &request.plan.document);
    let template = request.template.as_ref();
    let segments = segments(request).into_iter();
    let tasks = request
        .chosen
        .iter()
        .zip(segments)
        .map(|(position, segment)| {
            let task = &document.plan.tasks[*position];
            let file = plan.origin_of(*position).path();
            let plan_file = file.map(|path| path.display().to_string());
            let mark = PlanMark::read(document, plan.text_of(*position), *position);
            TaskRecord {
                id: task.id.clone(),
                home: plan.home_of(*position),
                segment: Some(segment),
                opaque_id: None,
                title: task.title.clone(),
                details: task.details.clone(),
                prompt: prompt(&document.plan, task, plan_file.as_deref(), template),
                mark: mark.filter(|_| file.is_some()),
                on_board: file.is_none().then(|| wanted(task.status)),
                size: task.size.as_ref().map(|size| size.name.clone()),
            }
        });
    tasks.collect()
}

pub(super) fn segments(request: &RunRequest) -> Vec<String> {
    let tasks = &request.plan.document.plan.tasks;
    let ids: Vec<&TaskId> = { request.chosen.iter() }
        .map(|position| &tasks[*position].id)
        .collect();
    task_segments(&ids)
}

/// What a task goes back to that does not make it: somebody who was at it before is so no more.
fn wanted(status: TaskStatus) -> TaskStatus {
    match status {
        TaskStatus::InProgress => TaskStatus::Pending,
        other => other,
    }
}

fn batch_settings(request: &RunRequest) -> BatchSettings {
    let settings = &request.settings;
    BatchSettings {
        mode: settings.turns(request.chosen.len()),
        on_failure: if settings.stop_on_failure {
            OnFailure::Stop
        } else {
            OnFailure::GoOn
        },
        on_conflict: settings.on_conflict,
        fallback: request.fallback,
        validation: match (&settings.validate, settings.on_invalid) {
            (None, _) => Validation::Unset,
            (Some(_), OnInvalid::Drop) => Validation::Drop,
            (Some(_), OnInvalid::Fail) => Validation::Fail,
        },
        landing: settings.land,
        no_changes: settings.no_changes,
        retries: settings.retries,
        retry_pause: u64::try_from(settings.retry_pause.as_millis()).unwrap_or(u64::MAX),
        limit_wait: u64::try_from(settings.limit_wait.as_millis()).unwrap_or(u64::MAX),
        budget: settings.budget(),
        task_budget: settings.task_budget(),
    }
}

/// Gives a batch its id and stores it, which gives it its number; whoever finds it holds no lock has found it dead.
pub(super) fn create(
    state: &StateFolder,
    database: &mut Database,
    store: &Store,
    record: &BatchRecord,
    provenance: &Provenance,
) -> Result<(StoredEvent, BatchLock), RunError> {
    let (id, folder) = state.new_batch()?;
    let lock = BatchLock::take(&folder)?.ok_or_else(|| RunError::Io {
        doing: "lock a new batch",
        source: std::io::ErrorKind::WouldBlock.into(),
    })?;
    crash_point(CrashPoint::FolderMade);
    let text = serde_json::to_string(record).expect("a record is plain data");
    let tasks: Vec<BatchTask> = record.tasks.iter().map(TaskRecord::as_stored).collect();
    let new = NewBatch {
        project: &project_name(store),
        repository: &record.folder,
        plan: &record.plan.key(),
        record: &text,
        tasks: &tasks,
    };
    let created = TakenOver::take(state, database, &new).and_then(|taken| {
        let created = database.create_batch_for(id, &new, provenance, &taken.lost);
        created.map_err(RunError::from)
    });
    let created = created.inspect_err(|_| {
        // Nobody knows of the id yet; a folder that stays is an empty one.
        let _ = std::fs::remove_dir_all(&folder);
    })?;
    crash_point(CrashPoint::BatchStored);
    Ok((created, lock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_long_last_time_is_started_first() {
        let text = "### 1. Short by its words\n**Effort**: 1 hour\n\n### 2. Long\n**Effort**: 2 hours\n\n### 3. New\n";
        let mut plan = pleach_formats::read(text).plan;
        let past = [("1", 5 * 3_600), ("2", 30)];
        let past = past.map(|(id, seconds)| (TaskId::new(id), Duration::from_secs(seconds)));
        weigh(&mut plan, &past.into());
        let graph = Graph::new(&plan, Strictness::AsWritten);
        let rules = OrderRules::default();
        let settings = BatchSettings::default();
        let design = Design::new(&graph, &[0, 1, 2], rules, Barriers::Stages, settings);
        let remaining: Vec<u64> = design.tasks.iter().map(|task| task.remaining).collect();
        assert_eq!(remaining[..2], [300, 1]);
        assert!(remaining[2] > 1, "nothing is known of it");
    }
}
