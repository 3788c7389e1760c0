// Puts what is heard into the board's world. Every event says how things stand after it.

import type { Draft } from "./draft";
import { isTaskEvent, type LiveEvent, type TaskEvent } from "./events";
import { logKey } from "./state";

/** Events of a batch that tell all there is to know. Of the others the history is the server's: stages, proofs, branches. */
const complete: ReadonlySet<string> = new Set([
  "batch:progress",
  "batch:held",
  "batch:unheld",
  "batch:predicted",
]);

/** Tells a draft what was heard; passes over what a newer server tells. */
export function hear(draft: Draft, event: LiveEvent) {
  switch (event.name) {
    case "task:created":
    case "task:updated":
      if (draft.isShown(event.data.task.projectId)) draft.putTask(event.data.task);
      break;
    case "task:deleted":
      draft.dropTask(event.data.taskId);
      break;
    case "project:updated":
    case "settings:updated":
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
    case "batch:interrupted":
      draft.stale.add(event.data.batchId);
      break;
    default:
      if (event.name.startsWith("batch:")) hearOfBatch(draft, event);
  }
}

type BatchEvent = Extract<LiveEvent, { data: { batch?: unknown } }>;

function hearOfBatch(draft: Draft, event: BatchEvent) {
  const { batchId, batch } = event.data;
  if (batch) draft.changeBatch(batchId, batch);
  if (isTaskEvent(event)) {
    hearOfTask(draft, event);
    return;
  }
  if (event.name === "batch:predicted") {
    draft.changeBatch(batchId, { predictedConflicts: event.data.pairs });
    draft.foresee(batchId, event.data.pairs);
  }
  if (!batch || !complete.has(event.name)) draft.stale.add(batchId);
}

function hearOfTask(draft: Draft, { data: { batchId, taskId, task } }: TaskEvent) {
  if (task) draft.changeTask(batchId, taskId, task);
  const isListed = draft.batch(batchId)?.conflicts.some((conflict) => conflict.taskId === taskId) ?? false;
  // With whom a task collides, and where a person resolves it, the server tells with the whole batch.
  if (!task || isListed !== (task.outcome === "conflicted")) draft.stale.add(batchId);
}
