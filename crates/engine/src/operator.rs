//! Carries out what people and programs ask of batches, in a process that hosts some, and waits for the effect.
//!
//! Knows neither HTTP nor a terminal: whoever asks hears what was done, or a fault.

use std::path::Path;
use std::time::Duration;

use pleach_domain::batch::LandingRequest;
use pleach_domain::choice::{RunMode, Where};
use pleach_domain::event::Rollback;
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Ending;
use pleach_log::database::{Database, RequestKey};
use pleach_log::view::BatchView;
use pleach_system::state_folder::StateFolder;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::board::{Board, TasksToRun};
use crate::consent::ConsentChange;
use crate::control::{Control, ControlOutcome, cancelled, stopped};
use crate::execution::{best_mode, running_execution};
use crate::fault::{Blame, Fault, Faults};
use crate::host::Host;
use crate::resolve::Resolution;
use crate::run::{Prepared, take_up};
use crate::start::{BatchOptions, Warning, made_before, place_of, prepare_tasks};
use crate::stored_batch::{LookupError, StoredBatch};

/// How often a task is looked at that somebody waits for.
const LOOK: Duration = Duration::from_millis(50);

/// Who consents to the files and settings that steer agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Each request for itself.
    Asked,
    /// Whoever started the process, for all of them (`--yes`).
    Given,
}

/// Whoever carries out requests, and what they need for that.
#[derive(Debug)]
pub struct Operator<'a> {
    pub state: &'a StateFolder,
    /// Pleach's own program, which git calls back and which wraps agents.
    pub program: &'a Path,
    pub host: &'a Host,
    pub consent: Consent,
}

/// A batch that was started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartedBatch {
    #[serde(flatten)]
    batch: BatchView,
    /// Warnings; they did not keep the batch from starting.
    warnings: Vec<Warning>,
}

/// Options of a landing.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LandingWish {
    /// A local branch to fast-forward instead of pushing and opening a pull request
    into: Option<String>,
    /// Whether to land without a proof; no tests are run
    unproved: bool,
    /// Whether a person confirmed the push to the address of a `push_unconfirmed` error
    confirm_push: bool,
}

impl StartedBatch {
    pub fn id(&self) -> u32 {
        self.batch.id
    }
}

impl<'a> Operator<'a> {
    pub fn control(&self, batch: u32) -> Control<'a> {
        Control {
            state: self.state,
            batch,
            program: self.program,
        }
    }

    pub fn batch(&self, id: u32) -> Result<BatchView, LookupError> {
        let view = BatchView::load(self.state, &Database::open(self.state)?, id)?;
        view.ok_or(LookupError::NoBatch(id))
    }

    fn stored(&self, batch: u32) -> Result<StoredBatch, LookupError> {
        StoredBatch::load(&Database::open(self.state)?, batch)
    }

    /// Starts a batch of tasks of a board; a request with a key that made one before gives that one.
    pub fn start(
        &self,
        options: &BatchOptions,
        key: Option<&RequestKey>,
    ) -> Result<StartedBatch, Faults> {
        // Its tasks may be gone by now.
        if let Some(before) = self.started_before(key)? {
            return Ok(before);
        }
        // No place takes more; where it runs, its project says.
        options.check_number(Where::Slurm)?;
        options.check_ids()?;
        let tasks = Board::open(self.state)?.tasks_to_run(&options.task_ids)?;
        self.start_tasks(tasks, options, key)
    }

    /// Starts the execution plan of a project; tells whether several of its tasks run at once.
    pub fn start_execution(
        &self,
        project: &str,
        options: BatchOptions,
        key: Option<&RequestKey>,
    ) -> Result<RunMode, Faults> {
        let tasks = Board::open(self.state)?.execution_plan(project)?;
        let running = running_execution(self.state, project)?;
        let is_repeated = made_before(self.state, key)?.is_some();
        if let Some(batch) = running.filter(|_| !is_repeated) {
            let message = format!(
                "batch {} is already running the execution plan of this project",
                self.control(batch).number()
            );
            let running = Fault::new(Blame::User, "already_running", message);
            return Err(running.hint("stop it, or wait until it finishes").into());
        }
        let mode = if tasks.project.is_repository {
            best_mode(&tasks.plan.document.plan)
        } else {
            // Nobody asked for work in the folder itself; what runs at once is refused there with the reason.
            RunMode::Parallel
        };
        let options = BatchOptions {
            mode: Some(mode),
            ..options
        };
        self.start_tasks(tasks, &options, key)?;
        Ok(mode)
    }

    /// Has the execution plan of a project finish what runs and start nothing new.
    pub fn stop_execution(&self, project: &str) -> Result<String, Faults> {
        if let Some(batch) = running_execution(self.state, project)? {
            return self.stop(batch);
        }
        Board::open(self.state)?.execution_plan(project)?;
        let message = "the execution plan of this project is not running";
        let nothing = Fault::new(Blame::User, "not_running", message);
        Err(nothing.hint("start it first").into())
    }

    fn start_tasks(
        &self,
        tasks: TasksToRun,
        options: &BatchOptions,
        key: Option<&RequestKey>,
    ) -> Result<StartedBatch, Faults> {
        self.host.check_is_open()?;
        let place = place_of(&tasks, options)?;
        options.check_number(place)?;
        options.check(place)?;
        if let Some(before) = self.started_before(key)? {
            return Ok(before);
        }
        let prepared = prepare_tasks(self.state, self.program, tasks, options, key)?;
        let (mut prepared, warnings) = prepared;
        self.check_consent(&mut prepared, options.consent.as_deref())?;
        if options.confirm_push {
            prepared.confirm_push()?;
        }
        check_push(&mut prepared)?;
        match self.host.begin(prepared) {
            Ok((batch, _)) => Ok(StartedBatch {
                batch: self.batch(batch)?,
                warnings: warnings.iter().map(Warning::from).collect(),
            }),
            // The same request may have been faster on another connection.
            Err(faults) => self.started_before(key)?.ok_or(faults),
        }
    }

    fn started_before(&self, key: Option<&RequestKey>) -> Result<Option<StartedBatch>, Faults> {
        let batch = made_before(self.state, key)?;
        let batch = batch.map(|batch| self.batch(batch)).transpose()?;
        Ok(batch.map(|batch| StartedBatch {
            batch,
            warnings: Vec::new(),
        }))
    }

    /// That a batch was consented to; otherwise tells what there is to consent to.
    fn check_consent(&self, prepared: &mut Prepared, given: Option<&str>) -> Result<(), Faults> {
        let mut changes = prepared.unconsented()?;
        if changes.is_empty() {
            return Ok(());
        }
        if self.consent == Consent::Given {
            return Ok(prepared.consent()?);
        }
        if let Some(fingerprint) = given
            && prepared.consent_to(fingerprint)?
        {
            return Ok(());
        }
        prepared.show_contents(&mut changes)?;
        let changes: Vec<ConsentChange> = changes.iter().map(ConsentChange::new).collect();
        let fingerprint = prepared.fingerprint();
        let message =
            "the files and settings that control agents in this project need a person's consent";
        let hint = "show `details.changes` to a person, and send `details.fingerprint` as `consent` if they agree";
        Err(Faults::from(Fault {
            details: Some(json!({"fingerprint": fingerprint, "changes": changes})),
            ..Fault::new(Blame::User, "no_consent", message).hint(hint)
        }))
    }

    /// Brings the result of a batch that is over to where it shall go.
    pub fn land(&self, batch: u32, wish: LandingWish) -> Result<String, Faults> {
        self.host.check_is_open()?;
        let mut prepared = self.control(batch).land(LandingRequest {
            into: wish.into,
            despite_findings: false,
            unproved: wish.unproved,
            prove_again: false,
        })?;
        if wish.confirm_push {
            prepared.confirm_push()?;
        }
        check_push(&mut prepared)?;
        let (_, running) = self.host.begin(*prepared)?;
        running.end()?;
        let batch = self.batch(batch)?;
        let number = batch.number;
        let Some(why) = batch.validation.not_landed else {
            return Ok(format!("batch {number} has landed"));
        };
        let message = format!("batch {number} did not land: {why}");
        let hint = "the result is on its branch; land it again once that is fixed";
        Err(Fault::new(Blame::User, "not_landed", message)
            .hint(hint)
            .into())
    }

    pub fn resume(&self, batch: u32) -> Result<String, Faults> {
        self.host.check_is_open()?;
        let prepared = take_up(self.state, batch, self.program, None)?;
        let number = self.control(batch).number();
        let Some(prepared) = prepared else {
            let message = format!("batch {number} is not interrupted: it is running");
            let running = Fault::new(Blame::User, "batch_running", message);
            return Err(running.hint("its events show its progress").into());
        };
        self.host.begin(prepared)?;
        Ok(format!("batch {number} resumed"))
    }

    /// Has a batch finish what runs and start nothing new, wherever it runs.
    pub fn stop(&self, batch: u32) -> Result<String, Faults> {
        let control = self.control(batch);
        self.begun(control.stop()?, || stopped(control.number()))
    }

    /// Stops a batch, wherever it runs; tells when it is over.
    pub fn cancel(&self, batch: u32, rollback: Rollback) -> Result<String, Faults> {
        let control = self.control(batch);
        match control.cancel(rollback)? {
            ControlOutcome::Done { message } => Ok(message),
            ControlOutcome::Run(prepared) => {
                let (_, running) = self.host.begin(*prepared)?;
                let ended = running.end()?;
                Ok(cancelled(control.number(), ended.status.as_str()))
            }
        }
    }

    /// Stops one task, by its key in the batch or its id; tells when that is over.
    pub fn cancel_task(&self, batch: u32, task: &str) -> Result<String, Faults> {
        let task = self.stored(batch)?.key_of(task)?;
        let effect = self.control(batch).cancel_task(&task)?;
        self.begun(effect, || format!("task {task} is cancelled"))
    }

    /// Tries a task again that did not make it, by its key in the batch or its id.
    pub fn retry_task(&self, batch: u32, task: &str) -> Result<String, Faults> {
        self.host.check_is_open()?;
        let task = self.stored(batch)?.key_of(task)?;
        let effect = self.control(batch).retry(std::slice::from_ref(&task))?;
        self.begun(effect, || format!("task {task} is queued again"))
    }

    /// Runs what nobody was at; what was asked for is done once it has begun.
    fn begun(
        &self,
        effect: ControlOutcome,
        said: impl FnOnce() -> String,
    ) -> Result<String, Faults> {
        match effect {
            ControlOutcome::Done { message } => Ok(message),
            ControlOutcome::Run(prepared) => {
                self.host.begin(*prepared)?;
                Ok(said())
            }
        }
    }

    /// Weaves what a person made of a conflict; tells what became of the task.
    pub fn resolve(&self, batch: u32, task: &str) -> Result<String, Faults> {
        self.host.check_is_open()?;
        let task = self.stored(batch)?.key_of(task)?;
        let resolved = Resolution::find(self.state, batch, &task)?.finish()?;
        let prepared = match self.control(batch).resolve(&task, &resolved)? {
            ControlOutcome::Done { message } => return Ok(message),
            ControlOutcome::Run(prepared) => prepared,
        };
        let (_, running) = self.host.begin(*prepared)?;
        loop {
            if let Some(outcome) = self.outcome(batch, &task)? {
                return Ok(format!("task {task} is {outcome}"));
            }
            if let Some(ended) = running.wait(LOOK) {
                ended?;
                let outcome = self.outcome(batch, &task)?.unwrap_or("interrupted");
                return Ok(format!("task {task} is {outcome}"));
            }
        }
    }

    fn outcome(&self, batch: u32, task: &TaskId) -> Result<Option<&'static str>, LookupError> {
        let stored = self.stored(batch)?;
        let state = &stored.batch.tasks[stored.position(task)?].state;
        Ok(state.ending().map(Ending::outcome))
    }
}

fn check_push(prepared: &mut Prepared) -> Result<(), Faults> {
    let Some(address) = prepared.unconfirmed_push()? else {
        return Ok(());
    };
    let message =
        format!("this project has never pushed to {address}; the first push needs confirmation");
    let hint = "show `details.address` to a person, and send `confirmPush: true` if they agree; to push nothing, set \
                `land` to `none` or `local`";
    Err(Faults::from(Fault {
        details: Some(json!({ "address": address })),
        ..Fault::new(Blame::User, "push_unconfirmed", message).hint(hint)
    }))
}
