// What the board's world is made of.

import type { BatchView, BoardTask, TaskView, Where } from "@/api/client";
import { arrange, type Columns } from "./columns";

/** What is known of a task while a batch has it. */
export type Doing = {
  batch: number;
  /** The finer word of where it stands. */
  state: string;
  /** What its agent does right now. */
  action: string | null;
  /** What it waits for in the queue of a cluster. */
  queued: string | null;
  /** The node of a cluster that runs it. */
  node: string | null;
  /** Since when its agent works, if it does. */
  since: string | null;
  /** The keys of the tasks it will conflict with if nothing changes. */
  coming: readonly string[];
};

export type LogEnd = { batch: number; attempt: number; total: number };

export type World = {
  project: string | null;
  isLoaded: boolean;
  tasks: ReadonlyMap<string, BoardTask>;
  columns: Columns;
  batches: ReadonlyMap<number, BatchView>;
  doing: ReadonlyMap<string, Doing>;
  /** How long transcripts are, by `batch/task`. */
  logs: ReadonlyMap<string, LogEnd>;
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
  stale: new Set(),
};

export function isOver(batch: Pick<BatchView, "completedAt">): boolean {
  return batch.completedAt != null;
}

/** The word for how a batch stands. */
export function stateOf(batch: Pick<BatchView, "status" | "interrupted">): string {
  return batch.interrupted ? "interrupted" : batch.status;
}

/** What an attempt waits for, in the words of the command line; what has no job is not in the queue yet. */
export function queuedText(unit: TaskView["unit"]): string | null {
  if (unit?.state !== "waiting") return null;
  if (unit.because && unit.job == null) return unit.because;
  const queue = `in ${clusterName(unit.cluster)}'s queue`;
  return unit.because ? `${queue}: ${unit.because}` : queue;
}

/** The name of a place where batches run. */
export function clusterName(place: Where): string {
  return place === "slurm" ? "Slurm" : "this machine";
}

/** The place of a task's transcript among `World.logs`. */
export function logKey(batch: number, task: string): string {
  return `${batch}/${task}`;
}
