// The tasks of a batch that are under way, each with its state, as links.

import { Link } from "@tanstack/react-router";
import type { BatchView, TaskView } from "@/api/client";
import { taskIdOf } from "@/live/reducer";
import { useWorld } from "@/live/world";
import { StateBadge } from "@/ui/Badge";

const MOST_SHOWN = 4;

export function TaskChips({ batch }: { batch: BatchView }) {
  const active = batch.tasks.filter((task) => !task.outcome && task.state !== "queued");
  if (active.length === 0) return null;
  return (
    <ul aria-label="Running tasks" className="order-4 hidden min-w-0 items-center gap-2.5 overflow-hidden md:flex lg:order-none">
      {active.slice(0, MOST_SHOWN).map((task) => (
        <Chip key={task.taskId} batch={batch} task={task} />
      ))}
      {active.length > MOST_SHOWN ? <li className="text-xs text-fg-3">+{active.length - MOST_SHOWN}</li> : null}
    </ul>
  );
}

function Chip({ batch, task }: { batch: BatchView; task: TaskView }) {
  const id = useWorld((world) => taskIdOf(world, batch, task.taskId));
  const word = <span className="font-mono text-2xs">{task.taskId}</span>;
  return (
    <li className="flex items-center gap-1" title={task.title}>
      {id ? (
        <Link to="/tasks/$id" params={{ id }} className="flex items-center gap-1 hover:underline" aria-label={`${task.taskId} ${task.title}`}>
          {word}
        </Link>
      ) : (
        word
      )}
      <StateBadge word={task.state} />
    </li>
  );
}
