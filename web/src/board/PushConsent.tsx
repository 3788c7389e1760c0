// Asks about the first push of a project, with the address that it goes to.

import type { ReactNode } from "react";
import { startBatch, useStarting } from "@/actions/start";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";

type Props = {
  /** Nothing is asked without one. */
  address: string | null;
  isBusy: boolean;
  /** What the button says that confirms it. */
  action: string;
  onConfirm: () => void;
  onClose: () => void;
  /** What else can be done. */
  children?: ReactNode;
};

/** Says where a project would push to for the first time, and asks. */
export function ConfirmPush({ address, isBusy, action, onConfirm, onClose, children }: Props) {
  return (
    <Dialog
      open={address !== null}
      onOpenChange={(open) => open || onClose()}
      title="First push of this project"
      description="Pleach has never pushed this project to this address. You confirm it once."
      className="max-w-[560px]"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {children}
          <Button look="primary" disabled={isBusy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      <p className="text-sm text-fg-2">
        The result is pushed to{" "}
        <code className="font-mono text-xs text-fg [overflow-wrap:anywhere]">{address}</code>
      </p>
    </Dialog>
  );
}

/** Asks before a batch starts that would push for the first time. */
export function PushDialog() {
  const { push, isBusy } = useStarting();
  return (
    <ConfirmPush
      address={push?.address ?? null}
      isBusy={isBusy}
      action="Start and push there"
      onClose={() => useStarting.setState({ push: null })}
      onConfirm={() => push && void startBatch({ ...push.options, confirmPush: true })}
    >
      <Button disabled={isBusy} onClick={() => push && void startBatch({ ...push.options, land: "none" })}>
        Start without pushing
      </Button>
    </ConfirmPush>
  );
}
