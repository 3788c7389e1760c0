// The world follows what is heard, and keeps what nobody spoke of.

import { expect, test } from "vitest";
import type { BatchView } from "@/api/client";
import type { LiveEvent } from "./events";
import { reduce } from "./reducer";
import { at, batch, task } from "./samples";
import { emptyWorld, type World } from "./state";

function begin(batches: BatchView[] = []): World {
  return reduce(emptyWorld, {
    type: "loaded",
    project: "p",
    tasks: ["1", "2", "3"].map((key) => task(key)),
    batches,
  });
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

const of = (key: string, more = {}) => ({ batchId: 7, taskId: `id-${key}`, at, ...more });

test("a task that a batch has is in progress from its creation on", () => {
  expect(shown(begin())).toBe("todo: 1 2 3");
  expect(shown(begin([batch(7, ["1", "2"])]))).toBe("todo: 3; in_progress: 1 2");
});

test("tasks move through the columns as their batch tells", () => {
  let world = begin([batch(7, ["1", "2", "3"])]);
  world = hear(
    world,
    { name: "batch:task:started", data: of("1", { attempt: 1 }) },
    { name: "batch:task:waiting", data: of("2") },
  );
  expect(shown(world)).toBe("in_progress: 1 3; needs_you: 2");
  expect(world.batches.get(7)?.progress).toMatchObject({ running: 1, queued: 2, percentage: 0 });
  world = hear(
    world,
    { name: "batch:task:completed", data: of("1", { outcome: "merged" }) },
    {
      name: "task:updated",
      data: {
        taskId: "id-1",
        task: task("1", {
          status: "completed",
          batch: { id: 7, number: 7, status: "completed", outcome: "merged" },
        }),
      },
    },
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
  world = hear(world, {
    name: "execution:progress",
    data: { ...of("1"), attempt: 1, action: "reads a.rs", tokens: 5, costUsd: 0 },
  });
  expect(world.doing.get("id-1")).toMatchObject({ state: "running", action: "reads a.rs" });
  world = hear(world, { name: "batch:task:failed", data: of("1", { outcome: "failed", error: "no" }) });
  expect(world.doing.get("id-1")).toMatchObject({ state: "failed", action: null });
});

test("a coming conflict is shown on both tasks, and goes again", () => {
  let world = begin([batch(7, ["1", "2"])]);
  world = hear(world, {
    name: "batch:predicted",
    data: { batchId: 7, at, pairs: [{ files: ["a"], tasks: ["id-1", "id-2"] }] },
  });
  expect([world.doing.get("id-1")?.coming, world.doing.get("id-2")?.coming]).toEqual([["2"], ["1"]]);
  world = hear(world, { name: "batch:predicted", data: { batchId: 7, at, pairs: [] } });
  expect(world.doing.get("id-1")?.coming).toEqual([]);
});

test("a conflict that is taken up again needs nobody, and the server is asked what is left of it", () => {
  for (const name of ["batch:task:resolved", "batch:task:queued"] as const) {
    const world = hear(begin([batch(7, ["1"])]), {
      name: "batch:task:skipped",
      data: of("1", { outcome: "conflicted" }),
    });
    expect(shown(world)).toBe("todo: 2 3; needs_you: 1");
    const fresh = reduce(world, { type: "batch", batch: world.batches.get(7) as BatchView });
    const again = hear(fresh, { name, data: of("1") });
    expect([shown(again), again.stale.has(7)]).toEqual(["todo: 2 3; in_progress: 1", true]);
  }
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
  const talk = hear(after, {
    name: "execution:progress",
    data: { ...of("1"), attempt: 1, action: "thinks", tokens: 0, costUsd: 0 },
  });
  expect(talk.columns).toBe(after.columns);
  expect(talk.tasks).toBe(after.tasks);
});

test("tasks of another project are not shown", () => {
  const world = hear(begin(), {
    name: "task:created",
    data: { taskId: "x", task: task("9", { id: "x", projectId: "q" }) },
  });
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

test("an answer about a task of another project does not bring it onto the board", () => {
  const far = task("9", { id: "x", projectId: "q" });
  const world = reduce(begin(), { type: "tasks", tasks: [task("4"), far] });
  expect(shown(world)).toBe("todo: 1 2 3 4");
});

test("a batch that the server does not know is forgotten, and not asked for again", () => {
  const world = hear(begin([batch(7, ["1"])]), { name: "batch:merging", data: { batchId: 7, at } });
  const gone = reduce(world, { type: "gone", batch: 7 });
  expect([gone.batches.size, gone.stale.size]).toEqual([0, 0]);
});

test("another server begins with an empty world", () => {
  expect(reduce(begin([batch(7, ["1"])]), { type: "reset" })).toBe(emptyWorld);
});

test("of the batches that are over only the newest are kept in mind", () => {
  let world = begin([batch(1, ["1"])]);
  for (let id = 2; id <= 250; id += 1)
    world = reduce(world, { type: "batch", batch: { ...batch(id, []), status: "completed" } });
  expect(world.batches.size).toBe(200);
  expect([world.batches.has(1), world.batches.has(2), world.batches.has(250)]).toEqual([true, false, true]);
});

test("what a person said since a batch ended is not overruled by looking at that batch", () => {
  const ended = batch(7, ["1"]);
  const failed = {
    ...ended,
    status: "failed",
    tasks: ended.tasks.map((each) => ({
      ...each,
      status: "failed" as const,
      state: "failed",
      outcome: "failed",
      completedAt: "2026-01-02T10:00:00.000Z",
    })),
  };
  const looked = (updatedAt: string) =>
    shown(
      reduce(reduce(begin(), { type: "tasks", tasks: [task("1", { updatedAt })] }), {
        type: "batch",
        batch: failed,
      }),
    );
  expect(looked("2026-01-02T10:00:01.000Z")).toBe("todo: 1 2 3");
  expect(looked("2026-01-02T09:59:59.000Z")).toBe("todo: 2 3; needs_you: 1");
  const followed = reduce(begin([ended]), { type: "batch", batch: failed });
  expect(shown(followed)).toBe("todo: 2 3; needs_you: 1");
});
