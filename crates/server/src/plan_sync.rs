//! Keeps tasks in step with the plan files that people go on editing, once a second.
//!
//! Reads nothing itself; the engine's board does.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use pleach_engine::board::{Board, BoardError};
use pleach_system::text::causes::with_causes;

use crate::app::App;

const PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn keep_plan_files_in_sync(app: App) {
    // What went wrong last, by project, so that it is told once.
    let mut told = HashMap::new();
    loop {
        tokio::time::sleep(PAUSE).await;
        let before = std::mem::take(&mut told);
        let look = app.blocking(move |app| Ok(sync_all(app, &before)));
        told = look.await.unwrap_or_default();
    }
}

fn sync_all(app: &App, before: &HashMap<String, String>) -> HashMap<String, String> {
    let mut wrong = HashMap::new();
    if let Err(error) = sync_each(app, &mut wrong) {
        wrong.insert(String::new(), with_causes(&error));
    }
    for (project, error) in &wrong {
        if before.get(project) != Some(error) {
            tracing::warn!(project, error, "could not read plan files");
        }
    }
    wrong
}

fn sync_each(app: &App, wrong: &mut HashMap<String, String>) -> Result<(), BoardError> {
    let mut board = Board::open(&app.state)?;
    for project in board.projects_with_files()? {
        if let Err(error) = board.sync(&project) {
            wrong.insert(project, with_causes(&error));
        }
    }
    Ok(())
}

/// Makes the repository that the server was started in a project; elsewhere nothing is added.
pub(crate) fn welcome(app: &App, folder: &Path) {
    let added = Board::open(&app.state).and_then(|mut board| board.add_folder(folder));
    if let Err(error) = added {
        tracing::warn!(error = with_causes(&error), "could not add this repository");
    }
}
