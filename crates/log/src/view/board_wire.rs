//! What happens to no batch, as programs hear it.

use pleach_domain::standing::Standing;
use pleach_domain::task::TaskStatus;
use pleach_domain::task_state::TaskOutcome;
use pleach_domain::task_status_word::TaskStatusWord;
use pleach_system::text::moment::rfc3339;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::database::BoardEvent;

/// The name of an event of no batch and what it carries.
pub fn board_wire(event: &BoardEvent, project: Option<&str>, at: u64) -> (&'static str, Value) {
    let (name, mut data) = match event {
        BoardEvent::TaskCreated { task, shown } => (
            "task:created",
            json!({"taskId": task, "task": standing(shown)}),
        ),
        BoardEvent::TaskUpdated { task, shown } => (
            "task:updated",
            json!({"taskId": task, "task": standing(shown)}),
        ),
        BoardEvent::TaskDeleted { task } => ("task:deleted", json!({ "taskId": task })),
        BoardEvent::ProjectUpdated {} => ("project:updated", json!({})),
        BoardEvent::SettingsUpdated { settings } => {
            ("settings:updated", json!({ "settings": settings }))
        }
    };
    if let Some(project) = project {
        data["projectId"] = json!(project);
    }
    data["at"] = json!(rfc3339(at));
    (name, data)
}

/// What the place of a stored task on its board follows from.
#[derive(Deserialize)]
struct StoredTask {
    status: TaskStatus,
    batch: Option<StoredLast>,
}

#[derive(Deserialize)]
struct StoredLast {
    status: TaskStatusWord,
    outcome: Option<TaskOutcome>,
}

/// The task with its place on the board, which earlier versions did not store.
fn standing(shown: &Value) -> Value {
    let mut shown = shown.clone();
    if let Ok(StoredTask { status, batch }) = StoredTask::deserialize(&shown) {
        let last = batch.map(|last| (last.status, last.outcome));
        let Standing { column, word } = Standing::on_board(status, last);
        shown["column"] = json!(column);
        shown["word"] = json!(word);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_of_no_batch_has_a_name() {
        let task = || "t1".to_owned();
        let shown = json!({"id": "t1"});
        let told = |event, project| {
            let (name, data) = board_wire(&event, project, 42);
            format!("{name} {data}").replace('"', "")
        };
        let created = BoardEvent::TaskCreated {
            task: task(),
            shown: shown.clone(),
        };
        let updated = BoardEvent::TaskUpdated {
            task: task(),
            shown,
        };
        let at = "at:1970-01-01T00:00:00.042Z";
        assert_eq!(
            told(created, Some("p")),
            format!("task:created {{{at},projectId:p,task:{{id:t1}},taskId:t1}}")
        );
        assert_eq!(
            told(updated, Some("p")),
            format!("task:updated {{{at},projectId:p,task:{{id:t1}},taskId:t1}}")
        );
        let shown =
            json!({"status": "in_progress", "batch": {"status": "completed", "outcome": "merged"}});
        let stored = BoardEvent::TaskUpdated {
            task: task(),
            shown,
        };
        let (_, data) = board_wire(&stored, None, 42);
        let place = (&data["task"]["column"], &data["task"]["word"]);
        assert_eq!(place, (&json!("done"), &json!("completed")));
        assert_eq!(
            told(BoardEvent::TaskDeleted { task: task() }, Some("p")),
            format!("task:deleted {{{at},projectId:p,taskId:t1}}")
        );
        assert_eq!(
            told(BoardEvent::ProjectUpdated {}, Some("p")),
            format!("project:updated {{{at},projectId:p}}")
        );
        let settings = json!({"maxBatchSize": 3});
        assert_eq!(
            told(BoardEvent::SettingsUpdated { settings }, None),
            format!("settings:updated {{{at},settings:{{maxBatchSize:3}}}}")
        );
    }
}
