// What a person can ask the server to do with batches and their tasks.

import { useCallback, useState } from "react";
import { answered, api, hintOf, inWords } from "@/api/client";
import { refreshBatch } from "@/live/batches";
import { toast } from "@/visible/toast";

/** Does one thing at a time and says what went wrong. */
export function useAct() {
  const [doing, setDoing] = useState<string | null>(null);
  const act = useCallback(
    async <T>(name: string, what: () => Promise<T>, done?: string): Promise<T | undefined> => {
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
    },
    [],
  );
  return { doing, act };
}

export async function cancelTask(batch: number, task: string): Promise<void> {
  await answered(
    api.POST("/api/batches/{id}/tasks/{taskId}/cancel", {
      params: { path: { id: batch, taskId: task } },
      body: {},
    }),
  );
  await refreshBatch(batch);
}

export async function retryTask(batch: number, task: string): Promise<void> {
  await answered(
    api.POST("/api/batches/{id}/tasks/{taskId}/retry", {
      params: { path: { id: batch, taskId: task } },
      body: {},
    }),
  );
  await refreshBatch(batch);
}

/** Stops a batch; `rollback` removes its branch too, also of one that is over. */
export async function cancelBatch(batch: number, rollback = false): Promise<void> {
  await answered(
    api.POST("/api/batches/{id}/cancel", { params: { path: { id: batch } }, body: { rollback } }),
  );
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
    await answered(
      api.POST("/api/batches/{id}/land", { params: { path: { id: batch } }, body: { into, confirmPush } }),
    );
  } finally {
    await refreshBatch(batch);
  }
}

/** Lets the task start that waits; `consent` is the fingerprint of what a person consents to with it. */
export async function approveNext(batch: number, consent?: string): Promise<void> {
  await answered(
    api.POST("/api/batches/{id}/approve", {
      params: { path: { id: batch } },
      body: consent === undefined ? {} : { consent },
    }),
  );
  await refreshBatch(batch);
}

/** Goes on with a batch that nobody is at. */
export async function resumeBatch(batch: number): Promise<void> {
  await answered(api.POST("/api/batches/{id}/resume", { params: { path: { id: batch } }, body: {} }));
  await refreshBatch(batch);
}

/** Lays a conflict out, takes its resolution, or gives it up. */
export async function resolveTask(batch: number, task: string, action: "start" | "done" | "abort") {
  const answer = await answered(
    api.POST("/api/batches/{id}/tasks/{taskId}/resolve", {
      params: { path: { id: batch, taskId: task } },
      body: { action },
    }),
  );
  await refreshBatch(batch);
  return answer;
}
