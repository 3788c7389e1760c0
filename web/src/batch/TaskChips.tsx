// The tasks of a batch that are under way, each with its state, as links. Each keeps its place until it is over.

import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import type { BatchView, TaskView } from "@/api/client";
import { useWorld } from "@/live/world";
import { StateBadge } from "@/ui/Badge";
import { cn } from "@/ui/cn";

const MOST_SHOWN = 4;
const ROOM = "w-32 shrink-0";

/** Who is where: those who stay keep their places, those who come take what became free. */
export function placed(before: readonly (string | null)[], active: readonly string[]): (string | null)[] {
  const places = before.map((key) => (key !== null && active.includes(key) ? key : null));
  for (const key of active.filter((each) => !places.includes(each))) {
    const free = places.indexOf(null);
    places[free < 0 ? places.length : free] = key;
  }
  while (places.at(-1) === null) places.pop();
  return places;
}

export function TaskChips({ batch }: { batch: BatchView }) {
  const active = new Map(
    batch.tasks.filter((task) => !task.outcome && task.state !== "queued").map((task) => [task.taskId, task]),
  );
  const places = useRef<(string | null)[]>([]);
  places.current = placed(places.current, [...active.keys()]);
  if (active.size === 0) return null;
  const shown = places.current.slice(0, MOST_SHOWN);
  const hidden = active.size - shown.filter((key) => key !== null).length;
  return (
    <ul
      aria-label="Running tasks"
      className="order-4 hidden min-w-0 items-center gap-2.5 overflow-hidden md:flex lg:order-none"
    >
      {shown.map((key, place) => {
        const task = key === null ? undefined : active.get(key);
        return task ? (
          <Chip key={task.taskId} task={task} />
        ) : (
          <li key={place} aria-hidden className={ROOM} />
        );
      })}
      {hidden > 0 ? <li className="text-xs text-fg-3">+{hidden}</li> : null}
    </ul>
  );
}

function Chip({ task }: { task: TaskView }) {
  const id = task.taskId;
  const isOnBoard = useWorld((world) => world.tasks.has(id));
  const word = <span className="block truncate font-mono text-2xs">{task.key}</span>;
  return (
    <li className={cn("flex items-center gap-1", ROOM)} title={task.title}>
      {isOnBoard ? (
        <Link
          to="/tasks/$id"
          params={{ id }}
          className="min-w-0 hover:underline"
          aria-label={`${task.key} ${task.title}`}
        >
          {word}
        </Link>
      ) : (
        word
      )}
      <StateBadge word={task.state} isSteady />
    </li>
  );
}
