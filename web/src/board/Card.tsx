// One task on the board. Follows its own task only, and is cheap enough to be drawn while scrolling.

import { draggable } from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
import { ArrowDown, ArrowUp, ChevronsUp, GitFork, Play, TriangleAlert } from "lucide-react";
import { type MouseEvent, memo, useEffect, useLayoutEffect, useRef } from "react";
import { startBatch, useStarting } from "@/actions/start";
import type { BoardTask } from "@/api/client";
import { select, useSelection } from "@/app/selection";
import { useNow } from "@/live/clock";
import { isBusy } from "@/live/columns";
import { isOver, type World } from "@/live/state";
import { useWorld } from "@/live/world";
import { duration } from "@/text/format";
import { StateBadge, Tag } from "@/ui/Badge";
import { cn } from "@/ui/cn";
import { MoveMenu } from "./MoveMenu";

type Props = {
  id: string;
  order: readonly string[];
  /** The neighbours, to draw one border around cards of the same batch. */
  above: string | undefined;
  below: string | undefined;
  onOpen: (id: string) => void;
};

export const Card = memo(function Card({ id, order, above, below, onOpen }: Props) {
  const task = useWorld((world) => world.tasks.get(id));
  const doing = useWorld((world) => world.doing.get(id));
  const isSelected = useSelection((selection) => selection.ids.has(id));
  const isSelecting = useSelection((selection) => selection.ids.size > 0);
  const isCursor = useSelection((selection) => selection.cursor === id);
  const isWanted = useSelection((selection) => selection.wanted === id);
  const card = useRef<HTMLElement>(null);
  const busy = task ? isBusy(task) : false;
  const batch = useWorld(batchOf(id));

  useEffect(() => {
    if (!isWanted || !card.current) return;
    card.current.focus({ preventScroll: true });
    select.arrived();
  }, [isWanted]);

  useLayoutEffect(() => {
    const element = card.current;
    select.drawn(id);
    return () => {
      if (element?.contains(document.activeElement)) select.lose(id);
    };
  }, [id]);

  useEffect(() => {
    const element = card.current;
    if (!element || busy) return;
    return draggable({ element, getInitialData: () => ({ card: id }) });
  }, [id, busy]);

  if (!task) return null;
  const word = busy && doing?.batch === batch ? (doing?.state ?? task.word) : task.word;

  const tick = (event: MouseEvent<HTMLInputElement>) => {
    event.stopPropagation();
    if (event.shiftKey) select.extend(id, order);
    else select.toggle(id);
  };
  const click = (event: MouseEvent) => {
    if (event.target instanceof Element && event.target.closest("button, input, label, a, [role='menu']"))
      return;
    select.at(id);
    if (event.shiftKey) select.extend(id, order);
    else if (event.ctrlKey || event.metaKey) select.toggle(id);
    else onOpen(id);
  };

  return (
    <div className="relative px-2 pb-1.5">
      <GroupFrame batch={batch} above={above} below={below} />
      <article
        ref={card}
        aria-label={task.title}
        tabIndex={isCursor ? 0 : -1}
        data-task={id}
        onClick={click}
        onFocus={() => select.at(id)}
        className={cn(
          "group relative cursor-pointer rounded-lg border border-line bg-raised px-3 pb-2.5 pt-1.5 focus-within:border-accent-text hover:border-line-strong focus:outline-2 focus:outline-offset-1 focus:outline-accent-text",
          isSelected && "border-accent bg-accent-soft hover:border-accent",
        )}
      >
        <div className="flex h-6 items-center gap-1.5">
          <label
            className={cn(
              "-my-1 -ml-1 grid size-6 shrink-0 place-items-center",
              !isSelecting && "card-tick",
              "touch:size-8",
            )}
          >
            <input
              type="checkbox"
              className="tick"
              aria-label={`Select ${task.title}`}
              checked={isSelected}
              onClick={tick}
              onChange={() => undefined}
            />
          </label>
          <span className={cn("font-mono text-2xs text-fg-3", !isSelecting && "card-key")}>{task.key}</span>
          {batch ? <span className="text-2xs text-accent-text">Batch {task.batch?.number}</span> : null}
          <span className="flex-1" />
          <span className="card-tools flex">
            <RunButton id={id} title={task.title} busy={busy} />
            <MoveMenu id={id} title={task.title} order={order} />
          </span>
        </div>
        <h3 dir="auto" className="line-clamp-3 break-words text-sm font-medium">
          {task.title}
        </h3>
        {busy ? (
          <p className="mt-1 flex h-4 gap-2 text-xs text-fg-3">
            <span className="min-w-0 flex-1 truncate">
              {doing?.action ??
                doing?.queued ??
                (word === "queued" ? <Queued task={task} /> : (meanwhile[word] ?? "\u00a0"))}
            </span>
            {doing?.node ? (
              <span className="max-w-24 shrink-0 truncate font-mono" title={`Runs on ${doing.node}`}>
                {doing.node}
              </span>
            ) : null}
            {doing?.since ? <Since at={doing.since} /> : null}
          </p>
        ) : null}
        <div className="mt-1.5 flex flex-wrap items-center gap-1 empty:hidden">
          {word === "pending" ? null : <StateBadge word={word} isSteady={busy} />}
          <Priority word={task.priority} />
          {task.labels.slice(0, 3).map((label) => (
            <Tag key={label}>{label}</Tag>
          ))}
          {task.dependsOn.length > 0 ? (
            <span
              className="inline-flex items-center gap-0.5 text-2xs text-fg-3"
              title={`Needs ${task.dependsOn.length} tasks`}
            >
              <GitFork className="size-3" aria-hidden />
              <span className="sr-only">Needs </span>
              {task.dependsOn.length}
            </span>
          ) : null}
          {doing && doing.coming.length > 0 && busy ? (
            <span className="inline-flex items-center gap-1 text-2xs text-attention">
              <TriangleAlert className="size-3" aria-hidden />
              Likely conflict with {doing.coming.join(", ")}
            </span>
          ) : null}
        </div>
      </article>
    </div>
  );
});

/** What is said of a task whose agent says nothing. */
const meanwhile: Record<string, string> = {
  waiting: "Needs your approval",
  limited: "The agent reached its usage limit",
  running: "The agent is starting",
  stopping: "The agent is stopping",
  built: "Weaving into the batch",
};

/** What a queued task waits for. */
function Queued({ task }: { task: BoardTask }) {
  const needed = useWorld((world) =>
    task.dependsOn
      .flatMap((id) => world.tasks.get(id) ?? [])
      .filter((each) => each.column !== "done")
      .map((each) => each.key)
      .join(", "),
  );
  return needed === "" ? "Waiting for a slot" : `Waiting for ${needed}`;
}

function Since({ at }: { at: string }) {
  const now = useNow(true);
  return <span className="shrink-0">{duration((now - Date.parse(at)) / 1_000)}</span>;
}

const priorities = {
  critical: { word: "Critical", icon: ChevronsUp, tone: "text-failed" },
  high: { word: "High", icon: ArrowUp, tone: "text-attention" },
  low: { word: "Low", icon: ArrowDown, tone: "text-fg-3" },
};

function Priority({ word }: { word: string }) {
  const look = priorities[word as keyof typeof priorities];
  if (!look) return null;
  const Icon = look.icon;
  return (
    <span className="inline-flex items-center gap-0.5 text-2xs text-fg-2">
      <Icon className={cn("size-3", look.tone)} aria-hidden />
      {look.word}
    </span>
  );
}

function RunButton({ id, title, busy }: { id: string; title: string; busy: boolean }) {
  const isStarting = useStarting((starting) => starting.isBusy);
  if (busy) return null;
  return (
    <button
      type="button"
      aria-label={`Run ${title}`}
      title="Run this task alone"
      disabled={isStarting}
      onClick={() => void startBatch({ taskIds: [id] })}
      className="grid size-6 place-items-center rounded-md text-fg-3 hover:bg-hover hover:text-fg disabled:opacity-50 touch:size-8"
    >
      <Play className="size-3.5" aria-hidden />
    </button>
  );
}

/** The batch that has a task or had it, until it is over. */
function batchOf(id: string | undefined) {
  return ({ tasks, batches }: World): number | undefined => {
    const task = id ? tasks.get(id) : undefined;
    if (!task?.batch) return undefined;
    const batch = batches.get(task.batch.id);
    return isBusy(task) || (batch && !isOver(batch)) ? task.batch.id : undefined;
  };
}

/** The border around neighbours of the same batch. */
function GroupFrame({
  batch,
  above,
  below,
}: {
  batch: number | undefined;
  above: string | undefined;
  below: string | undefined;
}) {
  const joinsAbove = useWorld(batchOf(above)) === batch;
  const joinsBelow = useWorld(batchOf(below)) === batch;
  if (!batch) return null;
  return (
    <div
      aria-hidden
      className={cn(
        "pointer-events-none absolute inset-x-1 -top-[3px] bottom-[3px] border-x border-accent-text/60",
        !joinsAbove && "rounded-t-xl border-t",
        !joinsBelow && "rounded-b-xl border-b",
      )}
    />
  );
}
