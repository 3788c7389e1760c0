// What a task is: its text, what it waits for, the files it touches, and where its work is.

import { Copy } from "lucide-react";
import type { ReactNode } from "react";
import type { BatchView, BoardTask, TaskView } from "@/api/client";
import { Go } from "@/app/Go";
import { queuedText } from "@/live/state";
import { useWorld } from "@/live/world";
import { dollars, duration, grouped, moment, sentence, worded } from "@/text/format";
import { StateBadge, Tag } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { toast } from "@/visible/toast";
import { Description } from "./DetailsEdit";

export function Details({
  task,
  batch,
  inBatch,
}: {
  task: BoardTask;
  batch: BatchView | undefined;
  inBatch: TaskView | undefined;
}) {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto" tabIndex={0} role="region" aria-label="Details">
      <div className="mx-auto grid max-w-5xl gap-6 p-4 md:grid-cols-[minmax(0,1fr)_300px]">
        <Description task={task} />
        <dl className="flex flex-col gap-3 text-sm">
          <Fact name="Priority">{worded(task.priority)}</Fact>
          {task.labels.length > 0 ? (
            <Fact name="Labels">
              <span className="flex flex-wrap gap-1">
                {task.labels.map((label) => (
                  <Tag key={label}>{label}</Tag>
                ))}
              </span>
            </Fact>
          ) : null}
          {task.size ? <Fact name="Size">{task.size}</Fact> : null}
          {task.dependsOn.length > 0 ? (
            <Fact name="Needs">
              <ul className="flex flex-col gap-1">
                {task.dependsOn.map((id) => (
                  <Needed key={id} id={id} />
                ))}
              </ul>
            </Fact>
          ) : null}
          <Files files={inBatch && inBatch.files.length > 0 ? inBatch.files : task.files} />
          {task.plan ? (
            <Fact name="Plan">{`${task.plan}${task.line ? `, line ${task.line}` : ""}`}</Fact>
          ) : null}
          {inBatch ? <Work task={task.id} inBatch={inBatch} /> : null}
          {batch ? (
            <Fact name="Batch">
              <Go href={`/batches/${batch.id}`} className="text-accent-text underline underline-offset-2">
                Batch {batch.number}
              </Go>
            </Fact>
          ) : null}
          <Fact name="Created">{moment(task.createdAt)}</Fact>
        </dl>
      </div>
    </div>
  );
}

function Work({ task, inBatch }: { task: string; inBatch: TaskView }) {
  // The reason is news between the events of a task.
  const news = useWorld((world) => world.doing.get(task)?.action);
  return (
    <>
      {inBatch.unit?.state === "waiting" ? (
        <Fact name="Waiting">{sentence(news ?? queuedText(inBatch.unit) ?? "")}</Fact>
      ) : null}
      {inBatch.node ? <Fact name="Node">{inBatch.node}</Fact> : null}
      {inBatch.unit?.job ? <Fact name="Job">{<Copied text={inBatch.unit.job} />}</Fact> : null}
      {inBatch.seconds > 0 ? <Fact name="Time">{duration(inBatch.seconds)}</Fact> : null}
      {inBatch.tokens ? <Fact name="Tokens">{grouped(inBatch.tokens)}</Fact> : null}
      {inBatch.cost != null ? <Fact name="Cost">{dollars(inBatch.cost)}</Fact> : null}
      {inBatch.branch && inBatch.hasBranch ? (
        <Fact name="Branch">{<Copied text={inBatch.branch} />}</Fact>
      ) : null}
      {inBatch.worktreePath ? <Fact name="Worktree">{<Copied text={inBatch.worktreePath} />}</Fact> : null}
      {inBatch.sessionId ? <Fact name="Agent's session">{<Copied text={inBatch.sessionId} />}</Fact> : null}
      <Fact name="Sandbox">{inBatch.sandbox}</Fact>
    </>
  );
}

function Needed({ id }: { id: string }) {
  const task = useWorld((world) => world.tasks.get(id));
  return (
    <li className="flex items-center gap-2">
      <Go href={`/tasks/${id}`} className="min-w-0 truncate text-accent-text underline underline-offset-2">
        {task ? `${task.key} ${task.title}` : id}
      </Go>
      {task ? <StateBadge word={task.word} /> : null}
    </li>
  );
}

function Files({ files }: { files: readonly string[] }) {
  if (files.length === 0) return null;
  return (
    <Fact name="Files">
      <ul className="font-mono text-xs">
        {files.map((file) => (
          <li key={file} className="[overflow-wrap:anywhere]">
            {file}
          </li>
        ))}
      </ul>
    </Fact>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-fg-3">{name}</dt>
      <dd className="mt-0.5 min-w-0 text-fg">{children}</dd>
    </div>
  );
}

/** A text for a terminal, with a button that copies it. */
export function Copied({ text }: { text: string }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      toast("Copied");
    } catch {
      toast.error("Could not copy");
    }
  };
  return (
    <span className="flex items-start gap-1">
      <code className="min-w-0 flex-1 rounded-sm bg-sunken px-1.5 py-0.5 font-mono text-xs leading-5 [overflow-wrap:anywhere]">
        {text}
      </code>
      <Button size="icon" look="ghost" aria-label={`Copy ${text}`} onClick={() => void copy()}>
        <Copy />
      </Button>
    </span>
  );
}
