//! What happens to no batch, as programs hear it.

use pleach_system::text::moment::rfc3339;
use serde_json::{Value, json};

use crate::database::BoardEvent;

/// The name of an event of no batch and what it carries.
pub fn board_wire(event: &BoardEvent, project: Option<&str>, at: u64) -> (&'static str, Value) {
    let (name, mut data) = match event {
        BoardEvent::TaskCreated { task, shown } => {
            ("task:created", json!({"taskId": task, "task": shown}))
        }
        BoardEvent::TaskUpdated { task, shown } => {
            ("task:updated", json!({"taskId": task, "task": shown}))
        }
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
