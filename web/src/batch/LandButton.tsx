// Lands a batch that is over: on the server, or in a branch of the repository here where there is no server.

import { GitMerge, GitPullRequest } from "lucide-react";
import type { BatchView } from "@/api/client";
import { isOver } from "@/live/state";
import { landBatch, useAct } from "@/task/queries";
import { Button } from "@/ui/Button";

export function LandButton({ batch }: { batch: BatchView }) {
  const { doing, act } = useAct();
  const canLand = isOver(batch) && !batch.prUrl && batch.tasks.some((task) => task.outcome === "merged");
  if (!canLand) return null;
  const into = batch.landInto ?? null;
  const Icon = into === null ? GitPullRequest : GitMerge;
  return (
    <Button disabled={doing !== null} onClick={() => void act("land", () => landBatch(batch.id, into))}>
      <Icon aria-hidden /> {doing === "land" ? "Landing…" : into === null ? "Land" : `Land in ${into}`}
    </Button>
  );
}
