// Asks for consent to what steers agents before a batch starts.

import { FileWarning } from "lucide-react";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { startBatch, useStarting } from "./start";

const words = { new: "New", changed: "Changed", gone: "Gone" };

export function ConsentDialog() {
  const { consent, isBusy } = useStarting();
  const close = () => useStarting.setState({ consent: null });
  return (
    <Dialog
      open={consent !== null}
      onOpenChange={(open) => open || close()}
      title="This needs your consent"
      description="These files and settings of the project steer agents or Pleach itself. Look at them before you go on."
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            look="primary"
            disabled={isBusy}
            onClick={() => consent && void startBatch({ ...consent.options, consent: consent.fingerprint })}
          >
            Consent and start
          </Button>
        </>
      }
    >
      <ul className="space-y-1">
        {consent?.changes.map((change) => (
          <li key={`${change.what} ${change.name}`} className="flex items-center gap-2 rounded-md border border-line bg-surface px-2.5 py-1.5">
            <FileWarning className="size-4 shrink-0 text-attention" aria-hidden />
            <code className="min-w-0 flex-1 truncate font-mono text-xs">{change.name}</code>
            <span className="text-xs text-fg-3">{words[change.kind]}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
