// Gathers what people should be told, until the tasks that it is about have names.

import { toast } from "@/visible/toast";
import type { LiveEvent } from "./events";
import { noticeOf, tell } from "./notices";
import { emptyWorld } from "./state";
import { useWorld } from "./world";

/** How long news are gathered. */
const GATHER_MS = 300;
/** How long a batch is waited for that is not known yet. */
const PATIENCE_MS = 3_000;

let untold: LiveEvent[] = [];
let isLate = false;
let since = 0;
let holds = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Holds news back, as while the board is fetched; what is heard meanwhile may be old. */
export function holdNews(): () => void {
  holds += 1;
  return () => {
    holds -= 1;
  };
}

/** The batches that stand still and are known to; the server says so anew at each connection. */
const still = new Set<number>();

function isFresh(event: LiveEvent): boolean {
  if (event.name === "batch:resumed") still.delete(event.data.batchId);
  if (event.name !== "batch:interrupted") return true;
  const isKnown = still.has(event.data.batchId);
  still.add(event.data.batchId);
  // What stands still when the board is opened is shown there.
  return !isKnown && holds === 0;
}

/** Takes in what was heard; most of it is no news. */
export function hearNews(events: readonly LiveEvent[]) {
  const fresh = events.filter((event) => isFresh(event) && noticeOf(event, emptyWorld));
  if (fresh.length === 0) return;
  if (untold.length === 0) since = Date.now();
  untold.push(...fresh);
  isLate ||= holds > 0;
  if (!timer) timer = setTimeout(tellNews, GATHER_MS);
}

function tellNews() {
  timer = undefined;
  const world = useWorld.getState();
  const isNamed = untold.every((event) => "batchId" in event.data && world.batches.has(event.data.batchId));
  if ((holds > 0 || !isNamed) && Date.now() - since < PATIENCE_MS) {
    timer = setTimeout(tellNews, GATHER_MS);
    return;
  }
  const notices = untold.flatMap((event) => noticeOf(event, world) ?? []);
  tell(notices, isLate, toast);
  untold = [];
  isLate = false;
}
