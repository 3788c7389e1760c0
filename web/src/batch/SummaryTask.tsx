// A task of a batch by its key and title, as a link to its page where it is on the board.

import type { BatchView } from "@/api/client";
import { taskIdOf } from "@/live/state";
import { useWorld } from "@/live/world";
import { Go } from "@/shell/Go";
import { cn } from "@/ui/cn";

/** The address of a task's page, seen from a batch. */
export function useTaskHref(batch: BatchView, key: string): string | undefined {
  return useWorld((world) => {
    const id = taskIdOf(world, batch, key);
    if (!id) return undefined;
    return world.tasks.get(id)?.batch?.id === batch.id ? `/tasks/${id}` : `/tasks/${id}?batch=${batch.id}`;
  });
}

export function TaskName({ batch, name, className }: { batch: BatchView; name: string; className?: string }) {
  const href = useTaskHref(batch, name);
  const title = batch.tasks.find((task) => task.taskId === name)?.title ?? "";
  const words = (
    <>
      <span className="font-mono text-xs text-fg-3">{name}</span> {title}
    </>
  );
  if (!href) return <span className={className}>{words}</span>;
  return (
    <Go href={href} className={cn("underline decoration-line-strong underline-offset-2 hover:decoration-fg", className)}>
      {words}
    </Go>
  );
}
