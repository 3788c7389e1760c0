//! Events as programs hear them: a name and JSON.
//!
//! The names are an interface; what is told by people's words is made elsewhere.

use pleach_domain::batch::{Design, Progress};
use pleach_domain::event::{
    BatchEvent, CHANGED_NOTHING, DOES_NOT_MERGE, Event, INTERRUPTED, PredictedConflict,
    TOOK_TOO_LONG, TaskEvent,
};
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_git::git::task_segments;
use pleach_system::text::moment::rfc3339;
use serde_json::{Value, json};

use crate::database::StoredEvent;
use crate::task_ids::TaskIds;

/// The name of a task's worktree within its project, by what the task is called in paths.
pub fn worktree_id(batch: BatchNumber, segment: &str) -> String {
    format!("batch-{batch}/task-{segment}")
}

/// The name of an event and what it carries.
pub fn wire(stored: &StoredEvent) -> (&'static str, Value) {
    let (name, mut data) = match &stored.event {
        Event::Batch(event) => (batch_name(event), batch_data(event)),
        Event::Task { event, .. } => (task_name(event), task_data(event)),
    };
    data["batchId"] = json!(stored.batch);
    data["at"] = json!(rfc3339(stored.at));
    if let Event::Task { task, event } = &stored.event {
        data["taskId"] = json!(task);
        if has_worktree(event) {
            // Who knows the other tasks of the batch knows better.
            let segment = task_segments(&[task]).remove(0);
            data["worktreeId"] = json!(worktree_id(stored.number, &segment));
        }
    }
    (name, data)
}

/// The same, with what only the design of the batch knows: its tasks, how many a stage has, and how they run.
pub fn wire_in(design: &Design, stored: &StoredEvent) -> (&'static str, Value) {
    let (name, mut data) = wire(stored);
    match &stored.event {
        Event::Batch(BatchEvent::Created) => {
            let tasks: Vec<&TaskId> = design.tasks.iter().map(|task| &task.id).collect();
            data["tasks"] = json!(tasks);
            data["mode"] = json!(design.settings.mode.choice());
            data["number"] = json!(stored.number);
        }
        Event::Batch(BatchEvent::StageStarted { stage }) => {
            if let Some(known) = design.stages.get(*stage) {
                let tasks = design.tasks.iter();
                let count = tasks.filter(|task| task.stage == Some(*stage)).count();
                data["taskCount"] = json!(count);
                data["canParallel"] = json!(known.can_parallel);
                data["name"] = json!(known.name);
            }
        }
        Event::Batch(BatchEvent::StageEnded { stage, .. }) => {
            let known = design.stages.get(*stage);
            data["name"] = json!(known.map(|known| &known.name));
        }
        _ => {}
    }
    (name, data)
}

/// The number of a stage for people and programs; the log counts from 0.
pub(super) fn counted_from_1(stage: usize) -> usize {
    stage + 1
}

/// Dollars, as a number.
#[expect(
    clippy::cast_precision_loss,
    reason = "nobody spends nine billion dollars"
)]
pub fn usd(micro_usd: u64) -> f64 {
    micro_usd as f64 / 1e6
}

fn has_worktree(event: &TaskEvent) -> bool {
    !matches!(
        event,
        TaskEvent::Waiting { .. }
            | TaskEvent::Approved
            | TaskEvent::Blocked { .. }
            | TaskEvent::TakenOver { .. }
            | TaskEvent::Retried
    )
}

fn batch_name(event: &BatchEvent) -> &'static str {
    match event {
        BatchEvent::Created => "batch:created",
        BatchEvent::Progressed { .. } => "batch:progress",
        BatchEvent::Started => "batch:started",
        BatchEvent::Resumed => "batch:resumed",
        BatchEvent::StageStarted { .. } => "batch:stage:started",
        BatchEvent::StageEnded { .. } => "batch:stage:completed",
        BatchEvent::FellBack { .. } => "batch:fallback",
        BatchEvent::Paused { .. } => "batch:held",
        BatchEvent::Unpaused => "batch:unheld",
        BatchEvent::SlotsChanged { .. } => "batch:slots",
        BatchEvent::CancelRequested { .. } => "batch:cancelling",
        BatchEvent::StopRequested => "batch:finishing",
        BatchEvent::ConflictsPredicted { .. } => "batch:predicted",
        BatchEvent::GaveUp { .. } => "batch:stopping",
        BatchEvent::Merging => "batch:merging",
        BatchEvent::Published { .. } => "batch:published",
        BatchEvent::Unpublished => "batch:unpublished",
        BatchEvent::Validating { .. } => "batch:validating",
        BatchEvent::TestsRan { .. } => "batch:judged",
        BatchEvent::NoLongerMerges { .. } => "batch:conflict",
        BatchEvent::Rewoven { .. } => "batch:rewoven",
        BatchEvent::Proved { .. } => "batch:proved",
        BatchEvent::NotProved { .. } => "batch:not_proved",
        BatchEvent::Reopened | BatchEvent::LandingAsked { .. } => "batch:reopened",
        BatchEvent::Landing { .. } => "batch:landing",
        BatchEvent::Pushing { .. } => "batch:pushing",
        BatchEvent::Pushed { .. } => "batch:pushed",
        BatchEvent::Landed { .. } => "batch:landed",
        BatchEvent::NotLanded { .. } => "batch:not_landed",
        BatchEvent::Completed { .. } => "batch:completed",
        BatchEvent::Failed { .. } => "batch:failed",
        BatchEvent::Cancelled => "batch:cancelled",
    }
}

fn batch_data(event: &BatchEvent) -> Value {
    match event {
        BatchEvent::Progressed {
            over,
            total,
            running,
        } => {
            let progress = Progress {
                over: *over,
                total: *total,
                running: *running,
            };
            let percentage = progress.percentage();
            json!({"total": total, "percentage": percentage, "running": running})
        }
        BatchEvent::StageStarted { stage } => json!({ "stage": counted_from_1(*stage) }),
        BatchEvent::StageEnded {
            stage,
            merge_status,
            success,
        } => {
            json!({"stage": counted_from_1(*stage), "success": success, "mergeStatus": merge_status})
        }
        BatchEvent::FellBack { reason, stage } => {
            let stage = stage.map(counted_from_1);
            json!({"reason": reason, "stage": stage})
        }
        BatchEvent::Paused { because } | BatchEvent::GaveUp { because } => {
            json!({ "reason": because })
        }
        BatchEvent::SlotsChanged {
            slots,
            most,
            because,
        } => json!({"slots": slots, "most": most, "reason": because}),
        BatchEvent::CancelRequested { rollback } => {
            json!({ "rollback": rollback })
        }
        BatchEvent::ConflictsPredicted { pairs } => json!({ "pairs": predicted(pairs) }),
        BatchEvent::Published { branch, tip } => {
            json!({"branch": branch, "tip": tip})
        }
        event => closing_data(event),
    }
}

fn predicted(pairs: &[PredictedConflict]) -> Vec<Value> {
    let pair =
        |coming: &PredictedConflict| json!({"tasks": [coming.a, coming.b], "files": coming.files});
    pairs.iter().map(pair).collect()
}

/// Says tasks by their ids, which is what programs know them by; keys are what the log knows.
pub(super) fn name_tasks(data: &mut Value, ids: &TaskIds) {
    let id_of = |key: &Value| ids.id(&TaskId::new(key.as_str().unwrap_or_default()));
    let rename = |list: &mut Value| {
        for key in list.as_array_mut().into_iter().flatten() {
            *key = json!(id_of(key));
        }
    };
    if let Some(key) = data.get("taskId").cloned() {
        data["taskId"] = json!(id_of(&key));
        data["key"] = key;
    }
    for list in ["tasks", "with"] {
        if let Some(list) = data.get_mut(list) {
            rename(list);
        }
    }
    for pair in data
        .get_mut("pairs")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        rename(&mut pair["tasks"]);
    }
}

/// What is told at the end of a batch: proofs, landing, and how it ended.
fn closing_data(event: &BatchEvent) -> Value {
    match event {
        BatchEvent::Validating { stage } => json!({ "stage": stage.map(counted_from_1) }),
        BatchEvent::TestsRan {
            tasks,
            tree,
            run,
            number,
            took,
            proved_at,
            ..
        } => json!({"tasks": tasks, "tree": tree, "run": run, "number": number, "ms": took,
                "provedAt": proved_at.map(rfc3339)}),
        BatchEvent::NoLongerMerges {
            strand,
            files,
            with,
        } => json!({"taskId": strand, "files": files, "with": with}),
        BatchEvent::Rewoven { base, tip, .. } => {
            json!({"base": base, "tip": tip})
        }
        BatchEvent::Proved { tree } => json!({ "tree": tree }),
        BatchEvent::NotProved { doubt, because } => json!({"doubt": doubt, "reason": because}),
        BatchEvent::LandingAsked { into, .. } | BatchEvent::Landing { into } => {
            json!({ "into": into })
        }
        BatchEvent::Pushing {
            branch,
            commit,
            because,
        } => json!({"branch": branch, "commit": commit, "reason": because}),
        BatchEvent::Pushed { branch, commit } => json!({"branch": branch, "commit": commit}),
        BatchEvent::Landed { pr_url, into } => json!({"prUrl": pr_url, "into": into}),
        BatchEvent::NotLanded { because, hint, .. } => json!({"reason": because, "hint": hint}),
        BatchEvent::Completed { pr_url } => json!({ "prUrl": pr_url }),
        BatchEvent::Failed { error } => json!({ "error": error }),
        BatchEvent::Created
        | BatchEvent::Started
        | BatchEvent::Resumed
        | BatchEvent::Unpaused
        | BatchEvent::StopRequested
        | BatchEvent::Merging
        | BatchEvent::Unpublished
        | BatchEvent::Cancelled
        | BatchEvent::Reopened
        // What `batch_data` knows.
        | BatchEvent::Progressed { .. }
        | BatchEvent::StageStarted { .. }
        | BatchEvent::StageEnded { .. }
        | BatchEvent::FellBack { .. }
        | BatchEvent::Paused { .. }
        | BatchEvent::SlotsChanged { .. }
        | BatchEvent::CancelRequested { .. }
        | BatchEvent::ConflictsPredicted { .. }
        | BatchEvent::GaveUp { .. }
        | BatchEvent::Published { .. } => json!({}),
    }
}

fn task_name(event: &TaskEvent) -> &'static str {
    match event {
        TaskEvent::Waiting { .. } => "batch:task:waiting",
        TaskEvent::Approved => "batch:task:approved",
        TaskEvent::Started { .. } => "batch:task:started",
        TaskEvent::Placed { .. } => "batch:task:placed",
        TaskEvent::StopRequested => "batch:task:stopping",
        TaskEvent::Kept { .. } => "batch:task:kept",
        TaskEvent::Built { .. } => "batch:task:built",
        TaskEvent::AttemptFailed { .. } | TaskEvent::Overloaded { .. } | TaskEvent::AskedAgain => {
            "batch:task:retrying"
        }
        TaskEvent::Spent(_) => "batch:task:spent",
        TaskEvent::SessionBegan { .. } => "batch:task:session",
        TaskEvent::Limited { .. } => "batch:task:limited",
        TaskEvent::PauseEnded
        | TaskEvent::Interrupted
        | TaskEvent::Requeued { .. }
        | TaskEvent::Retried => "batch:task:queued",
        TaskEvent::Lost { .. } => "batch:task:lost",
        TaskEvent::Resolved { .. } => "batch:task:resolved",
        TaskEvent::Published { .. } => "batch:task:published",
        TaskEvent::Unchanged { .. } | TaskEvent::Woven { .. } => "batch:task:completed",
        TaskEvent::Failed { .. } | TaskEvent::TimedOut => "batch:task:failed",
        TaskEvent::Conflicted { .. } | TaskEvent::Invalid { .. } | TaskEvent::Blocked { .. } => {
            "batch:task:skipped"
        }
        TaskEvent::TakenOver { .. } => "batch:task:taken_over",
        TaskEvent::Cancelled => "batch:task:cancelled",
    }
}

fn task_data(event: &TaskEvent) -> Value {
    match event {
        TaskEvent::Waiting { consent: None } | TaskEvent::Approved | TaskEvent::StopRequested => {
            json!({})
        }
        TaskEvent::Waiting {
            consent: Some(consent),
        } => {
            let files: Vec<&str> = consent.files.iter().map(|file| &*file.path).collect();
            json!({"consent": files})
        }
        TaskEvent::Spent(spent) => {
            json!({"tokens": spent.tokens, "costUsd": usd(spent.micro_usd)})
        }
        TaskEvent::SessionBegan { session } => json!({ "sessionId": session }),
        TaskEvent::Started { attempt, basis } => json!({"attempt": attempt, "basis": basis}),
        TaskEvent::Placed { node, .. } => json!({ "node": node }),
        TaskEvent::Lost { because } => json!({ "because": because }),
        TaskEvent::Kept { commit } => json!({ "commit": commit }),
        TaskEvent::Built { commit, files } | TaskEvent::Resolved { commit, files, .. } => {
            json!({"commit": commit, "files": files})
        }
        TaskEvent::AttemptFailed { error, pause }
        | TaskEvent::Overloaded { error, pause }
        | TaskEvent::Limited { error, pause } => {
            json!({"error": error, "pauseMs": pause})
        }
        TaskEvent::AskedAgain => json!({ "error": CHANGED_NOTHING, "pauseMs": 0 }),
        TaskEvent::PauseEnded => json!({"reason": "the pause is over"}),
        TaskEvent::Interrupted => json!({ "reason": INTERRUPTED }),
        TaskEvent::Requeued { because } => json!({ "reason": because }),
        TaskEvent::Retried => json!({"reason": "retried by hand"}),
        TaskEvent::Published { branch, .. } => json!({ "branch": branch }),
        TaskEvent::Unchanged { reason } => json!({"outcome": "no_changes", "reason": reason}),
        TaskEvent::Woven { tip } => json!({"outcome": "merged", "tip": tip}),
        TaskEvent::Failed { error } => json!({"outcome": "failed", "error": error}),
        TaskEvent::TimedOut => json!({"outcome": "timed_out", "error": TOOK_TOO_LONG}),
        TaskEvent::Conflicted { files, with } => json!({
            "outcome": "conflicted",
            "reason": DOES_NOT_MERGE,
            "files": files,
            "with": with,
        }),
        TaskEvent::Invalid { because, with } => {
            json!({"outcome": "invalid", "reason": because, "files": [], "with": with})
        }
        TaskEvent::Blocked { because } => {
            json!({"outcome": "blocked", "reason": because, "files": []})
        }
        TaskEvent::TakenOver { because } => json!({"outcome": "blocked", "reason": because}),
        TaskEvent::Cancelled => json!({"outcome": "cancelled"}),
    }
}
