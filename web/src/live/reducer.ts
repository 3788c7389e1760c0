// Makes the board's world out of what was fetched and what is heard. Pure: fetches nothing, knows no page.

import type { BatchView, BoardTask, TaskView } from "@/api/client";
import { arrange, type Columns, columnOf } from "@/board/columns";
import { isBatchEvent, isTaskEvent, type LiveEvent, type TaskEventName } from "./events";

/** What is known of a task while a batch has it. */
export type Doing = {
  batch: number;
  /** The finer word of where it stands. */
  state: string;
  /** What its agent does right now. */
  action: string | null;
  /** The keys of the tasks it will conflict with if nothing changes. */
  coming: readonly string[];
};

export type LogEnd = { attempt: number; total: number };

export type World = {
  project: string | null;
  isLoaded: boolean;
  tasks: ReadonlyMap<string, BoardTask>;
  columns: Columns;
  batches: ReadonlyMap<number, BatchView>;
  doing: ReadonlyMap<string, Doing>;
  /** How long transcripts are, by `batch/key`. */
  logs: ReadonlyMap<string, LogEnd>;
  /** Task ids by plan and key. */
  ids: ReadonlyMap<string, string>;
  /** Batches of which more is known to the server than here. */
  stale: ReadonlySet<number>;
};

const noTasks: ReadonlyMap<string, BoardTask> = new Map();

export const emptyWorld: World = {
  project: null,
  isLoaded: false,
  tasks: noTasks,
  columns: arrange(noTasks),
  batches: new Map(),
  doing: new Map(),
  logs: new Map(),
  ids: new Map(),
  stale: new Set(),
};

export type Change =
  | { type: "loaded"; project: string; tasks: BoardTask[]; batches: BatchView[] }
  | { type: "batch"; batch: BatchView }
  | { type: "task"; task: BoardTask }
  | { type: "events"; events: readonly LiveEvent[] };

const over = new Set(["completed", "failed", "cancelled"]);

export function isOver(batch: Pick<BatchView, "status">): boolean {
  return over.has(batch.status);
}

/** The place of a task's transcript among `World.logs`. */
export function logKey(batch: number, key: string): string {
  return `${batch}/${key}`;
}

function idKey(plan: string | null | undefined, key: string): string {
  return `${plan ?? ""}\n${key}`;
}

/** The plan of a batch as its tasks name it. */
function planOf(batch: BatchView): string | null {
  if (batch.plan === "board") return null;
  const top = `${batch.mainRepoPath}/`;
  return batch.plan.startsWith(top) ? batch.plan.slice(top.length) : batch.plan;
}

/** The id of a task of a batch, if it is on the board that is shown. */
export function taskIdOf(world: Pick<World, "project" | "ids">, batch: BatchView, key: string): string | undefined {
  return batch.projectId === world.project ? world.ids.get(idKey(planOf(batch), key)) : undefined;
}

export function reduce(world: World, change: Change): World {
  const draft = new Draft(world);
  switch (change.type) {
    case "loaded":
      return loaded(world, change.project, change.tasks, change.batches);
    case "batch":
      draft.putBatch(change.batch);
      break;
    case "task":
      draft.putTask(change.task);
      break;
    case "events":
      for (const event of change.events) hear(draft, event);
  }
  return draft.finish();
}

function loaded(world: World, project: string, tasks: BoardTask[], batches: BatchView[]): World {
  const isSame = world.project === project;
  const base: World = {
    ...emptyWorld,
    project,
    isLoaded: true,
    tasks: new Map(tasks.map((task) => [task.id, task])),
    ids: new Map(tasks.map((task) => [idKey(task.plan, task.key), task.id])),
    batches: isSame ? world.batches : new Map([...world.batches].filter(([, batch]) => batch.projectId === project)),
    doing: isSame ? world.doing : new Map(),
    logs: world.logs,
    columns: isSame ? world.columns : emptyWorld.columns,
  };
  const draft = new Draft({ ...base, columns: arrange(base.tasks, base.columns) });
  const known = new Set(batches.map((batch) => batch.id));
  // A batch that ended unheard is asked for again.
  for (const [id, batch] of base.batches) if (!known.has(id) && !isOver(batch)) draft.stale.add(id);
  for (const batch of batches) draft.putBatch(batch);
  return draft.finish();
}

/** The world while it changes: what is touched is copied once. */
class Draft {
  private readonly world: World;
  private tasks?: Map<string, BoardTask>;
  private batches?: Map<number, BatchView>;
  private doing?: Map<string, Doing>;
  private logs?: Map<string, LogEnd>;
  private ids?: Map<string, string>;
  private readonly own = new Set<number>();
  private isMoved = false;
  readonly stale: Set<number>;

  constructor(world: World) {
    this.world = world;
    this.stale = new Set(world.stale);
  }

  batch(id: number): BatchView | undefined {
    return (this.batches ?? this.world.batches).get(id);
  }

  isShown(project: string | undefined): boolean {
    return project === undefined || project === this.world.project;
  }

  taskId(batch: BatchView, key: string): string | undefined {
    return taskIdOf({ project: this.world.project, ids: this.ids ?? this.world.ids }, batch, key);
  }

  putTask(task: BoardTask) {
    this.tasks ??= new Map(this.world.tasks);
    const before = this.tasks.get(task.id);
    this.tasks.set(task.id, task);
    if (!before || before.key !== task.key || before.plan !== task.plan) {
      this.ids ??= new Map(this.world.ids);
      this.ids.set(idKey(task.plan, task.key), task.id);
    }
    if (!before || before.position !== task.position || columnOf(before) !== columnOf(task)) this.isMoved = true;
  }

  dropTask(id: string) {
    const task = (this.tasks ?? this.world.tasks).get(id);
    if (!task) return;
    this.tasks ??= new Map(this.world.tasks);
    this.tasks.delete(id);
    this.ids ??= new Map(this.world.ids);
    this.ids.delete(idKey(task.plan, task.key));
    this.isMoved = true;
  }

  putBatch(batch: BatchView) {
    this.batches ??= new Map(this.world.batches);
    this.batches.set(batch.id, batch);
    this.stale.delete(batch.id);
    for (const task of batch.tasks) this.stand(batch, task);
    this.foresee(batch.id, batch.predictedConflicts);
  }

  changeBatch(id: number, change: Partial<BatchView>) {
    const batch = this.batch(id);
    if (!batch) {
      this.stale.add(id);
      return;
    }
    this.batches ??= new Map(this.world.batches);
    this.batches.set(id, { ...batch, ...change });
  }

  changeTask(id: number, key: string, change: Partial<TaskView>) {
    const batch = this.batch(id);
    const at = batch?.tasks.findIndex((task) => task.taskId === key) ?? -1;
    if (!batch || at < 0) {
      this.stale.add(id);
      return;
    }
    const tasks = this.own.has(id) ? batch.tasks : [...batch.tasks];
    const task = { ...(tasks[at] as TaskView), ...change };
    tasks[at] = task;
    this.own.add(id);
    this.changeBatch(id, { tasks });
    this.stand(batch, task);
  }

  /** Shows on the board where a task of a batch stands. */
  private stand(batch: BatchView, task: TaskView) {
    const id = this.taskId(batch, task.taskId);
    const shown = id ? (this.tasks ?? this.world.tasks).get(id) : undefined;
    if (!shown || !id || (shown.batch && shown.batch.id > batch.id)) return;
    const last = shown.batch;
    if (last?.id !== batch.id || last.status !== task.status || (last.outcome ?? null) !== (task.outcome ?? null)) {
      this.putTask({ ...shown, batch: { id: batch.id, status: task.status, outcome: task.outcome ?? null } });
    }
    this.changeDoing(id, { batch: batch.id, state: task.state, ...(task.outcome ? { action: null, coming: [] } : {}) });
  }

  changeDoing(id: string, change: Partial<Doing>) {
    const before = (this.doing ?? this.world.doing).get(id) ?? { batch: 0, state: "queued", action: null, coming: [] };
    const after = { ...before, ...change };
    const isSame = after.batch === before.batch && after.state === before.state && after.action === before.action && after.coming === before.coming;
    if (isSame) return;
    this.doing ??= new Map(this.world.doing);
    this.doing.set(id, after);
  }

  foresee(batchId: number, pairs: readonly { files: string[]; tasks: string[] }[]) {
    const batch = this.batch(batchId);
    if (!batch) return;
    for (const task of batch.tasks) {
      const id = this.taskId(batch, task.taskId);
      if (!id) continue;
      const coming = pairs.filter((pair) => pair.tasks.includes(task.taskId)).flatMap((pair) => pair.tasks.filter((key) => key !== task.taskId));
      const before = (this.doing ?? this.world.doing).get(id)?.coming ?? [];
      if (before.join() !== coming.join()) this.changeDoing(id, { coming });
    }
  }

  putLog(key: string, end: LogEnd) {
    this.logs ??= new Map(this.world.logs);
    this.logs.set(key, end);
  }

  finish(): World {
    const { world } = this;
    for (const id of this.own) {
      const batch = this.batch(id);
      if (batch) this.changeBatch(id, { progress: counted(batch) });
    }
    const tasks = this.tasks ?? world.tasks;
    return {
      ...world,
      tasks,
      columns: this.isMoved ? arrange(tasks, world.columns) : world.columns,
      batches: this.batches ?? world.batches,
      doing: this.doing ?? world.doing,
      logs: this.logs ?? world.logs,
      ids: this.ids ?? world.ids,
      stale: sameSet(world.stale, this.stale) ? world.stale : this.stale,
    };
  }
}

function sameSet(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}

/** How many tasks of a batch stand where. */
function counted(batch: BatchView): BatchView["progress"] {
  const count = { completed: 0, failed: 0, running: 0, queued: 0, skipped: 0, cancelled: 0 };
  for (const task of batch.tasks) {
    const word = task.status === "waiting" || task.status === "limited" ? "queued" : task.status;
    count[word] += 1;
  }
  const total = batch.tasks.length;
  const ended = count.completed + count.failed + count.skipped + count.cancelled;
  return { ...count, total, percentage: total ? Math.floor((100 * ended) / total) : 100 };
}

type Told = { status?: TaskView["status"]; state?: string };

const standing: Partial<Record<TaskEventName, Told>> = {
  "batch:task:waiting": { status: "waiting", state: "waiting" },
  "batch:task:approved": { status: "queued", state: "queued" },
  "batch:task:started": { status: "running", state: "running" },
  "batch:task:stopping": { state: "stopping" },
  "batch:task:built": { state: "built" },
  "batch:task:retrying": { status: "queued", state: "queued" },
  "batch:task:limited": { status: "limited", state: "limited" },
  "batch:task:queued": { status: "queued", state: "queued" },
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

function hear(draft: Draft, event: LiveEvent) {
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
      draft.putLog(logKey(batchId, taskId), { attempt, total });
      break;
    }
    case "execution:progress": {
      const { batchId, taskId, action, tokens, costUsd } = event.data;
      const batch = draft.batch(batchId);
      const known = batch?.tasks.find((task) => task.taskId === taskId);
      if (!batch || !known) break;
      const id = draft.taskId(batch, taskId);
      if (id && !known.outcome) draft.changeDoing(id, { batch: batchId, action: action ?? null });
      if (tokens > (known.tokens ?? 0) || costUsd > (known.cost ?? 0)) draft.changeTask(batchId, taskId, { tokens, cost: costUsd });
      break;
    }
    case "batch:predicted":
      draft.changeBatch(event.data.batchId, { predictedConflicts: event.data.pairs });
      draft.foresee(event.data.batchId, event.data.pairs);
      break;
    case "batch:conflict":
      draft.stale.add(event.data.batchId);
  }
}

function hearOfTask(draft: Draft, event: Extract<LiveEvent, { name: TaskEventName }>) {
  const { data } = event;
  const told = standing[event.name];
  const change: Partial<TaskView> = { ...told };
  if (data.outcome) Object.assign(change, { outcome: data.outcome, state: data.outcome, completedAt: data.at, error: data.error ?? data.reason ?? null });
  else if (told?.status) Object.assign(change, { outcome: null, completedAt: null });
  if (event.name === "batch:task:started") Object.assign(change, { startedAt: data.at, lastAttempt: data.attempt ?? 1, error: null });
  if (event.name === "batch:task:retrying" || event.name === "batch:task:limited") change.error = data.error ?? null;
  if (event.name === "batch:task:waiting") change.consent = data.consent ?? [];
  if (data.worktreeId) change.worktreeId = data.worktreeId;
  if (data.sessionId) change.sessionId = data.sessionId;
  if (data.branch) change.branch = data.branch;
  draft.changeTask(data.batchId, data.taskId, change);
  // Files, seconds and costs of what ended are the server's to count.
  if (data.outcome) draft.stale.add(data.batchId);
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
  if (event.name === "batch:held") change.held = reason ?? "nothing new starts for now";
  if (event.name === "batch:unheld") change.held = null;
  draft.changeBatch(batchId, change);
  draft.stale.add(batchId);
}
