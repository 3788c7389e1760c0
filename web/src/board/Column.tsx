// A column of cards; draws only those that are seen.

import { dropTargetForElements } from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
import { autoScrollForElements } from "@atlaskit/pragmatic-drag-and-drop-auto-scroll/element";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useRef, useState } from "react";
import { select, useSelection } from "@/app/selection";
import { type ColumnName, columnTitles } from "@/live/columns";
import { Checkbox } from "@/ui/Checkbox";
import { cn } from "@/ui/cn";
import { Card } from "./Card";
import { moveTo } from "./move";

const hints: Record<ColumnName, string> = {
  todo: "Press C for a new task, or drop a Markdown plan here.",
  in_progress: "No task is running.",
  needs_you: "Nothing needs you.",
  done: "Nothing is done yet.",
  cancelled: "Nothing was cancelled.",
};

type Props = {
  name: ColumnName;
  /** The cards that are shown, in their order. */
  ids: readonly string[];
  /** How many there are, shown or not. */
  total: number;
  onOpen: (id: string) => void;
};

export const Column = memo(function Column({ name, ids, total, onOpen }: Props) {
  const title = columnTitles[name];
  const list = useRef<HTMLDivElement>(null);
  const wanted = useSelection((selection) => selection.wanted);
  const cursor = useSelection((selection) => selection.cursor);
  const isSelecting = useSelection((selection) => selection.ids.size > 0);
  const cursorAt = cursor ? ids.indexOf(cursor) : -1;

  const rows = useVirtualizer({
    count: ids.length,
    getScrollElement: () => list.current,
    estimateSize: () => 88,
    getItemKey: (at) => ids[at] ?? at,
    overscan: 6,
    // Room for the batch controls, which lie over the last cards.
    paddingEnd: isSelecting ? 104 : 0,
    rangeExtractor: (range) => {
      const seen = defaultRangeExtractor(range);
      // The card that has the focus stays drawn, or the focus would be lost.
      return cursorAt < 0 || seen.includes(cursorAt) ? seen : [...seen, cursorAt].sort((a, b) => a - b);
    },
  });

  useEffect(() => {
    const at = wanted ? ids.indexOf(wanted) : -1;
    if (at >= 0) rows.scrollToIndex(at, { align: "auto" });
  }, [wanted, ids, rows]);

  const line = useDrop(name, list, (y) => {
    const items = rows.getVirtualItems();
    const next = items.find((item) => y < item.start + item.size / 2);
    const last = items.at(-1);
    return next
      ? { before: ids[next.index], at: next.start }
      : { before: undefined, at: last ? last.end : 0 };
  });

  return (
    <section
      aria-label={title}
      className={cn(
        "flex min-h-0 w-[84vw] max-w-[380px] shrink-0 snap-start flex-col rounded-lg bg-surface sm:w-auto sm:min-w-[236px] sm:flex-1 sm:shrink",
        line !== null && "ring-1 ring-accent-text",
      )}
    >
      <header className="group flex h-9 shrink-0 items-center gap-2 px-3">
        <h2 className="text-sm font-semibold">{title}</h2>
        <span className="text-fg-3">{ids.length < total ? `${ids.length} of ${total}` : total}</span>
        <span className="flex-1" />
        <SelectAll ids={ids} title={title} />
      </header>
      <div
        ref={list}
        className="relative min-h-0 flex-1 overflow-y-auto overscroll-contain pt-1 [scrollbar-width:thin]"
      >
        {ids.length === 0 ? (
          <p className="px-3 py-2 text-xs text-fg-3">
            {total > 0 ? "No task matches the filter." : hints[name]}
          </p>
        ) : null}
        <div className="relative w-full" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const id = ids[row.index];
            if (!id) return null;
            return (
              <div
                key={row.key}
                data-index={row.index}
                ref={rows.measureElement}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <Card
                  id={id}
                  order={ids}
                  above={ids[row.index - 1]}
                  below={ids[row.index + 1]}
                  onOpen={onOpen}
                />
              </div>
            );
          })}
          {line !== null ? (
            <div
              aria-hidden
              className="pointer-events-none absolute inset-x-2 z-10 h-0.5 -translate-y-1 rounded bg-accent-text"
              style={{ top: line }}
            />
          ) : null}
        </div>
      </div>
    </section>
  );
});

function SelectAll({ ids, title }: { ids: readonly string[]; title: string }) {
  const isSelecting = useSelection((selection) => selection.ids.size > 0);
  const chosen = useSelection((selection) =>
    ids.reduce((count, id) => count + (selection.ids.has(id) ? 1 : 0), 0),
  );
  if (ids.length === 0) return null;
  return (
    <label
      className={cn(
        "grid size-6 place-items-center opacity-0 focus-within:opacity-100 group-hover:opacity-100 touch:opacity-100",
        isSelecting && "opacity-100",
      )}
    >
      <Checkbox
        aria-label={`Select all in ${title}`}
        checked={chosen === ids.length}
        indeterminate={chosen > 0 && chosen < ids.length}
        onChange={() => select.toggleAll(ids)}
      />
    </label>
  );
}

type Spot = { before: string | undefined; at: number };

/** Takes cards that are dropped; where the line is drawn meanwhile, or null. */
function useDrop(
  name: ColumnName,
  list: React.RefObject<HTMLDivElement | null>,
  spotAt: (y: number) => Spot,
): number | null {
  const [line, setLine] = useState<number | null>(null);
  const find = useRef(spotAt);
  find.current = spotAt;
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const spot = (clientY: number) =>
      find.current(clientY - element.getBoundingClientRect().top + element.scrollTop);
    const stopDrop = dropTargetForElements({
      element,
      canDrop: ({ source }) => typeof source.data.card === "string",
      onDrag: ({ location }) => setLine(spot(location.current.input.clientY).at),
      onDragLeave: () => setLine(null),
      onDrop: ({ source, location }) => {
        setLine(null);
        const id = source.data.card as string;
        const { ids } = useSelection.getState();
        void moveTo(ids.has(id) ? [...ids] : [id], name, spot(location.current.input.clientY).before);
      },
    });
    const stopScroll = autoScrollForElements({ element });
    return () => {
      stopDrop();
      stopScroll();
    };
  }, [name, list]);
  return line;
}
