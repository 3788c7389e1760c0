// A batch at a glance: figures, where it lands, and what became of each task.

import type { ReactNode } from "react";
import type { BatchView, TaskView } from "@/api/client";
import { useElapsed } from "@/live/clock";
import { clusterName } from "@/live/state";
import { Copied, Fact } from "@/task/Details";
import { counted, dollars, duration, grouped, sentence, tokens, worded } from "@/text/format";
import { StateBadge } from "@/ui/Badge";
import { cn } from "@/ui/cn";
import { TaskName } from "./SummaryTask";
import { troubles } from "./troubles";
import { verdictText } from "./Validation";

export function Summary({ batch }: { batch: BatchView }) {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto" tabIndex={0} role="region" aria-label="Summary">
      <div className="mx-auto flex max-w-6xl flex-col gap-5 p-4">
        <Figures batch={batch} />
        <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_280px]">
          <TaskTable batch={batch} />
          <Facts batch={batch} />
        </div>
      </div>
    </div>
  );
}

function Figures({ batch }: { batch: BatchView }) {
  const elapsed = useElapsed(batch);
  const { progress } = batch;
  const over = progress.completed + progress.failed + progress.skipped + progress.cancelled;
  const cost = batch.tasks.reduce((sum, task) => sum + (task.cost ?? 0), 0);
  const spent = batch.tasks.reduce((sum, task) => sum + (task.tokens ?? 0), 0);
  const merged = batch.tasks.filter((task) => task.outcome === "merged").length;
  const gain = elapsed > 0 ? batch.workedSeconds / elapsed : 0;
  return (
    <dl className="grid grid-cols-2 gap-2 sm:grid-cols-3 lg:grid-cols-5">
      <Figure name="Finished tasks" value={`${over}/${progress.total}`} note={`${progress.percentage} %`} />
      <Figure name="Merged" value={grouped(merged)} note={troubles(progress)} />
      <Figure
        name="Time"
        value={duration(elapsed)}
        note={batch.secondsLeft ? `about ${duration(batch.secondsLeft)} left` : ""}
      />
      <Figure
        name="Agent time"
        value={duration(batch.workedSeconds)}
        note={gain > 1.05 ? `${gain.toFixed(1)} times as fast as one at a time` : ""}
      />
      <Figure
        name="Cost"
        value={cost > 0 ? dollars(cost) : "unknown"}
        note={spent > 0 ? `${tokens(spent)} tokens` : ""}
      />
    </dl>
  );
}

function Figure({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div className="rounded-lg border border-line bg-raised px-3 py-2">
      <dt className="text-xs text-fg-3">{name}</dt>
      <dd>
        <span className="block text-xl font-semibold">{value}</span>
        <span className="block min-h-4 text-xs text-fg-2">{note}</span>
      </dd>
    </div>
  );
}

function TaskTable({ batch }: { batch: BatchView }) {
  return (
    <section
      aria-label="Tasks"
      className="relative min-w-0 overflow-x-auto rounded-lg border border-line"
      tabIndex={0}
    >
      <table className="w-full min-w-[560px] table-fixed border-collapse text-sm">
        <thead className="bg-raised text-left text-xs text-fg-3">
          <tr>
            <Th>Task</Th>
            <Th className="w-30">Outcome</Th>
            <Th className="w-20" end>
              Time
            </Th>
            <Th className="w-20" end>
              Attempts
            </Th>
            <Th className="w-20" end>
              Cost
            </Th>
            <Th className="w-16" end>
              Files
            </Th>
          </tr>
        </thead>
        <tbody>
          {batch.tasks.map((task) => (
            <TaskRow key={task.taskId} batch={batch} task={task} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function TaskRow({ batch, task }: { batch: BatchView; task: TaskView }) {
  return (
    <tr className="border-t border-line align-top">
      <Td>
        <TaskName batch={batch} id={task.taskId} className="[overflow-wrap:anywhere]" />
        {task.error && task.outcome !== "merged" ? (
          <p className="mt-0.5 text-xs text-fg-2 [overflow-wrap:anywhere]">{sentence(task.error)}</p>
        ) : null}
      </Td>
      <Td>
        <StateBadge word={task.outcome ?? task.state} spin isSteady />
      </Td>
      <Td end>{task.seconds > 0 ? duration(task.seconds) : "–"}</Td>
      <Td end>{task.attempts || "–"}</Td>
      <Td end>{task.cost == null ? "–" : dollars(task.cost)}</Td>
      <Td end>{task.files.length || "–"}</Td>
    </tr>
  );
}

function Th({
  children,
  className,
  end = false,
}: {
  children: ReactNode;
  className?: string;
  end?: boolean;
}) {
  return (
    <th scope="col" className={cn("px-3 py-2 font-medium", end && "text-right", className)}>
      {children}
    </th>
  );
}

function Td({ children, end = false }: { children: ReactNode; end?: boolean }) {
  return (
    <td className={end ? "whitespace-nowrap px-3 py-2 text-right text-fg-2" : "px-3 py-2"}>{children}</td>
  );
}

function Facts({ batch }: { batch: BatchView }) {
  const { settings, validation } = batch;
  return (
    <dl className="flex flex-col gap-3 text-sm">
      <Fact name="Validation">
        {verdictText(validation.verdict)}
        {validation.tree ? (
          <span className="ml-1 font-mono text-xs text-fg-3">tree {validation.tree.slice(0, 12)}</span>
        ) : null}
      </Fact>
      {batch.base ? (
        <Fact name="Base">
          <span className="font-mono text-xs" title={batch.base}>
            {batch.base.slice(0, 12)}
          </span>
        </Fact>
      ) : null}
      <Fact name="Runs">
        {batch.mode === "queue"
          ? `One at a time${settings.autoApprove ? ", approved automatically" : ", each after approval"}`
          : `Up to ${counted(settings.concurrentNow, "task")} at once`}
      </Fact>
      {settings.where === "local" ? null : <Fact name="Where">{clusterName(settings.where)}</Fact>}
      <Fact name="On a conflict">{worded(settings.conflictBehavior)}</Fact>
      <Fact name="Stop on failure">{settings.stopOnFailure ? "Yes" : "No"}</Fact>
      {batch.stages.length > 0 ? (
        <Fact name="Stages">
          <ol className="flex flex-col gap-1">
            {batch.stages.map((stage) => (
              <li key={stage.stage} className="flex items-center gap-2">
                <span className="min-w-0 truncate">{stage.name}</span>
                <StateBadge word={stage.status} isSteady />
                {stage.fellBack ? <span className="text-xs text-fg-3">one at a time</span> : null}
              </li>
            ))}
          </ol>
        </Fact>
      ) : null}
      <Fact name="Project">
        <span className="font-mono text-xs [overflow-wrap:anywhere]">{batch.mainRepoPath}</span>
      </Fact>
      {batch.batchBranch && batch.hasBranch ? (
        <Fact name="Branch">
          <Copied text={batch.batchBranch} />
        </Fact>
      ) : null}
      {batch.prUrl ? (
        <Fact name="Pull request">
          <a
            href={batch.prUrl}
            target="_blank"
            rel="noreferrer"
            className="text-accent-text underline underline-offset-2 [overflow-wrap:anywhere]"
          >
            {batch.prUrl}
          </a>
        </Fact>
      ) : null}
      {validation.notLanded ? <Fact name="Did not land">{validation.notLanded}</Fact> : null}
    </dl>
  );
}
