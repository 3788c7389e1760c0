//! What a batch of some tasks would be, looked up without starting or writing anything.
//!
//! Consent is no part of it: that is asked for when a batch starts.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use pleach_domain::choice::Where;
use pleach_domain::graph::{Graph, Order, OrderRules, Strictness};
use pleach_domain::id::TaskId;
use pleach_domain::phase::Threshold;
use pleach_domain::problem::Problem;
use pleach_log::database::{Database, DatabaseError};
use pleach_log::ownership::is_owned;
use pleach_log::view::PredictedView;
use pleach_system::secrets::Secrets;
use pleach_system::state_folder::StateFolder;
use serde::Serialize;
use utoipa::ToSchema;

use super::{BatchOptions, Chosen, StartError, chosen_of, request, trusted_settings};
use crate::board::{Board, BoardErrorKind, TasksToRun};
use crate::config::Settings;
use crate::fault::{ErrorText, Faults};
use crate::plan_sizes::check_sizes;
use crate::plan_to_run::by_id_in_batch;
use crate::run::{Rehearsal, RunError, rehearse};

/// A preview of a batch; tasks are identified by their own ids.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchPreview {
    /// Tasks whose predecessors are all in earlier waves.
    stages: Vec<PreviewStage>,
    /// Tasks that declare the same files; the second of two waits for the first.
    predicted_conflicts: Vec<PredictedView>,
    /// Missing dependencies: neither done nor in the batch.
    missing: Vec<MissingNeeds>,
    /// Requested tasks that are already done.
    left_out: Vec<String>,
    /// Warnings; they do not keep the batch from starting.
    warnings: Vec<Warning>,
    /// The address that the result would be pushed to, if any.
    push_to: Option<String>,
    /// Whether `confirmPush` is needed, because this project has never pushed to that address.
    push_unconfirmed: bool,
    /// Why the batch would not start; consent is checked at the start only.
    refusal: Option<ErrorText>,
}

/// Tasks that may run at the same time.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PreviewStage {
    /// Counted from 1.
    number: usize,
    tasks: Vec<String>,
}

/// A task whose dependencies are missing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MissingNeeds {
    task_id: String,
    needs: Vec<String>,
}

/// A warning.
#[derive(Debug, Serialize, ToSchema)]
pub struct Warning {
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

/// Looks up what would come of starting tasks; only tasks that are unknown, and ids that are none, are errors.
pub fn preview(
    state: &StateFolder,
    program: &Path,
    options: &BatchOptions,
) -> Result<BatchPreview, Faults> {
    options.check_ids()?;
    let board = Board::open(state)?;
    let mut tasks = match board.tasks_to_run(&options.task_ids) {
        Ok(tasks) => tasks,
        Err(error)
            if matches!(
                error.fault(),
                BoardErrorKind::Conflict | BoardErrorKind::Impossible
            ) =>
        {
            return Ok(BatchPreview::default().refused(error.into()));
        }
        Err(error) => return Err(error.into()),
    };
    let ids = board.ids_of(&tasks.project.id, &tasks.plan)?;
    let settings = trusted_settings(state, &tasks, options);
    // Without settings it does not start, and what it would be is shown all the same.
    let known = settings.as_ref().ok();
    let threshold = known.map_or_else(Threshold::default, |known| known.phase_threshold);
    if let Some(known) = known {
        check_sizes(&mut tasks.plan.document.plan, known);
    }
    let place = known.map_or_else(Where::default, |known| known.place);
    let mut chosen = chosen_of(&tasks, options, threshold);
    let errors = std::mem::take(&mut chosen.errors);
    let preview = BatchPreview::new(&tasks, &chosen, &ids, options.rules(threshold));
    let found = if errors.is_empty() {
        let busy = refuse_busy(state, &tasks, &chosen.tasks);
        busy.and_then(|()| try_out(state, program, tasks, options, chosen.tasks, settings?))
    } else {
        Err(StartError::Plan(errors))
    };
    let unfit = options.check_number(place);
    let unfit = unfit.and_then(|()| options.check(place));
    Ok(match (unfit, found) {
        (Ok(()), Ok(found)) => preview.pushing(found),
        (Ok(()), Err(error)) => preview.refused(error.into()),
        (Err(unfit), Ok(found)) => preview.pushing(found).refused(unfit),
        (Err(unfit), Err(_)) => preview.refused(unfit),
    })
}

impl BatchPreview {
    fn new(
        tasks: &TasksToRun,
        chosen: &Chosen,
        ids: &HashMap<TaskId, String>,
        rules: OrderRules,
    ) -> Self {
        let plan = &tasks.plan.document.plan;
        let graph = Graph::new(plan, Strictness::AsWritten);
        // A task that came into its file just now is on no board yet.
        let id_of = |task: &TaskId| ids.get(task).cloned().unwrap_or_else(|| task.to_string());
        let name = |position: usize| id_of(&plan.tasks[position].id);
        let names = |positions: &[usize]| positions.iter().map(|at| name(*at)).collect();
        let mut members = vec![false; plan.tasks.len()];
        for position in &chosen.tasks {
            members[*position] = true;
        }
        let order = Order::new(&graph, &members, rules);
        let stages = (1..).zip(&order.waves).map(|(number, wave)| PreviewStage {
            number,
            tasks: names(wave),
        });
        let collisions = order.ordered.iter().filter_map(|pair| {
            let first: HashSet<&String> = graph.task(pair.first).files.iter().collect();
            let both = graph.task(pair.then).files.iter();
            let files: Vec<String> = both.filter(|file| first.contains(file)).cloned().collect();
            (!files.is_empty()).then(|| PredictedView {
                tasks: [name(pair.first), name(pair.then)],
                files,
            })
        });
        let missing = graph.needs_beyond(&chosen.tasks).into_iter();
        let missing = missing.map(|(task, needs)| MissingNeeds {
            task_id: name(task),
            needs: names(&needs),
        });
        let taken: HashSet<&TaskId> = { chosen.tasks.iter() }
            .map(|at| &plan.tasks[*at].id)
            .collect();
        let left_out = tasks.tasks.iter().filter(|task| !taken.contains(*task));
        Self {
            stages: stages.collect(),
            predicted_conflicts: collisions.collect(),
            missing: missing.collect(),
            left_out: left_out.map(id_of).collect(),
            warnings: chosen.warnings.iter().map(Warning::from).collect(),
            ..Self::default()
        }
    }

    fn pushing(mut self, found: Rehearsal) -> Self {
        let hider = Secrets::of_environment(&[]).hider();
        let remote = found.remote.filter(|_| found.pushes);
        self.push_to = remote.map(|remote| hider.hidden(remote));
        self.push_unconfirmed = found.push_unconfirmed;
        self
    }

    fn refused(mut self, why: Faults) -> Self {
        let hider = Secrets::of_environment(&[]).hider();
        self.refusal = Some(ErrorText::from(why).hidden(&hider));
        self
    }
}

fn refuse_busy(
    state: &StateFolder,
    tasks: &TasksToRun,
    chosen: &[usize],
) -> Result<(), StartError> {
    let database = Database::open(state)?;
    let holders: Result<_, DatabaseError> = database.look_at_boards(|tables| {
        let look_up = |plan: &str| tables.holders(&tasks.project.id, plan);
        by_id_in_batch(&tasks.plan.origin, tasks.plan.homes(), look_up)
    });
    let holders = holders?;
    for position in chosen {
        let task = &tasks.plan.document.plan.tasks[*position].id;
        let Some(holder) = holders.get(task) else {
            continue;
        };
        // What a batch that nobody runs has not done is free.
        if is_owned(&state.batch(holder.batch)).map_err(RunError::from)? {
            let (task, batch) = (task.clone(), holder.number);
            return Err(DatabaseError::TaskBusy { task, batch }.into());
        }
    }
    Ok(())
}

/// Everything that starting looks at before it makes something.
fn try_out(
    state: &StateFolder,
    program: &Path,
    tasks: TasksToRun,
    options: &BatchOptions,
    chosen: Vec<usize>,
    settings: Settings,
) -> Result<Rehearsal, StartError> {
    let request = request(state, program, tasks, options, chosen, settings)?;
    Ok(rehearse(&request)?)
}
