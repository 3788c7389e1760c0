// Makes the board's world out of what was fetched and what is heard. Pure: fetches nothing, knows no page.

import type { BatchView, BoardTask } from "@/api/client";
import { arrange } from "./columns";
import { Draft } from "./draft";
import type { LiveEvent } from "./events";
import { hear } from "./hear";
import { emptyWorld, isOver, type World } from "./state";

export type Change =
  | { type: "loaded"; project: string; tasks: BoardTask[]; batches: BatchView[] }
  | { type: "batch"; batch: BatchView }
  | { type: "tasks"; tasks: readonly BoardTask[] }
  /** Tasks that the server does not know any more. */
  | { type: "deleted"; ids: readonly string[] }
  /** A batch that the server does not know or show. */
  | { type: "gone"; batch: number }
  /** The server is not the one that all this was heard of. */
  | { type: "reset" }
  | { type: "events"; events: readonly LiveEvent[] };

export function reduce(world: World, change: Change): World {
  const draft = new Draft(world);
  switch (change.type) {
    case "loaded":
      return loaded(world, change.project, change.tasks, change.batches);
    case "batch":
      draft.putBatch(change.batch);
      break;
    case "tasks":
      // An answer may come after another project was chosen.
      for (const task of change.tasks) if (draft.isShown(task.projectId)) draft.putTask(task);
      break;
    case "deleted":
      for (const id of change.ids) draft.dropTask(id);
      break;
    case "gone":
      draft.dropBatch(change.batch);
      break;
    case "reset":
      return emptyWorld;
    case "events":
      for (const event of change.events) hear(draft, event);
  }
  return draft.finish();
}

function loaded(world: World, project: string, tasks: BoardTask[], batches: BatchView[]): World {
  const isSame = world.project === project;
  const known = new Set(batches.map((batch) => batch.id));
  const base: World = {
    ...emptyWorld,
    project,
    isLoaded: true,
    tasks: new Map(tasks.map((task) => [task.id, task])),
    batches: isSame
      ? world.batches
      : new Map([...world.batches].filter(([, batch]) => batch.projectId === project)),
    // Of what is over nothing of this is shown.
    doing: new Map([...world.doing].filter(([, doing]) => isSame && known.has(doing.batch))),
    logs: new Map([...world.logs].filter(([, end]) => known.has(end.batch))),
    columns: isSame ? world.columns : emptyWorld.columns,
  };
  const draft = new Draft({ ...base, columns: arrange(base.tasks, base.columns) });
  // A batch that ended unheard is asked for again.
  for (const [id, batch] of base.batches) if (!known.has(id) && !isOver(batch)) draft.stale.add(id);
  for (const batch of batches) draft.putBatch(batch);
  return draft.finish();
}
