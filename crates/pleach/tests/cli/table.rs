//! A repository with tasks on its board, for tests of batches over HTTP.
//!
//! Knows nothing of what a test wants to prove with it.

use pleach_engine::board::{Board, NewTask};
use pleach_system::state_folder::StateFolder;
pub(crate) use pleach_testkit::{ADDS_A_FILE, outcomes, patient, until_over};

use crate::scene::Scene;
use crate::serving::Serving;

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
        let mut table = Self {
            project: String::new(),
            tasks: Vec::new(),
            scene,
        };
        let mut board = table.board();
        table.project = board.add_folder(table.scene.repo.path()).unwrap().id;
        for number in 1..=count {
            let task = NewTask {
                project: table.project.clone(),
                title: format!("T{number}"),
                ..NewTask::default()
            };
            table.tasks.push(board.create_task(&task).unwrap().id);
        }
        table
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
        let marks = self
            .tasks
            .iter()
            .map(|id| board.task(id).unwrap().status.as_str());
        marks.collect::<Vec<_>>().join(" ")
    }
}
