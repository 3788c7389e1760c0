// Tasks that collide: which files, with whom, and the four ways out.

import { CircleCheck, Split, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { cancelBatch, cancelTask, resolveTask, retryTask, useAct } from "@/actions/actions";
import type { BatchView } from "@/api/client";
import type { components } from "@/api/schema";
import { isOver } from "@/live/state";
import { Copied } from "@/task/Details";
import { counted } from "@/text/format";
import { StateBadge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { EmptyState } from "@/ui/EmptyState";
import { TaskName } from "./SummaryTask";

type Conflict = BatchView["conflicts"][number];
type Predicted = BatchView["predictedConflicts"][number];
type LaidOut = Pick<components["schemas"]["LaidOut"], "path" | "files" | "begunBefore">;

export function Conflicts({ batch }: { batch: BatchView }) {
  const [isAborting, setAborting] = useState(false);
  const [isRollingBack, setRollingBack] = useState(false);
  const { doing, act } = useAct();
  const isTakenBack = !isOver(batch) || (batch.hasBranch && !batch.prUrl);
  if (batch.conflicts.length + batch.predictedConflicts.length === 0) {
    return (
      <EmptyState icon={CircleCheck} title="No conflicts">
        {isOver(batch)
          ? "Every finished branch merged cleanly."
          : "Likely conflicts between running tasks are shown here."}
      </EmptyState>
    );
  }
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-4" tabIndex={0} role="region" aria-label="Conflicts">
      <div className="mx-auto flex max-w-4xl flex-col gap-6">
        {batch.conflicts.length > 0 ? (
          <section>
            <div className="mb-2 flex flex-wrap items-center gap-2">
              <h2 className="text-base font-semibold">
                {counted(batch.conflicts.length, "task does", "tasks do")} not merge cleanly
              </h2>
              <span className="flex-1" />
              <Button
                look="danger"
                disabled={isOver(batch) || doing !== null}
                onClick={() => setAborting(true)}
                title={isOver(batch) ? "This batch is finished" : undefined}
              >
                Abort batch
              </Button>
              <Button
                look="danger"
                disabled={!isTakenBack || doing !== null}
                onClick={() => setRollingBack(true)}
              >
                Abort and roll back
              </Button>
            </div>
            <ul className="flex flex-col gap-3">
              {batch.conflicts.map((conflict) => (
                <ConflictCard key={conflict.taskId} batch={batch} conflict={conflict} />
              ))}
            </ul>
          </section>
        ) : null}
        {batch.predictedConflicts.length > 0 ? (
          <section>
            <h2 className="mb-2 text-base font-semibold">Likely conflicts</h2>
            <p className="mb-2 text-sm text-fg-2">
              These tasks would not merge cleanly as they are now. You can wait, or cancel one of them.
            </p>
            <ul className="flex flex-col gap-3">
              {batch.predictedConflicts.map((pair) => (
                <PredictedCard key={pair.tasks.join(" ")} batch={batch} pair={pair} />
              ))}
            </ul>
          </section>
        ) : null}
      </div>
      <Confirm
        open={isAborting}
        onOpenChange={setAborting}
        title={`Abort batch ${batch.number}?`}
        action="Abort batch"
        keep="Keep running"
        onConfirm={() =>
          void act("abort", () => cancelBatch(batch.id), "The batch is cancelled. All work is kept.")
        }
      >
        Running tasks are stopped and nothing lands. The work of every task is kept.
      </Confirm>
      <Confirm
        open={isRollingBack}
        onOpenChange={setRollingBack}
        title={`Roll back batch ${batch.number}?`}
        action="Abort and roll back"
        keep="Keep it"
        onConfirm={() =>
          void act(
            "roll back",
            () => cancelBatch(batch.id, true),
            "The branch of the batch is removed. All work is kept.",
          )
        }
      >
        Nothing lands, and the branch of the batch is removed from your repository. The work of every task is
        kept.
      </Confirm>
    </div>
  );
}

function Pair({ batch, tasks }: { batch: BatchView; tasks: readonly string[] }) {
  return (
    <h3 className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 text-sm font-medium">
      {tasks.map((task, i) => (
        <span key={task} className="contents">
          {i > 0 ? (
            <span className="text-fg-3">
              <span aria-hidden>↔</span>
              <span className="sr-only">with</span>
            </span>
          ) : null}
          <TaskName batch={batch} id={task} />
        </span>
      ))}
    </h3>
  );
}

function Files({ files }: { files: readonly string[] }) {
  return (
    <ul className="mt-2 flex flex-wrap gap-1.5" aria-label="Files">
      {files.map((file) => (
        <li
          key={file}
          className="rounded-sm border border-line bg-sunken px-1.5 font-mono text-xs leading-5 [overflow-wrap:anywhere]"
        >
          {file}
        </li>
      ))}
    </ul>
  );
}

function ConflictCard({ batch, conflict }: { batch: BatchView; conflict: Conflict }) {
  const { doing, act } = useAct();
  const [laidOut, setLaidOut] = useState<LaidOut | null>(null);
  const [isLeft, setLeft] = useState(false);
  const task = batch.tasks.find((each) => each.taskId === conflict.taskId);
  const isBusy = doing !== null;
  const shown =
    laidOut ??
    (conflict.resolving
      ? {
          path: conflict.resolving.path,
          files: conflict.files.map((path) => ({ path, kind: "" })),
          begunBefore: true,
        }
      : null);
  const start = async () => {
    const answer = await act("resolve", () => resolveTask(batch.id, conflict.taskId, "start"));
    if (!answer || !("path" in answer)) return;
    setLaidOut(answer);
    setLeft(false);
  };
  const leaveOut = async () => {
    if (shown && !(await act("abort", () => resolveTask(batch.id, conflict.taskId, "abort")))) return;
    setLaidOut(null);
    setLeft(true);
  };
  const done = async () => {
    const answer = await act(
      "done",
      () => resolveTask(batch.id, conflict.taskId, "done"),
      "Your resolution was accepted.",
    );
    if (answer) setLaidOut(null);
  };
  return (
    <li className="rounded-lg border border-line bg-raised p-3">
      <div className="flex flex-wrap items-start gap-2">
        <Split className="mt-0.5 size-4 shrink-0 text-attention" aria-hidden />
        <div className="min-w-0 flex-1">
          <Pair batch={batch} tasks={[conflict.taskId, ...conflict.with]} />
        </div>
        {task ? <StateBadge word={task.outcome ?? task.state} /> : null}
      </div>
      <Files files={conflict.files} />
      {shown ? (
        <ByHand batch={batch} task={conflict.key} laidOut={shown} />
      ) : isLeft ? (
        <p className="mt-3 text-sm text-fg-2">
          It stays left out. Its work is kept{task?.branch && task.hasBranch ? ` in ${task.branch}` : ""}; you
          can come back to it here.
        </p>
      ) : null}
      <div className="mt-3 flex flex-wrap gap-2">
        {shown ? (
          <Button look="primary" disabled={isBusy} onClick={() => void done()}>
            {doing === "done" ? "Weaving…" : "Weave my resolution"}
          </Button>
        ) : (
          <Button look="primary" disabled={isBusy} onClick={() => void start()}>
            Resolve by hand
          </Button>
        )}
        <Button
          disabled={isBusy || shown !== null}
          onClick={() => void act("rerun", () => retryTask(batch.id, conflict.taskId))}
        >
          Rerun
        </Button>
        <Button disabled={isBusy || isLeft} onClick={() => void leaveOut()}>
          Leave out
        </Button>
      </div>
    </li>
  );
}

function ByHand({ batch, task, laidOut }: { batch: BatchView; task: string; laidOut: LaidOut }) {
  return (
    <div className="mt-3 rounded-md border border-line bg-bg p-3 text-sm">
      <p className="text-fg-2">
        {laidOut.begunBefore
          ? "The conflict is as you left it."
          : "The conflict is in a worktree of its own."}{" "}
        Edit the files there with any tool; your checkout is not touched.
      </p>
      <ul className="my-2 font-mono text-xs">
        {laidOut.files.map((file) => (
          <li key={file.path} className="[overflow-wrap:anywhere]">
            {file.path} <span className="font-sans text-fg-3">{file.kind}</span>
          </li>
        ))}
      </ul>
      <div className="flex flex-col gap-1">
        <Copied text={`cd ${quoted(laidOut.path)}`} />
        <Copied text={`pleach resolve ${batch.number} ${task} --edit`} />
      </div>
      <p className="mt-2 text-fg-2">Resolve all conflict markers. Then weave it here, or with</p>
      <div className="mt-1">
        <Copied text={`pleach resolve ${batch.number} ${task} --done`} />
      </div>
    </div>
  );
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function PredictedCard({ batch, pair }: { batch: BatchView; pair: Predicted }) {
  const { doing, act } = useAct();
  return (
    <li className="rounded-lg border border-line bg-raised p-3">
      <div className="flex items-start gap-2">
        <TriangleAlert className="mt-0.5 size-4 shrink-0 text-attention" aria-hidden />
        <Pair batch={batch} tasks={pair.tasks} />
      </div>
      <Files files={pair.files} />
      <div className="mt-3 flex flex-wrap gap-2">
        {batch.tasks
          .filter((task) => pair.tasks.includes(task.taskId) && !task.outcome)
          .map(({ taskId, key }) => (
            <Button
              key={taskId}
              size="small"
              disabled={doing !== null || isOver(batch)}
              onClick={() =>
                void act(taskId, () => cancelTask(batch.id, taskId), "Cancelled. Its work is kept.")
              }
            >
              Cancel {key}
            </Button>
          ))}
      </div>
    </li>
  );
}
