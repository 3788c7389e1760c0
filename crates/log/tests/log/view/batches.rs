//! What `status` shows.

use std::fs;
use std::path::Path;

use pleach_domain::batch::{Approval, Mode, OnFailure};
use pleach_domain::choice::OnConflict;
use pleach_domain::event::{BatchEvent, Event, MergeStatus, Rollback, TaskEvent};
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::task_state::Commit;
use pleach_log::database::{BatchTask, Database, NewBatch};
use pleach_log::ownership::BatchLock;
use pleach_log::queue_report::QueueReport;
use pleach_log::view::{BatchView, Owner, Surroundings, ViewError};
use pleach_system::state_folder::StateFolder;
use pleach_system::text::causes::with_causes;
use serde_json::{Value, json};

use super::{BEGUN, built, design, loaded, of_task, opaque, started, view, woven};

fn failed(task: &str) -> Event {
    let error = "exit 1".into();
    of_task(task, TaskEvent::Failed { error })
}

fn merge_over() -> [Event; 2] {
    [BatchEvent::Merging, BatchEvent::Completed { pr_url: None }].map(Event::Batch)
}

fn task<'a>(view: &'a Value, id: &str) -> &'a Value {
    let tasks = view["tasks"].as_array().unwrap();
    tasks.iter().find(|task| task["key"] == id).unwrap()
}

#[test]
fn a_new_batch_has_every_field() {
    let drawn = json!(view(&loaded(&design("1 2"), &[]), 0, Owner::Alive));
    let task = |id: &str| {
        json!({
            "taskId": opaque(id), "key": id, "title": format!("Do {id}"), "status": "queued", "state": "queued",
            "column": "in_progress", "word": "queued", "can": ["cancel"],
            "outcome": null, "worktreeId": null, "worktreePath": null, "branch": format!("pleach/task-7/{id}"), "hasBranch": false,
            "sessionId": null, "error": null, "attempts": 0, "lastAttempt": 0, "cost": null, "tokens": null, "consent": [], "files": [],
            "node": null, "unit": null, "sandbox": "none", "startedAt": null, "completedAt": null, "seconds": 0.0,
        })
    };
    let stage = |stage, name: &str, can_parallel: &Value| {
        json!({
            "stage": stage, "name": name, "canParallel": can_parallel, "taskCount": 1,
            "status": "pending", "fellBack": false, "mergeStatus": null, "startedAt": null,
            "completedAt": null, "seconds": null,
        })
    };
    assert_eq!(
        drawn,
        json!({
            "id": 7,
            "landInto": null,
            "number": 7,
            "projectId": "project-1",
            "mode": "parallel",
            "status": "pending",
            "error": null,
            "held": null,
            "interrupted": false,
            "tasks": [task("1"), task("2")],
            "settings": {
                "maxConcurrent": 2,
                "concurrentNow": 2,
                "autoApprove": true,
                "stopOnFailure": false, "where": "local",
                "conflictBehavior": "skip",
            },
            "mainRepoPath": "/somewhere/project", "plan": "TODO.md", "base": "main",
            "batchBranch": "pleach/batch-7", "hasBranch": false, "prUrl": null,
            "progress": {
                "total": 2, "completed": 0, "failed": 0, "running": 0, "queued": 2, "skipped": 0,
                "cancelled": 0, "percentage": 0,
            },
            "validation": {
                "command": null, "verdict": "not_configured", "tree": null, "reason": null, "runs": [],
                "flaky": [], "notLanded": null, "baseRed": false, "provedAt": null,
            },
            "conflicts": [],
            "predictedConflicts": [],
            "stages": [stage(1, "build", &json!(true)), stage(2, "finish", &json!(false))],
            "createdAt": "2025-12-31T23:59:59.500Z",
            "startedAt": null,
            "completedAt": null,
            "seconds": 0.0,
            "idleSeconds": 0.0,
            "workedSeconds": 0.0,
            "secondsLeft": null,
            "buildsOn": [], "estimatedEnd": null,
        })
    );
}

/// A batch with a task in every state, as it looks at its second second.
fn one_of_each() -> Value {
    let events = [
        BEGUN,
        started("merged", 1),
        built("merged"),
        woven("merged"),
        started("same", 1),
        of_task("same", TaskEvent::Unchanged { reason: None }),
        started("collides", 1),
        built("collides"),
        of_task(
            "collides",
            TaskEvent::Conflicted {
                files: vec!["a.rs".into()],
                with: vec![TaskId::new("merged")],
            },
        ),
        of_task(
            "collides",
            TaskEvent::Published {
                branch: "pleach/task-7/collides".into(),
                commit: Commit("c".into()),
            },
        ),
        started("fails", 1),
        failed("fails"),
        started("slow", 1),
        of_task("slow", TaskEvent::TimedOut),
        of_task(
            "blocked",
            TaskEvent::Blocked {
                because: "fails failed".into(),
            },
        ),
        of_task("stopped", TaskEvent::Cancelled),
        started("built", 1),
        built("built"),
        started("works", 1),
        of_task("waits", TaskEvent::Waiting { consent: None }),
    ];
    let ids = "merged same collides fails slow blocked stopped built works waits";
    let events: Vec<(u64, Event)> = events.into_iter().map(|event| (1, event)).collect();
    json!(view(&loaded(&design(ids), &events), 2, Owner::Alive))
}

#[test]
fn every_way_to_end_has_a_status_and_a_finer_word() {
    let drawn = one_of_each();
    for (id, status, state, error) in [
        ("merged", "completed", "merged", json!(null)),
        ("same", "completed", "no_changes", json!(null)),
        (
            "collides",
            "skipped",
            "conflicted",
            json!("does not merge cleanly"),
        ),
        ("fails", "failed", "failed", json!("exit 1")),
        (
            "slow",
            "failed",
            "timed_out",
            json!("timed out (task_timeout)"),
        ),
        ("blocked", "skipped", "blocked", json!("fails failed")),
        ("stopped", "cancelled", "cancelled", json!(null)),
    ] {
        let task = task(&drawn, id);
        assert_eq!(task["status"], status, "{id}");
        assert_eq!(
            (&task["outcome"], &task["state"]),
            (&json!(state), &json!(state))
        );
        assert_eq!(task["error"], error, "{id}");
        assert_eq!(task["completedAt"], "2026-01-01T00:00:01.000Z", "{id}");
    }
    assert_eq!(
        drawn["conflicts"],
        json!([{"taskId": opaque("collides"), "key": "collides", "files": ["a.rs"], "with": [opaque("merged")], "resolving": null}])
    );
    assert_eq!(task(&drawn, "collides")["branch"], "pleach/task-7/collides");
    assert_eq!(task(&drawn, "collides")["hasBranch"], true);
    assert_eq!(task(&drawn, "merged")["branch"], "pleach/task-7/merged");
    assert_eq!(task(&drawn, "merged")["hasBranch"], false);
    assert_eq!(task(&drawn, "merged")["files"], json!(["a.rs"]));
    assert_eq!(task(&drawn, "merged")["worktreeId"], "batch-7/task-merged");
    assert_eq!(task(&drawn, "blocked")["worktreeId"], json!(null));
}

#[test]
fn tasks_that_are_not_over_have_no_outcome_and_all_are_counted() {
    let drawn = one_of_each();
    for (id, status, state) in [
        ("built", "running", "built"),
        ("works", "running", "running"),
        ("waits", "waiting", "waiting"),
    ] {
        let task = task(&drawn, id);
        assert_eq!(
            (&task["status"], &task["state"]),
            (&json!(status), &json!(state))
        );
        assert_eq!(
            (&task["outcome"], &task["completedAt"]),
            (&json!(null), &json!(null))
        );
    }
    assert_eq!(
        drawn["progress"],
        json!({
            "total": 10, "completed": 2, "failed": 2, "running": 2, "queued": 1, "skipped": 2,
            "cancelled": 1, "percentage": 70,
        })
    );
}

#[test]
fn attempts_and_their_times_add_up() {
    let failed = TaskEvent::AttemptFailed {
        error: "no network".into(),
        pause: 1,
    };
    let events = [
        (0, BEGUN),
        (0, started("1", 1)),
        (10, of_task("1", failed)),
        (20, of_task("1", TaskEvent::PauseEnded)),
        (30, started("1", 2)),
    ];
    let design = design("1 2");
    let resting = view(&loaded(&design, &events[..3]), 15, Owner::Alive);
    assert_eq!(resting.tasks[0].error.as_deref(), Some("no network"));
    assert!((resting.tasks[0].seconds - 10.0).abs() < 1e-9);
    let again = json!(view(&loaded(&design, &events), 35, Owner::Alive));
    assert_eq!(again["tasks"][0]["seconds"], 15.0);
    assert_eq!(again["tasks"][0]["attempts"], 2);
    assert_eq!(again["tasks"][0]["error"], json!(null));
    assert_eq!(again["tasks"][0]["startedAt"], "2026-01-01T00:00:00.000Z");
    assert_eq!(
        (&again["seconds"], &again["workedSeconds"]),
        (&json!(35.0), &json!(15.0))
    );
}

#[test]
fn what_passed_is_either_the_time_of_a_batch_or_idle() {
    let events = [
        (0, BEGUN),
        (0, started("1", 1)),
        (10, built("1")),
        (100, Event::Batch(BatchEvent::Resumed)),
    ];
    let design = design("1 2");
    let told = json!(view(&loaded(&design, &events), 105, Owner::Alive));
    assert_eq!(
        (&told["seconds"], &told["idleSeconds"]),
        (&json!(15.0), &json!(90.0))
    );
}

#[test]
fn the_end_is_foreseen_from_what_tasks_took() {
    let events = [
        (0, BEGUN),
        (0, started("1", 1)),
        (0, started("2", 1)),
        (20, built("1")),
        (40, built("2")),
        (40, started("3", 1)),
    ];
    let mut design = design("1 2 3 4 5");
    let drawn = view(&loaded(&design, &events), 50, Owner::Alive);
    // 30 s a task: two at a time, and the last one in a stage of its own.
    assert_eq!(drawn.seconds_left, Some(60.0));
    assert_eq!(
        drawn.estimated_end.as_deref(),
        Some("2026-01-01T00:01:50.000Z")
    );
    let approval = Approval::Automatic;
    design.settings.mode = Mode::Queue { approval };
    let one_by_one = view(&loaded(&design, &events), 50, Owner::Alive);
    assert_eq!(one_by_one.seconds_left, Some(80.0));
    assert_eq!(
        view(&loaded(&design, &events[..3]), 10, Owner::Alive).seconds_left,
        None
    );
    assert_eq!(
        view(&loaded(&design, &events), 50, Owner::Gone).seconds_left,
        None
    );
}

#[test]
fn a_batch_without_an_owner_is_interrupted_unless_it_is_over() {
    let mut events = vec![(0, BEGUN), (1, started("1", 1)), (2, failed("1"))];
    let design = design("1");
    for (owner, interrupted) in [(Owner::Alive, false), (Owner::Gone, true)] {
        let drawn = view(&loaded(&design, &events), 9, owner);
        assert_eq!(
            (drawn.interrupted, drawn.status.as_str()),
            (interrupted, "running")
        );
    }
    let over = merge_over().into_iter().map(|event| (5, event));
    events.extend(over);
    let drawn = view(&loaded(&design, &events), 9, Owner::Gone);
    assert_eq!(
        (drawn.interrupted, drawn.status.as_str()),
        (false, "completed")
    );
    assert_eq!(
        drawn.completed_at.as_deref(),
        Some("2026-01-01T00:00:05.000Z")
    );
    assert!((drawn.seconds - 5.0).abs() < 1e-9);
    let retried = [
        (6, Event::Batch(BatchEvent::Reopened)),
        (6, of_task("1", TaskEvent::Retried)),
    ];
    events.extend(retried);
    let drawn = view(&loaded(&design, &events), 9, Owner::Alive);
    assert_eq!(
        (drawn.status.as_str(), drawn.completed_at),
        ("running", None)
    );
    assert_eq!(drawn.tasks[0].completed_at, None);
}

#[test]
fn the_time_of_a_batch_that_nobody_runs_stands_still() {
    let events = [(0, BEGUN), (1, started("1", 1)), (4, started("2", 1))];
    let design = design("1 2");
    for (owner, took, worked) in [(Owner::Alive, 100.0, 99.0), (Owner::Gone, 4.0, 3.0)] {
        let drawn = view(&loaded(&design, &events), 100, owner);
        assert!((drawn.seconds - took).abs() < 1e-9, "{}", drawn.seconds);
        let task = drawn.tasks[0].seconds;
        assert!((task - worked).abs() < 1e-9, "{task}");
    }
}

#[test]
fn settings_and_reasons_are_told() {
    let mut design = design("1 2");
    let approval = Approval::ByPerson;
    design.settings.mode = Mode::Queue { approval };
    design.settings.on_failure = OnFailure::Stop;
    design.settings.on_conflict = OnConflict::Rerun;
    let because = "task 1 failed".to_owned();
    let given_up = BatchEvent::GaveUp {
        because: because.clone(),
    };
    let mut events = vec![(0, BEGUN), (1, Event::Batch(given_up))];
    let drawn = json!(view(&loaded(&design, &events), 1, Owner::Alive));
    assert_eq!(drawn["mode"], "queue");
    assert_eq!(
        drawn["settings"],
        json!({
            "where": "local", "maxConcurrent": 1, "concurrentNow": 1, "autoApprove": false, "stopOnFailure": true,
            "conflictBehavior": "rerun",
        })
    );
    assert_eq!(
        (&drawn["error"], &drawn["status"]),
        (&json!(because), &json!("running"))
    );
    let error = because.clone();
    events.push((2, Event::Batch(BatchEvent::Failed { error })));
    let drawn = json!(view(&loaded(&design, &events), 1, Owner::Gone));
    assert_eq!(
        (&drawn["error"], &drawn["status"]),
        (&json!(because), &json!("failed"))
    );
    let rollback = Rollback::Keep;
    events[1].1 = Event::Batch(BatchEvent::CancelRequested { rollback });
    let drawn = view(&loaded(&design, &events[..2]), 1, Owner::Alive);
    assert_eq!(drawn.error.as_deref(), Some("cancelling"));
}

#[test]
fn stages_have_times_and_verdicts() {
    let ended = |stage, merge_status, success| {
        Event::Batch(BatchEvent::StageEnded {
            stage,
            merge_status,
            success,
        })
    };
    let began = |stage| Event::Batch(BatchEvent::StageStarted { stage });
    let fell_back = BatchEvent::FellBack {
        reason: "a collision".into(),
        stage: Some(0),
    };
    let events = [
        (0, BEGUN),
        (1, began(0)),
        (2, Event::Batch(fell_back)),
        (4, ended(0, MergeStatus::Conflicts, false)),
        (5, began(1)),
    ];
    let drawn = json!(view(&loaded(&design("1 2 3"), &events), 9, Owner::Alive));
    assert_eq!(
        drawn["stages"],
        json!([
            {
                "stage": 1, "name": "build", "canParallel": true, "taskCount": 2,
                "status": "failed", "fellBack": true, "mergeStatus": "conflicts",
                "startedAt": "2026-01-01T00:00:01.000Z",
                "completedAt": "2026-01-01T00:00:04.000Z", "seconds": 3.0,
            },
            {
                "stage": 2, "name": "finish", "canParallel": false, "taskCount": 1,
                "status": "running", "fellBack": false, "mergeStatus": null,
                "startedAt": "2026-01-01T00:00:05.000Z", "completedAt": null, "seconds": null,
            },
        ])
    );
}

#[test]
fn what_cannot_be_understood_is_named() {
    let surroundings = Surroundings {
        worktrees: Path::new("/nowhere"),
        owner: Owner::Gone,
        queue: &QueueReport::default(),
        now: 0,
    };
    let twice = loaded(&design("1"), &[(0, BEGUN), (0, BEGUN)]);
    let error = BatchView::of(&twice, &surroundings).unwrap_err();
    assert!(matches!(error, ViewError::Event { seq: 2, .. }));
    let told = "could not replay event 2 of batch 7: a batch that is running cannot be started";
    assert_eq!(with_causes(&error), told);
    let mut strange = loaded(&design("1"), &[]);
    strange.record = "{}".into();
    let error = BatchView::of(&strange, &surroundings).unwrap_err();
    assert!(
        matches!(
            error,
            ViewError::Record {
                batch: BatchNumber(7),
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_stored_batch_is_shown_with_its_owner_and_its_worktrees() {
    let folder = tempfile::tempdir().unwrap();
    let state = StateFolder::at(folder.path()).unwrap();
    let mut database = Database::open(&state).unwrap();
    let design = design("A 2");
    let new = NewBatch {
        project: "project-1",
        repository: Path::new("/somewhere"),
        plan: "TODO.md",
        record: &json!({ "design": design }).to_string(),
        tasks: &["A", "2"].map(|id| BatchTask::Own(TaskId::new(id))),
    };
    let batch = 1;
    database.create_batch(batch, &new).unwrap();
    database.append(batch, &[BEGUN, started("A", 1)]).unwrap();
    let worktree = state
        .worktrees(None, "project-1", BatchNumber(1))
        .join("task--41");
    fs::create_dir_all(&worktree).unwrap();
    fs::create_dir_all(state.batch(batch)).unwrap();
    let lock = BatchLock::take(&state.batch(batch)).unwrap();
    let load = || BatchView::load(&state, &database, batch).unwrap().unwrap();
    let drawn = load();
    assert!(!drawn.interrupted);
    assert_eq!(drawn.tasks[0].worktree_path.as_deref(), Some(&*worktree));
    assert_eq!(
        drawn.tasks[0].worktree_id.as_deref(),
        Some("batch-1/task--41")
    );
    assert_eq!(drawn.tasks[1].worktree_path, None);
    drop(lock);
    fs::remove_dir(&worktree).unwrap();
    assert!(load().interrupted);
    assert_eq!(load().tasks[0].worktree_path, None);
    assert_eq!(BatchView::load(&state, &database, 99).unwrap(), None);
}

#[test]
fn tasks_that_work_in_the_users_folder_have_that_and_no_branches() {
    let mut loaded = loaded(&design("1 2"), &[(0, BEGUN), (1, started("1", 1))]);
    let mut record: Value = loaded.record.parse().unwrap();
    record["place"] = json!("in_place");
    record["folder"] = json!("/somewhere");
    loaded.record = record.to_string();
    let drawn = json!(view(&loaded, 2, Owner::Alive));
    let first = task(&drawn, "1");
    assert_eq!(
        (&first["worktreePath"], &first["branch"]),
        (&json!("/somewhere"), &Value::Null)
    );
    assert_eq!(task(&drawn, "2")["worktreePath"], Value::Null);
}
