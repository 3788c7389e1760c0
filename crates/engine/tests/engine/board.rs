//! Projects, the tasks on their boards, and plan files that are mirrored there.

mod files;
mod in_step;
mod plans;
mod projects;
mod tasks;

use std::path::Path;

use pleach_domain::event::{BatchEvent, Event};
use pleach_domain::id::TaskId;
use pleach_engine::board::{Board, BoardError, BoardTask, NewTask, TaskChange};
use pleach_log::database::{BatchTask, BoardEvent, Database, Logged, NewBatch};
use pleach_system::state_folder::StateFolder;
use pleach_testkit::TestRepo;

/// A project with a board of its own.
struct Scene {
    repo: TestRepo,
    _folder: tempfile::TempDir,
    state: StateFolder,
    board: Board,
    project: String,
}

impl Scene {
    fn new() -> Self {
        let repo = TestRepo::new();
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::at(&folder.path().join("state")).unwrap();
        let mut board = Board::open(&state).unwrap();
        let project = board.add_folder(repo.path()).unwrap().id;
        Self {
            repo,
            _folder: folder,
            state,
            board,
            project,
        }
    }

    fn create(&mut self, title: &str, needs: &[&BoardTask]) -> BoardTask {
        let new = NewTask {
            project: self.project.clone(),
            title: title.to_owned(),
            depends_on: needs.iter().map(|task| task.id.clone()).collect(),
            ..NewTask::default()
        };
        self.board.create_task(&new).unwrap()
    }

    fn change(&mut self, task: &str, change: &TaskChange) -> Result<BoardTask, BoardError> {
        self.board.change_task(task, change)
    }

    /// A batch that is not over until it is ended.
    fn begin_batch(&self, number: u32, plan: &str, tasks: &[&str]) {
        let mut database = Database::open(&self.state).unwrap();
        let tasks = tasks.iter().map(|task| BatchTask::Own(TaskId::new(*task)));
        let tasks: Vec<BatchTask> = tasks.collect();
        let new = NewBatch {
            project: &self.project,
            repository: self.repo.path(),
            plan,
            record: "{}",
            tasks: &tasks,
        };
        database.create_batch(number, &new).unwrap();
    }

    fn end_batch(&self, number: u32) {
        let mut database = Database::open(&self.state).unwrap();
        let ended = [Event::Batch(BatchEvent::Cancelled)];
        database.append(number, &ended).unwrap();
    }

    /// What everybody heard of the board so far, in short.
    fn told(&self) -> Vec<String> {
        let database = Database::open(&self.state).unwrap();
        let entries = database.entries_after(0, 10_000).unwrap();
        let board = entries.into_iter().filter_map(|entry| match entry.what {
            Logged::Batch(_) | Logged::Board(BoardEvent::ProjectUpdated {}) => None,
            Logged::Board(event) => Some(event),
        });
        let title = |shown: &serde_json::Value| shown["title"].as_str().unwrap().to_owned();
        board
            .map(|event| match event {
                BoardEvent::TaskCreated { shown, .. } => format!("created {}", title(&shown)),
                BoardEvent::TaskUpdated { shown, .. } => format!("updated {}", title(&shown)),
                BoardEvent::TaskDeleted { .. } => "deleted".to_owned(),
                BoardEvent::SettingsUpdated { .. } => "settings".to_owned(),
                BoardEvent::ProjectUpdated {} => unreachable!("left out above"),
            })
            .collect()
    }

    fn titles(&self) -> Vec<String> {
        let tasks = self.board.tasks(&self.project).unwrap().into_iter();
        tasks.map(|task| task.title).collect()
    }

    fn named(&self, title: &str) -> BoardTask {
        let mut tasks = self.board.tasks(&self.project).unwrap().into_iter();
        tasks.find(|task| task.title == title).unwrap()
    }
}

/// Code, field paths and hints of a refusal.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, BoardError>) -> String {
    let error = result.unwrap_err();
    let fields = error.fields().iter().map(|field| field.path.as_str());
    let fields: Vec<&str> = fields.collect();
    assert!(error.hint().is_some(), "{error} has no hint");
    format!("{} {}", error.code(), fields.join(" "))
        .trim()
        .to_owned()
}

/// Saves as editors do: another file takes the name.
fn save(path: &Path, text: &str) {
    let other = path.with_extension("saving");
    std::fs::write(&other, text).unwrap();
    std::fs::rename(&other, path).unwrap();
}
