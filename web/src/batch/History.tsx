// Every batch of the project, newest first.

import { Layers } from "lucide-react";
import { type BatchView, inWords } from "@/api/client";
import { Go } from "@/app/Go";
import { stateOf } from "@/live/state";
import { useWorld } from "@/live/world";
import { counted, duration, moment, worded } from "@/text/format";
import { StateBadge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Loading } from "@/ui/Skeleton";
import { useBatches } from "./queries";
import { troubles } from "./troubles";

export function History() {
  const project = useWorld((world) => world.project) ?? undefined;
  const history = useBatches(project);
  const live = useWorld((world) => world.batches);
  if (history.error && !history.data) {
    return (
      <EmptyState
        isPage
        icon={Layers}
        title="Could not load the batches"
        action={<Button onClick={() => void history.refetch()}>Try again</Button>}
      >
        {inWords(history.error)}
      </EmptyState>
    );
  }
  if (!history.data) return <Loading />;
  const known = new Map(history.data.pages.flat().map((batch) => [batch.id, batch]));
  for (const [id, batch] of live) if (batch.projectId === project) known.set(id, batch);
  const batches = [...known.values()].sort((a, b) => b.id - a.id);
  return (
    <div className="mx-auto max-w-5xl p-4">
      <h1 className="mb-3 text-lg font-semibold">Batches</h1>
      {batches.length === 0 ? (
        <EmptyState
          icon={Layers}
          title="No batches yet"
          action={
            <Go href="/" className="text-accent-text underline">
              Go to the board
            </Go>
          }
        >
          Select tasks on the board and run them together.
        </EmptyState>
      ) : (
        <ul className="flex flex-col gap-2">
          {batches.map((batch) => (
            <Entry key={batch.id} batch={batch} />
          ))}
        </ul>
      )}
      {history.hasNextPage ? (
        <div className="mt-3 flex justify-center">
          <Button disabled={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
            {history.isFetchingNextPage ? "Loading…" : "Show older"}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

function Entry({ batch }: { batch: BatchView }) {
  const { progress } = batch;
  const first = batch.tasks[0]?.title ?? "";
  return (
    <li className="relative rounded-lg border border-line bg-raised p-3 hover:bg-hover">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="text-sm font-semibold">
          <Go
            href={`/batches/${batch.id}`}
            className="after:absolute after:inset-0 after:rounded-lg focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-accent-text"
          >
            Batch {batch.number}
          </Go>
        </h2>
        <StateBadge word={stateOf(batch)} isSteady />
        <span className="min-w-0 flex-1 truncate text-sm text-fg-2">
          {first}
          {batch.tasks.length > 1 ? ` and ${counted(batch.tasks.length - 1, "more task")}` : ""}
        </span>
        {batch.prUrl ? (
          <a
            href={batch.prUrl}
            target="_blank"
            rel="noreferrer"
            className="relative z-10 text-sm text-accent-text underline underline-offset-2"
          >
            Pull request
          </a>
        ) : null}
      </div>
      <div className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-fg-3">
        <span>
          {worded(batch.mode)}, {moment(batch.createdAt)}
        </span>
        <span className="min-w-12">{duration(batch.seconds)}</span>
        <span>
          {[`${progress.completed}/${progress.total} complete`, troubles(progress)]
            .filter(Boolean)
            .join(", ")}
        </span>
      </div>
    </li>
  );
}
