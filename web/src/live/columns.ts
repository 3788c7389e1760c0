// Which column a task is in, by the words that the server says of it.

import type { BoardTask, TaskChanges } from "@/api/client";

export const columnNames = ["todo", "in_progress", "needs_you", "done", "cancelled"] as const;
export type ColumnName = (typeof columnNames)[number];
export type Columns = Record<ColumnName, readonly string[]>;

export const columnTitles: Record<ColumnName, string> = {
  todo: "Todo",
  in_progress: "In progress",
  needs_you: "Needs you",
  done: "Done",
  cancelled: "Cancelled",
};

const needYou = new Set(["conflicted", "invalid", "failed", "timed_out", "blocked", "waiting", "skipped"]);
const underWay = new Set(["queued", "limited", "running"]);

type Standing = Pick<BoardTask, "status" | "batch">;

/** Whether a batch that is not over has the task. */
export function isBusy(task: Standing): boolean {
  const last = task.batch;
  return last != null && last.outcome == null && (underWay.has(last.status) || last.status === "waiting");
}

/** Whether its batch is done with it, though the rest of the batch may go on. */
function isWoven(task: Standing): boolean {
  return (
    task.status === "in_progress" &&
    (task.batch?.outcome === "merged" || task.batch?.outcome === "no_changes")
  );
}

/** The one word that says best where a task stands. */
export function wordOf(task: Standing): string {
  const last = task.batch;
  if (last && isBusy(task)) return last.status;
  if (task.status === "completed" || isWoven(task))
    return last?.outcome === "no_changes" ? "no_changes" : "completed";
  if (task.status !== "pending" && !(task.status === "in_progress" && last?.outcome)) return task.status;
  const ended = last?.outcome ?? last?.status;
  return ended && (needYou.has(ended) || ended === "cancelled") ? ended : "pending";
}

export function columnOf(task: Standing): ColumnName {
  if (isBusy(task)) return task.batch?.status === "waiting" ? "needs_you" : "in_progress";
  if (task.status === "completed" || isWoven(task)) return "done";
  if (task.status === "cancelled" || task.status === "skipped") return "cancelled";
  const word = wordOf(task);
  if (word === "cancelled" || word === "in_progress") return word;
  return needYou.has(word) ? "needs_you" : "todo";
}

/** What a person may say of a task by putting it into a column; nobody puts a task into "Needs you". */
export const statusOfColumn: Record<ColumnName, TaskChanges["status"] | null> = {
  todo: "pending",
  in_progress: "in_progress",
  needs_you: null,
  done: "completed",
  cancelled: "cancelled",
};

/** The tasks of every column in their order; arrays that did not change stay the same ones. */
export function arrange(tasks: ReadonlyMap<string, BoardTask>, before?: Columns): Columns {
  const sorted = [...tasks.values()].sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1));
  const columns: Record<ColumnName, string[]> = {
    todo: [],
    in_progress: [],
    needs_you: [],
    done: [],
    cancelled: [],
  };
  for (const task of sorted) columns[columnOf(task)].push(task.id);
  if (!before) return columns;
  const kept: Record<ColumnName, readonly string[]> = { ...columns };
  for (const name of columnNames) {
    const [was, is] = [before[name], columns[name]];
    if (was.length === is.length && was.every((id, at) => id === is[at])) kept[name] = was;
  }
  return columnNames.every((name) => kept[name] === before[name]) ? before : kept;
}

/** So many positions between two neighbours, either of which may be missing; none where there is no room. */
export function spread(
  above: number | undefined,
  below: number | undefined,
  count: number,
): number[] | undefined {
  const steps = Array.from({ length: count }, (_, at) => at + 1);
  if (below === undefined) return steps.map((step) => (above ?? 0) + step);
  if (above === undefined) return steps.map((step) => below - count + step - 1);
  const found = steps.map((step) => above + ((below - above) * step) / (count + 1));
  const isRoom = found.every((place, at) => place > (found[at - 1] ?? above) && place < below);
  return isRoom ? found : undefined;
}
