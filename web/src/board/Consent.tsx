// Asks for consent to what steers agents before a batch starts, with everything that is consented to.

import { ChevronRight } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { type ConsentChange, startBatch, useStarting } from "@/actions/start";
import { counted } from "@/text/format";
import { Button } from "@/ui/Button";
import { cn } from "@/ui/cn";
import { Dialog } from "@/ui/Dialog";
import { Skeleton } from "@/ui/Skeleton";

const TextChange = lazy(() => import("../task/TextChange"));

const KINDS = { new: "New", changed: "Changed", gone: "Gone", unseen: "Not in the repository" };
const ROLES = {
  settings: "Settings",
  servers: "Servers",
  hooks: "Hooks and scripts",
  instructions: "Instructions",
  other: "Other files",
};

/** So many other files are open to be read at first; the rest opens when asked for. */
const OPEN_AT_FIRST = 12;

export function ConsentDialog() {
  const { consent, isBusy } = useStarting();
  const close = () => useStarting.setState({ consent: null });
  const changes = consent?.changes ?? [];
  return (
    <Dialog
      open={consent !== null}
      onOpenChange={(open) => open || close()}
      title="Review what controls the agents"
      description="These settings and files of the project control agents and Pleach. They are new, or changed since you last consented."
      className="max-w-[860px]"
      isText
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
      <ConsentList changes={changes} />
    </Dialog>
  );
}

/** What needs consent, in the order of the server: what can do most comes first. */
export function ConsentList({ changes }: { changes: readonly ConsentChange[] }) {
  const roles = Object.keys(ROLES) as ConsentChange["role"][];
  const groups = roles
    .map((role) => ({ role, changes: changes.filter((change) => change.role === role) }))
    .filter((group) => group.changes.length > 0);
  return groups.map(({ role, changes }) => (
    <section key={role} aria-label={ROLES[role]} className="mb-4 last:mb-0">
      <h3 className="mb-1.5 text-xs font-semibold text-fg-3">
        {ROLES[role]}, {counted(changes.length, "change")}
      </h3>
      <ul className="space-y-1.5">
        {changes.map((change, i) => (
          <Change
            key={`${change.what} ${change.name}`}
            change={change}
            isOpenAtFirst={role !== "other" || i < OPEN_AT_FIRST}
          />
        ))}
      </ul>
    </section>
  ));
}

function Change({ change, isOpenAtFirst }: { change: ConsentChange; isOpenAtFirst: boolean }) {
  const hasText = change.before != null || change.now != null;
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <li className="rounded-md border border-line bg-surface">
      <button
        type="button"
        disabled={!hasText}
        aria-expanded={hasText ? isOpen : undefined}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-9 w-full items-center gap-2 px-2.5 py-1.5 text-left enabled:hover:bg-hover"
      >
        <ChevronRight
          className={cn(
            "size-3.5 shrink-0 text-fg-3 transition-transform",
            isOpen && "rotate-90",
            !hasText && "invisible",
          )}
          aria-hidden
        />
        <span className="min-w-0 flex-1">
          <code className="font-mono text-xs [overflow-wrap:anywhere]">{change.name}</code>
          {change.because ? (
            <span className="block text-xs text-fg-3 [overflow-wrap:anywhere]">{change.because}</span>
          ) : null}
        </span>
        <span className={cn("shrink-0 text-xs", change.kind === "unseen" ? "text-attention" : "text-fg-2")}>
          {KINDS[change.kind]}
        </span>
      </button>
      {hasText && isOpen ? (
        <Suspense fallback={<Skeleton className="m-2 h-10" />}>
          <TextChange name={change.name} before={change.before ?? null} now={change.now ?? null} />
        </Suspense>
      ) : null}
      {change.isCut ? (
        <p className="border-t border-line px-2.5 py-1.5 text-xs text-attention">
          Too long or binary to show. Review it in the repository first.
        </p>
      ) : null}
    </li>
  );
}
