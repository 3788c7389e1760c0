//! Every event as a schema of the document: read from the page of the guide that lists them.
//!
//! The page is what people read, so that the two cannot differ; tests hold it against what is sent.

use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{OpenApi, RefOr};

const PAGE: &str = include_str!("../../../../docs/guide/events.md");

/// A field of an event.
#[derive(Debug, Clone)]
struct Field<'p> {
    name: &'p str,
    kind: &'p str,
    is_optional: bool,
}

/// An event as the page lists it.
#[derive(Debug)]
struct Listed<'p> {
    name: &'p str,
    when: &'p str,
    fields: Vec<Field<'p>>,
}

/// Adds a schema for each event.
pub(crate) fn add(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    for event in listed() {
        let name = schema_name(event.name);
        components.schemas.insert(name, RefOr::T(event.schema()));
    }
}

/// `batch:task:started` is `BatchTaskStartedEvent`.
fn schema_name(event: &str) -> String {
    let words = event.split([':', '_']);
    let words = words.map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.chain(["Event".to_owned()]).collect()
}

fn listed() -> Vec<Listed<'static>> {
    let mut common = Vec::new();
    let mut all = Vec::new();
    for line in PAGE.lines() {
        if let Some(carried) = line.strip_prefix("All have ") {
            common = fields(carried.trim_end_matches('.'));
        } else if let Some(row) = line.strip_prefix("| `") {
            let mut cells = row.split('|').map(str::trim);
            let name = cells.next().unwrap_or_default().trim_end_matches('`');
            let when = cells.next().unwrap_or_default();
            let own = fields(cells.next().unwrap_or_default());
            let fields = common.iter().cloned().chain(own).collect();
            all.push(Listed { name, when, fields });
        }
    }
    all
}

fn fields(text: &str) -> Vec<Field<'_>> {
    let parts = text.split(';').map(str::trim);
    let parts = parts.filter_map(|part| part.strip_prefix('`')?.split_once("` "));
    let fields = parts.map(|(name, kind)| Field {
        name,
        kind: kind.trim_end_matches(" (optional)"),
        is_optional: kind.ends_with(" (optional)"),
    });
    fields.collect()
}

impl Listed<'_> {
    fn schema(&self) -> Schema {
        let mut object = ObjectBuilder::new()
            .title(Some(self.name))
            .description(Some(self.when));
        for field in &self.fields {
            object = object.property(field.name, field.schema());
            if !field.is_optional {
                object = object.required(field.name);
            }
        }
        object.into()
    }
}

impl Field<'_> {
    fn schema(&self) -> Schema {
        let plain = |kind: Type| {
            let kind = if self.is_optional {
                SchemaType::from_iter([kind, Type::Null])
            } else {
                SchemaType::Type(kind)
            };
            ObjectBuilder::new().schema_type(kind).into()
        };
        let list = |kind: Type| {
            let item = ObjectBuilder::new().schema_type(SchemaType::Type(kind));
            ArrayBuilder::new().items(item).into()
        };
        match self.kind {
            "string" => plain(Type::String),
            "number" => plain(Type::Number),
            "boolean" => plain(Type::Boolean),
            "strings" => list(Type::String),
            "objects" => list(Type::Object),
            _ => ObjectBuilder::new()
                .schema_type(SchemaType::AnyValue)
                .into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use pleach_domain::batch::{Barriers, BatchSettings, Design};
    use pleach_domain::event::{BatchEvent, Event, TaskEvent};
    use pleach_domain::graph::{Graph, OrderRules, Strictness};
    use pleach_domain::id::{BatchNumber, TaskId};
    use pleach_domain::plan::Plan;
    use pleach_domain::task::Task;
    use pleach_log::database::{BoardEvent, StoredEvent};
    use pleach_log::tails::{LiveAttempt, LiveBatch};
    use pleach_log::task_ids::TaskIds;
    use pleach_log::view::{Narrator, Origin, board_wire};
    use serde_json::{Value, json};

    use super::super::frame;
    use super::*;

    fn design() -> Design {
        let plan = Plan {
            tasks: vec![Task::new("1", "A", 1)],
            ..Plan::default()
        };
        let graph = Graph::new(&plan, Strictness::AsWritten);
        let settings = BatchSettings::default();
        Design::new(
            &graph,
            &[0],
            OrderRules::default(),
            Barriers::Waves,
            settings,
        )
    }

    /// Every event of a batch as it is sent.
    fn of_batches() -> Vec<(String, Value)> {
        let origin = Origin {
            project: "p".to_owned(),
            repository: "/p".into(),
            plan: "board".to_owned(),
            titles: vec!["A".to_owned()],
            segments: vec!["1".to_owned()],
            ids: TaskIds::default(),
        };
        let task = |event| Event::Task {
            task: TaskId::new("1"),
            event,
        };
        let batches = BatchEvent::one_of_each().into_iter().map(Event::Batch);
        let tasks = TaskEvent::one_of_each().into_iter().map(task);
        let told = batches.chain(tasks).map(|event| {
            let stored = StoredEvent {
                seq: 1,
                batch: 1,
                number: BatchNumber(1),
                at: 1,
                event,
            };
            let mut narrator = Narrator::new(design()).with_origin(origin.clone());
            let (name, data) = narrator.tell(&stored);
            (name.to_owned(), data)
        });
        told.collect()
    }

    fn of_boards() -> Vec<(String, Value)> {
        let task = || "t".to_owned();
        let shown = || json!({});
        let events = [
            BoardEvent::TaskCreated {
                task: task(),
                shown: shown(),
            },
            BoardEvent::TaskUpdated {
                task: task(),
                shown: shown(),
            },
            BoardEvent::TaskDeleted { task: task() },
            BoardEvent::ProjectUpdated {},
            BoardEvent::SettingsUpdated { settings: shown() },
        ];
        let told = events.iter().map(|event| {
            let (name, data) = board_wire(event, Some("p"), 1);
            (name.to_owned(), data)
        });
        told.collect()
    }

    fn without_number() -> Vec<(String, Value)> {
        let attempt = LiveAttempt {
            project: "p".into(),
            batch: 1,
            number: BatchNumber(1),
            task: TaskId::new("1"),
            task_id: "t".to_owned(),
            segment: "1".to_owned(),
            attempt: 1,
            total: 1,
            action: None,
            spent: pleach_domain::batch::Spent::default(),
            is_over: false,
        };
        let batch = LiveBatch {
            project: "p".into(),
            batch: 1,
            is_interrupted: true,
        };
        let sent = [
            frame::log_told(&attempt),
            frame::progress_told(&attempt),
            frame::interrupted_told(&batch),
        ];
        let read = |bytes: axum::body::Bytes| {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            let line = |start: &str| {
                let mut lines = text.lines();
                let found = lines.find_map(|line| line.strip_prefix(start));
                found.unwrap().to_owned()
            };
            (line("event: "), line("data: ").parse().unwrap())
        };
        sent.into_iter().map(read).collect()
    }

    #[test]
    fn every_event_that_is_sent_is_on_the_page_with_all_that_it_carries() {
        let page = listed();
        let sent = [of_batches(), of_boards(), without_number()].concat();
        for (name, data) in &sent {
            let event = page.iter().find(|event| event.name == *name);
            let event = event.unwrap_or_else(|| panic!("{name} is not in docs/guide/events.md"));
            for (field, value) in data.as_object().unwrap() {
                let known = event.fields.iter().find(|known| known.name == *field);
                let known = known.unwrap_or_else(|| panic!("{name} carries {field}"));
                let fits = match (known.kind, value) {
                    (_, Value::Null) => known.is_optional,
                    ("string", value) => value.is_string(),
                    ("number", value) => value.is_number(),
                    ("boolean", value) => value.is_boolean(),
                    ("strings" | "objects", value) => value.is_array(),
                    (kind, _) => kind == "object",
                };
                assert!(fits, "{name}: {field} is a {}, not {value}", known.kind);
            }
            for known in event.fields.iter().filter(|field| !field.is_optional) {
                assert!(data.get(known.name).is_some(), "{name}: {}", known.name);
            }
        }
        for event in &page {
            let is_sent = sent.iter().any(|(name, _)| name == event.name);
            assert!(is_sent, "{} is on the page, and never sent", event.name);
        }
    }

    #[test]
    fn every_event_of_the_page_is_a_schema_of_the_document() {
        let document = serde_json::to_value(crate::routes::document()).unwrap();
        for event in listed() {
            let schema = &document["components"]["schemas"][schema_name(event.name)];
            assert_eq!(schema["title"], event.name);
            assert!(schema["properties"]["at"].is_object(), "{schema}");
        }
    }
}
