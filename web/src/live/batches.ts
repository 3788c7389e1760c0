// Asks for batches of which the server knows more than was heard: not too often, and only for those that somebody sees.

import { answered, api, type BatchView, Refused } from "@/api/client";
import { queryClient } from "@/api/queries";
import { asked } from "./order";
import { change, useConnection, useWorld } from "./world";

/** How long a question waits, so that many events ask once. */
const GATHER_MS = 250;
/** How long at least between two questions for the same batch; doubles with every failure. */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

type Asked = { at: number; pause: number; isOpen: boolean };

const before = new Map<number, Asked>();
const watched = new Map<number, number>();
let timer: ReturnType<typeof setTimeout> | undefined;
let timerAt = Number.POSITIVE_INFINITY;

/** Asks for a batch now. */
export async function refreshBatch(id: number): Promise<BatchView> {
  return asked(
    () => answered(api.GET("/api/batches/{id}", { params: { path: { id } } })),
    (batch) => ({ type: "batch", batch }),
  );
}

/** Keeps a batch in step while a page shows it, whatever project it is of. */
export function watchBatch(id: number): () => void {
  watched.set(id, (watched.get(id) ?? 0) + 1);
  fetchStale();
  return () => {
    const left = (watched.get(id) ?? 1) - 1;
    if (left > 0) watched.set(id, left);
    else watched.delete(id);
  };
}

/** The batches that are worth a question: unknown ones, and those that are seen. */
function wanted(): number[] {
  const { stale, batches, project } = useWorld.getState();
  return [...stale].filter((id) => {
    if (before.get(id)?.isOpen) return false;
    const batch = batches.get(id);
    return !batch || (!document.hidden && (batch.projectId === project || watched.has(id)));
  });
}

function dueAt(id: number): number {
  const last = before.get(id);
  return last ? last.at + last.pause : 0;
}

/** Sees to it that what is stale is asked for in time. */
export function fetchStale() {
  if (useConnection.getState().state !== "live") return;
  const ids = wanted();
  if (ids.length === 0) return;
  const at = Math.max(Date.now() + GATHER_MS, Math.min(...ids.map(dueAt)));
  if (timerAt <= at) return;
  clearTimeout(timer);
  timerAt = at;
  timer = setTimeout(() => {
    timerAt = Number.POSITIVE_INFINITY;
    const now = Date.now();
    for (const id of wanted()) if (dueAt(id) <= now) void fetchOne(id);
    fetchStale();
  }, at - Date.now());
}

async function fetchOne(id: number) {
  const mine: Asked = { at: Date.now(), pause: PAUSE_MS, isOpen: true };
  const pause = before.get(id)?.pause ?? PAUSE_MS;
  before.set(id, mine);
  try {
    await refreshBatch(id);
  } catch (error) {
    const status = error instanceof Refused ? error.status : 0;
    if (status === 401) useConnection.setState({ error: error as Refused });
    if (status >= 400 && status < 500) drop(id);
    else mine.pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  } finally {
    mine.isOpen = false;
    fetchStale();
  }
}

function drop(id: number) {
  change({ type: "gone", batch: id });
  void queryClient.resetQueries({ queryKey: ["batch", id] });
}

/** Asks at once again for what failed, as after the connection came back. */
export function forgetPauses() {
  for (const [id, last] of before) if (!last.isOpen) before.delete(id);
}
