// The batches that run, on every page: how far they are, and what a person can do about it.

import { Link } from "@tanstack/react-router";
import { Ban, Check, CircleStop, ExternalLink, RotateCw, X } from "lucide-react";
import { useEffect, useState } from "react";
import { create } from "zustand";
import { cancelBatch, resumeBatch, stopBatch, useAct } from "@/actions/actions";
import { approve } from "@/actions/approve";
import type { BatchView } from "@/api/client";
import { useElapsed, useNow } from "@/live/clock";
import { isOver, stateOf } from "@/live/state";
import { useWorld } from "@/live/world";
import { duration } from "@/text/format";
import { StateBadge } from "@/ui/Badge";
import { Button, buttonLook } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { cn } from "@/ui/cn";
import { Progress } from "@/ui/Progress";
import { TaskChips } from "./TaskChips";
import { troubles } from "./troubles";

const useClosed = create<{ ids: ReadonlySet<number> }>(() => ({ ids: new Set() }));

const MOST_SHOWN = 3;

export function BatchStrip() {
  const batches = useWorld((world) => world.batches);
  const project = useWorld((world) => world.project);
  const closed = useClosed((state) => state.ids);
  const heard = useHeard(batches);
  const shown = [...batches.values()]
    .filter(
      (batch) =>
        batch.projectId === project && !closed.has(batch.id) && (!isOver(batch) || heard.has(batch.id)),
    )
    .sort((a, b) => b.id - a.id)
    // Of those that ended only the last one is news.
    .filter((batch, at, all) => !isOver(batch) || all.findIndex(isOver) === at);
  if (shown.length === 0) return null;
  return (
    <section
      aria-label="Batches"
      className="max-h-[40vh] shrink-0 divide-y divide-line overflow-y-auto border-b border-line bg-surface"
    >
      {shown.slice(0, MOST_SHOWN).map((batch) => (
        <Strip key={batch.id} batch={batch} />
      ))}
      {shown.length > MOST_SHOWN ? (
        <Link to="/batches" className="block px-4 py-1 text-xs text-accent-text">
          {shown.length - MOST_SHOWN} more
        </Link>
      ) : null}
    </section>
  );
}

/** The batches that were seen running by this page; only their ends are shown. */
function useHeard(batches: ReadonlyMap<number, BatchView>): ReadonlySet<number> {
  const [heard, setHeard] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => {
    const fresh = [...batches.values()].filter((batch) => !isOver(batch) && !heard.has(batch.id));
    if (fresh.length > 0) setHeard(new Set([...heard, ...fresh.map((batch) => batch.id)]));
  }, [batches, heard]);
  return heard;
}

function Strip({ batch }: { batch: BatchView }) {
  const { progress } = batch;
  const ended = isOver(batch);
  const note = batch.held ?? (ended ? batch.error : batch.interrupted ? "Interrupted" : null);
  return (
    <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1.5 px-3 py-1.5 sm:px-4">
      <Link to="/batches/$id" params={{ id: String(batch.id) }} className="font-semibold hover:underline">
        Batch {batch.number}
      </Link>
      <StateBadge word={stateOf(batch)} spin isSteady />
      <div className="order-3 flex w-full items-center gap-2 lg:order-none lg:w-auto">
        <Progress
          label={`Progress of batch ${batch.number}`}
          value={progress.completed}
          total={progress.total}
          percent={progress.percentage}
          className="w-24 sm:w-40"
          parts={[
            { count: progress.completed, tone: "bg-done" },
            { count: progress.skipped, tone: "bg-attention" },
            { count: progress.failed, tone: "bg-failed" },
            { count: progress.cancelled, tone: "bg-fg-3" },
            { count: progress.running, tone: "bg-running/50" },
          ]}
        />
        <span className="whitespace-nowrap text-xs text-fg-2">
          {progress.completed}/{progress.total} complete
        </span>
        <span className="w-11 whitespace-nowrap text-right text-xs text-fg-3">{progress.percentage} %</span>
        <span className="whitespace-nowrap text-xs text-failed empty:hidden lg:hidden">
          {troubles(progress)}
        </span>
        <Elapsed batch={batch} />
      </div>
      <TaskChips batch={batch} />
      <span
        className={cn(
          "order-5 min-w-0 truncate text-xs lg:order-none lg:ml-auto lg:block",
          !note && "hidden",
        )}
      >
        <span className="mr-3 hidden text-failed lg:inline lg:empty:hidden">{troubles(progress)}</span>
        <span className="text-attention">{note}</span>
        <TimeLeft batch={batch} />
      </span>
      <div className="order-2 ml-auto lg:order-none lg:ml-0">
        <Controls batch={batch} ended={ended} />
      </div>
    </div>
  );
}

/** How long a batch takes already. */
function Elapsed({ batch }: { batch: BatchView }) {
  const elapsed = useElapsed(batch);
  return (
    <span className="ml-auto min-w-14 whitespace-nowrap text-right text-xs text-fg-3 lg:ml-1 lg:text-left">
      {duration(elapsed)}
    </span>
  );
}

/** How long it will take, as far as one can tell; said where nothing moves because of it. */
function TimeLeft({ batch }: { batch: BatchView }) {
  const isRunning = !isOver(batch) && !batch.interrupted && !batch.held;
  const now = useNow(isRunning);
  const waits = batch.tasks.some((task) => task.status === "waiting");
  const left = isRunning && !waits && batch.estimatedEnd ? (Date.parse(batch.estimatedEnd) - now) / 1_000 : 0;
  return left >= 1 ? (
    <span className="hidden min-w-28 text-fg-3 lg:inline-block">about {duration(left)} left</span>
  ) : null;
}

function Controls({ batch, ended }: { batch: BatchView; ended: boolean }) {
  const [isAsking, setIsAsking] = useState(false);
  const { doing, act } = useAct();
  const isBusy = doing !== null;
  const waits = batch.tasks.some((task) => task.status === "waiting");
  return (
    <div className="flex items-center gap-1.5">
      {batch.prUrl ? (
        <a
          href={batch.prUrl}
          target="_blank"
          rel="noreferrer"
          className={cn(buttonLook({ size: "small" }), "text-accent-text")}
        >
          <ExternalLink aria-hidden /> Pull request
        </a>
      ) : null}
      {waits && !ended ? (
        <Button
          look="primary"
          size="small"
          aria-keyshortcuts="a"
          disabled={isBusy}
          onClick={() => void act("approve", () => approve(batch))}
        >
          <Check aria-hidden /> Approve next
        </Button>
      ) : null}
      {batch.interrupted && !ended ? (
        <Button
          size="small"
          disabled={isBusy}
          onClick={() => void act("resume", () => resumeBatch(batch.id))}
        >
          <RotateCw aria-hidden /> Resume
        </Button>
      ) : null}
      {!ended && !batch.interrupted ? (
        <Button
          size="small"
          title="Finish running tasks, start no others"
          disabled={isBusy || batch.status !== "running"}
          onClick={() =>
            void act(
              "stop",
              () => stopBatch(batch.id),
              "No other tasks start. Running tasks finish, and what merged lands.",
            )
          }
        >
          <CircleStop aria-hidden /> <span className="sr-only sm:not-sr-only">Stop</span>
        </Button>
      ) : null}
      {ended ? (
        <Button
          look="ghost"
          size="icon"
          aria-label={`Hide batch ${batch.number}`}
          onClick={() => useClosed.setState(({ ids }) => ({ ids: new Set([...ids, batch.id]) }))}
        >
          <X />
        </Button>
      ) : (
        <Button look="danger" size="small" disabled={isBusy} onClick={() => setIsAsking(true)}>
          <Ban aria-hidden /> <span className="sr-only sm:not-sr-only">Cancel batch</span>
        </Button>
      )}
      <Confirm
        open={isAsking}
        onOpenChange={setIsAsking}
        title={`Cancel batch ${batch.number}?`}
        action="Cancel batch"
        keep="Keep running"
        onConfirm={() => void act("cancel", () => cancelBatch(batch.id))}
      >
        Agents are stopped, and nothing lands. All work so far is kept and can be restored.
      </Confirm>
    </div>
  );
}
