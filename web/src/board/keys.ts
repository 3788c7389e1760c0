// The board by keyboard alone.

import { useMemo } from "react";
import { type Keys, useHotkeys } from "@/keys/hotkeys";
import { useWorld } from "@/live/world";
import { openRun } from "@/shell/overlays";
import { columnNames, type Columns } from "./columns";
import { shift } from "./move";
import { select, useSelection } from "./selection";
import { startBatch } from "./start";

/** The card that is reached from another one by going down and right. */
export function neighbour(columns: Columns, from: string | null, down: number, right: number): string | undefined {
  const at = columnNames.findIndex((name) => from !== null && columns[name].includes(from));
  if (at < 0 || from === null) return columnNames.map((name) => columns[name][0]).find((id) => id !== undefined);
  const here = columns[columnNames[at] ?? "todo"];
  const row = here.indexOf(from);
  if (right === 0) return here[Math.min(here.length - 1, Math.max(0, row + down))];
  for (let next = at + right; next >= 0 && next < columnNames.length; next += right) {
    const there = columns[columnNames[next] ?? "todo"];
    if (there.length > 0) return there[Math.min(row, there.length - 1)];
  }
  return from;
}

function columnAround(id: string): readonly string[] {
  const { columns } = useWorld.getState();
  return columnNames.map((name) => columns[name]).find((ids) => ids.includes(id)) ?? [];
}

export function useBoardKeys(onOpen: (id: string) => void) {
  const keys = useMemo<Keys>(() => {
    const cursor = () => {
      const { cursor: id } = useSelection.getState();
      return id && useWorld.getState().tasks.has(id) ? id : null;
    };
    const go = (down: number, right: number) => () => {
      const to = neighbour(useWorld.getState().columns, cursor(), down, right);
      if (to) select.go(to);
    };
    const stretch = (down: number) => () => {
      const from = cursor();
      if (!from) return;
      if (useSelection.getState().anchor === null) select.toggle(from);
      const to = neighbour(useWorld.getState().columns, from, down, 0);
      if (!to) return;
      select.extend(to, columnAround(to));
      select.go(to);
    };
    const withCursor = (act: (id: string) => void) => () => {
      const id = cursor();
      if (id) act(id);
    };
    const withSelection = (act: (ids: string[]) => void) => () => {
      const { ids } = useSelection.getState();
      if (ids.size > 0) act([...ids]);
    };
    return {
      ArrowDown: go(1, 0),
      ArrowUp: go(-1, 0),
      ArrowRight: go(0, 1),
      ArrowLeft: go(0, -1),
      j: go(1, 0),
      k: go(-1, 0),
      l: go(0, 1),
      h: go(0, -1),
      "shift+ArrowDown": stretch(1),
      "shift+ArrowUp": stretch(-1),
      "shift+j": stretch(1),
      "shift+k": stretch(-1),
      x: withCursor(select.toggle),
      Enter: withCursor(onOpen),
      "ctrl+a": withCursor((id) => select.toggleAll(columnAround(id))),
      Escape: () => select.clear(),
      "alt+ArrowUp": withCursor((id) => shift(id, -1)),
      "alt+ArrowDown": withCursor((id) => shift(id, 1)),
      r: withCursor((id) => void startBatch({ taskIds: [id] })),
      m: withCursor((id) => {
        const button = document.querySelector<HTMLElement>(`[data-move="${id}"]`);
        button?.focus();
        button?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
      }),
      p: withSelection((taskIds) => void startBatch({ taskIds, mode: "parallel" })),
      q: withSelection((taskIds) => void startBatch({ taskIds, mode: "queue" })),
      o: withSelection((taskIds) => openRun(taskIds)),
    };
  }, [onOpen]);
  useHotkeys(keys);
}
