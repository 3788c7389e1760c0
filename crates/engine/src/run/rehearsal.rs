//! What a run would do, looked up without making or changing anything.
//!
//! Asks the user's repository or folder only; what is already known of the plan is read where it is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::batch::Spent;
use pleach_domain::id::{BatchNumber, TaskId};

use super::cluster::{self, PlannedSubmission};
use super::consenting::unconsented;
use super::earlier::EarlierWork;
use super::in_place;
use super::previous_batch::PreviousBatch;
use super::request::{in_words, segments};
use super::{RunError, RunRequest, interrupted};
use crate::agent::{Brief, ChosenAgent};
use crate::consent::{Steering, SteeringChange, SteeringFiles, steering_settings};
use crate::forge::recognise;
use crate::plan_to_run::by_id_in_batch;
use crate::prompt::Template;
use crate::trust::may_push;
use pleach_domain::choice::SandboxChoice;
use pleach_git::git::{CommitId, Git, Repository, Store, Unpushed};
use pleach_git::weave::WeaveFolder;
use pleach_log::batch_paths::WorkPlace;
use pleach_log::batch_paths::project_name;
use pleach_log::database::Database;
use pleach_log::earlier::BuildsOn;
use pleach_system::secrets::Secrets;

/// The variables that tell an agent what it works on.
const SAID: [&str; 5] = [
    "PLEACH_TASK",
    "PLEACH_BATCH",
    "PLEACH_ATTEMPT",
    "PLEACH_WORKTREE",
    "PLEACH_PORT",
];

#[derive(Debug)]
pub struct Rehearsal {
    /// The folder that its tasks would work in, if that is the user's own: then there are no commits and branches.
    pub folder: Option<PathBuf>,
    pub base: Option<CommitId>,
    /// The number that it would get, unless somebody else takes it first.
    pub batch: BatchNumber,
    pub batch_branch: Option<String>,
    /// The branches of the chosen tasks, in their order.
    pub task_branches: Vec<String>,
    pub worktrees: Option<PathBuf>,
    /// The files at the base or in the folder that steer agents or Pleach.
    pub steering: Vec<String>,
    pub consent: Vec<SteeringChange>,
    pub interrupted: Vec<BatchNumber>,
    pub remote: Option<String>,
    /// The branch there that it is meant for; none where the server chooses.
    pub target: Option<String>,
    /// The branch of the user's repository that the base is, if it is one.
    pub base_branch: Option<String>,
    pub unpushed: Option<Unpushed>,
    pub pushes: bool,
    pub push_unconfirmed: bool,
    pub forge: Option<&'static str>,
    /// The agent's program and arguments, with the place of the prompt shown.
    pub argv: Vec<String>,
    /// The names of the variables that the agent would get.
    pub variables: Vec<String>,
    /// How long tasks of the plan took when they were last done.
    pub past: HashMap<TaskId, Duration>,
    /// The batches that its tasks would build on and that are not in the base.
    pub builds_on: Vec<BuildsOn>,
    /// What would be submitted to a cluster, by size.
    pub submissions: Vec<PlannedSubmission>,
    /// What of the repository and of the user's git would not be followed.
    pub notes: Vec<String>,
}

pub fn rehearse(request: &RunRequest) -> Result<Rehearsal, RunError> {
    let place = in_place::where_tasks_work(&request.folder, request.settings.mode)?;
    let cluster = cluster::settings_of(request, place)?;
    let mut found = match place {
        WorkPlace::Worktrees => rehearse_in_worktrees(request),
        WorkPlace::InPlace => in_place::rehearse(request),
    }?;
    found.notes.extend(cluster::note(&request.settings));
    if let Some(cluster) = cluster {
        found.submissions = cluster::rehearse(request, &cluster, &found.consent)?;
    }
    Ok(found)
}

fn rehearse_in_worktrees(request: &RunRequest) -> Result<Rehearsal, RunError> {
    let settings = &request.settings;
    let last = PreviousBatch::asked_for(request)?;
    let base_name = last.as_ref().map(|last| last.branch.as_str());
    let base_name = base_name.or(settings.base.as_deref());
    let repository = Repository::find(Git::find()?, &request.folder)?;
    repository.checkout().check_writable()?;
    let base = repository.resolve_base(base_name)?;
    let store = Store::imagined(Git::find()?, &request.state.stores(), &request.folder)?;
    let project = project_name(&store);
    let batch = next_number(request, &project)?;
    let steering = SteeringFiles::at(&repository, &base)?;
    let remote = store.remote()?;
    let forge = remote.as_ref();
    let forge = forge.and_then(|remote| recognise(remote, settings.forge).ok());
    let patterns = settings.branch_names();
    let chosen = request.chosen.iter().zip(segments(request));
    let branch = |(position, segment): (&usize, String)| {
        let task = &request.plan.document.plan.tasks[*position];
        patterns.task(batch, &segment, &task.title)
    };
    let worktrees = settings.worktrees.as_deref();
    let target = match &last {
        Some(last) => last.target.clone(),
        None => store.target_branch(base_name)?,
    };
    let base_branch = store.base_branch(base_name.filter(|_| last.is_none()))?;
    let unpushed = if settings.land.pushes() {
        store.unpushed(&base, target.as_deref())?
    } else {
        None
    };
    let push_to = remote.as_ref().filter(|_| settings.land.pushes());
    Ok(Rehearsal {
        builds_on: {
            let mut told = builds_on(request, &repository, &base)?;
            told.extend(last.into_iter().flat_map(|last| last.stands_on));
            told
        },
        notes: in_words(&repository.not_followed(&base)?),
        base: Some(base),
        batch_branch: Some(patterns.batch(batch)),
        task_branches: chosen.map(branch).collect(),
        worktrees: Some(request.state.worktrees(worktrees, &project, batch)),
        consent: consent(request, &project, &steering)?,
        steering: steering.paths().map(str::to_owned).collect(),
        target,
        base_branch,
        unpushed,
        pushes: push_to.is_some(),
        push_unconfirmed: match push_to {
            Some(address) => !is_push_confirmed(request, &project, address.as_str())?,
            None => false,
        },
        remote: remote.map(|remote| remote.as_str().to_owned()),
        forge: forge.map(|project| project.kind().word()),
        ..Rehearsal::without_branches(request, &store)?
    })
}

impl Rehearsal {
    /// What is the same wherever tasks work.
    pub(super) fn without_branches(request: &RunRequest, store: &Store) -> Result<Self, RunError> {
        let agent = request.agent.agent(&request.program);
        let said = SAID.map(|name| (name, std::ffi::OsString::new()));
        let launch = agent.launch(&Brief {
            program: &request.program,
            prompt: "",
            prompt_file: Path::new("{{prompt_file}}"),
            identity: store.identity(),
            said: &said,
            session: None,
            question: None,
            spent: Spent::default(),
            is_held: !matches!(request.settings.sandbox, Some(SandboxChoice::None)),
        });
        let name = |(name, _): (std::ffi::OsString, _)| name.to_string_lossy().into_owned();
        let mut variables: Vec<String> = launch.env.into_iter().map(name).collect();
        variables.sort();
        let argv = if let ChosenAgent::Preset(agent) = &request.agent {
            // What the user knows is the agent's own program, not who drives it.
            agent.words()
        } else {
            let words = launch.argv.iter();
            words
                .map(|word| word.to_string_lossy().into_owned())
                .collect()
        };
        Ok(Self {
            folder: store.plain_folder().map(Path::to_owned),
            base: None,
            batch: next_number(request, &project_name(store))?,
            batch_branch: None,
            task_branches: Vec::new(),
            worktrees: None,
            steering: Vec::new(),
            consent: Vec::new(),
            interrupted: interrupted_before(request)?,
            remote: None,
            target: None,
            base_branch: None,
            unpushed: None,
            pushes: false,
            push_unconfirmed: false,
            forge: None,
            argv,
            variables,
            past: past(request, &project_name(store))?,
            builds_on: Vec::new(),
            submissions: Vec::new(),
            notes: Vec::new(),
        })
    }
}

fn is_push_confirmed(request: &RunRequest, project: &str, address: &str) -> Result<bool, RunError> {
    let database = if request.state.database().exists() {
        Some(Database::open(&request.state)?)
    } else {
        None
    };
    Ok(may_push(database.as_ref(), project, address)?)
}

pub(super) fn consent(
    request: &RunRequest,
    project: &str,
    files: &SteeringFiles,
) -> Result<Vec<SteeringChange>, RunError> {
    let template = request.template.as_ref().map(Template::text);
    let said = steering_settings(&request.settings, &request.agent, template, &request.typed);
    let now = Steering::new(files, said, &Secrets::of_environment(&[]).hider());
    let before = if request.state.database().exists() {
        Database::open(&request.state)?.consented(project)?
    } else {
        Vec::new()
    };
    Ok(unconsented(&now, before))
}

fn interrupted_before(request: &RunRequest) -> Result<Vec<BatchNumber>, RunError> {
    if !request.state.database().exists() {
        return Ok(Vec::new());
    }
    let rows = interrupted(&request.state, &request.folder)?;
    Ok(rows.iter().map(|row| row.number).collect())
}

fn next_number(request: &RunRequest, project: &str) -> Result<BatchNumber, RunError> {
    if !request.state.database().exists() {
        return Ok(BatchNumber(1));
    }
    Ok(Database::open(&request.state)?.next_number(project)?)
}

/// What tasks would build on; what is in the store is compared with what is in the repository, in neither of them.
fn builds_on(
    request: &RunRequest,
    repository: &Repository,
    base: &CommitId,
) -> Result<Vec<BuildsOn>, RunError> {
    let store = Store::existing(Git::find()?, &request.state.stores(), &request.folder)?;
    let Some(store) = store.filter(|_| request.state.database().exists()) else {
        return Ok(Vec::new());
    };
    let database = Database::open(&request.state)?;
    let plan = request.plan.origin.settled();
    let plan = plan.map_err(RunError::io("find the plan"))?;
    let project = project_name(&store);
    let weave_folder = || WeaveFolder::of_repository(repository)?.borrowing(&store);
    let found = EarlierWork::find(
        request,
        &database,
        (&project, &plan),
        (&store, &weave_folder),
        base,
    )?;
    Ok(found.earlier.told_all())
}

fn past(request: &RunRequest, project: &str) -> Result<HashMap<TaskId, Duration>, RunError> {
    if !request.state.database().exists() {
        return Ok(HashMap::new());
    }
    let plan = request.plan.origin.settled();
    let plan = plan.map_err(RunError::io("find the plan"))?;
    let database = Database::open(&request.state)?;
    let look_up = |plan: &str| database.past_durations(project, plan);
    Ok(by_id_in_batch(&plan, request.plan.homes(), look_up)?)
}
