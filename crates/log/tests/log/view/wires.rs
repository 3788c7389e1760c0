//! What programs hear.

use pleach_domain::event::{BatchEvent, Event, MergeStatus, PredictedConflict, TaskEvent};
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_log::database::{LoadedBatch, StoredEvent};
use pleach_log::view::{Narrator, Owner, wire, wire_in};
use serde_json::{Value, json};

use super::{BEGUN, NEW_YEAR, built, design, loaded, of_task, opaque, started, woven};

fn stored(event: Event) -> StoredEvent {
    StoredEvent {
        seq: 3,
        batch: 7,
        number: BatchNumber(4),
        at: NEW_YEAR + 42,
        event,
    }
}

/// What an event carries besides how its batch stands then.
fn told_by(narrator: &mut Narrator, event: &StoredEvent) -> (&'static str, Value) {
    let (name, mut data) = narrator.tell(event);
    data.as_object_mut().unwrap().remove("batch");
    (name, data)
}

/// The name and what is special to the event, with a star where it names the worktree.
fn told(event: Event) -> String {
    let is_of_task = matches!(event, Event::Task { .. });
    let (name, mut data) = wire(&stored(event));
    let fields = data.as_object_mut().unwrap();
    assert_eq!(fields.remove("batchId"), Some(json!(7)));
    assert_eq!(fields.remove("at"), Some(json!("2026-01-01T00:00:00.042Z")));
    if is_of_task {
        assert_eq!(fields.remove("taskId"), Some(json!("A")));
    }
    let star = match fields.remove("worktreeId") {
        Some(worktree) => {
            assert_eq!(worktree, "batch-4/task-A");
            "*"
        }
        None => "",
    };
    format!("{name}{star} {data}").replace('"', "")
}

#[test]
fn every_event_of_a_batch_has_a_name() {
    let events = BatchEvent::one_of_each().into_iter().map(Event::Batch);
    let told: Vec<String> = events.map(told).collect();
    assert_eq!(
        told,
        [
            "batch:created {}",
            "batch:progress {percentage:33,running:2,total:3}",
            "batch:started {}",
            "batch:resumed {}",
            "batch:stage:started {stage:1}",
            "batch:stage:completed {mergeStatus:success,stage:1,success:true}",
            "batch:fallback {reason:no room,stage:null}",
            "batch:held {reason:the disk is nearly full}",
            "batch:unheld {}",
            "batch:slots {most:3,reason:overload,slots:1}",
            "batch:predicted {pairs:[{files:[a],tasks:[1,2]}]}",
            "batch:cancelling {rollback:keep}",
            "batch:finishing {}",
            "batch:stopping {reason:1 failed}",
            "batch:merging {}",
            "batch:completed {prUrl:null}",
            "batch:failed {error:nothing was merged}",
            "batch:cancelled {}",
            "batch:reopened {}",
            "batch:validating {stage:null}",
            "batch:judged {ms:5000,number:1,provedAt:null,run:green,tasks:[],tree:t1}",
            "batch:conflict {files:[a],taskId:1,with:[]}",
            "batch:rewoven {base:c1,tip:c3}",
            "batch:proved {tree:t1}",
            "batch:not_proved {doubt:base_red,reason:the base is red}",
            "batch:published {branch:pleach/batch-1,tip:c3}",
            "batch:unpublished {}",
            "batch:reopened {into:null}",
            "batch:landing {into:null}",
            "batch:pushing {branch:pleach/batch-1,commit:c3,reason:null}",
            "batch:pushed {branch:pleach/batch-1,commit:c3}",
            "batch:landed {into:null,prUrl:null}",
            "batch:not_landed {hint:null,reason:no remote}",
        ]
    );
}

#[test]
fn every_event_of_a_task_has_a_name() {
    let events = TaskEvent::one_of_each().into_iter();
    let told: Vec<String> = events.map(|event| told(of_task("A", event))).collect();
    assert_eq!(
        told,
        [
            "batch:task:waiting {}",
            "batch:task:approved {}",
            "batch:task:started* {attempt:1,basis:c2}",
            "batch:task:stopping* {}",
            "batch:task:kept* {commit:c2}",
            "batch:task:built* {commit:c2,files:[a]}",
            "batch:task:completed* {outcome:no_changes,reason:null}",
            "batch:task:retrying* {error:changed nothing and gave no reason,pauseMs:0}",
            "batch:task:queued* {reason:the pause is over}",
            "batch:task:queued* {reason:the batch was interrupted}",
            "batch:task:queued* {reason:it collided}",
            "batch:task:failed* {error:exit 1,outcome:failed}",
            "batch:task:failed* {error:timed out (task_timeout),outcome:timed_out}",
            "batch:task:completed* {outcome:merged,tip:c2}",
            "batch:task:skipped* {files:[a],outcome:conflicted,reason:does not merge cleanly,with:[1]}",
            "batch:task:skipped* {files:[],outcome:invalid,reason:the tests fail with it,with:[]}",
            "batch:task:resolved* {commit:c5,files:[a]}",
            "batch:task:skipped {files:[],outcome:blocked,reason:1 failed}",
            "batch:task:taken_over {outcome:blocked,reason:batch 2 has it}",
            "batch:task:cancelled* {outcome:cancelled}",
            "batch:task:queued {reason:retried by hand}",
            "batch:task:published* {branch:pleach/task-1/1}",
            "batch:task:retrying* {error:exit 1,pauseMs:5000}",
            "batch:task:limited* {error:exit 1,pauseMs:5000}",
            "batch:task:retrying* {error:exit 1,pauseMs:5000}",
            "batch:task:spent* {costUsd:0.03,tokens:1200}",
            "batch:task:session* {sessionId:s1}",
            "batch:task:placed* {node:node7}",
            "batch:task:lost* {because:node7 went down}",
        ]
    );
}

#[test]
fn a_stage_that_starts_says_what_it_is() {
    let design = design("1 2 3");
    let began = stored(Event::Batch(BatchEvent::StageStarted { stage: 0 }));
    let (name, data) = wire_in(&design, &began);
    assert_eq!(name, "batch:stage:started");
    assert_eq!(
        data,
        json!({
            "stage": 1, "taskCount": 2, "canParallel": true, "name": "build", "batchId": 7,
            "at": "2026-01-01T00:00:00.042Z",
        })
    );
    assert_eq!(wire_in(&design, &stored(BEGUN)), wire(&stored(BEGUN)));
}

#[test]
fn making_a_batch_tells_its_tasks_and_its_mode() {
    let created = stored(Event::Batch(BatchEvent::Created));
    assert_eq!(
        wire_in(&design("1 2 3"), &created),
        (
            "batch:created",
            json!({
                "batchId": 7, "number": 4, "tasks": ["1", "2", "3"], "mode": "parallel",
                "at": "2026-01-01T00:00:00.042Z",
            })
        )
    );
}

#[test]
fn making_a_batch_tells_whose_it_is_and_what_its_tasks_are_called() {
    let loaded = loaded(&design("1 2"), &[(0, Event::Batch(BatchEvent::Created))]);
    let created = &loaded.events[0];
    let mut narrator = Narrator::before(&loaded, created.seq).unwrap();
    assert_eq!(
        told_by(&mut narrator, created),
        (
            "batch:created",
            json!({
                "batchId": 7, "number": 7, "projectId": "project-1", "mainRepoPath": "/somewhere/project",
                "plan": "TODO.md", "mode": "parallel", "tasks": [opaque("1"), opaque("2")],
                "keys": ["1", "2"],
                "titles": ["Do 1", "Do 2"], "at": "2026-01-01T00:00:00.000Z",
            })
        )
    );
}

#[test]
fn tasks_are_told_by_their_ids_with_their_keys_beside() {
    let conflicted = TaskEvent::Conflicted {
        files: vec!["a".into()],
        with: vec![TaskId::new("1")],
    };
    let pairs = vec![PredictedConflict {
        a: TaskId::new("1"),
        b: TaskId::new("2"),
        files: vec!["a".into()],
    }];
    let events = [
        (0, Event::Batch(BatchEvent::Created)),
        (0, BEGUN),
        (1, started("2", 1)),
        (2, Event::Batch(BatchEvent::ConflictsPredicted { pairs })),
        (3, of_task("2", conflicted)),
    ];
    let loaded = loaded(&design("1 2"), &events);
    let mut narrator = Narrator::before(&loaded, 0).unwrap();
    let told = loaded
        .events
        .iter()
        .map(|event| told_by(&mut narrator, event).1);
    let told: Vec<_> = told.collect();
    assert_eq!(told[2]["taskId"], opaque("2"));
    assert_eq!(told[2]["key"], "2");
    assert_eq!(
        told[3]["pairs"][0]["tasks"],
        json!([opaque("1"), opaque("2")])
    );
    assert_eq!(told[4]["with"], json!([opaque("1")]));
}

#[test]
fn the_end_of_a_stage_and_of_a_batch_tell_what_their_history_knows() {
    let stage_ended = Event::Batch(BatchEvent::StageEnded {
        stage: 0,
        merge_status: MergeStatus::Success,
        success: true,
    });
    let events = [
        (0, Event::Batch(BatchEvent::Created)),
        (0, BEGUN),
        (1, Event::Batch(BatchEvent::StageStarted { stage: 0 })),
        (1, started("1", 1)),
        (2, of_task("1", TaskEvent::TimedOut)),
        (2, started("2", 1)),
        (3, of_task("2", TaskEvent::Unchanged { reason: None })),
        (4, stage_ended),
        (4, started("3", 1)),
        (5, of_task("3", TaskEvent::Unchanged { reason: None })),
        (5, Event::Batch(BatchEvent::Merging)),
        (9, Event::Batch(BatchEvent::Completed { pr_url: None })),
    ];
    let loaded = loaded(&design("1 2 3"), &events);
    let mut narrator = Narrator::before(&loaded, 0).unwrap();
    let told: Vec<_> = loaded
        .events
        .iter()
        .map(|event| told_by(&mut narrator, event))
        .collect();
    assert_eq!(
        told[7].1,
        json!({
            "stage": 1, "name": "build", "success": true, "mergeStatus": "success", "duration": 3.0,
            "batchId": 7, "at": "2026-01-01T00:00:04.000Z",
        })
    );
    let summary = json!({
        "merged": 0, "noChanges": 2, "conflicted": 0, "invalid": 0, "failed": 0,
        "timedOut": 1, "blocked": 0, "cancelled": 0, "seconds": 9.0,
    });
    assert_eq!(told[11].1["summary"], summary);
    assert!(narrator.is_over());
    let last = &loaded.events[11];
    let mut late = Narrator::before(&loaded, last.seq).unwrap();
    assert!(!late.is_over());
    assert_eq!(told_by(&mut late, last), told[11]);
}

#[test]
fn progress_counts_as_completed_what_succeeded_as_a_batch_does() {
    let failed = TaskEvent::Failed { error: "no".into() };
    let progressed = BatchEvent::Progressed {
        over: 2,
        total: 3,
        running: 0,
    };
    let events = [
        (0, Event::Batch(BatchEvent::Created)),
        (0, BEGUN),
        (1, started("1", 1)),
        (1, of_task("1", failed)),
        (1, started("2", 1)),
        (2, of_task("2", TaskEvent::Unchanged { reason: None })),
        (2, Event::Batch(progressed)),
    ];
    let loaded = loaded(&design("1 2 3"), &events);
    let last = loaded.events.last().unwrap();
    let mut narrator = Narrator::before(&loaded, last.seq).unwrap();
    let (_, mut told) = told_by(&mut narrator, last);
    let fields = told.as_object_mut().unwrap();
    fields.remove("batchId");
    fields.remove("at");
    assert_eq!(told, json!(super::view(&loaded, 2, Owner::Alive).progress));
    assert_eq!(
        (&told["completed"], &told["failed"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn an_event_of_a_task_tells_the_task_as_its_batch_has_it_then() {
    let failed = TaskEvent::Failed { error: "no".into() };
    let events = [
        (0, Event::Batch(BatchEvent::Created)),
        (0, BEGUN),
        (1, started("1", 1)),
        (3, built("1")),
        (4, woven("1")),
        (4, started("2", 1)),
        (6, of_task("2", failed)),
        (6, Event::Batch(BatchEvent::Merging)),
        (7, Event::Batch(BatchEvent::Completed { pr_url: None })),
        (8, Event::Batch(BatchEvent::Reopened)),
        (8, of_task("2", TaskEvent::Retried)),
    ];
    let loaded = loaded(&design("1 2"), &events);
    let mut narrator = Narrator::before(&loaded, 0).unwrap();
    let mut seen = Vec::new();
    for (at, stored) in loaded.events.iter().enumerate() {
        let (name, data) = narrator.tell(stored);
        let then = LoadedBatch {
            events: loaded.events[..=at].to_vec(),
            ..loaded.clone()
        };
        let view = json!(super::view(&then, events[at].0, Owner::Alive));
        for (field, told) in data["batch"].as_object().unwrap() {
            assert_eq!(*told, view[field], "{name}: {field}");
        }
        let (status, task) = (&data["batch"]["status"], &data["task"]);
        let standing = match &stored.event {
            Event::Task { task: key, .. } => {
                let position = usize::from(key.as_str() == "2");
                let mut known = view["tasks"][position].clone();
                known.as_object_mut().unwrap().remove("worktreePath");
                assert_eq!(*task, known, "{name}");
                format!("; {} {} {}", task["column"], task["word"], task["can"])
            }
            Event::Batch(_) => String::new(),
        };
        let line = format!("{name} {status}{standing}");
        seen.push(line.replace('"', ""));
    }
    assert_eq!(
        seen,
        [
            "batch:created pending",
            "batch:started running",
            "batch:task:started running; in_progress running [cancel]",
            "batch:task:built running; in_progress running [cancel]",
            "batch:task:completed running; done completed []",
            "batch:task:started running; in_progress running [cancel]",
            "batch:task:failed running; needs_you failed [retry]",
            "batch:merging merging",
            "batch:completed completed",
            "batch:reopened running",
            "batch:task:queued running; in_progress queued [cancel]",
        ]
    );
}
