// Brings what the server answers and what it tells into one order. An answer may be as old as its question, so what
// was heard since then is told once more after it.

import { keys, queryClient } from "@/api/queries";
import type { LiveEvent } from "./events";
import { hearNews } from "./news";
import type { Change } from "./reducer";
import { change } from "./world";

/** How long what is heard may wait while nobody looks. */
const HIDDEN_MS = 250;

let waiting: LiveEvent[] = [];
let isScheduled = false;
/** Goes up whenever the server is another one. */
let era = 0;
/** What was heard since each question that has no answer yet. */
const questions = new Set<LiveEvent[]>();
const listeners = new Set<() => void>();

/** Asks, and puts into the world what `put` makes of the answer. */
export async function asked<T>(question: () => Promise<T>, put: (answer: T) => Change | null): Promise<T> {
  const since: LiveEvent[] = [];
  const begun = era;
  questions.add(since);
  try {
    const answer = await question();
    flush();
    const what = begun === era ? put(answer) : null;
    if (what) change(what, since);
    return answer;
  } finally {
    questions.delete(since);
  }
}

/** Takes in what the server tells; it is applied once for each picture that is drawn. */
export function heard(event: LiveEvent) {
  tellCache(event);
  for (const since of questions) since.push(event);
  waiting.push(event);
  if (isScheduled) return;
  isScheduled = true;
  if (document.hidden) setTimeout(flush, HIDDEN_MS);
  else requestAnimationFrame(flush);
}

function flush() {
  isScheduled = false;
  if (waiting.length === 0) return;
  const events = waiting;
  waiting = [];
  change({ type: "events", events });
  hearNews(events);
  for (const listener of listeners) listener();
}

/** Calls back whenever something was heard and applied. */
export function afterHearing(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Forgets everything: the server tells of another log. */
export function beginAnew() {
  era += 1;
  waiting = [];
  change({ type: "reset" });
  void queryClient.resetQueries();
}

/** Keeps in step what pages asked for themselves. */
function tellCache(event: LiveEvent) {
  switch (event.name) {
    case "project:updated":
      void queryClient.invalidateQueries({ queryKey: keys.projects });
      break;
    case "settings:updated":
      void queryClient.invalidateQueries({ queryKey: ["settings"] });
      break;
    case "task:updated":
      queryClient.setQueryData(["task", event.data.taskId], (before: unknown) => before && event.data.task);
      break;
    case "task:deleted":
      void queryClient.resetQueries({ queryKey: ["task", event.data.taskId] });
      break;
    default:
      if (event.name === "batch:created" || ("batch" in event.data && event.data.batch?.completedAt))
        void queryClient.invalidateQueries({ queryKey: ["batches"] });
  }
}
