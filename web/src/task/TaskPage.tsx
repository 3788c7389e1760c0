// A task: what it is, what its agent says and changed, and what can be done about it.

import { useParams } from "@tanstack/react-router";
import { CircleAlert, CircleDashed, FileQuestion, Play, RotateCcw, Square } from "lucide-react";
import { cancelTask, retryTask, useAct } from "@/actions/actions";
import { approveOrTell } from "@/actions/approve";
import { startBatch, useStarting } from "@/actions/start";
import { type BatchView, type BoardTask, inWords, type TaskView } from "@/api/client";
import { Go, useWord } from "@/app/Go";
import { useProjectOf } from "@/app/project";
import { useNow } from "@/live/clock";
import { isBusy } from "@/live/columns";
import { isOver, logKey } from "@/live/state";
import { useWorld } from "@/live/world";
import { counted, duration, sentence } from "@/text/format";
import { StateBadge } from "@/ui/Badge";
import { Banner } from "@/ui/Banner";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Loading } from "@/ui/Skeleton";
import { Attempts } from "./Attempts";
import { Details } from "./Details";
import { Diff } from "./Diff";
import { usageText } from "./entry";
import { useAttempts, useBatch, useLoad, useTask, useTaskDiff, useTaskIn } from "./queries";
import { Tabs } from "./Tabs";
import { Transcript } from "./Transcript";

export function TaskPage() {
  const { id = "" } = useParams({ strict: false });
  const { task, error } = useTask(id);
  const [wanted] = useWord("batch");
  const attempts = useAttempts(id, task);
  const named = wanted === null ? (task?.batch?.id ?? attempts.data?.[0]?.batchId) : Number(wanted);
  const { batch, error: noBatch } = useBatch(named);
  const inBatch = useTaskIn(batch, id);
  useProjectOf(task);
  if (error) {
    return (
      <EmptyState
        isPage
        icon={FileQuestion}
        title="Task not found"
        action={
          <Go href="/" className="text-accent-text underline">
            Back to the board
          </Go>
        }
      >
        {inWords(error)}
      </EmptyState>
    );
  }
  if (!task) return <Loading />;
  if (wanted !== null && (noBatch || (batch && !inBatch))) {
    return (
      <EmptyState
        isPage
        icon={FileQuestion}
        title="This task is not in that batch"
        action={
          <Go href={`/tasks/${id}`} className="text-accent-text underline">
            Show the task
          </Go>
        }
      >
        {noBatch ? inWords(noBatch) : null}
      </EmptyState>
    );
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <Head task={task} batch={batch} inBatch={inBatch} />
      <Tabs
        key={task.id}
        label="Task"
        first={task.batch ? "transcript" : "details"}
        tabs={[
          {
            name: "transcript",
            title: "Transcript",
            body: () => <Said task={task} batch={batch} inBatch={inBatch} />,
          },
          { name: "diff", title: "Diff", body: () => <Changed batch={batch} inBatch={inBatch} /> },
          {
            name: "details",
            title: "Details",
            body: () => <Details task={task} batch={batch} inBatch={inBatch} />,
          },
          {
            name: "attempts",
            title: "Attempts",
            count: attempts.data?.length,
            body: () => <Attempts task={task} asked={attempts} />,
          },
        ]}
      />
    </div>
  );
}

type Parts = { task: BoardTask; batch: BatchView | undefined; inBatch: TaskView | undefined };

function Head({ task, batch, inBatch }: Parts) {
  const { doing, act } = useAct();
  const word = inBatch && batch?.id === task.batch?.id && isBusy(task) ? inBatch.state : task.word;
  const isStarting = useStarting((starting) => starting.isBusy);
  return (
    <>
      <header className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
        <span className="font-mono text-xs text-fg-3">{task.key}</span>
        <h1
          dir="auto"
          title={task.title}
          className="line-clamp-3 min-w-0 text-lg font-semibold [overflow-wrap:anywhere] sm:line-clamp-none"
        >
          {task.title}
        </h1>
        <StateBadge word={word} spin isSteady />
        {batch ? (
          <Go
            href={`/batches/${batch.id}`}
            className="text-sm text-fg-2 underline decoration-line-strong underline-offset-2 hover:text-fg"
          >
            Batch {batch.number}
          </Go>
        ) : null}
        <span className="flex-1" />
        {batch && inBatch?.can.includes("cancel") ? (
          <Button
            look="danger"
            disabled={doing !== null}
            onClick={() =>
              void act("cancel", () => cancelTask(batch.id, task.id), "Cancelled. Its work is kept.")
            }
          >
            <Square aria-hidden /> {doing === "cancel" ? "Cancelling…" : "Cancel"}
          </Button>
        ) : null}
        {batch && inBatch?.can.includes("retry") ? (
          <Button
            disabled={doing !== null}
            onClick={() => void act("retry", () => retryTask(batch.id, task.id))}
          >
            <RotateCcw aria-hidden /> Retry
          </Button>
        ) : null}
        {isBusy(task) || (batch && !isOver(batch)) ? null : (
          <Button
            look="primary"
            disabled={doing !== null || isStarting}
            onClick={() => void startBatch({ taskIds: [task.id] })}
          >
            <Play aria-hidden /> Run
          </Button>
        )}
      </header>
      {inBatch?.status === "waiting" ? (
        <Banner
          action={
            batch && inBatch.consent.length > 0 ? (
              <Button size="small" onClick={() => approveOrTell(batch)}>
                Review
              </Button>
            ) : null
          }
        >
          {inBatch.consent.length > 0
            ? `It needs your consent to changes of earlier tasks to ${counted(inBatch.consent.length, "file")} that control agents.`
            : "It is waiting for your approval."}
        </Banner>
      ) : null}
      {inBatch?.error ? (
        <Banner tone={inBatch.outcome === "failed" || inBatch.outcome === "timed_out" ? "error" : "warning"}>
          {sentence(inBatch.error)}
        </Banner>
      ) : null}
    </>
  );
}

/** The attempt that the address names, if there is one of that number; else the last. */
export function attemptOf(word: string | null, last: number): number {
  const named = Number(word);
  return Number.isInteger(named) && named >= 1 && named <= last ? named : last;
}

function Said({ task, batch, inBatch }: Parts) {
  const [word, setWord] = useWord("attempt");
  const last = inBatch?.lastAttempt ?? 0;
  const attempt = attemptOf(word, last);
  const end = useWorld((world) => (batch ? world.logs.get(logKey(batch.id, task.id)) : undefined));
  const load = useLoad(batch?.id ?? 0, task.id, attempt || undefined);
  if (!batch || !inBatch || last === 0) {
    return (
      <EmptyState icon={Play} title="No agent has worked on this task yet">
        {isBusy(task)
          ? "It starts when a slot is free."
          : "Run it, or select it on the board to run it with others."}
      </EmptyState>
    );
  }
  const isRunning = attempt === last && inBatch.status === "running";
  return (
    <Transcript
      key={`${batch.id} ${task.key} ${attempt}`}
      load={load}
      total={end && end.attempt === attempt ? end.total : 0}
      isRunning={isRunning}
      fileName={`batch-${batch.id}-task-${task.key}-attempt-${attempt}.txt`}
    >
      {(state) => (
        <>
          {last > 1 ? (
            <label className="flex items-center gap-1.5 text-xs text-fg-2">
              Attempt
              <select
                className="h-7 rounded-md border border-line-strong bg-raised px-1.5 text-sm text-fg touch:h-10"
                value={attempt}
                onChange={(event) => setWord(Number(event.target.value) === last ? null : event.target.value)}
              >
                {Array.from({ length: last }, (_, i) => i + 1).map((number) => (
                  <option key={number} value={number}>
                    {number}
                  </option>
                ))}
              </select>
            </label>
          ) : null}
          <span className="whitespace-nowrap text-xs text-fg-3">{counted(state.total, "line")}</span>
          <span className="whitespace-nowrap text-xs text-fg-2">
            {state.usage
              ? usageText(state.usage)
              : inBatch.tokens
                ? usageText({ tokens: inBatch.tokens, usd: inBatch.cost ?? null })
                : null}
          </span>
          <Took task={inBatch} />
        </>
      )}
    </Transcript>
  );
}

/** How long agents worked on a task, or the one that runs does. */
function Took({ task }: { task: TaskView }) {
  const isRunning = task.status === "running" && task.startedAt != null;
  const now = useNow(isRunning);
  const seconds = isRunning ? (now - Date.parse(task.startedAt ?? "")) / 1_000 : task.seconds;
  return seconds > 0 ? (
    <span className="whitespace-nowrap text-xs text-fg-3">{duration(seconds)}</span>
  ) : null;
}

function Changed({ batch, inBatch }: Pick<Parts, "batch" | "inBatch">) {
  if (!batch || !inBatch || inBatch.lastAttempt === 0)
    return (
      <EmptyState icon={Play} title="No changes yet">
        The agent's changes appear here.
      </EmptyState>
    );
  return <TaskDiff batch={batch.id} task={inBatch} />;
}

function TaskDiff({ batch, task }: { batch: number; task: TaskView }) {
  const diff = useTaskDiff(batch, task);
  if (diff.data) return <Diff shown={diff.data} empty="This task has not changed any files yet." />;
  if (diff.error && !task.outcome)
    return (
      <EmptyState icon={CircleDashed} title="No diff yet">
        It appears when the agent has finished.
      </EmptyState>
    );
  if (diff.error)
    return (
      <EmptyState
        icon={CircleAlert}
        title="No diff to show"
        action={<Button onClick={() => void diff.refetch()}>Try again</Button>}
      >
        {inWords(diff.error)}
      </EmptyState>
    );
  return <Loading />;
}
