// The batches that run, on every page: how far they are, and what a person can do about it.

import { Link } from "@tanstack/react-router";
import { Ban, Check, ExternalLink, RotateCw, X } from "lucide-react";
import { useEffect, useState } from "react";
import { toast } from "sonner";
import { create } from "zustand";
import { answered, api, type BatchView, inWords } from "@/api/client";
import { isOver } from "@/live/reducer";
import { change, useWorld } from "@/live/world";
import { StateBadge } from "@/ui/Badge";
import { Button, buttonLook } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { cn } from "@/ui/cn";
import { Progress } from "@/ui/Progress";
import { TaskChips } from "./TaskChips";
import { duration } from "./duration";

const useClosed = create<{ ids: ReadonlySet<number> }>(() => ({ ids: new Set() }));

const MOST_SHOWN = 3;

export function BatchStrip() {
  const batches = useWorld((world) => world.batches);
  const project = useWorld((world) => world.project);
  const closed = useClosed((state) => state.ids);
  const heard = useHeard(batches);
  const shown = [...batches.values()]
    .filter((batch) => batch.projectId === project && !closed.has(batch.id) && (!isOver(batch) || heard.has(batch.id)))
    .sort((a, b) => b.id - a.id)
    // Of those that ended only the last one is news.
    .filter((batch, at, all) => !isOver(batch) || all.findIndex(isOver) === at);
  if (shown.length === 0) return null;
  return (
    <section aria-label="Batches" className="max-h-[40vh] shrink-0 divide-y divide-line overflow-y-auto border-b border-line bg-surface">
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
  return (
    <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1.5 px-3 py-1.5 sm:px-4">
      <Link to="/batches/$id" params={{ id: String(batch.id) }} className="font-semibold hover:underline">
        Batch {batch.id}
      </Link>
      <StateBadge word={batch.status} spin={!ended} />
      <div className="order-3 flex items-center gap-2 lg:order-none">
        <Progress
          label={`Progress of batch ${batch.id}`}
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
        {progress.failed + progress.skipped > 0 ? <span className="whitespace-nowrap text-xs text-failed">{troubles(progress)}</span> : null}
        <span className="w-11 whitespace-nowrap text-right text-xs text-fg-3">{progress.percentage} %</span>
      </div>
      <TaskChips batch={batch} />
      <span className="order-5 min-w-0 truncate text-xs text-attention empty:hidden lg:order-none lg:flex-1 lg:empty:block">{batch.held ?? (ended ? batch.error : batch.interrupted ? "Nobody is at it" : null)}</span>
      <div className="order-2 ml-auto flex items-center gap-2 lg:order-none">
        <Elapsed batch={batch} />
        <Controls batch={batch} ended={ended} />
      </div>
    </div>
  );
}

function troubles({ failed, skipped }: BatchView["progress"]): string {
  return [failed > 0 ? `${failed} failed` : "", skipped > 0 ? `${skipped} skipped` : ""].filter(Boolean).join(", ");
}

function Elapsed({ batch }: { batch: BatchView }) {
  const [now, setNow] = useState(() => Date.now());
  const ended = isOver(batch);
  useEffect(() => {
    if (ended) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [ended]);
  const begun = Date.parse(batch.startedAt ?? batch.createdAt);
  const end = batch.completedAt ? Date.parse(batch.completedAt) : now;
  return <span className="w-14 text-right text-xs text-fg-3">{duration(Math.max(0, end - begun) / 1000)}</span>;
}

const at = (id: number) => ({ params: { path: { id } } });

const calls = {
  cancel: (id: number) => api.POST("/api/batches/{id}/cancel", { ...at(id), body: { rollback: false } }),
  approve: (id: number) => api.POST("/api/batches/{id}/approve", { ...at(id), body: {} }),
  resume: (id: number) => api.POST("/api/batches/{id}/resume", { ...at(id), body: {} }),
};

function Controls({ batch, ended }: { batch: BatchView; ended: boolean }) {
  const [isAsking, setIsAsking] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const waits = batch.tasks.some((task) => task.status === "waiting");
  const act = async (word: keyof typeof calls) => {
    setIsBusy(true);
    try {
      const answer = await answered(calls[word](batch.id) as Promise<{ data?: BatchView; error?: unknown; response: Response }>);
      // Where it takes longer, the events tell the rest.
      if (Array.isArray(answer.tasks)) change({ type: "batch", batch: answer });
    } catch (error) {
      toast.error(inWords(error));
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <div className="flex items-center gap-1.5">
      {batch.prUrl ? (
        <a href={batch.prUrl} target="_blank" rel="noreferrer" className={cn(buttonLook({ size: "small" }), "text-accent-text")}>
          <ExternalLink aria-hidden /> Pull request
        </a>
      ) : null}
      {waits && !ended ? (
        <Button look="primary" size="small" disabled={isBusy} onClick={() => void act("approve")}>
          <Check aria-hidden /> Approve next
        </Button>
      ) : null}
      {batch.interrupted && !ended ? (
        <Button size="small" disabled={isBusy} onClick={() => void act("resume")}>
          <RotateCw aria-hidden /> Resume
        </Button>
      ) : null}
      {ended ? (
        <Button look="ghost" size="icon" aria-label={`Hide batch ${batch.id}`} onClick={() => useClosed.setState(({ ids }) => ({ ids: new Set([...ids, batch.id]) }))}>
          <X />
        </Button>
      ) : (
        <Button look="danger" size="small" disabled={isBusy} onClick={() => setIsAsking(true)}>
          <Ban aria-hidden /> Cancel batch
        </Button>
      )}
      <Confirm open={isAsking} onOpenChange={setIsAsking} title={`Cancel batch ${batch.id}?`} action="Cancel batch" keep="Keep running" onConfirm={() => void act("cancel")}>
        Agents are asked to stop, and nothing lands. Everything they did so far is kept and can be brought back.
      </Confirm>
    </div>
  );
}
