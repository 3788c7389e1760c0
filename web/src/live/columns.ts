// The columns of the board: their names, and where cards stand in them. Which column a card is in, the server says.

import type { BoardTask, TaskChanges } from "@/api/client";

export type ColumnName = BoardTask["column"];
export const columnNames = [
  "todo",
  "in_progress",
  "needs_you",
  "done",
  "cancelled",
] as const satisfies readonly ColumnName[];
export type Columns = Record<ColumnName, readonly string[]>;

export const columnTitles: Record<ColumnName, string> = {
  todo: "Todo",
  in_progress: "In progress",
  needs_you: "Needs you",
  done: "Done",
  cancelled: "Cancelled",
};

/** Whether a batch has the task and is not done with it. */
export function isBusy({ batch }: Pick<BoardTask, "batch">): boolean {
  return batch != null && batch.outcome == null;
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
  for (const task of sorted) columns[task.column].push(task.id);
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
