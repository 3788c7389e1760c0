// Tasks and batches for tests.

import type { BatchView, BoardTask, TaskView } from "@/api/client";
import type { LiveEvent, TaskEvent } from "./events";

export const at = "2026-01-01T00:00:00Z";

export function task(key: string, more: Partial<BoardTask> = {}): BoardTask {
  return {
    id: `id-${key}`,
    key,
    projectId: "p",
    plan: null,
    line: null,
    title: `Task ${key}`,
    description: "",
    status: "pending",
    column: "todo",
    word: "pending",
    phase: null,
    priority: "medium",
    labels: [],
    size: null,
    dependsOn: [],
    files: [],
    position: Number(key),
    batch: null,
    createdAt: at,
    updatedAt: at,
    ...more,
  };
}

type Stands = Pick<TaskView, "status" | "state" | "column" | "word"> & Partial<TaskView>;

/** Where the server says that tasks of batches stand. */
export const stands = {
  queued: { status: "queued", state: "queued", column: "in_progress", word: "queued", outcome: null },
  running: { status: "running", state: "running", column: "in_progress", word: "running", outcome: null },
  waiting: { status: "waiting", state: "waiting", column: "needs_you", word: "waiting", outcome: null },
  merged: { status: "completed", state: "merged", column: "done", word: "completed", outcome: "merged" },
  failed: { status: "failed", state: "failed", column: "needs_you", word: "failed", outcome: "failed" },
  conflicted: {
    status: "skipped",
    state: "conflicted",
    column: "needs_you",
    word: "conflicted",
    outcome: "conflicted",
  },
} satisfies Record<string, Stands>;

/** An event with as much of its data as matters. */
export function event(name: LiveEvent["name"], data: Record<string, unknown>): LiveEvent {
  return { name, data: { at, ...data } } as LiveEvent;
}

/** An event of a task of batch 7, and the task as it stands then. */
export function ofTask(
  name: TaskEvent["name"],
  key: string,
  task: Partial<TaskView>,
  data: Record<string, unknown> = {},
): LiveEvent {
  return event(name, { batchId: 7, taskId: `id-${key}`, task: { ...inBatch(key), ...task }, ...data });
}

function inBatch(key: string): TaskView {
  return {
    taskId: `id-${key}`,
    key,
    title: `Task ${key}`,
    ...stands.queued,
    can: ["cancel"],
    hasBranch: false,
    attempts: 0,
    lastAttempt: 0,
    consent: [],
    files: [],
    sandbox: "none",
    seconds: 0,
  };
}

export function batch(id: number, tasks: string[]): BatchView {
  return {
    id,
    number: id,
    projectId: "p",
    mode: "parallel",
    status: "running",
    interrupted: false,
    tasks: tasks.map(inBatch),
    mainRepoPath: "/r",
    plan: "board",
    hasBranch: false,
    settings: {
      where: "local",
      maxConcurrent: 3,
      concurrentNow: 3,
      autoApprove: true,
      stopOnFailure: false,
      conflictBehavior: "skip",
    },
    progress: {
      total: tasks.length,
      completed: 0,
      failed: 0,
      running: 0,
      queued: tasks.length,
      skipped: 0,
      cancelled: 0,
      percentage: 0,
    },
    validation: { baseRed: false, flaky: [], runs: [], verdict: "unknown" },
    conflicts: [],
    predictedConflicts: [],
    buildsOn: [],
    stages: [],
    createdAt: at,
    seconds: 0,
    idleSeconds: 0,
    workedSeconds: 0,
  };
}
