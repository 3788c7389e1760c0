// The world follows what is heard, and keeps what nobody spoke of.

import { expect, test } from "vitest";
import type { BatchView, BoardTask, TaskView } from "@/api/client";
import type { LiveEvent } from "./events";
import { emptyWorld, reduce, type World } from "./reducer";

const at = "2026-01-01T00:00:00Z";

function task(key: string, more: Partial<BoardTask> = {}): BoardTask {
  return {
    id: `id-${key}`, key, projectId: "p", plan: null, line: null, title: `Task ${key}`, description: "", status: "pending", phase: null,
    priority: "medium", labels: [], dependsOn: [], files: [], position: Number(key), batch: null, createdAt: at, updatedAt: at, ...more,
  };
}

function inBatch(key: string): TaskView {
  return {
    taskId: key, title: `Task ${key}`, status: "queued", state: "queued", attempts: 0, lastAttempt: 0, consent: [], files: [], sandbox: "none", seconds: 0,
  };
}

function batch(id: number, tasks: string[]): BatchView {
  return {
    id, projectId: "p", mode: "parallel", status: "running", interrupted: false, tasks: tasks.map(inBatch), mainRepoPath: "/r", plan: "board",
    settings: { maxConcurrent: 3, concurrentNow: 3, autoApprove: true, stopOnFailure: false, conflictBehavior: "skip" },
    progress: { total: tasks.length, completed: 0, failed: 0, running: 0, queued: tasks.length, skipped: 0, cancelled: 0, percentage: 0 },
    validation: { flaky: [], runs: [], verdict: "unknown" }, conflicts: [], predictedConflicts: [], stages: [], createdAt: at, seconds: 0, workedSeconds: 0,
  };
}

function begin(batches: BatchView[] = []): World {
  return reduce(emptyWorld, { type: "loaded", project: "p", tasks: ["1", "2", "3"].map((key) => task(key)), batches });
}

function hear(world: World, ...events: LiveEvent[]): World {
  return reduce(world, { type: "events", events });
}

function shown(world: World): string {
  return Object.entries(world.columns)
    .filter(([, ids]) => ids.length > 0)
    .map(([name, ids]) => `${name}: ${ids.map((id: string) => id.slice(3)).join(" ")}`)
    .join("; ");
}

const of = (taskId: string, more = {}) => ({ batchId: 7, taskId, at, ...more });

test("a task that a batch has is in progress from its creation on", () => {
  expect(shown(begin())).toBe("todo: 1 2 3");
  expect(shown(begin([batch(7, ["1", "2"])]))).toBe("todo: 3; in_progress: 1 2");
});

test("tasks move through the columns as their batch tells", () => {
  let world = begin([batch(7, ["1", "2", "3"])]);
  world = hear(world, { name: "batch:task:started", data: of("1", { attempt: 1 }) }, { name: "batch:task:waiting", data: of("2") });
  expect(shown(world)).toBe("in_progress: 1 3; needs_you: 2");
  expect(world.batches.get(7)?.progress).toMatchObject({ running: 1, queued: 2, percentage: 0 });
  world = hear(
    world,
    { name: "batch:task:completed", data: of("1", { outcome: "merged" }) },
    { name: "task:updated", data: { taskId: "id-1", task: task("1", { status: "completed", batch: { id: 7, status: "completed", outcome: "merged" } }) } },
    { name: "batch:task:skipped", data: of("3", { outcome: "conflicted", files: ["a"] }) },
  );
  expect(shown(world)).toBe("needs_you: 2 3; done: 1");
  expect(world.batches.get(7)?.progress).toMatchObject({ completed: 1, skipped: 1, percentage: 66 });
});

test("a batch that nobody knows yet is to be fetched", () => {
  const world = hear(begin(), { name: "batch:created", data: { batchId: 7, at } });
  expect([...world.stale]).toEqual([7]);
  const fetched = reduce(world, { type: "batch", batch: batch(7, ["2"]) });
  expect(fetched.stale.size).toBe(0);
  expect(shown(fetched)).toBe("todo: 1 3; in_progress: 2");
});

test("what an agent does is shown until its task ends", () => {
  let world = begin([batch(7, ["1"])]);
  world = hear(world, { name: "batch:task:started", data: of("1", { attempt: 1 }) });
  world = hear(world, { name: "execution:progress", data: { ...of("1"), attempt: 1, action: "reads a.rs", tokens: 5, costUsd: 0 } });
  expect(world.doing.get("id-1")).toMatchObject({ state: "running", action: "reads a.rs" });
  world = hear(world, { name: "batch:task:failed", data: of("1", { outcome: "failed", error: "no" }) });
  expect(world.doing.get("id-1")).toMatchObject({ state: "failed", action: null });
});

test("a coming conflict is shown on both tasks, and goes again", () => {
  let world = begin([batch(7, ["1", "2"])]);
  world = hear(world, { name: "batch:predicted", data: { batchId: 7, at, pairs: [{ files: ["a"], tasks: ["1", "2"] }] } });
  expect([world.doing.get("id-1")?.coming, world.doing.get("id-2")?.coming]).toEqual([["2"], ["1"]]);
  world = hear(world, { name: "batch:predicted", data: { batchId: 7, at, pairs: [] } });
  expect(world.doing.get("id-1")?.coming).toEqual([]);
});

test("hearing something twice changes nothing more", () => {
  const events: LiveEvent[] = [
    { name: "batch:task:started", data: of("1", { attempt: 1 }) },
    { name: "batch:task:completed", data: of("1", { outcome: "merged" }) },
  ];
  const once = hear(begin([batch(7, ["1", "2"])]), ...events);
  const twice = hear(once, ...events);
  expect(twice.batches.get(7)?.progress).toEqual(once.batches.get(7)?.progress);
  expect(shown(twice)).toBe(shown(once));
});

test("columns that nothing happened to stay the same arrays", () => {
  const before = begin([batch(7, ["1", "2"])]);
  const after = hear(before, { name: "batch:task:waiting", data: of("2") });
  expect(after.columns.todo).toBe(before.columns.todo);
  expect(after.columns.in_progress).not.toBe(before.columns.in_progress);
  const talk = hear(after, { name: "execution:progress", data: { ...of("1"), attempt: 1, action: "thinks", tokens: 0, costUsd: 0 } });
  expect(talk.columns).toBe(after.columns);
  expect(talk.tasks).toBe(after.tasks);
});

test("tasks of another project are not shown", () => {
  const world = hear(begin(), { name: "task:created", data: { taskId: "x", task: task("9", { id: "x", projectId: "q" }) } });
  expect(world.tasks.size).toBe(3);
});

test("a deleted task is gone", () => {
  const world = hear(begin(), { name: "task:deleted", data: { taskId: "id-2" } });
  expect(shown(world)).toBe("todo: 1 3");
});

test("an older batch does not speak for a task that a newer one has", () => {
  const world = begin([batch(9, ["1"]), batch(7, ["1"])]);
  expect(world.tasks.get("id-1")?.batch?.id).toBe(9);
});
