// The board by keyboard alone.

import { useMemo, useRef } from "react";
import { startBatch } from "@/actions/start";
import { openRun } from "@/app/overlays";
import { select, useSelection } from "@/app/selection";
import { type Keys, useHotkeys } from "@/keys/hotkeys";
import { type Columns, columnNames } from "@/live/columns";
import { shift } from "./move";

/** The card that is reached from another one by going down and right. */
export function neighbour(
  columns: Columns,
  from: string | null,
  down: number,
  right: number,
): string | undefined {
  const at = columnNames.findIndex((name) => from !== null && columns[name].includes(from));
  if (at < 0 || from === null)
    return columnNames.map((name) => columns[name][0]).find((id) => id !== undefined);
  const here = columns[columnNames[at] ?? "todo"];
  const row = here.indexOf(from);
  if (right === 0) return here[Math.min(here.length - 1, Math.max(0, row + down))];
  for (let next = at + right; next >= 0 && next < columnNames.length; next += right) {
    const there = columns[columnNames[next] ?? "todo"];
    if (there.length > 0) return there[Math.min(row, there.length - 1)];
  }
  return from;
}

function columnAround(columns: Columns, id: string): readonly string[] {
  return columnNames.map((name) => columns[name]).find((ids) => ids.includes(id)) ?? [];
}

/** The card that has the focus, itself or something in it: what is done to a card is done to one that is seen to be meant. */
export function focusedCard(): string | null {
  return document.activeElement?.closest("[data-task]")?.getAttribute("data-task") ?? null;
}

export function useBoardKeys(onOpen: (id: string) => void, shown: Columns) {
  const latest = useRef(shown);
  latest.current = shown;
  const keys = useMemo<Keys>(() => {
    const around = (id: string) => columnAround(latest.current, id);
    const cursor = () => {
      const { cursor: id } = useSelection.getState();
      return id && around(id).length > 0 ? id : null;
    };
    const go = (down: number, right: number) => () => {
      const to = neighbour(latest.current, cursor(), down, right);
      if (to) select.go(to);
    };
    const stretch = (down: number) => () => {
      const from = cursor();
      if (!from) return;
      if (useSelection.getState().anchor === null) select.toggle(from);
      const to = neighbour(latest.current, from, down, 0);
      if (!to) return;
      select.extend(to, around(to));
      select.go(to);
    };
    const withCard = (act: (id: string) => void) => () => {
      const id = focusedCard();
      if (!id || around(id).length === 0) return false;
      act(id);
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
      x: withCard(select.toggle),
      Enter: withCard(onOpen),
      "ctrl+a": withCard((id) => select.toggleAll(around(id))),
      Escape: () => select.clear(),
      "alt+ArrowUp": withCard((id) => shift(id, -1, around(id))),
      "alt+ArrowDown": withCard((id) => shift(id, 1, around(id))),
      r: withCard((id) => void startBatch({ taskIds: [id] })),
      m: withCard((id) => {
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
