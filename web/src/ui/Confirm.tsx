// Asks before something that cannot be taken back.

import type { ReactNode } from "react";
import { Button } from "./Button";
import { Dialog } from "./Dialog";

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  children: ReactNode;
  /** What the button that does it says. */
  action: string;
  /** What the button that does not do it says. */
  keep?: string;
  onConfirm: () => void;
};

export function Confirm({ open, onOpenChange, title, children, action, keep = "Keep", onConfirm }: Props) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={title}
      className="max-w-[440px]"
      footer={
        <>
          <Button data-first onClick={() => onOpenChange(false)}>
            {keep}
          </Button>
          <Button
            look="danger"
            className="border border-failed/40"
            onClick={() => {
              onOpenChange(false);
              onConfirm();
            }}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="text-sm text-fg-2">{children}</div>
    </Dialog>
  );
}
