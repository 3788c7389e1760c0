// Shows what tasks changed in the files that control agents, and asks for consent before the next task starts.

import { useAct } from "@/actions/actions";
import { consent, useApproval } from "@/actions/approve";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { ConsentList } from "./Consent";

export function ApproveDialog() {
  const pending = useApproval((approval) => approval.pending);
  const { doing, act } = useAct();
  const close = () => useApproval.setState({ pending: null });
  return (
    <Dialog
      open={pending !== null}
      onOpenChange={(open) => open || close()}
      title={pending ? `Review before ${pending.key} starts` : ""}
      description="Earlier tasks changed files that control the agents."
      className="max-w-[860px]"
      isText
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            look="primary"
            disabled={doing !== null}
            onClick={() => pending && void act("approve", () => consent(pending))}
          >
            Consent and start
          </Button>
        </>
      }
    >
      <ConsentList changes={pending?.changes ?? []} />
      {pending ? (
        <p className="mt-4 text-xs text-fg-3">
          <a href={`/batches/${pending.batch}`} target="_blank" rel="noreferrer" className="underline">
            All changes of batch {pending.batch}
          </a>
        </p>
      ) : null}
    </Dialog>
  );
}
