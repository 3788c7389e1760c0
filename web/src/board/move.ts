// Moves cards: to another column, or to another place in theirs. Shown at once, taken back if refused.

import { answered, api, type BoardTask, inWords, Refused, type TaskChanges } from "@/api/client";
import { type ColumnName, columnTitles, isBusy, spread, statusOfColumn } from "@/live/columns";
import { asked } from "@/live/order";
import { change, putTasks, useWorld } from "@/live/world";
import { toast } from "@/visible/toast";

type Step = { task: BoardTask; column: ColumnName; changes: Pick<TaskChanges, "position" | "status"> };
type Outcome = PromiseSettledResult<BoardTask>;

/** The positions for some cards that are put before the card at an index of a column, and for those that must make room. */
export function places(
  order: readonly BoardTask[],
  moved: ReadonlySet<string>,
  index: number,
): Map<string, number> {
  const isRest = (task: BoardTask) => !moved.has(task.id);
  const low = order.slice(0, index).findLast(isRest)?.position;
  const below = order.slice(index).filter(isRest);
  const ids = [...moved];
  for (;;) {
    const found = spread(low, below[0]?.position, ids.length);
    if (found) return new Map(ids.map((id, at) => [id, found[at] as number]));
    // There is nothing between two cards at the same place, so the lower one goes on.
    ids.push((below.shift() as BoardTask).id);
  }
}

/** Puts cards into a column, before another card; at its end without one. */
export async function moveTo(ids: readonly string[], column: ColumnName, before?: string): Promise<void> {
  const world = useWorld.getState();
  const order = world.columns[column].flatMap((id) => world.tasks.get(id) ?? []);
  const free = movable(
    ids.flatMap((id) => world.tasks.get(id) ?? []),
    column,
  );
  if (free.length === 0) return;
  const index = before === undefined ? -1 : order.findIndex((task) => task.id === before);
  const found = places(order, new Set(free.map((task) => task.id)), index < 0 ? order.length : index);
  const status = statusOfColumn[column];
  const steps = [...found].flatMap(([id, position]): Step[] => {
    const task = world.tasks.get(id);
    if (!task) return [];
    const changes = status === null || task.column === column ? { position } : { position, status };
    return [{ task, column, changes }];
  });
  const outcomes = await saveAll(steps);
  tell(free, column, outcomes.slice(0, free.length));
}

/** Those of some cards that a person may put into a column; says why the others stay. */
function movable(all: readonly BoardTask[], column: ColumnName): BoardTask[] {
  const free = all.filter((task) => !isBusy(task));
  if (free.length < all.length)
    toast.warning("Tasks of a running batch cannot be moved", {
      description: "Cancel them first, or wait.",
    });
  if (statusOfColumn[column] !== null) return free;
  const there = free.filter((task) => task.column === column);
  if (there.length < free.length) toast.error("Only Pleach moves tasks to “Needs you”");
  return there;
}

/** Shows changes at once, saves them, and takes back what was refused. */
async function saveAll(steps: readonly Step[]): Promise<Outcome[]> {
  const { tasks } = useWorld.getState();
  putTasks(steps.flatMap((step) => (tasks.has(step.task.id) ? changed(step) : [])));
  const save = ({ task, changes }: Step) =>
    answered(api.PATCH("/api/tasks/{id}", { params: { path: { id: task.id } }, body: changes }));
  const outcomes = await asked(
    () => aFewAtOnce(steps, save),
    (answers) => ({
      type: "tasks",
      tasks: answers.flatMap((answer, at) =>
        answer.status === "fulfilled" ? answer.value : takenBack(steps[at] as Step),
      ),
    }),
  );
  const gone = steps.filter((_, at) => isGone(outcomes[at]));
  if (gone.length > 0) change({ type: "deleted", ids: gone.map(({ task }) => task.id) });
  return outcomes;
}

/** How many requests are under way at once; a browser sends no more, and makes the page wait for all it is given. */
const AT_ONCE = 6;

async function aFewAtOnce<T, R>(
  items: readonly T[],
  act: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const outcomes: PromiseSettledResult<R>[] = [];
  const left = items.entries();
  const work = async () => {
    for (const [at, item] of left)
      [outcomes[at]] = (await Promise.allSettled([act(item)])) as [PromiseSettledResult<R>];
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}

function changed({ task, column, changes: { position, status } }: Step): BoardTask {
  // How a batch ended is forgotten once a person says otherwise.
  return {
    ...task,
    ...(position == null ? {} : { position }),
    ...(status == null ? {} : { status, batch: null, column, word: status }),
  };
}

/** A card as it is by now, without what this page changed; nothing where it is gone. */
function takenBack({ task, changes }: Step): BoardTask[] {
  const now = useWorld.getState().tasks.get(task.id);
  if (!now) return [];
  const { position, status } = changes;
  return [
    {
      ...now,
      ...(now.position === position ? { position: task.position } : {}),
      ...(now.status === status
        ? { status: task.status, batch: task.batch ?? null, column: task.column, word: task.word }
        : {}),
    },
  ];
}

function isGone(outcome: Outcome | undefined): boolean {
  return outcome?.status === "rejected" && outcome.reason instanceof Refused && outcome.reason.status === 404;
}

function tell(tasks: BoardTask[], column: ColumnName, outcomes: Outcome[]) {
  const failed = outcomes.flatMap((outcome, at) =>
    outcome.status === "rejected" ? [{ task: tasks[at] as BoardTask, error: outcome.reason as unknown }] : [],
  );
  for (const { task, error } of failed.slice(0, 3))
    toast.error(`Could not move “${task.title}”`, { description: inWords(error) });
  const moved = tasks.filter((task, at) => outcomes[at]?.status === "fulfilled" && task.column !== column);
  if (moved.length === 0) return;
  const what = moved.length === 1 ? `“${moved[0]?.title}”` : `${moved.length} tasks`;
  // The server does not bring back how a batch ended.
  const canUndo = moved.every(
    (task) => task.word === task.status || statusOfColumn[task.column] === task.status,
  );
  toast(
    `Moved ${what} to ${columnTitles[column]}`,
    canUndo ? { action: { label: "Undo", onClick: () => void undo(moved) } } : {},
  );
}

async function undo(tasks: readonly BoardTask[]) {
  const outcomes = await saveAll(
    tasks.map((task) => ({
      task,
      column: task.column,
      changes: { status: task.status, position: task.position },
    })),
  );
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed) toast.error(inWords(failed.reason));
}

/** Moves one card past its neighbour above or below, of those that are shown. */
export function shift(id: string, by: -1 | 1, shown: readonly string[]) {
  const task = useWorld.getState().tasks.get(id);
  const at = shown.indexOf(id);
  const to = at + by;
  if (!task || at < 0 || to < 0 || to >= shown.length) return;
  void moveTo([id], task.column, by < 0 ? shown[to] : (shown[to + 1] ?? after(shown[to], task.column)));
}

/** The card below another one, shown or not. */
function after(id: string | undefined, column: ColumnName): string | undefined {
  const all = useWorld.getState().columns[column];
  return id === undefined ? undefined : all[all.indexOf(id) + 1];
}
