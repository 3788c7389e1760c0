//! Begins a batch for somebody who says which tasks of which plan, and what differs from what is configured.
//!
//! Needs no terminal: what must be asked is handed back with the batch, and running it is the caller's business.

mod chosen;
mod error;
mod preview;

use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::batch::{Barriers, Fallback};
use pleach_domain::choice::RunMode;
use pleach_domain::graph::{Graph, OrderRules, Overlap, Strictness};
use pleach_domain::id::TaskId;
use pleach_domain::next::NextRules;
use pleach_domain::phase::Threshold;
use pleach_domain::problem::Problem;

pub use chosen::{Chosen, Dependencies};
pub use error::StartError;
pub use preview::{Preview, preview};

use pleach_log::database::{Database, Provenance, RequestKey};
use pleach_system::sandbox::SandboxPolicy;
use pleach_system::state_folder::StateFolder;

use crate::agent;
use crate::config::{Config, Layers, Settings};
use crate::plan_in_use::project_folder;
use crate::plan_to_run::PlanToRun;
use crate::prompt::Template;
use crate::run::{EarlierBatches, Fetch, Prepared, Proofs, RunRequest, prepare};
use crate::trust::TrustRequest;

/// How long an agent may take to stop.
pub const GRACE: Duration = Duration::from_secs(10);

/// Tasks that are to run.
#[derive(Debug)]
pub struct Start {
    /// The folder of the project.
    pub project_folder: PathBuf,
    /// The plan that they are of.
    pub plan: PlanToRun,
    /// Their ids in it.
    pub tasks: Vec<TaskId>,
    /// What is done about dependencies that are not among them.
    pub dependencies: Dependencies,
    /// What keeps tasks in order.
    pub order: OrderChoice,
    /// What is said now, above all that is configured.
    pub flags: Config,
    /// What agents are told besides, or instead of the usual words.
    pub prompt: Option<String>,
    /// Whether the network is used.
    pub fetch: Fetch,
    /// What is done about work of earlier batches.
    pub earlier: EarlierBatches,
    /// What the batch is made for; a repeated request makes no second one.
    pub provenance: Provenance,
}

/// What keeps tasks in order besides what they need.
#[derive(Debug, Clone, Copy, Default)]
pub struct OrderChoice {
    /// What declared files mean.
    pub overlap: Overlap,
    /// What is woven and proved before the next tasks start.
    pub barriers: Barriers,
    /// What is done where several at once do not work out.
    pub fallback: Fallback,
    /// Whether a dependency that is in no plan is an error.
    pub strictness: Strictness,
}

/// What came of it.
#[derive(Debug)]
pub enum Started {
    /// A batch that is ready to run.
    Prepared {
        /// The batch.
        prepared: Box<Prepared>,
        /// What is odd and stops nothing.
        warnings: Vec<Problem>,
    },
    /// The same request made this batch before.
    Before(u32),
}

/// Prepares a batch; nothing is changed yet.
pub fn start(state: &StateFolder, program: &Path, start: Start) -> Result<Started, StartError> {
    if let Some(key) = &start.provenance.key
        && let Some(batch) = made_before(state, key)?
    {
        return Ok(Started::Before(batch));
    }
    let settings = trusted_settings(state, &start)?;
    let chosen = chosen_by(&start, settings.phase_threshold);
    if !chosen.errors.is_empty() {
        return Err(StartError::Plan(chosen.errors));
    }
    let provenance = start.provenance.clone();
    let errand = errand(state, program, start, chosen.tasks, settings);
    let prepared = prepare(errand.request()?)?.made_for(provenance);
    Ok(Started::Prepared {
        prepared: Box::new(prepared),
        warnings: chosen.warnings,
    })
}

/// What is configured, unless the project asks for more than others may and nobody trusts it with that.
fn trusted_settings(state: &StateFolder, start: &Start) -> Result<Settings, StartError> {
    let folder = project_folder(&start.project_folder);
    let layers = Layers::load(&folder)?.with_flags(start.flags.clone());
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

fn chosen_by(start: &Start, threshold: Threshold) -> Chosen {
    let graph = Graph::new(&start.plan.document.plan, start.order.strictness);
    let next = NextRules {
        threshold,
        ..NextRules::default()
    };
    Chosen::by_id(&graph, &start.tasks, next, start.dependencies)
}

fn errand(
    state: &StateFolder,
    program: &Path,
    start: Start,
    chosen: Vec<usize>,
    settings: Settings,
) -> Errand {
    Errand {
        typed: typed(&start),
        folder: start.project_folder,
        plan: start.plan,
        chosen,
        overlap: start.order.overlap,
        barriers: start.order.barriers,
        fallback: start.order.fallback,
        settings,
        prompt: start.prompt,
        state: state.clone(),
        program: program.to_owned(),
        fetch: start.fetch,
        earlier: start.earlier,
        status_file: None,
    }
}

/// The batch that the same request made before, if it did.
pub fn made_before(state: &StateFolder, key: &RequestKey) -> Result<Option<u32>, StartError> {
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

/// The settings that steer and were said this very moment.
fn typed(start: &Start) -> Vec<&'static str> {
    let given = [
        ("validate", start.flags.validate.is_some()),
        ("prompt", start.prompt.is_some()),
    ];
    let given = given.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(name, _)| name).collect()
}

/// A run whose tasks are chosen, before its agent, sandbox and prompt are found.
#[derive(Debug)]
pub struct Errand {
    /// The folder that the user stands in.
    pub folder: PathBuf,
    /// The plan.
    pub plan: PlanToRun,
    /// The positions of the chosen tasks.
    pub chosen: Vec<usize>,
    /// What declared files mean.
    pub overlap: Overlap,
    /// What is waited for besides.
    pub barriers: Barriers,
    /// What to do when running several at once does not work out.
    pub fallback: Fallback,
    /// Everything that is configured.
    pub settings: Settings,
    /// What agents are told besides, if not what the configured file says.
    pub prompt: Option<String>,
    /// Settings that the person has just typed.
    pub typed: Vec<&'static str>,
    /// Where Pleach keeps its own.
    pub state: StateFolder,
    /// Pleach's own program.
    pub program: PathBuf,
    /// Whether the network is used.
    pub fetch: Fetch,
    /// What is done about work of earlier batches.
    pub earlier: EarlierBatches,
    /// A status file that is kept, by its whole path.
    pub status_file: Option<PathBuf>,
}

impl Errand {
    /// Everything that a batch needs to begin, once it is known to be there.
    pub fn request(self) -> Result<RunRequest, StartError> {
        let settings = &self.settings;
        let agent = agent::choose(settings)?;
        agent.agent(&self.program).check_installed()?;
        SandboxPolicy::choose(settings.sandbox.as_ref(), &settings.sandbox_write)?
            .on_network(settings.network, &self.program)?;
        let prompt = match self.prompt {
            None => settings.load_prompt()?,
            said => said,
        };
        Ok(RunRequest {
            folder: self.folder,
            plan: self.plan,
            chosen: self.chosen,
            rules: OrderRules {
                overlap: self.overlap,
                threshold: settings.phase_threshold,
            },
            barriers: self.barriers,
            fallback: self.fallback,
            template: prompt.as_deref().map(Template::parse).transpose()?,
            settings: self.settings,
            agent,
            typed: self.typed,
            grace: GRACE,
            state: self.state,
            program: self.program,
            fetch: self.fetch,
            earlier: self.earlier,
            status_file: self.status_file,
            proofs: Proofs::Remembered,
        })
    }
}
