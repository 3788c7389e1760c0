// The board's world while it changes.

import type { BatchView, BoardTask, TaskView } from "@/api/client";
import { arrange } from "./columns";
import { type Doing, isOver, type LogEnd, queuedText, type World } from "./state";

/** One for all, so that nothing seems to have changed. */
const none: readonly string[] = [];

/** How many batches are kept in mind; the oldest that are over go first. */
const MOST_BATCHES = 200;

/** The world while it changes: what is touched is copied once. */
export class Draft {
  private readonly world: World;
  private tasks?: Map<string, BoardTask>;
  private batches?: Map<number, BatchView>;
  private doing?: Map<string, Doing>;
  private logs?: Map<string, LogEnd>;
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

  /** Whether a task is on the board that is shown. */
  hasTask(id: string): boolean {
    return (this.tasks ?? this.world.tasks).has(id);
  }

  putTask(task: BoardTask) {
    this.tasks ??= new Map(this.world.tasks);
    const before = this.tasks.get(task.id);
    this.tasks.set(task.id, task);
    if (!before || before.position !== task.position || before.column !== task.column) this.isMoved = true;
  }

  dropTask(id: string) {
    if (!this.hasTask(id)) return;
    this.tasks ??= new Map(this.world.tasks);
    this.tasks.delete(id);
    this.isMoved = true;
  }

  putBatch(batch: BatchView) {
    this.batches ??= new Map(this.world.batches);
    this.batches.set(batch.id, batch);
    this.stale.delete(batch.id);
    if (this.batches.size > MOST_BATCHES) this.forgetBatch(this.batches);
    for (const task of batch.tasks) this.stand(batch, task);
    this.foresee(batch.id, batch.predictedConflicts);
  }

  dropBatch(id: number) {
    this.stale.delete(id);
    if (!this.batch(id)) return;
    this.batches ??= new Map(this.world.batches);
    this.batches.delete(id);
  }

  private forgetBatch(batches: Map<number, BatchView>) {
    const old = [...batches.values()].filter(isOver).map((batch) => batch.id);
    if (old.length > 0) this.dropBatch(Math.min(...old));
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

  changeTask(id: number, taskId: string, change: Partial<TaskView>) {
    const batch = this.batch(id);
    const at = batch?.tasks.findIndex((task) => task.taskId === taskId) ?? -1;
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
    const id = task.taskId;
    const shown = (this.tasks ?? this.world.tasks).get(id);
    if (!shown || (shown.batch && shown.batch.id > batch.id)) return;
    const last = shown.batch;
    // A person has said otherwise since it ended there.
    if (!last && task.completedAt && shown.updatedAt >= task.completedAt) return;
    if (
      last?.id !== batch.id ||
      last.status !== task.status ||
      (last.outcome ?? null) !== (task.outcome ?? null)
    ) {
      this.putTask({
        ...shown,
        batch: { id: batch.id, number: batch.number, status: task.status, outcome: task.outcome ?? null },
        column: task.column,
        word: task.word,
      });
    }
    const node = task.unit?.state === "running" ? (task.node ?? null) : null;
    const before = (this.doing ?? this.world.doing).get(id);
    this.changeDoing(id, {
      batch: batch.id,
      state: task.state,
      queued: queuedText(task.unit),
      node,
      // What it waited for is no news of a node that has begun.
      ...(node !== null && before?.node !== node ? { action: null } : {}),
      since: task.status === "running" ? (task.startedAt ?? null) : null,
      ...(task.outcome ? { action: null, coming: none } : {}),
    });
  }

  changeDoing(id: string, change: Partial<Doing>) {
    const before = (this.doing ?? this.world.doing).get(id) ?? {
      batch: 0,
      state: "queued",
      action: null,
      queued: null,
      node: null,
      since: null,
      coming: none,
    };
    const after = { ...before, ...change };
    const isSame =
      after.batch === before.batch &&
      after.state === before.state &&
      after.action === before.action &&
      after.queued === before.queued &&
      after.node === before.node &&
      after.since === before.since &&
      after.coming === before.coming;
    if (isSame) return;
    this.doing ??= new Map(this.world.doing);
    this.doing.set(id, after);
  }

  foresee(batchId: number, pairs: readonly { files: string[]; tasks: string[] }[]) {
    const batch = this.batch(batchId);
    if (!batch) return;
    const keys = new Map(batch.tasks.map((task) => [task.taskId, task.key]));
    for (const { taskId: id } of batch.tasks) {
      if (!this.hasTask(id)) continue;
      const others = pairs
        .filter((pair) => pair.tasks.includes(id))
        .flatMap((pair) => pair.tasks.filter((other) => other !== id));
      const coming = others.map((other) => keys.get(other) ?? other);
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
    const tasks = this.tasks ?? world.tasks;
    return {
      ...world,
      tasks,
      columns: this.isMoved ? arrange(tasks, world.columns) : world.columns,
      batches: this.batches ?? world.batches,
      doing: this.doing ?? world.doing,
      logs: this.logs ?? world.logs,
      stale: sameSet(world.stale, this.stale) ? world.stale : this.stale,
    };
  }
}

function sameSet(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}
