//! What a batch of some tasks would be, looked up without starting or writing anything.
//!
//! Consent is no part of it: that is asked for when a batch starts.

use std::collections::HashSet;
use std::path::Path;

use pleach_domain::graph::{Graph, Order, OrderRules, Strictness};
use pleach_domain::id::TaskId;
use pleach_domain::phase::Threshold;
use pleach_domain::problem::Problem;
use pleach_log::database::{Database, DatabaseError};
use pleach_log::ownership::is_owned;
use pleach_log::view::PredictedView;
use pleach_system::secrets::Secrets;
use pleach_system::state_folder::StateFolder;

use super::{Chosen, Start, StartError, chosen_by, errand, trusted_settings};
use crate::config::Settings;
use crate::plan_to_run::by_id_in_batch;
use crate::run::{Rehearsal, RunError, rehearse};

/// What a batch would be.
#[derive(Debug)]
pub struct Preview {
    /// Tasks whose predecessors are all in earlier waves, in plan order within a wave.
    pub waves: Vec<Vec<TaskId>>,
    /// Tasks that declare the same files; the second of two comes after the first.
    pub collisions: Vec<PredictedView>,
    /// Tasks with what they need that is neither done nor among them.
    pub missing: Vec<(TaskId, Vec<TaskId>)>,
    /// Tasks that were named and are done.
    pub left_out: Vec<TaskId>,
    /// What is odd and stops nothing.
    pub warnings: Vec<Problem>,
    /// The address that its result would be pushed to.
    pub push_to: Option<String>,
    /// Whether nobody has confirmed yet that the project pushes there.
    pub push_unconfirmed: bool,
    /// Why it would not start.
    pub refusal: Option<StartError>,
}

/// Looks up what would come of starting tasks of a project.
pub fn preview(state: &StateFolder, program: &Path, project: &str, start: Start) -> Preview {
    let settings = trusted_settings(state, &start);
    // Without settings it does not start, and what it would be is shown all the same.
    let known = settings.as_ref().ok();
    let threshold = known.map_or_else(Threshold::default, |known| known.phase_threshold);
    let mut chosen = chosen_by(&start, threshold);
    let errors = std::mem::take(&mut chosen.errors);
    let tasks = chosen.tasks.clone();
    let mut preview = Preview::of(&start, chosen, threshold);
    preview.refusal = if errors.is_empty() {
        let refused = refuse_busy(state, project, &start, &preview.waves.concat());
        let found = refused.and_then(|()| try_out(state, program, start, tasks, settings?));
        found.map(|found| preview.pushing(found)).err()
    } else {
        Some(StartError::Plan(errors))
    };
    preview
}

impl Preview {
    fn of(start: &Start, chosen: Chosen, threshold: Threshold) -> Self {
        let plan = &start.plan.document.plan;
        let graph = Graph::new(plan, Strictness::AsWritten);
        let name = |position: usize| graph.task(position).id.clone();
        let names = |positions: &[usize]| positions.iter().map(|at| name(*at)).collect();
        let mut members = vec![false; plan.tasks.len()];
        for position in &chosen.tasks {
            members[*position] = true;
        }
        let rules = OrderRules {
            overlap: start.order.overlap,
            threshold,
        };
        let order = Order::new(&graph, &members, rules);
        let collisions = order.ordered.iter().filter_map(|pair| {
            let first: HashSet<&String> = graph.task(pair.first).files.iter().collect();
            let both = graph.task(pair.then).files.iter();
            let files: Vec<String> = both.filter(|file| first.contains(file)).cloned().collect();
            (!files.is_empty()).then(|| PredictedView {
                tasks: [name(pair.first), name(pair.then)].map(|task| task.to_string()),
                files,
            })
        });
        let missing = graph.needs_beyond(&chosen.tasks).into_iter();
        let taken: HashSet<TaskId> = chosen.tasks.iter().map(|at| name(*at)).collect();
        let left_out = start.tasks.iter().filter(|task| !taken.contains(*task));
        Self {
            waves: order.waves.iter().map(|wave| names(wave)).collect(),
            collisions: collisions.collect(),
            missing: missing
                .map(|(task, needs)| (name(task), names(&needs)))
                .collect(),
            left_out: left_out.cloned().collect(),
            warnings: chosen.warnings,
            push_to: None,
            push_unconfirmed: false,
            refusal: None,
        }
    }

    fn pushing(&mut self, found: Rehearsal) {
        let hider = Secrets::of_environment(&[]).hider();
        let remote = found.remote.filter(|_| found.pushes);
        self.push_to = remote.map(|remote| hider.hidden(remote));
        self.push_unconfirmed = found.push_unconfirmed;
    }
}

fn refuse_busy(
    state: &StateFolder,
    project: &str,
    start: &Start,
    tasks: &[TaskId],
) -> Result<(), StartError> {
    let database = Database::open(state)?;
    let holders: Result<_, DatabaseError> = database.look_at_boards(|tables| {
        let look_up = |plan: &str| tables.holders(project, plan);
        by_id_in_batch(&start.plan.origin, start.plan.homes(), look_up)
    });
    let holders = holders?;
    for task in tasks {
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
    start: Start,
    chosen: Vec<usize>,
    settings: Settings,
) -> Result<Rehearsal, StartError> {
    let request = errand(state, program, start, chosen, settings).request()?;
    Ok(rehearse(&request)?)
}
