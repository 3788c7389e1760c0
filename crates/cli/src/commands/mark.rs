//! `pleach mark`: sets the status of tasks by hand.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use pleach_domain::id::IdRange;
use pleach_domain::plan::{Index, Plan};
use pleach_domain::problem::nearest;
use pleach_domain::select::{Selection, Term};
use pleach_domain::task::TaskStatus;
use pleach_engine::plan_file::{PlanFile, RewriteError, Settled};
use pleach_formats::{Change, Marker, StatusFile, WriteBackError, set_markers};
use serde_json::json;

use crate::args::{MarkArgs, State};
use crate::commands::next::bad_status;
use crate::failure::{Exit, Failure, Failures};
use crate::output::{self, Reader, one_line};
use crate::plan_source::PlanSource;

/// How long an editor that was just saving may take to finish.
const SLOW_EDITOR: Duration = Duration::from_millis(200);

/// How often a mark is made again when an editor saved over it.
const MOST_REPEATS: usize = 5;

/// Marks the tasks.
pub(crate) fn run(arguments: &MarkArgs) -> Result<Exit, Failures> {
    mark(arguments).map_err(|failures| failures.told_to(Reader::of(arguments.json)))
}

fn mark(arguments: &MarkArgs) -> Result<Exit, Failures> {
    let (tasks, state) = (arguments.tasks.as_slice(), arguments.state);
    let (ids, file) = match &arguments.status {
        Some(path) => (in_status_file(path, tasks, state)?, path.clone()),
        None => in_plan(arguments.plan.as_deref(), tasks, state)?,
    };
    let status = status_of(state).as_str();
    if arguments.json {
        let marked: Vec<_> = ids
            .iter()
            .map(|id| json!({"id": id, "status": status}))
            .collect();
        output::print(format_args!(
            "{}\n",
            json!({"file": file.display().to_string(), "marked": marked})
        ));
    } else {
        for id in &ids {
            output::print(format_args!(
                "{} is {} in {}\n",
                one_line(id),
                status.replace('_', " "),
                one_line(&file.to_string_lossy())
            ));
        }
    }
    Ok(Exit::Success)
}

fn status_of(state: State) -> TaskStatus {
    match state {
        State::Started => TaskStatus::InProgress,
        State::Complete => TaskStatus::Completed,
        State::Failed => TaskStatus::Failed,
        State::Skipped => TaskStatus::Skipped,
        State::Pending => TaskStatus::Pending,
    }
}

/// The tasks by name, range or phase, whatever their status; every word must name one.
fn named(plan: &Plan, words: &[String]) -> Result<Vec<usize>, Failures> {
    let index = plan.index();
    let text = words.join(" ");
    let selection = Selection::parse(&text, |id| index.find(id).is_some())?;
    let mut positions = Vec::new();
    for term in selection.terms() {
        let found: Vec<usize> = match term {
            Term::Id(id) => index.find(id).into_iter().collect(),
            Term::Range { first, last } => {
                let range = IdRange::between(first, last).expect("the parser checked it");
                let tasks = plan.tasks.iter().enumerate();
                tasks
                    .filter(|(_, task)| range.contains(task.id.as_str()))
                    .map(|(at, _)| at)
                    .collect()
            }
            Term::Phase(phase) => {
                let tasks = plan.tasks.iter().enumerate();
                tasks
                    .filter(|(_, task)| task.phase == Some(*phase))
                    .map(|(at, _)| at)
                    .collect()
            }
            _ => {
                let failure = Failure::new(
                    Exit::Usage,
                    "bad_selection",
                    "tasks to mark are named one by one",
                );
                return Err(failure
                    .hint("name ids, ranges such as 3.1-3.4, or phase:1")
                    .into());
            }
        };
        if found.is_empty() {
            let word = Selection::one(term).to_string();
            let failure = Failure::new(
                Exit::Usage,
                "task_not_found",
                format!("there is no task {word}"),
            );
            return Err(match nearest(&word, index.ids()) {
                Some(near) => failure.hint(format!("did you mean {near}?")).into(),
                None => failure.hint("`pleach plan` lists the tasks").into(),
            });
        }
        positions.extend(found);
    }
    positions.sort_unstable();
    positions.dedup();
    refuse_doubles(plan, &index, &positions)?;
    Ok(positions)
}

/// Of two tasks with one id nobody can tell which is meant.
fn refuse_doubles(plan: &Plan, index: &Index, positions: &[usize]) -> Result<(), Failures> {
    let doubles = index.doubles().iter();
    let doubles: HashSet<usize> = doubles
        .flat_map(|(first, again)| [*first, *again])
        .collect();
    let twice = positions
        .iter()
        .filter(|position| doubles.contains(position))
        .map(|position| {
            let id = &plan.tasks[*position].id;
            let message = format!("there is more than one task {id}");
            Failure::new(Exit::Usage, "duplicate_id", message).hint("give one of them another id")
        });
    Failures::check(twice.collect())
}

fn in_plan(
    plan: Option<&Path>,
    words: &[String],
    state: State,
) -> Result<(Vec<String>, std::path::PathBuf), Failures> {
    let source = PlanSource::load(plan)?;
    let positions = named(&source.document.plan, words)?;
    let marker = match state {
        State::Started => Marker::InProgress,
        State::Complete => Marker::Completed,
        State::Pending => Marker::Pending,
        State::Failed | State::Skipped => {
            let word = status_of(state).as_str();
            let message = format!("{} has no word for {word}", source.path.display());
            let hint =
                "a plan says what is wanted and what is done; use --status FILE to keep more";
            return Err(Failure::new(Exit::Usage, "cannot_hold", message)
                .hint(hint)
                .into());
        }
    };
    let mut refusals = Vec::new();
    for position in &positions {
        if let Some(why) = source.document.refuses(*position, &marker) {
            let task = &source.document.plan.tasks[*position];
            let message = format!(
                "task {} cannot be marked {}: {why}",
                task.id,
                state_word(state)
            );
            refusals.push(Failure {
                place: Some(format!("{}:{}", source.name(), task.line)),
                ..Failure::new(Exit::Usage, "cannot_hold", message)
                    .hint("use --status FILE to keep more")
            });
        }
    }
    Failures::check(refusals)?;
    let changes: Vec<Change> = positions
        .iter()
        .map(|position| source.document.change(*position, marker.clone()))
        .collect();
    write(
        &source.path,
        |text| set_markers(text, &changes),
        |error: WriteBackError| {
            Failure::new(Exit::Usage, "plan_write_failed", error.to_string())
                .hint("look at the plan and mark it again")
        },
    )?;
    let ids = positions
        .iter()
        .map(|position| source.document.plan.tasks[*position].id.to_string());
    Ok((ids.collect(), source.path))
}

fn state_word(state: State) -> &'static str {
    match state {
        State::Started => "started",
        State::Complete => "complete",
        State::Failed => "failed",
        State::Skipped => "skipped",
        State::Pending => "pending",
    }
}

fn in_status_file(path: &Path, words: &[String], state: State) -> Result<Vec<String>, Failures> {
    let file = PlanFile::load(path)?;
    let states = StatusFile::read(file.text()).map_err(|error| bad_status(&error, path))?;
    let plan = states.plan(&Plan::default());
    let positions = named(&plan, words)?;
    let ids: Vec<String> = positions
        .iter()
        .map(|position| plan.tasks[*position].id.to_string())
        .collect();
    let edit = |text: &str| StatusFile::set(text, &ids, status_of(state));
    write(path, edit, |error| bad_status(&error, path))?;
    Ok(ids)
}

/// Rewrites a file that somebody may be saving at the same time.
fn write<E>(
    path: &Path,
    mut edit: impl FnMut(&str) -> Result<Option<String>, E>,
    refused: impl Fn(E) -> Failure,
) -> Result<(), Failures> {
    for _ in 0..MOST_REPEATS {
        let written = PlanFile::rewrite(path, &mut edit).map_err(|error| match error {
            RewriteError::Edit(error) => Failures::from(refused(error)),
            RewriteError::File(error) => {
                let hint = error.hint();
                Failure::new(Exit::Usage, "plan_write_failed", error.to_string())
                    .hint(hint)
                    .into()
            }
        })?;
        if written.displaced.settle_after(SLOW_EDITOR)? == Settled::Quiet {
            return Ok(());
        }
    }
    let message = format!("{} is being saved over and over", path.display());
    Err(Failure::new(Exit::Usage, "plan_write_failed", message)
        .hint("try again in a moment")
        .into())
}
