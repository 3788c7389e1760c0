//! A batch as people and programs see it.

mod batches;
mod queued;
mod tails;
mod wires;

use std::path::Path;

use pleach_domain::batch::{BatchSettings, Design, FailedStage, Mode, StageDesign, TaskDesign};
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::phase::Threshold;
use pleach_domain::task::Priority;
use pleach_domain::task_state::Commit;
use pleach_log::database::{LoadedBatch, StoredEvent};
use pleach_log::queue_report::QueueReport;
use pleach_log::view::{BatchView, Owner, Surroundings};
use serde_json::{Value, json};

/// 2026-01-01.
const NEW_YEAR: u64 = 1_767_225_600_000;

/// Two tasks at once, in two stages: all but the last task, and the last.
fn design(tasks: &str) -> Design {
    let ids: Vec<&str> = tasks.split_whitespace().collect();
    let last = ids.len() - 1;
    let task = |(position, id): (usize, &&str)| TaskDesign {
        id: TaskId::new(*id),
        needs: Vec::new(),
        after: Vec::new(),
        phase: None,
        follows_phase: false,
        stage: Some(usize::from(position == last)),
        remaining: 1,
        priority: Priority::Medium,
        earlier: Vec::new(),
        no_basis: None,
    };
    let stage = |name: &str, can_parallel| StageDesign {
        name: name.into(),
        can_parallel,
    };
    Design {
        tasks: ids.iter().enumerate().map(task).collect(),
        settings: BatchSettings {
            mode: Mode::Parallel { slots: 2 },
            ..BatchSettings::default()
        },
        stages: vec![stage("build", true), stage("finish", false)],
        failed_stage: FailedStage::GoesOn,
        threshold: Threshold::default(),
        others: Vec::new(),
    }
}

fn of_task(task: &str, event: TaskEvent) -> Event {
    Event::Task {
        task: TaskId::new(task),
        event,
    }
}

fn commit() -> Commit {
    Commit("c".into())
}

fn started(task: &str, attempt: u32) -> Event {
    let basis = commit();
    of_task(task, TaskEvent::Started { attempt, basis })
}

fn built(task: &str) -> Event {
    let files = vec!["a.rs".into()];
    let commit = commit();
    of_task(task, TaskEvent::Built { commit, files })
}

fn woven(task: &str) -> Event {
    of_task(task, TaskEvent::Woven { tip: commit() })
}

const BEGUN: Event = Event::Batch(BatchEvent::Started);

/// What programs know a task by.
fn opaque(key: &str) -> String {
    format!("id-of-{key}")
}

/// Batch 7 of that design, with events at seconds after new year.
fn loaded(design: &Design, events: &[(u64, Event)]) -> LoadedBatch {
    let titles: Vec<Value> = design
        .tasks
        .iter()
        .map(|task| json!({"title": format!("Do {}", task.id), "opaque_id": opaque(task.id.as_str()), "prompt": "…"}))
        .collect();
    let record = json!({
        "design": design,
        "tasks": titles,
        "base": "main",
        "settings": {"agent": ["x"]},
    });
    let stored = |(number, (second, event)): (u64, &(u64, Event))| StoredEvent {
        seq: number,
        batch: 7,
        number: BatchNumber(7),
        at: NEW_YEAR + second * 1000,
        event: event.clone(),
    };
    LoadedBatch {
        id: 7,
        number: BatchNumber(7),
        project: "project-1".into(),
        repository: "/somewhere/project".into(),
        plan: "TODO.md".into(),
        record: record.to_string(),
        created_at: NEW_YEAR - 500,
        events: (1..).zip(events).map(stored).collect(),
    }
}

/// How the batch looks that many seconds after new year.
fn view(loaded: &LoadedBatch, second: u64, owner: Owner) -> BatchView {
    let surroundings = Surroundings {
        worktrees: Path::new("/nowhere"),
        owner,
        queue: &QueueReport::default(),
        now: NEW_YEAR + second * 1000,
    };
    BatchView::of(loaded, &surroundings).unwrap()
}
