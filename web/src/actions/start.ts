// Starts batches: one request at a time, with a person's consent where the server wants it.

import { create } from "zustand";
import { answered, api, type BatchOptions, hintOf, inWords, Refused, unconfirmedPush } from "@/api/client";
import { projectsQuery, queryClient } from "@/api/queries";
import { select } from "@/app/selection";
import { fetchStale } from "@/live/batches";
import { asked } from "@/live/order";
import { useWorld } from "@/live/world";
import { toast } from "@/visible/toast";

export type ConsentChange = {
  what: "file" | "setting";
  name: string;
  kind: "new" | "changed" | "gone" | "unseen";
  role: "settings" | "servers" | "hooks" | "instructions" | "other";
  /** What leads to a file, or why it is asked about each time. */
  because?: string | null;
  /** The value of a setting or the contents of a file. */
  before?: string | null;
  now?: string | null;
  /** Whether there is more than is shown. */
  isCut: boolean;
};
type Wanted = { options: BatchOptions; changes: ConsentChange[]; fingerprint: string };

type Starting = {
  /** Whether a request is under way. */
  isBusy: boolean;
  /** What a person must consent to before the batch starts. */
  consent: Wanted | null;
  /** Where a person must confirm that the project pushes to. */
  push: { options: BatchOptions; address: string } | null;
};

export const useStarting = create<Starting>(() => ({ isBusy: false, consent: null, push: null }));

export const NEEDS_GIT = "Parallel mode requires a git repository";

/** Whether the project that is shown cannot run tasks beside each other. */
function lacksGit(): boolean {
  const { project } = useWorld.getState();
  return (
    queryClient.getQueryData(projectsQuery.queryKey)?.find((each) => each.id === project)?.isRepository ===
    false
  );
}

/** Starts a batch; whether it did. Errors are told. */
export async function startBatch(wish: BatchOptions): Promise<boolean> {
  if (useStarting.getState().isBusy) return false;
  if (wish.mode === "parallel" && lacksGit()) {
    toast.error(NEEDS_GIT);
    return false;
  }
  // Without a wish the server takes the usual mode, which is parallel.
  const options: BatchOptions = wish.mode == null && lacksGit() ? { ...wish, mode: "serial" } : wish;
  useStarting.setState({ isBusy: true, consent: null, push: null });
  try {
    const header = { "Idempotency-Key": crypto.randomUUID() };
    const started = await asked(
      () => answered(api.POST("/api/batches", { params: { header }, body: options })),
      (batch) => ({ type: "batch", batch }),
    );
    fetchStale();
    for (const warning of started.warnings)
      toast.warning(warning.message, { description: warning.hint ?? undefined });
    toast.success(`Batch ${started.number} started`);
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
  const address = unconfirmedPush(error);
  if (address !== null) {
    useStarting.setState({ push: { options, address } });
    return false;
  }
  const canAdd = error instanceof Refused && error.code === "missing_dependencies";
  toast.error(inWords(error), {
    description: hintOf(error),
    ...(canAdd
      ? { action: { label: "Add them", onClick: () => void startBatch({ ...options, withDeps: true }) } }
      : {}),
  });
  return false;
}
