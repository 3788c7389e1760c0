//! Keeps secrets out of what a batch stores.
//!
//! Knows nothing of what events mean.

use pleach_domain::event::Event;
use pleach_system::secrets::Hider;
use serde_json::Value;

/// Fields that name something and are compared with other names; everything else is prose.
const NAMES: [&str; 18] = [
    "a", "b", "base", "basis", "blob", "branch", "commit", "doubt", "into", "judge", "kind",
    "rollback", "strand", "task", "tasks", "tip", "tree", "with",
];

pub(super) fn without_secrets(event: Event, hider: &Hider) -> Event {
    let mut value = serde_json::to_value(&event).expect("events are plain data");
    if !hide_in(&mut value, hider) {
        return event;
    }
    serde_json::from_value(value).expect("only its prose has changed")
}

/// Hides secrets in the prose of a value; whether there were any.
fn hide_in(value: &mut Value, hider: &Hider) -> bool {
    match value {
        Value::String(text) => {
            let hidden = hider.hide(text).into_owned();
            let is_another = hidden != *text;
            *text = hidden;
            is_another
        }
        Value::Array(all) => all
            .iter_mut()
            .fold(false, |any, value| hide_in(value, hider) | any),
        Value::Object(fields) => fields
            .iter_mut()
            .filter(|(name, _)| !NAMES.contains(&name.as_str()))
            .fold(false, |any, (_, value)| hide_in(value, hider) | any),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use pleach_domain::event::{BatchEvent, TaskEvent};
    use pleach_domain::id::TaskId;
    use pleach_domain::task_state::Commit;

    use super::*;
    use pleach_system::secrets::Secrets;

    fn hider() -> Hider {
        let mut secrets = Secrets::default();
        secrets.add("KEY", "hunter2-hunter2");
        secrets.hider()
    }

    fn failed(error: &str) -> Event {
        Event::Task {
            task: TaskId::new("hunter2-hunter2"),
            event: TaskEvent::Failed {
                error: error.to_owned(),
            },
        }
    }

    #[test]
    fn the_prose_of_an_event_has_no_secrets_and_its_names_stay() {
        let event = without_secrets(failed("said hunter2-hunter2"), &hider());
        assert_eq!(event, failed("said [hidden:KEY]"));
        let event = Event::Batch(BatchEvent::NotLanded {
            because: "nothing".to_owned(),
            hint: Some("try hunter2-hunter2".to_owned()),
            no_server: false,
        });
        let Event::Batch(BatchEvent::NotLanded { hint, .. }) = without_secrets(event, &hider())
        else {
            panic!("it is another event");
        };
        assert_eq!(hint.as_deref(), Some("try [hidden:KEY]"));
    }

    #[test]
    fn an_event_without_secrets_stays_what_it_is() {
        let event = Event::Task {
            task: TaskId::new("1"),
            event: TaskEvent::Built {
                commit: Commit("hunter2-hunter2".to_owned()),
                files: vec!["a".to_owned()],
            },
        };
        assert_eq!(without_secrets(event.clone(), &hider()), event);
    }
}
