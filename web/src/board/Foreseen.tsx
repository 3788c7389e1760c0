// What a batch will look like before it starts: its waves, who collides, what is missing, why it cannot be.

import { CircleAlert, CircleX, Layers } from "lucide-react";
import type { ReactNode } from "react";
import type { BatchPreview, BoardTask } from "@/api/client";
import { useWorld } from "@/live/world";
import { counted, sentence } from "@/text/format";
import { Button } from "@/ui/Button";
import { cn } from "@/ui/cn";
import { Skeleton } from "@/ui/Skeleton";

/** More waves than this are only counted. */
const MOST_WAVES = 6;

type Props = {
  preview: BatchPreview | undefined;
  /** Whether it is of what was wanted before. */
  isOld: boolean;
  onAdd: () => void;
};

export function Foreseen({ preview, isOld, onAdd }: Props) {
  const tasks = useWorld((world) => world.tasks);
  if (!preview) {
    return (
      <div role="status" aria-label="Checking the tasks" className="space-y-2">
        <Skeleton className="h-4 w-24" />
        <Skeleton className="h-4 w-full" />
      </div>
    );
  }
  const { stages, predictedConflicts, missing, leftOut, warnings, pushTo, pushUnconfirmed, refusal } =
    preview;
  return (
    <section
      aria-label="Waves and collisions"
      aria-busy={isOld}
      className={cn("space-y-2 transition-opacity", isOld && "opacity-60")}
    >
      {refusal && missing.length === 0 ? (
        <Note tone="text-failed" icon={CircleX}>
          {sentence(refusal.message)} {refusal.hint ? sentence(refusal.hint) : ""}
        </Note>
      ) : null}
      <Missing missing={missing} tasks={tasks} onAdd={onAdd} />
      <Waves stages={stages} tasks={tasks} />
      {predictedConflicts.map((pair) => (
        <Note key={pair.tasks.join()}>
          “{titleOf(tasks, pair.tasks[1])}” comes after “{titleOf(tasks, pair.tasks[0])}”: both declare{" "}
          <code className="font-mono">{pair.files.join(", ")}</code>
        </Note>
      ))}
      {leftOut.length > 0 ? (
        <Note>
          {counted(leftOut.length, "task is", "tasks are")} already done and left out:{" "}
          {leftOut.map((task) => nameOf(tasks, task)).join(", ")}
        </Note>
      ) : null}
      {warnings
        .filter((warning) => warning.code !== "already_complete")
        .map((warning) => (
          <Note key={warning.message}>
            {sentence(warning.message)} {warning.hint ? sentence(warning.hint) : ""}
          </Note>
        ))}
      {pushUnconfirmed ? (
        <Note>
          This is the first push of this project to <code className="font-mono">{pushTo}</code>; you confirm
          it before it starts
        </Note>
      ) : null}
    </section>
  );
}

function nameOf(tasks: ReadonlyMap<string, BoardTask>, id: string): string {
  const task = tasks.get(id);
  return task ? `${task.key} ${task.title}` : id;
}

function titleOf(tasks: ReadonlyMap<string, BoardTask>, id: string | undefined): string {
  return (id && tasks.get(id)?.title) || id || "";
}

function Waves({ stages, tasks }: { stages: BatchPreview["stages"]; tasks: ReadonlyMap<string, BoardTask> }) {
  if (stages.length === 0) return null;
  return (
    <>
      <h3 className="flex items-center gap-1.5 font-medium">
        <Layers className="size-3.5 text-fg-3" aria-hidden />
        {counted(stages.length, "wave")}
      </h3>
      <ol className="space-y-1">
        {stages.slice(0, MOST_WAVES).map((stage) => (
          <li key={stage.number} className="flex gap-2 text-xs text-fg-2">
            <span className="w-4 shrink-0 text-right text-fg-3">{stage.number}</span>
            <span className="min-w-0 truncate">
              {stage.tasks.map((task) => nameOf(tasks, task)).join(" · ")}
            </span>
          </li>
        ))}
      </ol>
      {stages.length > MOST_WAVES ? (
        <p className="pl-6 text-xs text-fg-3">and {stages.length - MOST_WAVES} more</p>
      ) : null}
    </>
  );
}

function Missing({
  missing,
  tasks,
  onAdd,
}: {
  missing: BatchPreview["missing"];
  tasks: ReadonlyMap<string, BoardTask>;
  onAdd: () => void;
}) {
  if (missing.length === 0) return null;
  return (
    <div className="flex items-start gap-3 rounded-md border border-line bg-raised p-2">
      <div className="min-w-0 flex-1 space-y-1">
        {missing.map(({ taskId, needs }) => (
          <Note key={taskId}>
            {nameOf(tasks, taskId)} needs {needs.map((task) => nameOf(tasks, task)).join(", ")}
          </Note>
        ))}
      </div>
      <Button size="small" onClick={onAdd}>
        Add them
      </Button>
    </div>
  );
}

function Note({
  children,
  tone = "text-attention",
  icon: Icon = CircleAlert,
}: {
  children: ReactNode;
  tone?: string;
  icon?: typeof CircleAlert;
}) {
  return (
    <p className="flex items-start gap-1.5 text-xs text-fg-2">
      <Icon className={cn("mt-px size-3.5 shrink-0", tone)} aria-hidden />
      <span className="min-w-0 [overflow-wrap:anywhere]">{children}</span>
    </p>
  );
}
