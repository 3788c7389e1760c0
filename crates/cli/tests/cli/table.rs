//! A repository with tasks on its board, for tests of batches over HTTP.
//!
//! Knows nothing of what a test wants to prove with it.

use pleach_engine::board::{Board, NewTask};
use pleach_engine::state_folder::StateFolder;
use serde_json::{Value, json};

use crate::scene::{Scene, WAIT};
use crate::serving::Serving;

/// A repository with tasks on its board.
pub(crate) struct Table {
    pub(crate) scene: Scene,
    pub(crate) project: String,
    pub(crate) tasks: Vec<String>,
}

pub(crate) const ADDS_A_FILE: &str = "echo x > file-$PLEACH_TASK";

/// Arrives, waits, and adds a file.
pub(crate) fn patient() -> String {
    format!("{WAIT}; {ADDS_A_FILE}")
}

impl Table {
    /// Tasks are known as 1, 2, 3 … in batches.
    pub(crate) fn new(count: usize, settings: &str, shell: &str) -> Self {
        let scene = Scene::with(&format!("retries = 0\n{settings}"), "", shell);
        let mut table = Self {
            project: String::new(),
            tasks: Vec::new(),
            scene,
        };
        let folder = table.scene.repo.path();
        table.project = table.board().add_folder(folder).unwrap().id;
        table.add(count);
        table
    }

    /// So many more tasks on its board.
    pub(crate) fn add(&mut self, count: usize) {
        let mut board = self.board();
        for _ in 0..count {
            let task = NewTask {
                project: self.project.clone(),
                title: format!("T{}", self.tasks.len() + 1),
                ..NewTask::default()
            };
            self.tasks.push(board.create_task(&task).unwrap().id);
        }
    }

    /// Starts a batch of all its tasks, with what is asked for besides.
    #[track_caller]
    pub(crate) fn start(&self, server: &Serving, options: &Value) -> Value {
        let mut body = json!({"taskIds": self.tasks});
        let options = options.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(options);
        server.post("/api/batches", &body).good(201)
    }

    pub(crate) fn board(&self) -> Board {
        Board::open(&StateFolder::at(&self.scene.state()).unwrap()).unwrap()
    }

    pub(crate) fn serve(&self) -> Serving {
        Serving::of(&self.scene, &["--yes"])
    }

    /// How far each task is on the board.
    pub(crate) fn marks(&self) -> String {
        let board = self.board();
        let marks = self.tasks.iter().map(|id| board.task(id).unwrap().status);
        marks.collect::<Vec<_>>().join(" ")
    }
}

pub(crate) fn until_over(server: &Serving, batch: u32) -> Value {
    server.until(&format!("/api/batches/{batch}"), |batch| {
        batch["completedAt"].is_string()
    })
}

/// `1:merged 2:failed`
pub(crate) fn outcomes(batch: &Value) -> String {
    let tasks = batch["tasks"].as_array().unwrap().iter();
    let words = tasks.map(|task| {
        let outcome = task["outcome"].as_str().unwrap_or("none");
        format!("{}:{outcome}", task["key"].as_str().unwrap())
    });
    words.collect::<Vec<_>>().join(" ")
}
