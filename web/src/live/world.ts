// The world of this tab: keeps it in step with the server and tells components what changed.

import { toast } from "sonner";
import { create } from "zustand";
import { answered, api, type BatchView, type BoardTask, Refused } from "@/api/client";
import { keys, queryClient } from "@/api/queries";
import type { LiveEvent } from "./events";
import { noticeOf } from "./notices";
import { type Change, emptyWorld, reduce, type World } from "./reducer";
import { openStream } from "./stream";

export type Connection = "connecting" | "live" | "lost";

export const useWorld = create<World>(() => emptyWorld);
export const useConnection = create<{ state: Connection; error: Refused | null }>(() => ({ state: "connecting", error: null }));

export function change(what: Change) {
  useWorld.setState((world) => reduce(world, what), true);
}

/** How long what is stale may wait, so that many events ask once. */
const GATHER_MS = 250;

let waiting: LiveEvent[] = [];
let isScheduled = false;
let loading: Promise<unknown> | null = null;
let fetchTimer: ReturnType<typeof setTimeout> | undefined;

/** Applies what was heard, once for each picture that is drawn. */
function schedule() {
  if (isScheduled || loading) return;
  isScheduled = true;
  if (document.hidden) setTimeout(flush, GATHER_MS);
  else requestAnimationFrame(flush);
}

function flush() {
  isScheduled = false;
  if (loading || waiting.length === 0) return;
  const events = waiting;
  waiting = [];
  change({ type: "events", events });
  const world = useWorld.getState();
  for (const event of events) noticeOf(event, world)?.(toast);
  fetchStale();
}

function fetchStale() {
  if (fetchTimer || useWorld.getState().stale.size === 0) return;
  fetchTimer = setTimeout(async () => {
    const stale = [...useWorld.getState().stale];
    await Promise.allSettled(stale.map((id) => refreshBatch(id)));
    fetchTimer = undefined;
    if (useConnection.getState().state === "live") fetchStale();
  }, GATHER_MS);
}

/** Asks for a batch again; what is heard meanwhile is told afterwards. */
export async function refreshBatch(id: number): Promise<BatchView> {
  const batch = await answered(api.GET("/api/batches/{id}", { params: { path: { id } } }));
  change({ type: "batch", batch });
  return batch;
}

/** Fetches the board of a project; events wait until it is there. */
export async function load(project: string): Promise<void> {
  const begun = Promise.all([
    answered(api.GET("/api/tasks", { params: { query: { project } } })),
    answered(api.GET("/api/batches", { params: { query: { project } } })),
  ]);
  loading = begun;
  try {
    const [tasks, batches] = await begun;
    if (loading === begun) change({ type: "loaded", project, tasks: tasks.tasks, batches: batches.batches });
    useConnection.setState({ error: null });
  } catch (error) {
    if (error instanceof Refused && error.status !== 0) useConnection.setState({ error });
  } finally {
    if (loading === begun) loading = null;
    if (waiting.length > 0) schedule();
    fetchStale();
  }
}

export function putTask(task: BoardTask) {
  change({ type: "task", task });
}

function heard(name: string, text: string) {
  const event = { name, data: JSON.parse(text) } as LiveEvent;
  if (event.name === "settings:updated") void queryClient.invalidateQueries({ queryKey: ["settings"] });
  if (event.name === "batch:created" || event.name.startsWith("batch:completed")) void queryClient.invalidateQueries({ queryKey: ["batches"] });
  waiting.push(event);
  schedule();
}

/** Begins to listen; the board is fetched whenever the connection opens. */
export function goLive(): () => void {
  return openStream((message) => {
    if (message.kind === "event") {
      heard(message.name, message.data);
      return;
    }
    if (message.kind === "lost") {
      useConnection.setState({ state: "lost" });
      return;
    }
    useConnection.setState({ state: "live" });
    void queryClient.invalidateQueries({ queryKey: keys.projects });
    const { project } = useWorld.getState();
    if (project) void load(project);
  });
}
