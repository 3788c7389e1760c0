// What the pages of batches ask the server for.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { answered, api, type BatchView } from "@/api/client";
import { useProjects } from "@/api/queries";
import { keepSame, useTaste } from "@/task/queries";

/** What stays the same while the woven result does. */
function wovenStamp(batch: BatchView): string {
  return `${batch.status} ${batch.tasks
    .filter((task) => task.outcome === "merged")
    .map((task) => task.taskId)
    .join()}`;
}

export function useBatchDiff(batch: BatchView) {
  const whitespace = useTaste();
  return useQuery({
    queryKey: ["woven", batch.id, wovenStamp(batch), whitespace],
    placeholderData: keepSame("woven", batch.id),
    queryFn: () =>
      answered(
        api.GET("/api/batches/{id}/diff", { params: { path: { id: batch.id }, query: { whitespace } } }),
      ),
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
    queryFn: () =>
      answered(
        api.GET("/api/batches/{id}/validation", {
          params: { path: { id: batch.id }, query: run ? { run } : {} },
        }),
      ),
  });
}

export function useWorktrees(batch: BatchView) {
  const stamp = batch.tasks.map((task) => task.state).join();
  return useQuery({
    queryKey: ["worktrees", batch.id, batch.status, stamp],
    placeholderData: keepSame("worktrees", batch.id),
    queryFn: async () =>
      (await answered(api.GET("/api/batches/{id}/worktrees", { params: { path: { id: batch.id } } })))
        .worktrees,
  });
}

/** How many batches are fetched at a time. */
const BATCHES = 50;

/** Every batch of a project, newest first, page by page; asked for anew when batches begin and end. */
export function useBatches(project: string | undefined) {
  const { data: projects } = useProjects();
  // Which project is shown is known a little later than the page; without any, those of all are listed.
  const isKnown = project !== undefined || projects?.every((each) => each.status !== "ready") === true;
  return useInfiniteQuery({
    queryKey: ["batches", project, "pages"],
    enabled: isKnown,
    initialPageParam: undefined as number | undefined,
    queryFn: async ({ pageParam }) => {
      const query = {
        status: "all" as const,
        limit: BATCHES,
        ...(project ? { project } : {}),
        ...(pageParam === undefined ? {} : { before: pageParam }),
      };
      return (await answered(api.GET("/api/batches", { params: { query } }))).batches;
    },
    getNextPageParam: (last) => (last.length < BATCHES ? undefined : last.at(-1)?.id),
  });
}
