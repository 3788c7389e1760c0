// What the pages of tasks ask the server for.

import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import { answered, api, type BatchView, type BoardTask, type TaskView } from "@/api/client";
import { refreshBatch, watchBatch } from "@/live/batches";
import { useWorld } from "@/live/world";
import type { Load } from "./reader";
import { useReading } from "./reading";

/** Keeps what was shown while the same thing is asked for anew: the first parts of the key say which thing it is. */
export function keepSame<T>(...thing: unknown[]) {
  return (before: T | undefined, query: { queryKey: readonly unknown[] } | undefined) =>
    thing.every((part, at) => query?.queryKey[at] === part) ? before : undefined;
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
    queryFn: async () =>
      (await answered(api.GET("/api/tasks/{id}/attempts", { params: { path: { id } } }))).attempts,
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
          params: {
            path: { id: batch, taskId: task },
            query: { from: String(from), limit, ...(attempt ? { attempt } : {}) },
          },
          signal,
        }),
      ),
    [batch, task, attempt],
  );
}

/** How a patch is asked for. */
export function useTaste() {
  return useReading(({ ignoresWhitespace }) => (ignoresWhitespace ? "ignore" : "show"));
}

export function useTaskDiff(batch: number, task: TaskView) {
  const whitespace = useTaste();
  return useQuery({
    queryKey: ["diff", batch, task.taskId, task.state, task.lastAttempt, whitespace],
    placeholderData: keepSame("diff", batch, task.taskId),
    queryFn: () =>
      answered(
        api.GET("/api/batches/{id}/tasks/{taskId}/diff", {
          params: { path: { id: batch, taskId: task.taskId }, query: { whitespace } },
        }),
      ),
  });
}

/** A task as a batch has it. */
export function useTaskIn(batch: BatchView | undefined, id: string): TaskView | undefined {
  return useMemo(() => batch?.tasks.find((task) => task.taskId === id), [batch, id]);
}
