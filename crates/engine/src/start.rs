//! Turns what somebody asks for into a batch that is ready to run, with its agent, its prompt and its tasks.
//!
//! Needs no terminal: what must be asked is handed back with the batch, and running it is the caller's business.

mod chosen;
mod error;
mod options;
mod preview;

use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::batch::{Barriers, Fallback};
use pleach_domain::choice::{RunMode, Where};
use pleach_domain::graph::{Graph, OrderRules};
use pleach_domain::next::NextRules;
use pleach_domain::phase::Threshold;
use pleach_domain::problem::Problem;

pub use chosen::{Chosen, Dependencies};
pub use error::StartError;
pub use options::{BatchOptions, check_id, whole_number};
pub use preview::{BatchPreview, Warning, preview};

use pleach_log::database::{Database, Provenance, RequestKey};
use pleach_system::sandbox::SandboxPolicy;
use pleach_system::state_folder::StateFolder;

use crate::agent;
use crate::board::TasksToRun;
use crate::config::{Config, Layers, Settings};
use crate::plan_in_use::project_folder;
use crate::plan_sizes::check_sizes;
use crate::plan_to_run::PlanToRun;
use crate::prompt::Template;
use crate::run::{EarlierBatches, Fetch, Prepared, Proofs, RunRequest, prepare};
use crate::trust::TrustRequest;

/// How long an agent may take to stop.
pub const GRACE: Duration = Duration::from_secs(10);

impl RunRequest {
    /// The chosen tasks of a plan, run as the settings say; fails where their agent or sandbox is not there.
    pub fn new(
        folder: PathBuf,
        plan: PlanToRun,
        chosen: Vec<usize>,
        settings: Settings,
        state: StateFolder,
        program: PathBuf,
    ) -> Result<Self, StartError> {
        let agent = agent::choose(&settings)?;
        agent.check_installed(settings.place, &program)?;
        SandboxPolicy::choose(settings.sandbox.as_ref(), &settings.sandbox_write)?
            .on_network(settings.network, &program)?;
        Ok(Self {
            folder,
            plan,
            chosen,
            rules: OrderRules {
                threshold: settings.phase_threshold,
                ..OrderRules::default()
            },
            barriers: Barriers::default(),
            fallback: Fallback::default(),
            settings,
            agent,
            template: None,
            typed: Vec::new(),
            grace: GRACE,
            state,
            program,
            fetch: Fetch::Nothing,
            earlier: EarlierBatches::Weave,
            status_file: None,
            proofs: Proofs::Remembered,
        })
    }

    /// The same with a prompt: what is said now, else what the configured file says. What the flags and the prompt say
    /// at this moment needs no consent.
    pub fn said_now(mut self, flags: &Config, prompt: Option<String>) -> Result<Self, StartError> {
        let given = [
            ("validate", flags.validate.is_some()),
            ("prompt", prompt.is_some()),
        ];
        let given = given.into_iter().filter(|(_, is_given)| *is_given);
        self.typed = given.map(|(name, _)| name).collect();
        let prompt = match prompt {
            None => self.settings.load_prompt()?,
            said => said,
        };
        self.template = prompt.as_deref().map(Template::parse).transpose()?;
        Ok(self)
    }
}

/// Prepares a batch of tasks, with what is odd and stops nothing; nothing is changed yet.
pub(crate) fn prepare_tasks(
    state: &StateFolder,
    program: &Path,
    mut tasks: TasksToRun,
    options: &BatchOptions,
    key: Option<&RequestKey>,
) -> Result<(Prepared, Vec<Problem>), StartError> {
    let settings = trusted_settings(state, &tasks, options)?;
    check_sizes(&mut tasks.plan.document.plan, &settings);
    let chosen = chosen_of(&tasks, options, settings.phase_threshold);
    if !chosen.errors.is_empty() {
        return Err(StartError::Plan(chosen.errors));
    }
    let provenance = Provenance {
        key: key.cloned(),
        execution_plan: tasks.revision.clone(),
    };
    let request = request(state, program, tasks, options, chosen.tasks, settings)?;
    Ok((prepare(request)?.made_for(provenance), chosen.warnings))
}

/// What is configured, unless the project asks for more than others may and nobody trusts it with that.
fn trusted_settings(
    state: &StateFolder,
    tasks: &TasksToRun,
    options: &BatchOptions,
) -> Result<Settings, StartError> {
    let folder = project_folder(&tasks.project.path);
    let layers = Layers::load(&folder)?.with_flags(options.flags());
    let settings = Settings::of_layers(&layers, &folder)?;
    let openings = TrustRequest::find(&layers, &settings, &folder);
    // Several at once need a repository, which is said better later.
    let is_refused_later = openings.is_in_place && settings.mode == RunMode::Parallel;
    if is_refused_later || openings.are_trusted(&Database::open(state)?)? {
        Ok(settings)
    } else {
        Err(StartError::Untrusted(openings))
    }
}

/// Where a batch of these tasks is to run.
pub(crate) fn place_of(tasks: &TasksToRun, options: &BatchOptions) -> Result<Where, StartError> {
    let folder = project_folder(&tasks.project.path);
    let configured = || Ok(Settings::load(&folder, Config::default())?.place);
    options.place.map_or_else(configured, Ok)
}

fn chosen_of(tasks: &TasksToRun, options: &BatchOptions, threshold: Threshold) -> Chosen {
    let graph = Graph::new(&tasks.plan.document.plan, options.strictness());
    let next = NextRules {
        threshold,
        ..NextRules::default()
    };
    Chosen::by_id(&graph, &tasks.tasks, next, options.dependencies())
}

fn request(
    state: &StateFolder,
    program: &Path,
    tasks: TasksToRun,
    options: &BatchOptions,
    chosen: Vec<usize>,
    settings: Settings,
) -> Result<RunRequest, StartError> {
    let TasksToRun { project, plan, .. } = tasks;
    let (state, program) = (state.clone(), program.to_owned());
    let request = RunRequest::new(project.path, plan, chosen, settings, state, program)?;
    let mut request = request.said_now(&options.flags(), options.prompt.clone())?;
    options.put_in_order(&mut request);
    if project.url.is_some() {
        // What was cloned from elsewhere is brought up to date first.
        request.fetch = Fetch::Origin;
    }
    Ok(request)
}

pub(crate) fn made_before(
    state: &StateFolder,
    key: Option<&RequestKey>,
) -> Result<Option<u32>, StartError> {
    let Some(key) = key else {
        return Ok(None);
    };
    let database = Database::open(state)?;
    match database.batch_of_key(&key.key)? {
        None => Ok(None),
        Some((batch, fingerprint)) if fingerprint == key.fingerprint => Ok(Some(batch)),
        Some((batch, _)) => Err(StartError::KeyReused {
            key: key.key.clone(),
            batch: database.number_of(batch)?.unwrap_or_default(),
        }),
    }
}
