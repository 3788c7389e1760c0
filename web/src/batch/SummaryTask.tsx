// A task of a batch by its key and title, as a link to its page where it is on the board.

import type { BatchView } from "@/api/client";
import { Go } from "@/app/Go";
import { useWorld } from "@/live/world";
import { cn } from "@/ui/cn";

/** The address of a task's page, seen from a batch. */
export function useTaskHref(batch: BatchView, id: string): string | undefined {
  return useWorld((world) => {
    const task = world.tasks.get(id);
    if (!task) return undefined;
    return task.batch?.id === batch.id ? `/tasks/${id}` : `/tasks/${id}?batch=${batch.id}`;
  });
}

export function TaskName({ batch, id, className }: { batch: BatchView; id: string; className?: string }) {
  const href = useTaskHref(batch, id);
  const task = batch.tasks.find((each) => each.taskId === id);
  const words = (
    <>
      <span className="font-mono text-xs text-fg-3">{task?.key ?? id}</span> {task?.title}
    </>
  );
  if (!href) return <span className={className}>{words}</span>;
  return (
    <Go
      href={href}
      className={cn("underline decoration-line-strong underline-offset-2 hover:decoration-fg", className)}
    >
      {words}
    </Go>
  );
}
