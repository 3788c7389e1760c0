// What can be done with the selected tasks.

import { ListOrdered, SlidersHorizontal, X, Zap } from "lucide-react";
import { NEEDS_GIT, startBatch, useStarting } from "@/actions/start";
import { openRun } from "@/app/overlays";
import { useProject } from "@/app/project";
import { select, useSelection } from "@/app/selection";
import { type Columns, columnNames } from "@/live/columns";
import { counted } from "@/text/format";
import { Button } from "@/ui/Button";

export function BatchControls({ shown }: { shown: Columns }) {
  const ids = useSelection((selection) => selection.ids);
  const isBusy = useStarting((starting) => starting.isBusy);
  const project = useProject();
  if (ids.size === 0) return null;
  const seen = columnNames.reduce((count, name) => count + shown[name].filter((id) => ids.has(id)).length, 0);
  const needsGit = project !== undefined && !project.isRepository;
  const start = (mode: "parallel" | "queue") => void startBatch({ taskIds: [...ids], mode });
  return (
    <div className="pointer-events-none fixed inset-x-0 bottom-16 z-20 flex justify-center px-2 sm:bottom-5 sm:pl-[52px] lg:pl-48">
      <div
        role="toolbar"
        aria-label="Batch controls"
        className="pointer-events-auto flex max-w-full flex-wrap items-center justify-center gap-1.5 rounded-xl border border-line bg-overlay p-2 shadow-float"
      >
        <span role="status" className="px-2 text-sm font-medium">
          {counted(ids.size, "task")} selected
          {seen < ids.size ? (
            <span className="font-normal text-attention"> ({ids.size - seen} hidden)</span>
          ) : null}
        </span>
        <Button
          look="primary"
          disabled={isBusy || needsGit}
          aria-describedby={needsGit ? "needs-git" : undefined}
          onClick={() => start("parallel")}
        >
          <Zap aria-hidden /> Execute Parallel
        </Button>
        <Button disabled={isBusy} onClick={() => start("queue")}>
          <ListOrdered aria-hidden /> Execute Queue
        </Button>
        <Button disabled={isBusy} onClick={() => openRun([...ids])}>
          <SlidersHorizontal aria-hidden /> Options…
        </Button>
        <Button
          look="ghost"
          size="icon"
          className="size-8"
          disabled={isBusy}
          aria-label="Clear selection"
          onClick={select.clear}
        >
          <X />
        </Button>
        {needsGit ? (
          <p id="needs-git" className="w-full px-2 text-center text-xs text-attention">
            {NEEDS_GIT}
          </p>
        ) : null}
      </div>
    </div>
  );
}
