// What the tests say of a batch, run by run, and what they printed.

import {
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleX,
  FlaskConical,
  LoaderCircle,
  type LucideIcon,
} from "lucide-react";
import { useState } from "react";
import { type BatchView, inWords } from "@/api/client";
import type { components } from "@/api/schema";
import { Ansi } from "@/task/Ansi";
import { counted } from "@/text/format";
import { cn } from "@/ui/cn";
import { EmptyState } from "@/ui/EmptyState";
import { Loading } from "@/ui/Skeleton";
import { useValidation } from "./queries";

type Verdict = components["schemas"]["Verdict"];
type Run = BatchView["validation"]["runs"][number];

const VERDICTS: Record<Verdict, { text: string; icon: LucideIcon; tone: string }> = {
  not_configured: { text: "No test command is set", icon: CircleDashed, tone: "text-fg-3" },
  unknown: { text: "Not validated", icon: CircleHelp, tone: "text-fg-3" },
  running: { text: "The tests are running", icon: LoaderCircle, tone: "text-running" },
  proved: { text: "Proved: the tests pass", icon: CircleCheck, tone: "text-done" },
  base_red: { text: "The tests already fail on the base", icon: CircleX, tone: "text-attention" },
  red: { text: "The tests fail", icon: CircleX, tone: "text-failed" },
  trouble: { text: "The tests could not be run", icon: CircleX, tone: "text-failed" },
};

export function verdictText(verdict: Verdict): string {
  return VERDICTS[verdict]?.text ?? verdict;
}

/** Of a long output the end is shown first. */
const SHOWN_LINES = 2_000;

export function Validation({ batch }: { batch: BatchView }) {
  const [chosen, setChosen] = useState<number | undefined>(undefined);
  const { data, error } = useValidation(batch, chosen);
  const { verdict } = batch.validation;
  const look = VERDICTS[verdict] ?? VERDICTS.unknown;
  if (verdict === "not_configured") {
    return (
      <EmptyState icon={FlaskConical} title="No test command is set">
        Set <code className="font-mono text-xs">validate</code> in{" "}
        <code className="font-mono text-xs">pleach.toml</code>, and the woven result is tested before it
        lands.
      </EmptyState>
    );
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
        <look.icon className={cn("size-4", look.tone, verdict === "running" && "animate-spin")} aria-hidden />
        <span className="text-sm font-medium">{look.text}</span>
        {batch.validation.command ? (
          <code className="min-w-0 rounded-sm bg-sunken px-1.5 font-mono text-xs leading-5 [overflow-wrap:anywhere]">
            {batch.validation.command}
          </code>
        ) : null}
        {batch.validation.tree ? (
          <span className="font-mono text-xs text-fg-3 [overflow-wrap:anywhere]">
            tree {batch.validation.tree}
          </span>
        ) : null}
        {batch.validation.reason ? (
          <span className="text-sm text-fg-2">{batch.validation.reason}</span>
        ) : null}
        {batch.validation.flaky.length > 0 ? (
          <span className="text-sm text-attention">Flaky: the same tree both failed and passed</span>
        ) : null}
      </div>
      <div className="flex min-h-0 flex-1 flex-col md:flex-row">
        <Runs runs={batch.validation.runs} chosen={data?.log?.run ?? chosen} onChoose={setChosen} />
        {data?.log ? (
          <Output
            key={data.log.run}
            text={data.log.text}
            before={data.log.from}
            after={data.log.total - data.log.to}
          />
        ) : error ? (
          <EmptyState icon={FlaskConical} title="Could not load the output">
            {inWords(error)}
          </EmptyState>
        ) : data ? (
          <EmptyState icon={FlaskConical} title="No output">
            The tests have not printed anything.
          </EmptyState>
        ) : (
          <Loading />
        )}
      </div>
    </div>
  );
}

function Runs({
  runs,
  chosen,
  onChoose,
}: {
  runs: Run[];
  chosen: number | undefined;
  onChoose: (run: number) => void;
}) {
  if (runs.length === 0) return null;
  return (
    <ol
      className="flex shrink-0 gap-1 overflow-auto border-line p-2 md:w-56 md:flex-col md:border-r"
      aria-label="Test runs"
    >
      {runs.map((run, i) => {
        const isGreen = run.run === "green";
        const Icon = isGreen ? CircleCheck : CircleX;
        return (
          <li key={i} className="shrink-0">
            <button
              type="button"
              disabled={run.number == null}
              aria-current={run.number === chosen ? "true" : undefined}
              onClick={() => run.number != null && onChoose(run.number)}
              className="flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left text-sm enabled:hover:bg-hover aria-[current]:bg-hover"
            >
              <Icon className={cn("size-3.5 shrink-0", isGreen ? "text-done" : "text-failed")} aria-hidden />
              <span className="whitespace-nowrap">
                {isGreen ? "Passed" : "Failed"}, {counted(run.tasks, "task")}
                <span className="block font-mono text-2xs text-fg-3">
                  {run.number == null ? "remembered" : `run ${run.number}`} · {run.tree.slice(0, 8)}
                </span>
              </span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}

function Output({ text, before, after }: { text: string; before: number; after: number }) {
  const [isWhole, setWhole] = useState(false);
  const lines = text.replace(/\n$/, "").split("\n");
  const from = isWhole ? 0 : Math.max(0, lines.length - SHOWN_LINES);
  return (
    <div
      className="min-h-0 min-w-0 flex-1 overflow-auto bg-sunken p-3 font-mono text-xs leading-5"
      tabIndex={0}
      role="region"
      aria-label="Test output"
    >
      {text === "" ? <p className="font-sans text-sm text-fg-2">This run printed nothing.</p> : null}
      {before > 0 ? (
        <p className="mb-2 font-sans text-sm text-fg-2">
          {counted(before, "byte")} before this are left out.
        </p>
      ) : null}
      {from > 0 ? (
        <button
          type="button"
          className="mb-2 font-sans text-sm text-accent-text underline"
          onClick={() => setWhole(true)}
        >
          Show {counted(from, "earlier line")}
        </button>
      ) : null}
      {lines.slice(from).map((line, i) => (
        <div key={from + i} className="min-h-5 whitespace-pre-wrap [overflow-wrap:anywhere]">
          <Ansi text={line} />
        </div>
      ))}
      {after > 0 ? (
        <p className="mt-2 font-sans text-sm text-fg-2">{counted(after, "byte")} after this are left out.</p>
      ) : null}
    </div>
  );
}
