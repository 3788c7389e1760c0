// Every time an agent worked on a task: how it ended, what it said last, what it took.

import { useQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import type { BatchView, TaskView } from "@/api/client";
import { EmptyState } from "@/ui/EmptyState";
import { firstLine, type Line, usageText } from "./entry";
import { counted, worded } from "./format";
import { useWord } from "./Go";
import { useLoad } from "./queries";
import { Skeleton } from "@/ui/Skeleton";

export function Attempts({ batch, inBatch }: { batch: BatchView | undefined; inBatch: TaskView | undefined }) {
  if (!batch || !inBatch || inBatch.lastAttempt === 0) {
    return (
      <EmptyState icon={History} title="No attempts yet">
        Each run of an agent on this task is listed here.
      </EmptyState>
    );
  }
  const numbers = Array.from({ length: inBatch.lastAttempt }, (_, i) => inBatch.lastAttempt - i);
  return (
    <div className="min-h-0 flex-1 overflow-auto p-4" tabIndex={0} role="region" aria-label="Attempts">
      {inBatch.attempts < inBatch.lastAttempt ? (
        <p className="mb-3 text-sm text-fg-2">{counted(inBatch.lastAttempt - inBatch.attempts, "attempt")} ended at a limit or an overload and did not count.</p>
      ) : null}
      <ol className="flex max-w-3xl flex-col gap-2">
        {numbers.map((number) => (
          <Attempt key={number} batch={batch.id} task={inBatch} number={number} />
        ))}
      </ol>
    </div>
  );
}

/** How an attempt ended, by its last lines. */
export function endOf(lines: readonly Line[], isOver: boolean): { word: string; said: string; usage: string } {
  const details = lines.map((line) => line.detail);
  const result = details.findLast((detail) => detail?.type === "result");
  const usage = details.findLast((detail) => detail?.type === "usage");
  const outcome = result?.type === "result" ? result.outcome : null;
  const word = outcome === null ? (isOver ? "Ended" : "Under way") : typeof outcome === "string" ? worded(outcome) : `Failed: ${worded(outcome.failed)}`;
  const last = lines.findLast((line) => line.type !== "usage" && line.text.trim() !== "");
  return {
    word,
    said: firstLine(result?.type === "result" ? result.message : (last?.text ?? "")),
    usage: usage?.type === "usage" ? usageText(usage) : "",
  };
}

function Attempt({ batch, task, number }: { batch: number; task: TaskView; number: number }) {
  const [, setTab] = useWord("tab");
  const [, setAttempt] = useWord("attempt");
  const load = useLoad(batch, task.taskId, number);
  const isLast = number === task.lastAttempt;
  const end = useQuery({
    queryKey: ["attempt", batch, task.taskId, number, isLast ? task.state : "over"],
    queryFn: ({ signal }) => load("tail", 40, signal),
  });
  const told = end.data ? endOf(end.data.entries, end.data.isOver) : null;
  return (
    <li className="rounded-lg border border-line bg-raised p-3">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <h2 className="text-sm font-semibold">Attempt {number}</h2>
        {told ? <span className="text-sm text-fg-2">{told.word}</span> : <Skeleton className="h-4 w-24" />}
        <span className="text-xs text-fg-3">{told?.usage}</span>
        <span className="flex-1" />
        <button
          type="button"
          className="text-sm text-accent-text underline underline-offset-2"
          onClick={() => {
            setAttempt(isLast ? null : String(number));
            setTab(null);
          }}
        >
          Transcript{end.data ? ` (${counted(end.data.total, "line")})` : ""}
        </button>
      </div>
      {told?.said ? <p className="mt-1 line-clamp-3 text-sm text-fg-2 [overflow-wrap:anywhere]">{told.said}</p> : null}
      {end.error ? <p className="mt-1 text-sm text-fg-3">What was said is not there any more.</p> : null}
    </li>
  );
}
