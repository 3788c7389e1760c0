// Lands a batch that is over: on the server, or in a branch of the repository here where there is no server.

import { GitMerge, GitPullRequest } from "lucide-react";
import { useState } from "react";
import { landBatch, useAct } from "@/actions/actions";
import { type BatchView, unconfirmedPush } from "@/api/client";
import { ConfirmPush } from "@/board/PushConsent";
import { isOver } from "@/live/state";
import { Button } from "@/ui/Button";

export function LandButton({ batch }: { batch: BatchView }) {
  const { doing, act } = useAct();
  const [address, setAddress] = useState<string | null>(null);
  const canLand = isOver(batch) && !batch.prUrl && batch.tasks.some((task) => task.outcome === "merged");
  if (!canLand) return null;
  const into = batch.landInto ?? null;
  const Icon = into === null ? GitPullRequest : GitMerge;
  const land = (confirmPush: boolean) =>
    act("land", async () => {
      setAddress(null);
      try {
        await landBatch(batch.id, into, confirmPush);
      } catch (error) {
        const unconfirmed = unconfirmedPush(error);
        if (unconfirmed === null) throw error;
        setAddress(unconfirmed);
      }
    });
  return (
    <>
      <Button disabled={doing !== null} onClick={() => void land(false)}>
        <Icon aria-hidden /> {doing === "land" ? "Landing…" : into === null ? "Land" : `Land in ${into}`}
      </Button>
      <ConfirmPush
        address={address}
        isBusy={doing !== null}
        action="Push there"
        onConfirm={() => void land(true)}
        onClose={() => setAddress(null)}
      />
    </>
  );
}
