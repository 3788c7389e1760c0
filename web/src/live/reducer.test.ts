// The world follows what is heard, and keeps what nobody spoke of.

import { expect, test } from "vitest";
import type { BatchView } from "@/api/client";
import type { LiveEvent } from "./events";
import { reduce } from "./reducer";
import { at, batch, event, ofTask, stands, task } from "./samples";
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

/** What an agent of a task of batch 7 does. */
const doing = (key: string, action: string): LiveEvent =>
  event("execution:progress", { batchId: 7, taskId: `id-${key}`, attempt: 1, action, tokens: 5, costUsd: 0 });

test("a task that a batch has is in progress from its creation on", () => {
  expect(shown(begin())).toBe("todo: 1 2 3");
  expect(shown(begin([batch(7, ["1", "2"])]))).toBe("todo: 3; in_progress: 1 2");
});

test("tasks move through the columns as their batch tells", () => {
  let world = begin([batch(7, ["1", "2", "3"])]);
  world = hear(
    world,
    ofTask("batch:task:started", "1", stands.running),
    ofTask("batch:task:waiting", "2", stands.waiting),
  );
  expect(shown(world)).toBe("in_progress: 1 3; needs_you: 2");
  const merged = { id: 7, number: 7, status: "completed", outcome: "merged" } as const;
  world = hear(
    world,
    ofTask("batch:task:completed", "1", stands.merged),
    event("task:updated", {
      taskId: "id-1",
      task: task("1", { status: "completed", column: "done", word: "completed", batch: merged }),
    }),
    ofTask("batch:task:skipped", "3", stands.conflicted),
  );
  expect(shown(world)).toBe("needs_you: 2 3; done: 1");
  expect(world.batches.get(7)?.tasks.map((each) => each.state)).toEqual(["merged", "waiting", "conflicted"]);
});

test("how a batch stands is what its events say", () => {
  const progress = { ...batch(7, ["1"]).progress, running: 1, queued: 0 };
  const tell = (name: LiveEvent["name"], state: Partial<BatchView>) =>
    hear(begin([batch(7, ["1"])]), event(name, { batchId: 7, batch: state })).batches.get(7);
  expect(tell("batch:progress", { progress, secondsLeft: 9 })).toMatchObject({ progress, secondsLeft: 9 });
  expect(tell("batch:held", { held: "the disk is full" })?.held).toBe("the disk is full");
  expect(tell("batch:completed", { status: "completed", completedAt: at })).toMatchObject({
    status: "completed",
    completedAt: at,
  });
});

test("the whole batch is asked for only where an event does not say it all", () => {
  const isAsked = (...events: LiveEvent[]) => hear(begin([batch(7, ["1"])]), ...events).stale.has(7);
  const ofBatch = (name: LiveEvent["name"]) => event(name, { batchId: 7, batch: { status: "running" } });
  expect([
    isAsked(ofTask("batch:task:started", "1", stands.running)),
    isAsked(ofBatch("batch:progress")),
  ]).toEqual([false, false]);
  expect(isAsked(ofTask("batch:task:completed", "1", stands.merged))).toBe(false);
  expect(isAsked(ofTask("batch:task:skipped", "1", stands.conflicted))).toBe(true);
  expect(isAsked(ofBatch("batch:proved"))).toBe(true);
  expect(isAsked(event("batch:progress", { batchId: 7 }))).toBe(true);
  expect(isAsked(event("batch:task:completed", { batchId: 7, taskId: "id-1" }))).toBe(true);
});

test("what a newer server tells is passed over", () => {
  const before = begin([batch(7, ["1"])]);
  const after = hear(before, event("moon:rises" as LiveEvent["name"], { batchId: 7 }));
  expect([after.tasks, after.batches, after.stale]).toEqual([before.tasks, before.batches, before.stale]);
});

test("a batch that nobody knows yet is to be fetched", () => {
  const world = hear(begin(), event("batch:created", { batchId: 7 }));
  expect([...world.stale]).toEqual([7]);
  const fetched = reduce(world, { type: "batch", batch: batch(7, ["2"]) });
  expect(fetched.stale.size).toBe(0);
  expect(shown(fetched)).toBe("todo: 1 3; in_progress: 2");
});

test("an attempt that its cluster may not have yet says so", () => {
  const because = "waiting for room (cluster.most = 500)";
  const waits = batch(7, ["1"]);
  const unit = { cluster: "slurm", job: null, state: "waiting", because };
  Object.assign(waits.tasks[0] as object, { ...stands.queued, unit });
  expect(begin([waits]).doing.get("id-1")).toMatchObject({ queued: because, node: null });
});

test("what an agent does is shown until its task ends", () => {
  let world = begin([batch(7, ["1"])]);
  world = hear(world, ofTask("batch:task:started", "1", stands.running), doing("1", "reads a.rs"));
  expect(world.doing.get("id-1")).toMatchObject({ state: "running", action: "reads a.rs" });
  world = hear(world, ofTask("batch:task:failed", "1", stands.failed));
  expect(world.doing.get("id-1")).toMatchObject({ state: "failed", action: null });
});

test("an attempt on a cluster says what it waits for, and then on which node it runs", () => {
  const unit = (state: "waiting" | "running", because: string | null = null) =>
    ({ cluster: "slurm", job: "985_1", state, because }) as const;
  const waits = batch(7, ["1"]);
  Object.assign(waits.tasks[0] as object, { ...stands.queued, unit: unit("waiting", "Priority") });
  let world = begin([waits]);
  expect(world.doing.get("id-1")).toMatchObject({ queued: "in Slurm's queue: Priority", node: null });
  world = hear(world, doing("1", "in Slurm's queue: Resources"));
  expect(world.doing.get("id-1")).toMatchObject({ action: "in Slurm's queue: Resources" });
  const placed = { ...stands.running, node: "n7", unit: unit("running") };
  world = hear(world, ofTask("batch:task:placed", "1", placed, { node: "n7" }));
  expect(world.doing.get("id-1")).toMatchObject({ action: null, queued: null, node: "n7" });
});

test("a coming conflict is shown on both tasks, and goes again", () => {
  let world = begin([batch(7, ["1", "2"])]);
  world = hear(
    world,
    event("batch:predicted", { batchId: 7, pairs: [{ files: ["a"], tasks: ["id-1", "id-2"] }] }),
  );
  expect([world.doing.get("id-1")?.coming, world.doing.get("id-2")?.coming]).toEqual([["2"], ["1"]]);
  world = hear(world, event("batch:predicted", { batchId: 7, pairs: [] }));
  expect(world.doing.get("id-1")?.coming).toEqual([]);
});

test("a conflict that is taken up again needs nobody, and the server is asked what is left of it", () => {
  for (const name of ["batch:task:resolved", "batch:task:queued"] as const) {
    const world = hear(begin([batch(7, ["1"])]), ofTask("batch:task:skipped", "1", stands.conflicted));
    expect(shown(world)).toBe("todo: 2 3; needs_you: 1");
    const conflicts = [{ taskId: "id-1", key: "1", files: ["a"], with: [] }];
    const known = world.batches.get(7) as BatchView;
    const fresh = reduce(world, { type: "batch", batch: { ...known, conflicts } });
    const again = hear(fresh, ofTask(name, "1", stands.queued));
    expect([shown(again), again.stale.has(7)]).toEqual(["todo: 2 3; in_progress: 1", true]);
  }
});

test("hearing something twice changes nothing more", () => {
  const events = [
    ofTask("batch:task:started", "1", stands.running),
    ofTask("batch:task:completed", "1", stands.merged),
  ];
  const once = hear(begin([batch(7, ["1", "2"])]), ...events);
  const twice = hear(once, ...events);
  expect(twice.batches.get(7)).toEqual(once.batches.get(7));
  expect(shown(twice)).toBe(shown(once));
});

test("columns that nothing happened to stay the same arrays", () => {
  const before = begin([batch(7, ["1", "2"])]);
  const after = hear(before, ofTask("batch:task:waiting", "2", stands.waiting));
  expect(after.columns.todo).toBe(before.columns.todo);
  expect(after.columns.in_progress).not.toBe(before.columns.in_progress);
  const talk = hear(after, doing("1", "thinks"));
  expect(talk.columns).toBe(after.columns);
  expect(talk.tasks).toBe(after.tasks);
});

test("tasks of another project are not shown", () => {
  const world = hear(
    begin(),
    event("task:created", { taskId: "x", task: task("9", { id: "x", projectId: "q" }) }),
  );
  expect(world.tasks.size).toBe(3);
});

test("a deleted task is gone", () => {
  const world = hear(begin(), event("task:deleted", { taskId: "id-2" }));
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
  const world = hear(begin([batch(7, ["1"])]), event("batch:merging", { batchId: 7 }));
  const gone = reduce(world, { type: "gone", batch: 7 });
  expect([gone.batches.size, gone.stale.size]).toEqual([0, 0]);
});

test("another server begins with an empty world", () => {
  expect(reduce(begin([batch(7, ["1"])]), { type: "reset" })).toBe(emptyWorld);
});

test("of the batches that are over only the newest are kept in mind", () => {
  let world = begin([batch(1, ["1"])]);
  for (let id = 2; id <= 250; id += 1)
    world = reduce(world, { type: "batch", batch: { ...batch(id, []), completedAt: at } });
  expect(world.batches.size).toBe(200);
  expect([world.batches.has(1), world.batches.has(2), world.batches.has(250)]).toEqual([true, false, true]);
});

test("what a person said since a batch ended is not overruled by looking at that batch", () => {
  const ended = batch(7, ["1"]);
  const failed: BatchView = {
    ...ended,
    status: "failed",
    tasks: ended.tasks.map((each) => ({
      ...each,
      ...stands.failed,
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
