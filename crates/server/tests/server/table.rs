//! A repository with tasks on its board, for tests of batches.
//!
//! Knows nothing of what a test wants to prove with it.

use pleach_engine::board::{Board, NewTask};
use pleach_server::Consent;
use pleach_testkit::{Scene, start_batch};
use serde_json::Value;

use crate::serving::{Serving, state};

/// A repository with tasks on its board.
pub(crate) struct Table {
    pub(crate) scene: Scene,
    pub(crate) project: String,
    pub(crate) tasks: Vec<String>,
}

impl Table {
    /// Tasks are known as 1, 2, 3 … in batches.
    pub(crate) fn new(count: usize, settings: &str, shell: &str) -> Self {
        let scene = Scene::with(&format!("retries = 0\n{settings}"), "", shell);
        let mut board = board();
        let project = board.add_folder(scene.repo.path()).unwrap().id;
        let task = |number: usize| NewTask {
            project: project.clone(),
            title: format!("T{number}"),
            ..NewTask::default()
        };
        let tasks = (1..=count).map(|number| board.create_task(&task(number)).unwrap().id);
        Self {
            tasks: tasks.collect(),
            project,
            scene,
        }
    }

    /// Starts a batch of all its tasks, with what is asked for besides.
    #[track_caller]
    pub(crate) fn start(&self, server: &Serving, options: &Value) -> Value {
        start_batch(server, &self.tasks, options)
    }

    /// A server that consents to everything.
    pub(crate) fn serve(&self) -> Serving {
        Serving::of(&self.scene, Consent::Given)
    }

    /// How far each task is on the board.
    pub(crate) fn marks(&self) -> String {
        let board = board();
        let marks = self
            .tasks
            .iter()
            .map(|id| board.task(id).unwrap().status.as_str());
        marks.collect::<Vec<_>>().join(" ")
    }
}

/// The board of all projects.
pub(crate) fn board() -> Board {
    Board::open(&state()).unwrap()
}
