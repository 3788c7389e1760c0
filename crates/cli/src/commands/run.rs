//! `pleach run`: runs an agent on tasks and weaves what it did.

mod asking;
mod detached;
mod exit_code;
mod plain;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use pleach_domain::graph::Graph;
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::phase::Threshold;
use pleach_engine::config::Settings;
use pleach_engine::plan_in_use::project_folder;
use pleach_engine::run::RunBatch;
use pleach_engine::run::{
    Prepared, Proofs, RunError, RunRequest, Summary, WorkPlace, interrupted, rehearse, take_up,
};
use pleach_log::database::BatchRow;
use pleach_log::outlook::Recall;
use pleach_system::detach;
use pleach_system::state_folder::StateFolder;
use pleach_system::text::causes::with_causes;

pub(crate) use detached::start_detached;
pub(crate) use exit_code::exit;

use self::asking::Answer;
use super::status::find_batch;
use super::watch::carry_out;
use crate::args::{ResumeArgs, RunArgs};
use crate::failure::{Exit, Failure, Failures, warn};
use crate::output::{Reader, one_line, tell_error};
use crate::picker::{self, Picked};
use crate::plan_source::{PlanSource, check, choose, current_folder};
use crate::plan_states::{check_recorded, recall_states, recorded_states, whole_path};
use crate::preview::PreviewInput;
use crate::questions::asks;
use crate::rehearsal;

pub(crate) fn run(arguments: &RunArgs, run_batch: RunBatch) -> Result<Exit, Failures> {
    start(arguments, run_batch)
        .map_err(|failures| failures.told_to(Reader::from_flag(arguments.json)))
}

fn start(arguments: &RunArgs, run_batch: RunBatch) -> Result<Exit, Failures> {
    let state = if arguments.dry_run {
        StateFolder::imagined()?
    } else {
        StateFolder::of_user()?
    };
    let place = Place::of(
        state,
        run_batch,
        Reader::from_flag(arguments.json),
        arguments.in_background,
    )?;
    if let Some(wanted) = arguments.resume {
        return place.resume(wanted, arguments.detach);
    }
    let settings = Settings::load(&project_folder(&place.folder), arguments.flags())?;
    super::config::warn_of_slips();
    // What is wrong with the plan is told before anything is done; what is taken up may change it.
    PlanSource::load(arguments.plan.as_deref())?;
    let resumed = if arguments.dry_run {
        Vec::new()
    } else {
        place.resume_if_asked(arguments)?
    };
    place.fresh(arguments, settings, &resumed)
}

pub(crate) fn resume(arguments: &ResumeArgs, run_batch: RunBatch) -> Result<Exit, Failures> {
    let reader = Reader::from_flag(arguments.json);
    let resumed = || {
        let place = Place::of(
            StateFolder::of_user()?,
            run_batch,
            reader,
            arguments.in_background,
        )?;
        place.resume(arguments.batch, arguments.detach)
    };
    resumed().map_err(|failures: Failures| failures.told_to(reader))
}

struct Place {
    folder: PathBuf,
    state: StateFolder,
    program: PathBuf,
    run_batch: RunBatch,
    reader: Reader,
    /// Whether somebody waits to hear the number of a batch.
    in_background: bool,
}

impl Place {
    /// The place that the user stands in, or the one of a run in the background, which leaves the terminal.
    fn of(
        state: StateFolder,
        run_batch: RunBatch,
        reader: Reader,
        in_background: bool,
    ) -> Result<Self, Failures> {
        if in_background {
            detach::leave_terminal();
        }
        Ok(Self {
            folder: current_folder()?,
            state,
            program: own_program()?,
            run_batch,
            reader,
            in_background,
        })
    }

    /// Runs a batch to its end; the first one is told to whoever waits for a number.
    fn carry_out(&self, prepared: Prepared) -> Result<Summary, Failures> {
        carry_out(prepared, self.run_batch, self.reader, |number| {
            if self.in_background {
                detach::announce(&number.to_string());
            }
        })
    }

    /// Goes on with interrupted batches that the person at the terminal wants finished first; others are named and left
    /// alone.
    fn resume_if_asked(&self, arguments: &RunArgs) -> Result<Vec<Summary>, Failures> {
        let may_ask = !arguments.yes && !arguments.detach && self.reader == Reader::Person;
        let mut summaries = Vec::new();
        for row in interrupted(&self.state, &self.folder)? {
            let number = row.number;
            let question = format!("Batch {number} is interrupted. Finish it first?");
            if may_ask && asks(&question) == Some(true) {
                summaries.extend(self.resume_first(&row)?);
                continue;
            }
            tell_error(format_args!(
                "note: batch {number} is interrupted; `pleach resume {number}` resumes it, \
                 `pleach cancel {number}` cancels it\n"
            ));
        }
        Ok(summaries)
    }

    fn resume_first(&self, row: &BatchRow) -> Result<Option<Summary>, Failures> {
        let number = row.number;
        match take_up(&self.state, row.id, &self.program, None) {
            Ok(prepared) => self.go_on(number, prepared),
            // Whoever took it up before us has ended it.
            Err(RunError::Over(_)) => Ok(None),
            // The new tasks can do nothing for it.
            Err(error) => {
                let why = one_line(&with_causes(&error));
                tell_error(format_args!(
                    "note: could not resume batch {number}: {why}\n"
                ));
                Ok(None)
            }
        }
    }

    /// Goes on with one batch; `None` if somebody else does.
    fn go_on(
        &self,
        number: BatchNumber,
        prepared: Option<Prepared>,
    ) -> Result<Option<Summary>, Failures> {
        let Some(prepared) = prepared else {
            return Ok(None);
        };
        tell_error(format_args!("resuming batch {number}\n"));
        self.carry_out(prepared).map(Some)
    }

    fn resume(&self, wanted: Option<BatchNumber>, detach: bool) -> Result<Exit, Failures> {
        let (id, number) = match wanted {
            Some(number) => (find_batch(&self.state, number)?, number),
            None => interrupted(&self.state, &self.folder)?
                .last()
                .map(|row| (row.id, row.number))
                .ok_or_else(|| {
                    let message = "no interrupted batch here";
                    Failure::new(Exit::Usage, "nothing_to_resume", message)
                        .hint("`pleach status --all` lists all batches")
                })?,
        };
        let prepared = take_up(&self.state, id, &self.program, None)?;
        if detach && prepared.is_some() {
            // It lets go of the batch, for whoever goes on in the background.
            drop(prepared);
            return start_detached(&self.state, &self.program, &[], self.reader);
        }
        let summary = self.go_on(number, prepared)?.ok_or_else(|| {
            let message = format!("batch {number} is running in another process");
            Failure::new(Exit::Usage, "batch_running", message)
                .hint(format!("`pleach status {number} --watch` follows it"))
        })?;
        Ok(exit(&summary))
    }

    /// Runs what is chosen in a new batch, except what was taken up a moment ago.
    fn fresh(
        &self,
        arguments: &RunArgs,
        settings: Settings,
        resumed: &[Summary],
    ) -> Result<Exit, Failures> {
        let mut source = PlanSource::load(arguments.plan.as_deref())?;
        let recorded = if let Some(path) = &arguments.status {
            Some(recorded_states(&mut source, path)?)
        } else {
            recall_states(&mut source, what_to_recall(&arguments.select))?;
            None
        };
        let earlier = resumed.iter().map(exit).max();
        let threshold = settings.phase_threshold;
        let select = match self.picked(&source, arguments, threshold) {
            None => arguments.select.clone(),
            Some(Picked::These(positions)) => ids(&source, &positions),
            Some(Picked::Nothing) => {
                tell_error(format_args!(
                    "No tasks selected. `pleach run all` runs all open tasks.\n"
                ));
                return Ok(earlier.unwrap_or(Exit::Success));
            }
            Some(Picked::Interrupted) => return Ok(Exit::Interrupted),
        };
        if arguments.redo {
            source.reopen(&select)?;
        }
        let chosen = chosen_tasks(&source, &select, (arguments, threshold), resumed)?;
        if let (Some(path), Some(recorded)) = (&arguments.status, &recorded) {
            check_recorded(&source, &chosen, recorded, path)?;
        }
        if chosen.is_empty() {
            return Ok(earlier.unwrap_or(Exit::Success));
        }
        let place = plain::place(&self.folder, settings.mode, arguments)?;
        let request = self.request(arguments, settings, source, chosen)?;
        if arguments.dry_run {
            return self.rehearse(&request, place);
        }
        let shown = PreviewInput::new(&request, place);
        let mut prepared = plain::prepare_at(place, request)?;
        if !arguments.json && !arguments.in_background {
            asking::show(&shown, &mut prepared, &self.program);
        }
        if asking::ask(&mut prepared, arguments, self.reader)? == Answer::Nothing {
            return Ok(earlier.unwrap_or(Exit::Success));
        }
        if arguments.detach {
            // It lets go of the folder, for whoever runs in the background.
            drop(prepared);
            let mut further = vec!["--yes"];
            if arguments.select.is_empty() {
                further.extend(select.iter().map(String::as_str));
            }
            return start_detached(&self.state, &self.program, &further, self.reader);
        }
        let summary = self.carry_out(prepared)?;
        Ok(earlier.into_iter().fold(exit(&summary), Exit::max))
    }

    /// What a person ticks who named no task; nothing where nobody can be asked that.
    fn picked(
        &self,
        source: &PlanSource,
        arguments: &RunArgs,
        threshold: Threshold,
    ) -> Option<Picked> {
        let is_said = !arguments.select.is_empty() || arguments.yes || arguments.dry_run;
        if is_said || self.in_background || self.reader == Reader::Program {
            return None;
        }
        let graph = Graph::new(&source.document.plan, arguments.order.rules.strictness());
        picker::pick(&graph, &source.name(), arguments.order.rules(threshold))
    }

    fn request(
        &self,
        arguments: &RunArgs,
        settings: Settings,
        source: PlanSource,
        chosen: Vec<usize>,
    ) -> Result<RunRequest, Failures> {
        let prompt = prompt(arguments)?;
        let status_file = whole_path(arguments.status.as_deref())?;
        let (folder, plan) = (self.folder.clone(), source.into_run());
        let (state, program) = (self.state.clone(), self.program.clone());
        let request = RunRequest::new(folder, plan, chosen, settings, state, program)?;
        let mut request = request.said_now(&arguments.flags(), prompt)?;
        request.rules.overlap = arguments.order.overlap();
        request.barriers = arguments.barriers();
        request.fallback = arguments.fallback();
        request.fetch = arguments.fetch();
        request.earlier = arguments.earlier();
        request.status_file = status_file;
        if arguments.prove_again {
            request.proofs = Proofs::Again;
        }
        Ok(request)
    }

    fn rehearse(&self, request: &RunRequest, place: WorkPlace) -> Result<Exit, Failures> {
        let found = rehearse(request)?;
        let shown = PreviewInput::new(request, place);
        let agent = shown.agent(&self.program);
        let preview = shown.preview(&*agent, &found.past);
        let preview = preview.pushing(found.unpushed.as_ref());
        let remote = found.remote.clone().filter(|_| found.pushes);
        let preview = preview.pushing_to(remote);
        let preview = preview.noting(found.notes.clone());
        let preview = preview.building_on(&found.builds_on);
        match self.reader {
            Reader::Person => rehearsal::print(&preview, request, &found),
            Reader::Program => rehearsal::print_json(&preview, request, &found),
        }
        Ok(Exit::Success)
    }
}

fn ids(source: &PlanSource, positions: &[usize]) -> Vec<String> {
    let tasks = &source.document.plan.tasks;
    let id = |position: &usize| tasks[*position].id.as_str().to_owned();
    positions.iter().map(id).collect()
}

/// The file of this program, for git to call back.
pub(crate) fn own_program() -> Result<PathBuf, Failures> {
    std::env::current_exe().map_err(|error| {
        let message = format!("could not find the program itself: {error}");
        Failure::new(Exit::Environment, "own_program", message).into()
    })
}

/// What agents are told besides their task, as far as the command line says.
fn prompt(arguments: &RunArgs) -> Result<Option<String>, Failures> {
    let Some(text) = arguments.prompt.as_deref() else {
        return Ok(None);
    };
    let Some(path) = text.strip_prefix('@') else {
        return Ok(Some(text.to_owned()));
    };
    let text = std::fs::read_to_string(Path::new(path)).map_err(|error| {
        let message = format!("could not read {path}: {error}");
        Failure::new(Exit::Usage, "bad_prompt", message)
            .hint("--prompt @FILE reads the prompt from FILE; without @, the text itself is used")
    })?;
    Ok(Some(text))
}

fn chosen_tasks(
    source: &PlanSource,
    select: &[String],
    (arguments, threshold): (&RunArgs, Threshold),
    resumed: &[Summary],
) -> Result<Vec<usize>, Failures> {
    let graph = Graph::new(&source.document.plan, arguments.order.rules.strictness());
    let everything = ["all".to_owned()];
    let words = if select.is_empty() {
        &everything[..]
    } else {
        select
    };
    let mut chosen = choose(&graph, words, &arguments.order, threshold)?;
    // Another plan may have tasks of the same ids.
    let plan = source.path.canonicalize().unwrap_or_default();
    let tried: HashSet<&TaskId> = resumed
        .iter()
        .flat_map(|batch| batch.keys_of(&plan))
        .collect();
    chosen
        .tasks
        .retain(|position| !tried.contains(&source.document.plan.tasks[*position].id));
    if chosen.tasks.is_empty() && !tried.is_empty() {
        return Ok(Vec::new());
    }
    let name = source.name();
    if let Some(done) = &chosen.done {
        tell_error(format_args!(
            "nothing to run: {}\n",
            one_line(&done.message)
        ));
        return Ok(Vec::new());
    }
    warn(&chosen.warnings, &name);
    check(&chosen, &name)?;
    Ok(chosen.tasks)
}

/// What a selection has to know of tasks besides what their plan says.
fn what_to_recall(select: &[String]) -> Recall {
    let words = || select.iter().flat_map(|word| word.split([',', ' ']));
    if words().any(|word| word == "failed") {
        Recall::ForFailed
    } else if words().any(|word| word.starts_with("next:")) {
        Recall::ForNext
    } else {
        Recall::ForRun
    }
}
