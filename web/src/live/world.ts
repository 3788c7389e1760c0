// The world of this tab, and how it stands with the server. Components read both; asks nobody.

import { create } from "zustand";
import type { BoardTask, Refused } from "@/api/client";
import type { LiveEvent } from "./events";
import { type Change, reduce } from "./reducer";
import { emptyWorld, type World } from "./state";

export const useWorld = create<World>(() => emptyWorld);

export type Connection = {
  state: "connecting" | "live" | "lost";
  /** The project that should be shown; `World.project` is the one that is. */
  wanted: string | null;
  /** Why the board could not be fetched. */
  error: Refused | null;
  isOtherVersion: boolean;
};

export const useConnection = create<Connection>(() => ({
  state: "connecting",
  wanted: null,
  error: null,
  isOtherVersion: false,
}));

/** Changes the world, and tells it once more what was heard after that was true. */
export function change(what: Change, since: readonly LiveEvent[] = []) {
  useWorld.setState((world) => {
    const changed = reduce(world, what);
    return since.length > 0 ? reduce(changed, { type: "events", events: since }) : changed;
  }, true);
}

/** Puts tasks of the project that is shown on the board. */
export function putTasks(tasks: readonly BoardTask[]) {
  change({ type: "tasks", tasks });
}
