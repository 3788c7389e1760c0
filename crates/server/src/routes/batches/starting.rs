//! Starts batches: what may be asked for, what must be consented to, and requests that are repeated.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pleach_domain::batch::{Barriers, Fallback};
use pleach_domain::choice::{Landing, OnConflict, RunMode, Strategy};
use pleach_domain::graph::{Overlap, Strictness};
use pleach_domain::id::TaskId;
use pleach_domain::phase::Threshold;
use pleach_domain::problem::Problem;
use pleach_engine::board::{Board, Project};
use pleach_engine::config::{Config, MaxParallel};
use pleach_engine::plan_to_run::PlanToRun;
use pleach_engine::run::{EarlierBatches, Fetch, Prepared};
use pleach_engine::start::{self, Dependencies, OrderChoice, Start, Started};
use pleach_log::database::{Provenance, RequestKey};
use pleach_log::view::BatchView;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::consenting::ConsentChange;
use super::push_consent::Push;
use super::shown;
use crate::answer::{ErrorBody, Refusal};
use crate::app::{App, Consent};
use crate::hosting::{aside, begin};
use crate::input::{Body, Id, PathParams, check_id, whole};

/// A batch has no more tasks.
const MOST_TASKS: usize = 1_000;
/// The longest prompt.
const LONGEST_PROMPT: usize = 100_000;
/// The longest name, model or command.
const LONGEST_TEXT: usize = 10_000;

/// What a batch is to be; what is left out is as configured.
#[derive(Debug, Default, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of the request that stands for itself"
)]
pub(crate) struct BatchOptions {
    /// The ids of the tasks, of one project; they may be of its board and of its plan files
    pub(crate) task_ids: Vec<String>,
    pub(crate) mode: Option<RunMode>,
    /// What agents are told besides; the whole of it where it has places such as `{{title}}`
    pub(crate) prompt: Option<String>,
    /// How many tasks run at once
    #[schema(minimum = 1, maximum = 64)]
    #[serde(deserialize_with = "whole")]
    pub(crate) max_concurrent: Option<u32>,
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<String>,
    /// The branch, tag or commit to start from
    pub(crate) base: Option<String>,
    /// Whether a queue goes on without being asked
    pub(crate) auto_approve: Option<bool>,
    pub(crate) stop_on_failure: Option<bool>,
    pub(crate) conflict_behavior: Option<OnConflict>,
    pub(crate) merge: Option<Strategy>,
    /// The command that proves the result
    pub(crate) validate: Option<String>,
    pub(crate) land: Option<Landing>,
    /// Whether dependencies that are not named and not done are added
    pub(crate) with_deps: bool,
    /// Whether the base is said to have what earlier batches did
    pub(crate) assume_landed: bool,
    /// Whether each wave is woven and proved before the next starts
    pub(crate) waves: bool,
    /// Whether tasks that declare the same file may run side by side
    pub(crate) allow_overlap: bool,
    /// Whether the batch fails where several tasks at once do not work out, instead of running them one at a time
    pub(crate) no_fallback: bool,
    /// The share of an earlier phase that must be settled before a later one starts; 0.8 if nothing is said
    #[schema(minimum = 0, maximum = 1)]
    pub(crate) phase_threshold: Option<f64>,
    /// Whether a dependency that is not in the plan is an error
    pub(crate) strict: bool,
    /// The fingerprint of what was shown in a `no_consent` error, by a person who consents to it
    pub(crate) consent: Option<String>,
    /// Whether a person confirms that this project pushes to the address of a `push_unconfirmed` error
    pub(crate) confirm_push: bool,
}

/// A batch that was started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartedBatch {
    #[serde(flatten)]
    batch: BatchView,
    /// What is odd and stopped nothing.
    warnings: Vec<Warning>,
}

/// Something odd.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Warning {
    code: &'static str,
    message: String,
    hint: Option<String>,
}

impl From<&Problem> for Warning {
    fn from(problem: &Problem) -> Self {
        Self {
            code: problem.code.as_str(),
            message: problem.message.clone(),
            hint: problem.hint.clone(),
        }
    }
}

/// Makes a batch of tasks and starts it
#[utoipa::path(post, path = "/api/batches", operation_id = "startBatch", tag = "batches", request_body = BatchOptions,
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 200, pattern = "^[!-~][ -~]*$",
        description = "1 to 200 printable ASCII characters; the same key and body create only one batch within 7 days")),
    responses((status = 201, body = StartedBatch),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(super) async fn start(
    State(app): State<App>,
    headers: HeaderMap,
    Body(options): Body<BatchOptions>,
) -> Result<Response, Refusal> {
    let key = key_of(&headers, "batch", &options)?;
    aside(&app, move |app| of_tasks(app, &options, key)).await
}

/// Runs one task alone
#[utoipa::path(post, path = "/api/tasks/{id}/run", operation_id = "runTask", tag = "batches",
    request_body = BatchOptions,
    params(("id" = inline(Id), Path, description = "The id of the task"),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 200, pattern = "^[!-~][ -~]*$",
            description = "As for POST /api/batches")),
    responses((status = 201, body = StartedBatch),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(super) async fn run_task(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
    headers: HeaderMap,
    Body(mut options): Body<BatchOptions>,
) -> Result<Response, Refusal> {
    check_id(&id)?;
    if !options.task_ids.is_empty() {
        let (message, hint) = (
            "the path already names the task",
            "omit it, or use POST /api/batches",
        );
        return Err(Refusal::field(
            StatusCode::UNPROCESSABLE_ENTITY,
            "taskIds",
            message,
            hint,
        ));
    }
    options.task_ids = vec![id];
    let key = key_of(&headers, "run", &options)?;
    aside(&app, move |app| of_tasks(app, &options, key)).await
}

/// The key of a request that may be repeated, if it has one.
pub(crate) fn key_of(
    headers: &HeaderMap,
    what: &str,
    options: &BatchOptions,
) -> Result<Option<RequestKey>, Refusal> {
    let Some(key) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    let body = serde_json::to_string(options).map_err(|_| Refusal::bug())?;
    let key = key
        .to_str()
        .ok()
        .and_then(|key| RequestKey::new(key, &format!("{what} {body}")));
    key.map(Some).ok_or_else(|| {
        let message = "an idempotency key must have 1 to 200 printable ASCII characters";
        Refusal::new(
            StatusCode::BAD_REQUEST,
            "bad_key",
            message,
            "use a UUID, for example",
        )
    })
}

fn of_tasks(
    app: &App,
    options: &BatchOptions,
    key: Option<RequestKey>,
) -> Result<Response, Refusal> {
    if let Some(before) = made_before(app, key.as_ref())? {
        return Ok(before);
    }
    options.check_number()?;
    options.check_ids()?;
    let board = Board::open(&app.state)?;
    let (project, plan, tasks) = board.plan_of(&options.task_ids)?;
    start_batch(app, bare_start(project, plan, tasks, key), options)
}

/// Tasks that are to run as everything is configured.
pub(super) fn bare_start(
    project: Project,
    plan: PlanToRun,
    tasks: Vec<TaskId>,
    key: Option<RequestKey>,
) -> Start {
    Start {
        fetch: fetch_of(project.url.as_deref()),
        project_folder: project.path,
        plan,
        tasks,
        dependencies: Dependencies::Chosen,
        order: OrderChoice::default(),
        flags: Config::default(),
        prompt: None,
        earlier: EarlierBatches::Weave,
        provenance: Provenance {
            key,
            execution_plan: None,
        },
    }
}

/// What was cloned from elsewhere is brought up to date first.
pub(crate) fn fetch_of(url: Option<&str>) -> Fetch {
    match url {
        Some(_) => Fetch::Origin,
        None => Fetch::Nothing,
    }
}

/// Starts a batch with what was asked for.
pub(crate) fn start_batch(
    app: &App,
    start: Start,
    options: &BatchOptions,
) -> Result<Response, Refusal> {
    app.may_start()?;
    let key = start.provenance.key.clone();
    options.check()?;
    let start = options.laid_upon(start);
    let (prepared, warnings) = match start::start(&app.state, &app.program, start)? {
        Started::Before(batch) => return answered(app, batch, &[]),
        Started::Prepared { prepared, warnings } => (prepared, warnings),
    };
    let mut prepared = consented(app, *prepared, options.consent.as_deref())?;
    Push::of(options.confirm_push).check(&mut prepared)?;
    match begin(app, prepared) {
        Ok((batch, _)) => answered(app, batch, &warnings),
        // The same request may have been faster on another connection.
        Err(refusal) => match made_before(app, key.as_ref())? {
            Some(before) => Ok(before),
            None => Err(refusal),
        },
    }
}

fn made_before(app: &App, key: Option<&RequestKey>) -> Result<Option<Response>, Refusal> {
    let Some(key) = key else {
        return Ok(None);
    };
    match start::made_before(&app.state, key)? {
        Some(batch) => answered(app, batch, &[]).map(Some),
        None => Ok(None),
    }
}

fn answered(app: &App, batch: u32, warnings: &[Problem]) -> Result<Response, Refusal> {
    let body = StartedBatch {
        batch: shown(app, batch)?,
        warnings: warnings.iter().map(Warning::from).collect(),
    };
    let place = [(header::LOCATION, format!("/api/batches/{batch}"))];
    Ok((StatusCode::CREATED, place, Json(body)).into_response())
}

/// A batch that was consented to; otherwise what there is to consent to.
fn consented(app: &App, mut prepared: Prepared, given: Option<&str>) -> Result<Prepared, Refusal> {
    let mut changes = prepared.unconsented()?;
    if changes.is_empty() {
        return Ok(prepared);
    }
    if app.consent == Consent::Given {
        prepared.consent()?;
        return Ok(prepared);
    }
    if let Some(fingerprint) = given
        && prepared.consent_to(fingerprint)?
    {
        return Ok(prepared);
    }
    prepared.show_contents(&mut changes)?;
    let changes: Vec<ConsentChange> = changes.iter().map(ConsentChange::of).collect();
    let refusal = Refusal::new(
        StatusCode::CONFLICT,
        "no_consent",
        "the files and settings that control agents in this project need a person's consent",
        "show `details.changes` to a person, and send `details.fingerprint` as `consent` if they agree",
    );
    let fingerprint = prepared.fingerprint();
    Err(refusal.details(json!({"fingerprint": fingerprint, "changes": changes})))
}

impl BatchOptions {
    pub(super) fn check_ids(&self) -> Result<(), Refusal> {
        if self.task_ids.is_empty() {
            let (message, hint) = (
                "a batch needs at least one task",
                "pass task ids in taskIds",
            );
            let empty = Refusal::field(StatusCode::BAD_REQUEST, "taskIds", message, hint);
            return Err(empty.code("empty_batch"));
        }
        self.task_ids.iter().try_for_each(|id| check_id(id))
    }

    pub(super) fn check_number(&self) -> Result<(), Refusal> {
        if self.task_ids.len() <= MOST_TASKS {
            return Ok(());
        }
        let message = format!("a batch has at most {MOST_TASKS} tasks");
        let unfit = StatusCode::UNPROCESSABLE_ENTITY;
        let many = Refusal::field(unfit, "taskIds", message, "start several batches");
        Err(many.code("too_many_tasks"))
    }

    /// What is asked for, above what is configured.
    pub(super) fn laid_upon(&self, start: Start) -> Start {
        let slots = self
            .max_concurrent
            .and_then(|slots| usize::try_from(slots).ok());
        let flags = Config {
            mode: self.mode,
            max_parallel: slots.map(MaxParallel::AtMost),
            agent: self.agent.clone(),
            model: self.model.clone(),
            base: self.base.clone(),
            queue_auto_approve: self.auto_approve,
            stop_on_failure: self.stop_on_failure,
            phase_threshold: self.phase_threshold.and_then(Threshold::new),
            on_conflict: self.conflict_behavior,
            merge: self.merge,
            validate: self.validate.clone(),
            land: self.land,
            ..Config::default()
        };
        Start {
            flags,
            order: self.order(),
            prompt: self.prompt.clone(),
            dependencies: if self.with_deps {
                Dependencies::Added
            } else {
                start.dependencies
            },
            earlier: if self.assume_landed {
                EarlierBatches::AssumeLanded
            } else {
                start.earlier
            },
            ..start
        }
    }

    fn order(&self) -> OrderChoice {
        let mut order = OrderChoice::default();
        if self.waves {
            order.barriers = Barriers::Waves;
        }
        if self.allow_overlap {
            order.overlap = Overlap::Allowed;
        }
        if self.no_fallback {
            order.fallback = Fallback::Fail;
        }
        if self.strict {
            order.strictness = Strictness::Strict;
        }
        order
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        let unfit = |path: &str, message: String, hint: &str| {
            Err(Refusal::field(
                StatusCode::UNPROCESSABLE_ENTITY,
                path,
                message,
                hint,
            ))
        };
        if self
            .max_concurrent
            .is_some_and(|slots| !(1..=64).contains(&slots))
        {
            return unfit(
                "maxConcurrent",
                "must be 1 to 64".to_owned(),
                "3 is a good start",
            );
        }
        let threshold = self.phase_threshold;
        if threshold.is_some_and(|share| Threshold::new(share).is_none()) {
            let message = "must be between 0 and 1".to_owned();
            return unfit(
                "phaseThreshold",
                message,
                "the default is 0.8; 0 turns it off",
            );
        }
        if self
            .prompt
            .as_ref()
            .is_some_and(|text| text.len() > LONGEST_PROMPT)
        {
            let message = format!("must have at most {LONGEST_PROMPT} bytes");
            return unfit("prompt", message, "shorten it, or move text into the tasks");
        }
        let texts = [
            ("agent", &self.agent),
            ("model", &self.model),
            ("base", &self.base),
            ("validate", &self.validate),
        ];
        for (path, text) in texts {
            let Some(text) = text else { continue };
            if text.len() > LONGEST_TEXT || text.contains('\0') {
                let message = format!("must have at most {LONGEST_TEXT} bytes and no NUL");
                return unfit(path, message, "write it as on the command line");
            }
        }
        Ok(())
    }
}
