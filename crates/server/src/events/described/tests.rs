//! Every event that is sent is on the page, and fits its schema.

use pleach_domain::batch::{Barriers, BatchSettings, Design};
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::graph::{Graph, OrderRules, Strictness};
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::plan::Plan;
use pleach_domain::standing::BoardColumn;
use pleach_domain::task::{Priority, Task, TaskStatus};
use pleach_domain::task_state::{TaskOutcome, TaskWord};
use pleach_domain::task_status_word::TaskStatusWord;
use pleach_engine::board::{BoardTask, LastBatch};
use pleach_log::database::{BoardEvent, LoadedBatch, StoredEvent};
use pleach_log::tails::{LiveAttempt, LiveBatch};
use pleach_log::view::{Narrator, board_wire};
use serde_json::{Value, json};

use super::super::frame;
use super::*;

/// A batch of one task.
fn loaded() -> LoadedBatch {
    let plan = Plan {
        tasks: vec![Task::new("1", "A", 1)],
        ..Plan::default()
    };
    let graph = Graph::new(&plan, Strictness::AsWritten);
    let settings = BatchSettings::default();
    let rules = OrderRules::default();
    let design = Design::new(&graph, &[0], rules, Barriers::Waves, settings);
    LoadedBatch {
        id: 1,
        number: BatchNumber(1),
        project: "p".to_owned(),
        repository: "/p".into(),
        plan: "board".to_owned(),
        record: json!({"design": design, "tasks": [{"title": "A"}]}).to_string(),
        created_at: 1,
        events: Vec::new(),
    }
}

/// Every event of a batch as it is sent.
fn of_batches() -> Vec<(String, Value)> {
    let loaded = loaded();
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
        let mut narrator = Narrator::before(&loaded, 0).unwrap();
        let (name, data) = narrator.tell(&stored);
        (name.to_owned(), data)
    });
    told.collect()
}

fn board_task() -> Value {
    let task = BoardTask {
        id: "t".to_owned(),
        key: "1".to_owned(),
        project_id: "p".to_owned(),
        plan: None,
        line: None,
        title: "A".to_owned(),
        description: String::new(),
        status: TaskStatus::Completed,
        column: BoardColumn::Done,
        word: TaskWord::Completed,
        phase: None,
        priority: Priority::High,
        labels: Vec::new(),
        size: None,
        depends_on: Vec::new(),
        files: Vec::new(),
        position: 1.0,
        batch: Some(LastBatch {
            id: 1,
            number: BatchNumber(1),
            status: TaskStatusWord::Completed,
            outcome: Some(TaskOutcome::Merged),
        }),
        created_at: String::new(),
        updated_at: String::new(),
    };
    serde_json::to_value(task).unwrap()
}

fn settings() -> Value {
    json!({"maxBatchSize": "auto", "parallelLimit": 8, "queueAutoApprove": false, "stopOnFailure": false,
        "conflictBehavior": "skip", "where": "local", "sources": {}, "overridden": {}})
}

fn of_boards() -> Vec<(String, Value)> {
    let task = || "t".to_owned();
    let events = [
        BoardEvent::TaskCreated {
            task: task(),
            shown: board_task(),
        },
        BoardEvent::TaskUpdated {
            task: task(),
            shown: board_task(),
        },
        BoardEvent::TaskDeleted { task: task() },
        BoardEvent::ProjectUpdated {},
        BoardEvent::SettingsUpdated {
            settings: settings(),
        },
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

/// What is wrong with a value, by a schema of the document; no value may have what its schema does not know.
fn misfit(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let schema = document.pointer(reference.trim_start_matches('#'));
        let schema = schema.unwrap_or_else(|| panic!("{reference} is not in the document"));
        return misfit(document, schema, value).map(|why| format!("{reference}: {why}"));
    }
    if let Some(ways) = schema["oneOf"].as_array() {
        let all = ways.iter().map(|way| misfit(document, way, value));
        let all: Option<Vec<String>> = all.collect();
        return all.map(|all| all.join("; or "));
    }
    let words = schema["enum"].as_array();
    if let Some(words) = words.filter(|words| !words.contains(value)) {
        return Some(format!("{value} is none of {words:?}"));
    }
    let is_of = |kind: &str| match kind {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        kind => panic!("{kind} is no type"),
    };
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    if !kinds.iter().any(|kind| is_of(kind)) {
        return Some(format!("{value} is no {kinds:?}"));
    }
    if let Some(items) = value.as_array() {
        let mut items = items.iter();
        return items.find_map(|item| misfit(document, &schema["items"], item));
    }
    let fields = value.as_object()?;
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    if let Some(missing) = required.find(|name| !fields.contains_key(*name)) {
        return Some(format!("there is no {missing}"));
    }
    fields.iter().find_map(|(name, field)| {
        let own = schema["properties"].get(name);
        let Some(schema) = own.or_else(|| schema.get("additionalProperties")) else {
            return Some(format!("{name} is not known"));
        };
        misfit(document, schema, field).map(|why| format!("{name}: {why}"))
    })
}

#[test]
fn every_event_that_is_sent_is_on_the_page_and_fits_its_schema() {
    let page = listed();
    let document = serde_json::to_value(crate::routes::document()).unwrap();
    let any = json!({"$ref": "#/components/schemas/LiveEvent"});
    let sent = [of_batches(), of_boards(), without_number()].concat();
    for (name, data) in &sent {
        let is_listed = page.iter().any(|event| event.name == *name);
        assert!(is_listed, "{name} is not in docs/guide/events.md");
        let reference = format!("#/components/schemas/{}", schema_name(name));
        let wrong = misfit(&document, &json!({"$ref": reference}), data);
        assert_eq!(wrong, None, "{name}");
        let event = json!({"name": name, "data": data});
        assert_eq!(misfit(&document, &any, &event), None, "{name}");
        let is_of_batch = name.starts_with("batch:") && *name != "batch:interrupted";
        assert_eq!(data.get("batch").is_some(), is_of_batch, "{name}");
        let is_of_task = name.starts_with("batch:task:");
        assert!(!is_of_task || data["task"]["can"].is_array(), "{name}");
    }
    for event in &page {
        let is_sent = sent.iter().any(|(name, _)| name == event.name);
        assert!(is_sent, "{} is on the page, and never sent", event.name);
    }
}

#[test]
fn an_event_that_does_not_fit_its_schema_is_noticed() {
    let document = serde_json::to_value(crate::routes::document()).unwrap();
    let schema = json!({"$ref": "#/components/schemas/BatchTaskCancelledEvent"});
    let (_, good) = of_batches()
        .into_iter()
        .find(|(name, _)| name == "batch:task:cancelled")
        .unwrap();
    assert_eq!(misfit(&document, &schema, &good), None);
    for (pointer, bad) in [
        ("/batchId", json!("1")),
        ("/outcome", json!("gone")),
        ("/task/column", json!("nowhere")),
        ("/task/can", json!(["fly"])),
        ("/batch/progress/total", json!(null)),
    ] {
        let mut event = good.clone();
        *event.pointer_mut(pointer).unwrap() = bad;
        assert!(misfit(&document, &schema, &event).is_some(), "{pointer}");
    }
    let mut more = good;
    more["more"] = json!(1);
    assert!(misfit(&document, &schema, &more).is_some());
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
