// A batch: how far it is, in what order it runs, what collides, what came of it.

import { useParams } from "@tanstack/react-router";
import { CircleAlert, ExternalLink, FileQuestion, GitPullRequest } from "lucide-react";
import { lazy } from "react";
import { type BatchView, inWords } from "@/api/client";
import { Go } from "@/app/Go";
import { stateOf } from "@/live/state";
import { Diff } from "@/task/Diff";
import { useBatch } from "@/task/queries";
import { Tabs } from "@/task/Tabs";
import { moment, sentence, worded } from "@/text/format";
import { StateBadge } from "@/ui/Badge";
import { Banner } from "@/ui/Banner";
import { Button, buttonLook } from "@/ui/Button";
import { cn } from "@/ui/cn";
import { EmptyState } from "@/ui/EmptyState";
import { Loading } from "@/ui/Skeleton";
import { Conflicts } from "./Conflicts";
import { LandButton } from "./LandButton";
import { useBatchDiff } from "./queries";
import { Summary } from "./Summary";
import { Worktrees } from "./SummaryWorktrees";
import { Timeline } from "./Timeline";
import { Validation } from "./Validation";

const Graph = lazy(() => import("./Graph"));

export function BatchPage() {
  const { id = "" } = useParams({ strict: false });
  const { batch, error } = useBatch(Number(id));
  if (error) {
    return (
      <EmptyState
        isPage
        icon={FileQuestion}
        title="Batch not found"
        action={
          <Go href="/batches" className="text-accent-text underline">
            All batches
          </Go>
        }
      >
        {inWords(error)}
      </EmptyState>
    );
  }
  if (!batch) return <Loading />;
  const collisions = batch.conflicts.length + batch.predictedConflicts.length;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <Head batch={batch} />
      <Tabs
        key={batch.id}
        label="Batch"
        tabs={[
          { name: "summary", title: "Summary", body: () => <Summary batch={batch} /> },
          { name: "graph", title: "Graph", body: () => <Graph batch={batch} /> },
          { name: "timeline", title: "Timeline", body: () => <Timeline batch={batch} /> },
          {
            name: "conflicts",
            title: "Conflicts",
            count: collisions,
            body: () => <Conflicts batch={batch} />,
          },
          { name: "diff", title: "Woven diff", body: () => <WovenDiff batch={batch} /> },
          { name: "validation", title: "Validation", body: () => <Validation batch={batch} /> },
          { name: "worktrees", title: "Worktrees", body: () => <Worktrees batch={batch} /> },
        ]}
      />
    </div>
  );
}

function Head({ batch }: { batch: BatchView }) {
  return (
    <>
      <header className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
        <h1 className="text-lg font-semibold">Batch {batch.number}</h1>
        <StateBadge word={stateOf(batch)} spin isSteady />
        <span className="text-sm text-fg-2">
          {worded(batch.mode)}, {moment(batch.createdAt)}
        </span>
        <span className="flex-1" />
        <LandButton batch={batch} />
        {batch.prUrl ? (
          <a
            href={batch.prUrl}
            target="_blank"
            rel="noreferrer"
            className={cn(buttonLook({ look: "plain" }))}
          >
            <GitPullRequest aria-hidden /> Open the pull request <ExternalLink aria-hidden />
          </a>
        ) : null}
      </header>
      {batch.interrupted ? (
        <Banner>
          This batch is interrupted: no process is running it. Resume continues where it stopped.
        </Banner>
      ) : null}
      {batch.held ? <Banner tone="info">Nothing new starts for now: {sentence(batch.held)}</Banner> : null}
      {batch.error ? (
        <Banner tone={batch.status === "failed" ? "error" : "warning"}>{sentence(batch.error)}</Banner>
      ) : null}
    </>
  );
}

function WovenDiff({ batch }: { batch: BatchView }) {
  const diff = useBatchDiff(batch);
  if (diff.data) return <Diff shown={diff.data} empty="Nothing has been woven yet." />;
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
