// Moves cards: to another column, or to another place in theirs. Shown at once, taken back if refused.

import { toast } from "sonner";
import { answered, api, type BoardTask, inWords, type TaskChanges } from "@/api/client";
import { putTask, useWorld } from "@/live/world";
import { between, type ColumnName, columnOf, columnTitles, isBusy, statusOfColumn } from "./columns";

async function save(task: BoardTask, changes: TaskChanges): Promise<BoardTask> {
  return answered(api.PATCH("/api/tasks/{id}", { params: { path: { id: task.id } }, body: changes }));
}

/** The positions for some cards that are put before the card at an index of a column. */
export function places(order: readonly BoardTask[], moved: ReadonlySet<string>, index: number, count: number): number[] {
  const above = order.slice(0, index).findLast((task) => !moved.has(task.id));
  const below = order.slice(index).find((task) => !moved.has(task.id));
  const found: number[] = [];
  let low = above?.position;
  for (let left = count; left > 0; left -= 1) {
    const next: number = below === undefined || low === undefined ? between(low, low === undefined && below ? below.position - (left - 1) : below?.position) : low + (below.position - low) / (left + 1);
    found.push(next);
    low = next;
  }
  return found;
}

/** Puts cards into a column, before the card at an index; at its end without one. */
export async function moveTo(ids: readonly string[], column: ColumnName, index?: number): Promise<void> {
  const world = useWorld.getState();
  const order = world.columns[column].flatMap((id) => world.tasks.get(id) ?? []);
  const all = ids.flatMap((id) => world.tasks.get(id) ?? []);
  const free = all.filter((task) => !isBusy(task));
  if (free.length < all.length) toast.warning("Tasks of a running batch stay where they are", { description: "Cancel them first, or wait." });
  if (free.length === 0) return;
  const status = statusOfColumn[column];
  const positions = places(order, new Set(ids), index ?? order.length, free.length);
  const outcomes = await Promise.allSettled(
    free.map(async (task, at) => {
      const isThere = columnOf(task) === column;
      if (status === null && !isThere) throw new Error("only Pleach puts tasks into “Needs you”");
      const changes: TaskChanges = { position: positions[at], ...(isThere ? {} : { status }) };
      putTask({ ...task, ...(changes as Partial<BoardTask>) });
      try {
        putTask(await save(task, changes));
      } catch (error) {
        putTask(task);
        throw error;
      }
    }),
  );
  tell(free, column, outcomes);
}

function tell(tasks: BoardTask[], column: ColumnName, outcomes: PromiseSettledResult<void>[]) {
  const failed = outcomes.flatMap((outcome, at) => (outcome.status === "rejected" ? [{ task: tasks[at] as BoardTask, error: outcome.reason as unknown }] : []));
  for (const { task, error } of failed.slice(0, 3)) toast.error(`“${task.title}” was not moved`, { description: inWords(error) });
  const moved = tasks.filter((task, at) => outcomes[at]?.status === "fulfilled" && columnOf(task) !== column);
  if (moved.length === 0) return;
  const { tasks: now } = useWorld.getState();
  const bounced = moved.filter((task) => columnOf(now.get(task.id) ?? task) !== column);
  if (bounced.length === moved.length) {
    toast.info("It stays there until it runs again", { description: "Its last batch did not end well. Run it again, or move it to Done." });
    return;
  }
  const what = moved.length === 1 ? `“${moved[0]?.title}”` : `${moved.length} tasks`;
  toast(`Moved ${what} to ${columnTitles[column]}`, { action: { label: "Undo", onClick: () => void undo(moved) } });
}

async function undo(tasks: BoardTask[]) {
  for (const task of tasks) {
    try {
      putTask(await save(task, { status: task.status, position: task.position }));
    } catch (error) {
      toast.error(inWords(error));
    }
  }
}

/** Moves one card up or down in its column. */
export function shift(id: string, by: -1 | 1) {
  const { tasks, columns } = useWorld.getState();
  const task = tasks.get(id);
  if (!task) return;
  const column = columnOf(task);
  const at = columns[column].indexOf(id);
  const to = at + by;
  if (to < 0 || to >= columns[column].length) return;
  void moveTo([id], column, by < 0 ? to : to + 1);
}
