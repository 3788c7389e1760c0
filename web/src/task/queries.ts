// What the pages of tasks and batches ask the server for, and what they ask it to do.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { answered, api, type BatchView, type BoardTask, hintOf, inWords, type TaskView } from "@/api/client";
import { useProjects } from "@/api/queries";
import { refreshBatch, watchBatch } from "@/live/batches";
import { isOver } from "@/live/state";
import { useWorld } from "@/live/world";
import { toast } from "@/visible/toast";
import type { Load } from "./reader";
import { useReading } from "./reading";

/** Keeps what was shown while the same thing is asked for anew: the first parts of the key say which thing it is. */
function keepSame<T>(...thing: unknown[]) {
  return (before: T | undefined, query: { queryKey: readonly unknown[] } | undefined) => (thing.every((part, at) => query?.queryKey[at] === part) ? before : undefined);
}

/** A task, from the board or by asking. */
export function useTask(id: string) {
  const known = useWorld((world) => world.tasks.get(id));
  const asked = useQuery({
    queryKey: ["task", id],
    enabled: !known,
    queryFn: () => answered(api.GET("/api/tasks/{id}", { params: { path: { id } } })),
  });
  return { task: known ?? asked.data, error: known ? null : asked.error };
}

/** Every attempt on a task; asked for anew as it goes on. */
export function useAttempts(id: string, task: BoardTask | undefined) {
  return useQuery({
    queryKey: ["attempts", id, task?.batch?.id, task?.batch?.status],
    placeholderData: keepSame("attempts", id),
    queryFn: async () => (await answered(api.GET("/api/tasks/{id}/attempts", { params: { path: { id } } }))).attempts,
  });
}

/** A batch, kept in step by events once it was asked for. */
export function useBatch(id: number | undefined) {
  const known = useWorld((world) => (id === undefined ? undefined : world.batches.get(id)));
  const asked = useQuery({
    queryKey: ["batch", id],
    enabled: id !== undefined && !known,
    queryFn: () => refreshBatch(id as number),
  });
  useEffect(() => (id === undefined ? undefined : watchBatch(id)), [id]);
  return { batch: known ?? asked.data, error: known ? null : asked.error };
}

/** How a transcript is fetched; another function for another attempt. */
export function useLoad(batch: number, task: string, attempt: number | undefined): Load {
  return useCallback<Load>(
    (from, limit, signal) =>
      answered(
        api.GET("/api/batches/{id}/tasks/{taskId}/log", {
          params: { path: { id: batch, taskId: task }, query: { from: String(from), limit, ...(attempt ? { attempt } : {}) } },
          signal,
        }),
      ),
    [batch, task, attempt],
  );
}

/** What stays the same while the woven result does. */
function wovenStamp(batch: BatchView): string {
  return `${batch.status} ${batch.tasks.filter((task) => task.outcome === "merged").map((task) => task.taskId).join()}`;
}

/** How a patch is asked for. */
function useTaste() {
  return useReading(({ ignoresWhitespace }) => (ignoresWhitespace ? "ignore" : "show"));
}

export function useTaskDiff(batch: number, task: TaskView) {
  const whitespace = useTaste();
  return useQuery({
    queryKey: ["diff", batch, task.taskId, task.state, task.lastAttempt, whitespace],
    placeholderData: keepSame("diff", batch, task.taskId),
    queryFn: () => answered(api.GET("/api/batches/{id}/tasks/{taskId}/diff", { params: { path: { id: batch, taskId: task.taskId }, query: { whitespace } } })),
  });
}

export function useBatchDiff(batch: BatchView) {
  const whitespace = useTaste();
  return useQuery({
    queryKey: ["woven", batch.id, wovenStamp(batch), whitespace],
    placeholderData: keepSame("woven", batch.id),
    queryFn: () => answered(api.GET("/api/batches/{id}/diff", { params: { path: { id: batch.id }, query: { whitespace } } })),
  });
}

export function useOrder(batch: number) {
  return useQuery({
    queryKey: ["order", batch],
    queryFn: () => answered(api.GET("/api/batches/{id}/plan", { params: { path: { id: batch } } })),
  });
}

export function useValidation(batch: BatchView, run: number | undefined) {
  const { verdict, runs } = batch.validation;
  return useQuery({
    queryKey: ["validation", batch.id, run, verdict, runs.length, batch.status],
    placeholderData: keepSame("validation", batch.id, run),
    queryFn: () => answered(api.GET("/api/batches/{id}/validation", { params: { path: { id: batch.id }, query: run ? { run } : {} } })),
  });
}

export function useWorktrees(batch: BatchView) {
  const stamp = batch.tasks.map((task) => task.state).join();
  return useQuery({
    queryKey: ["worktrees", batch.id, batch.status, stamp],
    placeholderData: keepSame("worktrees", batch.id),
    queryFn: async () => (await answered(api.GET("/api/batches/{id}/worktrees", { params: { path: { id: batch.id } } }))).worktrees,
  });
}

/** How many batches are fetched at a time. */
const BATCHES = 50;

/** Every batch of a project, newest first, page by page; asked for anew when batches begin and end. */
export function useBatches(project: string | undefined) {
  const { data: projects } = useProjects();
  // Which project is shown is known a little later than the page; without any, those of all are listed.
  const isKnown = project !== undefined || (projects !== undefined && projects.every((each) => each.status !== "ready"));
  return useInfiniteQuery({
    queryKey: ["batches", project, "pages"],
    enabled: isKnown,
    initialPageParam: undefined as number | undefined,
    queryFn: async ({ pageParam }) => {
      const query = { status: "all" as const, limit: BATCHES, ...(project ? { project } : {}), ...(pageParam === undefined ? {} : { before: pageParam }) };
      return (await answered(api.GET("/api/batches", { params: { query } }))).batches;
    },
    getNextPageParam: (last) => (last.length < BATCHES ? undefined : last.at(-1)?.id),
  });
}

/** What a person can ask of a task in a batch. */
export type TaskAct = "cancel" | "retry";

/** Does one thing at a time and says what went wrong. */
export function useAct() {
  const [doing, setDoing] = useState<string | null>(null);
  const act = useCallback(async <T>(name: string, what: () => Promise<T>, done?: string): Promise<T | undefined> => {
    setDoing(name);
    try {
      const answer = await what();
      if (done) toast.success(done);
      return answer;
    } catch (error) {
      toast.error(inWords(error), { description: hintOf(error) });
      return undefined;
    } finally {
      setDoing(null);
    }
  }, []);
  return { doing, act };
}

export async function cancelTask(batch: number, task: string): Promise<void> {
  await answered(api.POST("/api/batches/{id}/tasks/{taskId}/cancel", { params: { path: { id: batch, taskId: task } }, body: {} }));
  await refreshBatch(batch);
}

export async function retryTask(batch: number, task: string): Promise<void> {
  await answered(api.POST("/api/batches/{id}/tasks/{taskId}/retry", { params: { path: { id: batch, taskId: task } }, body: {} }));
  await refreshBatch(batch);
}

/** Stops a batch; `rollback` removes its branch too, also of one that is over. */
export async function cancelBatch(batch: number, rollback = false): Promise<void> {
  await answered(api.POST("/api/batches/{id}/cancel", { params: { path: { id: batch } }, body: { rollback } }));
  await refreshBatch(batch);
}

/** Has a batch finish what runs and start nothing new. */
export async function stopBatch(batch: number): Promise<void> {
  await answered(api.POST("/api/batches/{id}/stop", { params: { path: { id: batch } }, body: {} }));
  await refreshBatch(batch);
}

/** Lands the result on the server, or in a branch of the repository here; a first push needs a person who confirms it. */
export async function landBatch(batch: number, into: string | null, confirmPush = false): Promise<void> {
  try {
    await answered(api.POST("/api/batches/{id}/land", { params: { path: { id: batch } }, body: { into, confirmPush } }));
  } finally {
    await refreshBatch(batch);
  }
}

/** Lets the task start that waits; `consent` is the fingerprint of what a person consents to with it. */
export async function approveNext(batch: number, consent?: string): Promise<void> {
  await answered(api.POST("/api/batches/{id}/approve", { params: { path: { id: batch } }, body: consent === undefined ? {} : { consent } }));
  await refreshBatch(batch);
}

/** Goes on with a batch that nobody is at. */
export async function resumeBatch(batch: number): Promise<void> {
  await answered(api.POST("/api/batches/{id}/resume", { params: { path: { id: batch } }, body: {} }));
  await refreshBatch(batch);
}

/** Lays a conflict out, takes its resolution, or gives it up. */
export async function resolveTask(batch: number, task: string, action: "start" | "done" | "abort") {
  const answer = await answered(api.POST("/api/batches/{id}/tasks/{taskId}/resolve", { params: { path: { id: batch, taskId: task } }, body: { action } }));
  await refreshBatch(batch);
  return answer;
}

const RETRIED = new Set(["failed", "timed_out", "conflicted", "invalid", "blocked", "cancelled"]);
const STOPPABLE = new Set(["queued", "waiting", "limited", "running"]);

/** What can be asked of a task in its batch right now. */
export function possible(batch: BatchView | undefined, task: TaskView | undefined): ReadonlySet<TaskAct> {
  const found = new Set<TaskAct>();
  if (!batch || !task) return found;
  if (!isOver(batch) && STOPPABLE.has(task.status)) found.add("cancel");
  if (task.outcome && RETRIED.has(task.outcome)) found.add("retry");
  return found;
}

/** A task as a batch has it. */
export function useTaskIn(batch: BatchView | undefined, id: string): TaskView | undefined {
  return useMemo(() => batch?.tasks.find((task) => task.taskId === id), [batch, id]);
}
