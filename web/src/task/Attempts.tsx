// Every time an agent worked on a task, over all batches: how it ended, how long it took, what it cost.

import { History } from "lucide-react";
import { type AttemptView, type BoardTask, inWords } from "@/api/client";
import { Go } from "@/app/Go";
import { useNow } from "@/live/clock";
import { dollars, duration, moment, sentence, tokens } from "@/text/format";
import { StateBadge } from "@/ui/Badge";
import { EmptyState } from "@/ui/EmptyState";
import { Loading } from "@/ui/Skeleton";
import type { useAttempts } from "./queries";

export function Attempts({ task, asked }: { task: BoardTask; asked: ReturnType<typeof useAttempts> }) {
  if (asked.error && !asked.data)
    return (
      <EmptyState icon={History} title="Could not load the attempts">
        {inWords(asked.error)}
      </EmptyState>
    );
  if (!asked.data) return <Loading />;
  if (asked.data.length === 0) {
    return (
      <EmptyState icon={History} title="No attempts yet">
        Each run of an agent on this task is listed here.
      </EmptyState>
    );
  }
  return (
    <div className="min-h-0 flex-1 overflow-auto p-4" tabIndex={0} role="region" aria-label="Attempts">
      <ol className="flex max-w-3xl flex-col gap-2">
        {asked.data.map((attempt) => (
          <Attempt key={`${attempt.batchId} ${attempt.attempt}`} task={task} attempt={attempt} />
        ))}
      </ol>
    </div>
  );
}

/** What an attempt took, as far as it is known. */
export function tookText(attempt: AttemptView, now: number): string {
  const seconds =
    ((attempt.completedAt ? Date.parse(attempt.completedAt) : now) - Date.parse(attempt.startedAt)) / 1_000;
  const parts = [
    attempt.agent,
    attempt.node ? `on ${attempt.node}` : "",
    duration(seconds),
    attempt.tokens ? `${tokens(attempt.tokens)} tokens` : "",
    attempt.cost == null ? "" : dollars(attempt.cost),
  ];
  return parts.filter(Boolean).join(" · ");
}

function Attempt({ task, attempt }: { task: BoardTask; attempt: AttemptView }) {
  const now = useNow(!attempt.completedAt);
  return (
    <li className="rounded-lg border border-line bg-raised p-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="text-sm font-semibold">
          Batch {attempt.batchNumber}, attempt {attempt.attempt}
        </h2>
        <StateBadge word={attempt.outcome} spin />
        <span className="text-xs text-fg-2">{tookText(attempt, now)}</span>
        <span className="flex-1" />
        <span className="text-xs text-fg-3">{moment(attempt.startedAt)}</span>
        <Go
          href={`/tasks/${task.id}?batch=${attempt.batchId}&attempt=${attempt.attempt}&tab=transcript`}
          className="text-sm text-accent-text underline underline-offset-2"
        >
          Transcript
        </Go>
      </div>
      {attempt.error ? (
        <p className="mt-1 line-clamp-3 text-sm text-fg-2 [overflow-wrap:anywhere]">
          {sentence(attempt.error)}
        </p>
      ) : null}
    </li>
  );
}
