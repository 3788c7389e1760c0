// The worktrees of a batch, and where they are.

import { FolderGit2 } from "lucide-react";
import { type BatchView, inWords } from "@/api/client";
import { Copied } from "@/task/Details";
import { worded } from "@/text/format";
import { EmptyState } from "@/ui/EmptyState";
import { Loading } from "@/ui/Skeleton";
import { useWorktrees } from "./queries";
import { TaskName } from "./SummaryTask";

export function Worktrees({ batch }: { batch: BatchView }) {
  const { data, error } = useWorktrees(batch);
  if (error && !data)
    return (
      <EmptyState icon={FolderGit2} title="Could not load the worktrees">
        {inWords(error)}
      </EmptyState>
    );
  if (!data) return <Loading />;
  if (data.length === 0) {
    return (
      <EmptyState icon={FolderGit2} title="No worktrees">
        Each task has one while it runs. Worktrees of woven tasks are removed automatically.
      </EmptyState>
    );
  }
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-4" tabIndex={0} role="region" aria-label="Worktrees">
      <ul className="flex max-w-4xl flex-col gap-2">
        {data.map((tree) => (
          <li key={tree.path} className="rounded-lg border border-line bg-raised p-3 text-sm">
            <div className="mb-1 flex flex-wrap items-baseline gap-x-3">
              {tree.taskId ? <TaskName batch={batch} id={tree.taskId} /> : <span>The woven result</span>}
              <span className="text-xs text-fg-2">{worded(tree.state)}</span>
              {tree.branch ? <span className="font-mono text-xs text-fg-3">{tree.branch}</span> : null}
            </div>
            {tree.exists ? (
              <Copied text={tree.path} />
            ) : (
              <code className="font-mono text-xs text-fg-3 line-through">{tree.path}</code>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
