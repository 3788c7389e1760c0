//! `pleach logs`: what the agent of a task said, and goes on saying.

mod entries;
mod tail;
mod validation;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pleach_domain::id::TaskId;
use pleach_domain::task_state::TaskWord;
use pleach_engine::stored_batch::StoredBatch;
use pleach_log::database::Database;
use pleach_log::transcript::{LOG, attempt_folder};
use pleach_log::view::{TaskView, UnitView};
use pleach_system::state_folder::StateFolder;

use super::status::{BatchSource, find_batch};
use crate::args::LogsArgs;
use crate::failure::{Exit, Failure, Failures};
use crate::output::{one_line, tell_error};
use tail::{Printer, Tail};

const SETUP_LOG: &str = "setup.log";
const PROMPT: &str = "prompt.md";
/// How often a transcript is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How often it is asked whether anybody still runs the batch.
const BEAT: Duration = Duration::from_secs(1);

pub(crate) fn run(arguments: &LogsArgs) -> Result<Exit, Failures> {
    let state = StateFolder::of_user()?;
    let database = Database::open(&state)?;
    let id = find_batch(&state, arguments.batch)?;
    let stored = StoredBatch::load(&database, id)?;
    let Some(task) = &arguments.task else {
        let sight = BatchSource { state, database };
        return validation::print(arguments, id, &sight);
    };
    let position = stored.position(task)?;
    let archive = TaskTranscripts {
        arguments,
        batch: id,
        task,
        position,
        segment: stored.segment(position),
        sight: BatchSource { state, database },
    };
    if arguments.follow {
        archive.follow()?;
    } else {
        archive.print()?;
    }
    Ok(Exit::Success)
}

struct TaskTranscripts<'a> {
    arguments: &'a LogsArgs,
    batch: u32,
    task: &'a TaskId,
    position: usize,
    segment: String,
    sight: BatchSource,
}

struct TaskProgress {
    attempts: u32,
    state: TaskWord,
    is_at_work: bool,
    /// What its attempt waits for on a cluster.
    queued: Option<String>,
    is_over: bool,
    interrupted: bool,
}

impl TaskProgress {
    fn has_ended(&self, attempt: u32) -> bool {
        self.attempts > attempt
            || (self.attempts == attempt && !self.is_at_work)
            || self.interrupted
    }
}

impl TaskTranscripts<'_> {
    fn standing(&self) -> Result<TaskProgress, Failures> {
        let view = self.sight.load_one(self.batch)?;
        let task: &TaskView = &view.tasks[self.position];
        Ok(TaskProgress {
            attempts: task.last_attempt,
            state: task.state,
            is_at_work: matches!(task.state, TaskWord::Running | TaskWord::Stopping)
                || task.unit.is_some(),
            queued: task.unit.as_ref().and_then(UnitView::line),
            is_over: task.outcome.is_some(),
            interrupted: view.interrupted,
        })
    }

    fn folder(&self, attempt: u32) -> PathBuf {
        let batch = self.sight.state.batch(self.batch);
        attempt_folder(&batch, &self.segment, attempt)
    }

    fn print(&self) -> Result<(), Failures> {
        let standing = self.standing()?;
        let Some(attempt) = self.chosen(&standing)? else {
            self.say_not_started(&standing);
            return Ok(());
        };
        let folder = self.folder(attempt);
        if self.arguments.prompt {
            let is_there = Printer::new().print(&mut Tail::new(folder.join(PROMPT)))?;
            return self.or_missing(is_there, attempt, "prompt");
        }
        let mut printer = self.printer();
        let mut is_there = printer.print(&mut Tail::new(folder.join(LOG)))?;
        if !is_there {
            // The agent never began; what came before it tells why.
            is_there = printer.print(&mut Tail::new(folder.join(SETUP_LOG)))?;
        }
        printer.finish();
        if !is_there && !standing.has_ended(attempt) {
            let queued = standing.queued.as_deref().map(one_line);
            let queued = queued.map(|line| format!(": {line}")).unwrap_or_default();
            tell_error(format_args!(
                "attempt {attempt} has no output yet{queued}\n"
            ));
            return Ok(());
        }
        self.or_missing(is_there, attempt, "transcript")
    }

    fn printer(&self) -> Printer {
        if self.arguments.raw {
            Printer::new()
        } else {
            Printer::in_words()
        }
    }

    fn or_missing(&self, is_there: bool, attempt: u32, what: &str) -> Result<(), Failures> {
        if is_there {
            return Ok(());
        }
        let task = self.task;
        let message = format!("no {what} for attempt {attempt} of task {task}");
        Err(Failure::new(Exit::Usage, "no_transcript", message)
            .hint("the attempt did not get that far, or `pleach gc` removed it")
            .into())
    }

    /// The attempt that is meant, if there was one yet.
    fn chosen(&self, standing: &TaskProgress) -> Result<Option<u32>, Failures> {
        let last = (standing.attempts > 0).then_some(standing.attempts);
        match self.arguments.attempt {
            Some(wanted) if wanted > standing.attempts => {
                let (task, attempts) = (self.task, standing.attempts);
                let message = format!("task {task} has no attempt {wanted}");
                let hint = format!("the last one was attempt {attempts}");
                let none = "it has not started yet".to_owned();
                Err(Failure::new(Exit::Usage, "no_attempt", message)
                    .hint(if attempts == 0 { none } else { hint })
                    .into())
            }
            Some(wanted) => Ok(Some(wanted)),
            None => Ok(last),
        }
    }

    fn say_not_started(&self, standing: &TaskProgress) {
        let (batch, task) = (self.arguments.batch, one_line(self.task.as_str()));
        tell_error(format_args!(
            "task {task} of batch {batch} has not started; it is {}\n",
            standing.state.as_str().replace('_', " ")
        ));
    }

    fn follow(&self) -> Result<(), Failures> {
        let mut standing = self.standing()?;
        let mut attempt = self.chosen(&standing)?;
        if attempt.is_none() && !standing.is_over && !standing.interrupted {
            self.say_not_started(&standing);
        }
        let mut printer = self.printer();
        let mut seen = self.sight.database.last_seq()?;
        let mut looked = Instant::now();
        let mut transcript = attempt.map(|attempt| Transcript::new(&self.folder(attempt)));
        loop {
            // Looked at before the file: what was said before the end is in it by then.
            let ended = attempt.is_none_or(|attempt| standing.has_ended(attempt));
            if let Some(transcript) = &mut transcript {
                transcript.print(&mut printer)?;
            }
            if ended {
                let may_go_on = self.arguments.attempt.is_none();
                let next = attempt.map_or(1, |attempt| attempt + 1);
                if may_go_on && standing.attempts >= next {
                    if next > 1 {
                        let task = one_line(self.task.as_str());
                        tell_error(format_args!("attempt {next} of task {task}\n"));
                    }
                    attempt = Some(next);
                    transcript = Some(Transcript::new(&self.folder(next)));
                    continue;
                }
                if !may_go_on || standing.is_over || standing.interrupted {
                    printer.finish();
                    self.say_why_no_more(&standing, attempt);
                    return Ok(());
                }
            }
            std::thread::sleep(LOOK);
            let last = self.sight.database.last_seq()?;
            if last != seen || looked.elapsed() > BEAT {
                (seen, looked) = (last, Instant::now());
                standing = self.standing()?;
            }
        }
    }

    fn say_why_no_more(&self, standing: &TaskProgress, attempt: Option<u32>) {
        let batch = self.arguments.batch;
        if attempt.is_none() && standing.is_over {
            self.say_not_started(standing);
        } else if standing.interrupted && !standing.is_over {
            tell_error(format_args!(
                "batch {batch} is interrupted; `pleach resume {batch}` resumes it\n"
            ));
        }
    }
}

/// What an attempt says: its setup first, while the agent has not begun.
struct Transcript {
    setup: Tail,
    agent: Tail,
}

impl Transcript {
    fn new(folder: &Path) -> Self {
        Self {
            setup: Tail::new(folder.join(SETUP_LOG)),
            agent: Tail::new(folder.join(LOG)),
        }
    }

    fn print(&mut self, printer: &mut Printer) -> Result<(), Failures> {
        // Once begun, it is printed to its end.
        let has_begun = self.agent.path.exists();
        if !has_begun || self.setup.file.is_some() {
            printer.print(&mut self.setup)?;
        }
        if has_begun {
            printer.print(&mut self.agent)?;
        }
        Ok(())
    }
}
