//! `pleach mark`: sets the status of tasks by hand.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::id::IdRange;
use pleach_domain::plan::{Index, Plan};
use pleach_domain::problem::nearest_id;
use pleach_domain::select::{Selection, SelectionTerm};
use pleach_domain::task::TaskStatus;
use pleach_engine::plan_file::{DisplacedOutcome, PlanFile, RewriteError};
use pleach_formats::{Change, Document, Identity, Marker, StatusFile, WriteBackError, set_markers};
use pleach_log::database::MarkedTask;
use serde_json::json;

use crate::args::{MarkArgs, State};
use crate::failure::{Exit, Failure, Failures};
use crate::output::{self, Reader, one_line};
use crate::plan_source::PlanSource;
use crate::plan_states::{PlanStates, bad_status};

/// How long an editor that was just saving may take to finish.
const SLOW_EDITOR: Duration = Duration::from_millis(200);

/// How often a mark is made again when an editor saved over it.
const MOST_REPEATS: usize = 5;

pub(crate) fn run(arguments: &MarkArgs) -> Result<Exit, Failures> {
    mark(arguments).map_err(|failures| failures.told_to(Reader::from_flag(arguments.json)))
}

fn mark(arguments: &MarkArgs) -> Result<Exit, Failures> {
    let (tasks, state) = (arguments.tasks.as_slice(), arguments.state);
    let marked = match &arguments.status {
        Some(path) => Marked {
            in_file: in_status_file(path, tasks, state)?,
            remembered: Vec::new(),
            file: path.clone(),
        },
        None => in_plan(arguments.plan.as_deref(), tasks, state)?,
    };
    let status = status_of(state).as_str();
    if arguments.json {
        let in_file = marked.in_file.iter();
        let in_file = in_file.map(|id| json!({"id": id, "status": status}));
        let remembered = marked.remembered.iter();
        let remembered =
            remembered.map(|id| json!({"id": id, "status": status, "keptIn": "database"}));
        let all: Vec<_> = in_file.chain(remembered).collect();
        output::print(format_args!(
            "{}\n",
            json!({"file": marked.file.display().to_string(), "marked": all})
        ));
    } else {
        let status = status.replace('_', " ");
        let file = one_line(&marked.file.to_string_lossy());
        for id in &marked.in_file {
            output::print(format_args!("{} is {status} in {file}\n", one_line(id)));
        }
        for id in &marked.remembered {
            output::print(format_args!(
                "{} is {status} (stored by Pleach, not in {file})\n",
                one_line(id)
            ));
        }
    }
    Ok(Exit::Success)
}

struct Marked {
    in_file: Vec<String>,
    /// In the database, because the file cannot hold it.
    remembered: Vec<String>,
    file: PathBuf,
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
            SelectionTerm::Id(id) => index.find(id).into_iter().collect(),
            SelectionTerm::Range { first, last } => {
                let range = IdRange::between(first, last).expect("the parser checked it");
                let tasks = plan.tasks.iter().enumerate();
                tasks
                    .filter(|(_, task)| range.contains(task.id.as_str()))
                    .map(|(at, _)| at)
                    .collect()
            }
            SelectionTerm::Phase(phase) => {
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
                    "mark takes only ids, ranges and phases",
                );
                return Err(failure
                    .hint("for example: pleach mark 1.1 3.1-3.4 phase:1 complete")
                    .into());
            }
        };
        if found.is_empty() {
            let word = Selection::one(term).to_string();
            let message = match term {
                SelectionTerm::Phase(phase) => format!("phase {phase} has no tasks"),
                _ => format!("task {word} not found"),
            };
            let failure = Failure::new(Exit::Usage, "task_not_found", message);
            return Err(match nearest_id(&word, index.ids()) {
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
            let message = format!("several tasks have the id {id}");
            Failure::new(Exit::Usage, "duplicate_id", message).hint("give each task its own id")
        });
    Failures::check(twice.collect())
}

fn in_plan(plan: Option<&Path>, words: &[String], state: State) -> Result<Marked, Failures> {
    let source = PlanSource::load(plan)?;
    let positions = named(&source.document.plan, words)?;
    let (in_file, remembered): (Vec<usize>, Vec<usize>) = positions
        .into_iter()
        .partition(|position| refusal(&source.document, *position, state).is_none());
    let states = if remembered.is_empty() {
        PlanStates::find(&source)?
    } else {
        let states = PlanStates::make(&source)?;
        if states.is_none() {
            return Err(refused(&source, &remembered, state)?);
        }
        states
    };
    write_marks(&source, &in_file, &remembered, state)?;
    if let Some(mut states) = states {
        states.remember(&source, &in_file, &remembered, status_of(state))?;
    }
    let id = |position: usize| source.document.plan.tasks[position].id.to_string();
    Ok(Marked {
        in_file: in_file.into_iter().map(id).collect(),
        remembered: remembered.into_iter().map(id).collect(),
        file: source.path.clone(),
    })
}

/// Why a file has no place for a state of a task, if it has none.
fn refusal(document: &Document, position: usize, state: State) -> Option<&'static str> {
    match state {
        State::Started => document.refuses(position, &Marker::InProgress),
        State::Complete => document.refuses(position, &Marker::Completed),
        State::Pending => document.refuses(position, &Marker::Pending),
        State::Failed | State::Skipped => Some("plan files have no such status"),
    }
}

/// The tasks that neither the file nor a database can hold the state of.
fn refused(source: &PlanSource, positions: &[usize], state: State) -> Result<Failures, Failures> {
    let refusals = positions.iter().map(|position| {
        let task = &source.document.plan.tasks[*position];
        let why = refusal(&source.document, *position, state).unwrap_or_default();
        let message = format!(
            "task {} cannot be marked {}: {why}",
            task.id,
            state_word(state)
        );
        Failure::new(Exit::Usage, "cannot_hold", message)
            .place(format!("{}:{}", source.name(), task.line))
            .hint("use --status FILE; in a git repository Pleach stores it itself")
    });
    match Failures::check(refusals.collect()) {
        Err(failures) => Ok(failures),
        Ok(()) => Err(Failure::new(Exit::Usage, "cannot_hold", "no task can be marked").into()),
    }
}

/// Writes what the file can hold; what is remembered instead is no longer done in it.
fn write_marks(
    source: &PlanSource,
    in_file: &[usize],
    remembered: &[usize],
    state: State,
) -> Result<(), Failures> {
    let document = &source.document;
    let marker = match state {
        State::Started => Marker::InProgress,
        State::Complete => Marker::Completed,
        State::Failed | State::Skipped | State::Pending => Marker::Pending,
    };
    let is_ticked = |position: &&usize| {
        document.plan.tasks[**position].status == TaskStatus::Completed
            && document.refuses(**position, &Marker::Pending).is_none()
    };
    let ticked = remembered.iter().filter(is_ticked);
    let changes: Vec<Change> = in_file
        .iter()
        .map(|position| document.change(*position, marker.clone()))
        .chain(ticked.map(|position| document.change(*position, Marker::Pending)))
        .collect();
    if changes.is_empty() {
        return Ok(());
    }
    write(
        &source.path,
        |text| set_markers(text, &changes),
        |error: WriteBackError| {
            Failure::new(Exit::Usage, "plan_write_failed", error.to_string())
                .hint("check the plan, then mark it again")
        },
    )
}

impl PlanStates {
    /// Remembers what the file cannot hold, and forgets what it says by now.
    fn remember(
        &mut self,
        source: &PlanSource,
        in_file: &[usize],
        remembered: &[usize],
        status: TaskStatus,
    ) -> Result<(), Failures> {
        let marked = |positions: &[usize]| -> Vec<MarkedTask> {
            let tasks = positions.iter().map(|position| {
                let task = &source.document.plan.tasks[*position];
                let identity = source.document.places[*position].identity;
                MarkedTask {
                    id: task.id.clone(),
                    title: (identity == Identity::Text).then(|| task.title.clone()),
                }
            });
            tasks.collect()
        };
        let (project, plan) = (self.project.clone(), self.plan.clone());
        let kept = match status {
            // That it is open again is newer than what became of it in its last batch.
            TaskStatus::Pending => marked(&[in_file, remembered].concat()),
            _ => marked(remembered),
        };
        self.database
            .unmark_tasks(&project, &plan, &marked(in_file))?;
        self.database.mark_tasks(&project, &plan, &kept, status)?;
        Ok(())
    }
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
        if written.displaced.settle_after(SLOW_EDITOR)? == DisplacedOutcome::Quiet {
            return Ok(());
        }
    }
    let message = format!("{} kept changing while it was written", path.display());
    Err(Failure::new(Exit::Usage, "plan_write_failed", message)
        .hint("try again in a moment")
        .into())
}
