//! The log of all batches: what is stored is there, whoever else writes and whatever dies.

mod children;
mod damage;
mod derived;
mod log;
mod submissions;

use std::path::Path;

use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Commit;
use pleach_log::database::{BatchFilter, BatchTask, Database, DatabaseError, NewBatch};
use pleach_system::state_folder::StateFolder;
use tempfile::TempDir;

/// A state folder of a test's own.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn state(&self) -> StateFolder {
        StateFolder::at(self.path()).unwrap()
    }

    fn open(&self) -> Database {
        Database::open(&self.state()).unwrap()
    }
}

fn tasks(words: &str) -> Vec<BatchTask> {
    let ids = words.split_whitespace().map(TaskId::new);
    ids.map(BatchTask::Own).collect()
}

/// Makes a batch of the plan `TODO.md` of a project.
fn create(database: &mut Database, project: &str, tasks: &str) -> Result<u32, DatabaseError> {
    let used = database.batches(BatchFilter::default())?;
    let number = used.first().map_or(1, |newest| newest.id + 1);
    create_as(number, database, project, tasks)
}

/// The same with a number of its own.
fn create_as(
    number: u32,
    database: &mut Database,
    project: &str,
    words: &str,
) -> Result<u32, DatabaseError> {
    let new = NewBatch {
        project,
        repository: Path::new("/somewhere/project"),
        plan: "TODO.md",
        record: "{\"base\":\"main\"}",
        tasks: &tasks(words),
    };
    database.create_batch(number, &new)?;
    Ok(number)
}

fn of_task(task: &str, event: TaskEvent) -> Event {
    Event::Task {
        task: TaskId::new(task),
        event,
    }
}

fn started(task: &str, attempt: u32) -> Event {
    let basis = Commit("b".into());
    of_task(task, TaskEvent::Started { attempt, basis })
}

const CREATED: Event = Event::Batch(BatchEvent::Created);
const BEGUN: Event = Event::Batch(BatchEvent::Started);
const MERGING: Event = Event::Batch(BatchEvent::Merging);
const COMPLETED: Event = Event::Batch(BatchEvent::Completed { pr_url: None });
const REOPENED: Event = Event::Batch(BatchEvent::Reopened);
