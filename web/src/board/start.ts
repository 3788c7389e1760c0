// Starts batches: one request at a time, with a person's consent where the server wants it.

import { toast } from "sonner";
import { create } from "zustand";
import { answered, api, type BatchOptions, inWords, Refused } from "@/api/client";
import { change } from "@/live/world";
import { select } from "./selection";

export type ConsentChange = { what: "file" | "setting"; name: string; kind: "new" | "changed" | "gone"; before?: unknown; now?: unknown };
type Wanted = { options: BatchOptions; changes: ConsentChange[]; fingerprint: string };

type Starting = {
  /** Whether a request is under way. */
  isBusy: boolean;
  /** What a person must consent to before the batch starts. */
  consent: Wanted | null;
};

export const useStarting = create<Starting>(() => ({ isBusy: false, consent: null }));

/** Starts a batch; whether it did. Errors are told. */
export async function startBatch(options: BatchOptions): Promise<boolean> {
  if (useStarting.getState().isBusy) return false;
  useStarting.setState({ isBusy: true, consent: null });
  try {
    const header = { "Idempotency-Key": crypto.randomUUID() };
    const started = await answered(api.POST("/api/batches", { params: { header }, body: options }));
    change({ type: "batch", batch: started });
    for (const warning of started.warnings) toast.warning(warning.message, { description: warning.hint ?? undefined });
    toast.success(`Batch ${started.id} started`);
    select.clear();
    return true;
  } catch (error) {
    return refused(error, options);
  } finally {
    useStarting.setState({ isBusy: false });
  }
}

function refused(error: unknown, options: BatchOptions): boolean {
  if (error instanceof Refused && error.code === "no_consent") {
    const { changes, fingerprint } = error.details as Omit<Wanted, "options">;
    useStarting.setState({ consent: { options, changes, fingerprint } });
    return false;
  }
  const hint = error instanceof Refused ? error.hint : undefined;
  const canAdd = error instanceof Refused && error.code === "missing_dependencies";
  toast.error(inWords(error), {
    description: hint,
    ...(canAdd ? { action: { label: "Add them", onClick: () => void startBatch({ ...options, withDeps: true }) } } : {}),
  });
  return false;
}
