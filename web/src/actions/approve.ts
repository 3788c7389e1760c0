// Approves the task that waits; where it waits for consent, only after a person has seen to what.

import { create } from "zustand";
import { answered, api, type BatchView, hintOf, inWords } from "@/api/client";
import { toast } from "@/visible/toast";
import { approveNext } from "./actions";
import type { ConsentChange } from "./start";

type Pending = { batch: number; key: string; fingerprint: string; changes: ConsentChange[] };

/** What a person must consent to before the next task of a batch starts. */
export const useApproval = create<{ pending: Pending | null }>(() => ({ pending: null }));

/** Lets the next task of a batch start, or asks for the consent that it needs. */
export async function approve(batch: BatchView): Promise<void> {
  const next = batch.tasks.find((task) => task.status === "waiting");
  if (!next || next.consent.length === 0) return approveNext(batch.id);
  const { pending } = await answered(
    api.GET("/api/batches/{id}/consent", { params: { path: { id: batch.id } } }),
  );
  if (pending) useApproval.setState({ pending: { batch: batch.id, ...pending } });
  else toast.info("Nothing is waiting for consent any more");
}

/** Consents to what was shown, and to nothing else. */
export async function consent(pending: Pending): Promise<void> {
  useApproval.setState({ pending: null });
  await approveNext(pending.batch, pending.fingerprint);
}

/** For places that do not show that they are busy. */
export function approveOrTell(batch: BatchView) {
  approve(batch).catch((error: unknown) => toast.error(inWords(error), { description: hintOf(error) }));
}
