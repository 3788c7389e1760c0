// Tasks and batches for tests.

import type { BatchView, BoardTask, TaskView } from "@/api/client";

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
    phase: null,
    priority: "medium",
    labels: [],
    dependsOn: [],
    files: [],
    position: Number(key),
    batch: null,
    createdAt: at,
    updatedAt: at,
    ...more,
  };
}

function inBatch(key: string): TaskView {
  return {
    taskId: `id-${key}`,
    key,
    title: `Task ${key}`,
    status: "queued",
    state: "queued",
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
