// What each event of the server means for the board's world.

import type { BatchView, TaskView } from "@/api/client";
import type { Draft } from "./draft";
import { isBatchEvent, isTaskEvent, type LiveEvent, type TaskEventName } from "./events";
import { logKey, over } from "./state";

type Told = { status?: TaskView["status"]; state?: string };

const standing: Partial<Record<TaskEventName, Told>> = {
  "batch:task:waiting": { status: "waiting", state: "waiting" },
  "batch:task:approved": { status: "queued", state: "queued" },
  "batch:task:started": { status: "running", state: "running" },
  "batch:task:stopping": { state: "stopping" },
  "batch:task:built": { state: "built" },
  "batch:task:resolved": { status: "running", state: "built" },
  "batch:task:retrying": { status: "queued", state: "queued" },
  "batch:task:limited": { status: "limited", state: "limited" },
  "batch:task:queued": { status: "queued", state: "queued" },
  "batch:task:lost": { status: "queued", state: "queued" },
  "batch:task:completed": { status: "completed" },
  "batch:task:failed": { status: "failed" },
  "batch:task:skipped": { status: "skipped" },
  "batch:task:cancelled": { status: "cancelled" },
};

const statuses: Partial<Record<LiveEvent["name"], string>> = {
  "batch:started": "running",
  "batch:resumed": "running",
  "batch:merging": "merging",
  "batch:validating": "validating",
  "batch:landing": "landing",
  "batch:completed": "completed",
  "batch:failed": "failed",
  "batch:cancelled": "cancelled",
};

/** Tells a draft what was heard. */
export function hear(draft: Draft, event: LiveEvent) {
  if (isTaskEvent(event)) hearOfTask(draft, event);
  else if (isBatchEvent(event)) hearOfBatch(draft, event);
  else hearOther(draft, event);
}

function hearOther(draft: Draft, event: Exclude<LiveEvent, { name: TaskEventName }>) {
  switch (event.name) {
    case "task:created":
    case "task:updated":
      if (draft.isShown(event.data.task.projectId)) draft.putTask(event.data.task);
      break;
    case "task:deleted":
      draft.dropTask(event.data.taskId);
      break;
    case "execution:log": {
      const { batchId, taskId, attempt, total } = event.data;
      draft.putLog(logKey(batchId, taskId), { batch: batchId, attempt, total });
      break;
    }
    case "execution:progress": {
      const { batchId, taskId, action, tokens, costUsd } = event.data;
      const batch = draft.batch(batchId);
      const known = batch?.tasks.find((task) => task.taskId === taskId);
      if (!batch || !known) break;
      if (draft.hasTask(taskId) && !known.outcome)
        draft.changeDoing(taskId, { batch: batchId, action: action ?? null });
      if (tokens > (known.tokens ?? 0) || costUsd > (known.cost ?? 0))
        draft.changeTask(batchId, taskId, { tokens, cost: costUsd });
      break;
    }
    case "batch:predicted":
      draft.changeBatch(event.data.batchId, { predictedConflicts: event.data.pairs });
      draft.foresee(event.data.batchId, event.data.pairs);
      break;
    case "batch:conflict":
    case "batch:interrupted":
      draft.stale.add(event.data.batchId);
  }
}

function hearOfTask(draft: Draft, event: Extract<LiveEvent, { name: TaskEventName }>) {
  const { data } = event;
  const told = standing[event.name];
  const change: Partial<TaskView> = { ...told };
  if (data.outcome)
    Object.assign(change, {
      outcome: data.outcome,
      state: data.outcome,
      completedAt: data.at,
      error: data.error ?? data.reason ?? null,
    });
  else if (told?.status) Object.assign(change, { outcome: null, completedAt: null });
  if (event.name === "batch:task:started")
    Object.assign(change, { startedAt: data.at, lastAttempt: data.attempt ?? 1, error: null });
  if (event.name === "batch:task:retrying" || event.name === "batch:task:limited")
    change.error = data.error ?? null;
  if (event.name === "batch:task:waiting") change.consent = data.consent ?? [];
  if (data.worktreeId) change.worktreeId = data.worktreeId;
  if (data.sessionId) change.sessionId = data.sessionId;
  if (data.branch) change.branch = data.branch;
  draft.changeTask(data.batchId, data.taskId, change);
  // Files, seconds and costs of what ended are the server's to count, and so are conflicts that are none any more.
  const isTakenUp = ["batch:task:resolved", "batch:task:queued", "batch:task:lost"].includes(event.name);
  if (data.outcome || isTakenUp) draft.stale.add(data.batchId);
}

function hearOfBatch(draft: Draft, event: Extract<LiveEvent, { name: `batch:${string}` }>) {
  const { batchId, at } = event.data;
  const change: Partial<BatchView> = {};
  const status = statuses[event.name];
  if (status) change.status = status;
  if (status && over.has(status)) change.completedAt = at;
  const { prUrl, error, reason } = event.data as { prUrl?: string | null; error?: string; reason?: string };
  if (prUrl) change.prUrl = prUrl;
  if (error) change.error = error;
  if (event.name === "batch:held") change.held = reason ?? "no new tasks start for now";
  if (event.name === "batch:unheld") change.held = null;
  draft.changeBatch(batchId, change);
  draft.stale.add(batchId);
}
