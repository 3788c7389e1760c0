// Which cards are selected, and which one the keyboard is at. Survives scrolling and live updates.

import { create } from "zustand";
import { useWorld } from "@/live/world";

export type Selection = {
  ids: ReadonlySet<string>;
  /** Where a range begins. */
  anchor: string | null;
  /** The card that keys are for. */
  cursor: string | null;
  /** The card that should have the focus as soon as it is drawn. */
  wanted: string | null;
  /** The card that had the focus when it was taken off the page; it gets it back where it is drawn next. */
  lost: string | null;
};

export const noSelection: Selection = {
  ids: new Set(),
  anchor: null,
  cursor: null,
  wanted: null,
  lost: null,
};

/** Adds a card or takes it out. */
export function toggled(selection: Selection, id: string): Selection {
  const ids = new Set(selection.ids);
  if (!ids.delete(id)) ids.add(id);
  return { ...selection, ids, anchor: id, cursor: id };
}

/** Selects all cards from the anchor to this one, where both are in the same column; else this one. */
export function extended(selection: Selection, to: string, order: readonly string[]): Selection {
  const from = selection.anchor === null ? -1 : order.indexOf(selection.anchor);
  const end = order.indexOf(to);
  if (end < 0) return selection;
  if (from < 0) return { ...selection, ids: new Set([...selection.ids, to]), anchor: to, cursor: to };
  const range = order.slice(Math.min(from, end), Math.max(from, end) + 1);
  return { ...selection, ids: new Set([...selection.ids, ...range]), cursor: to };
}

/** Selects all of some cards, or none of them if all are selected. */
export function toggledAll(selection: Selection, order: readonly string[]): Selection {
  const ids = new Set(selection.ids);
  const isFull = order.every((id) => ids.has(id));
  for (const id of order) {
    if (isFull) ids.delete(id);
    else ids.add(id);
  }
  return { ...selection, ids };
}

/** Forgets cards that are no longer there. */
export function kept(selection: Selection, isThere: (id: string) => boolean): Selection {
  const gone = [...selection.ids].filter((id) => !isThere(id));
  const cursor = selection.cursor && isThere(selection.cursor) ? selection.cursor : null;
  if (gone.length === 0 && cursor === selection.cursor) return selection;
  return { ...selection, ids: new Set([...selection.ids].filter(isThere)), cursor };
}

/** Whether nothing else has the focus. */
function isFree(active: Element | null): boolean {
  return active === null || active === document.body || active.id === "page";
}

export const useSelection = create<Selection>(() => noSelection);

export const select = {
  toggle: (id: string) => useSelection.setState((before) => toggled(before, id)),
  extend: (to: string, order: readonly string[]) =>
    useSelection.setState((before) => extended(before, to, order)),
  toggleAll: (order: readonly string[]) => useSelection.setState((before) => toggledAll(before, order)),
  clear: () => useSelection.setState((before) => ({ ...noSelection, cursor: before.cursor })),
  keep: (isThere: (id: string) => boolean) => useSelection.setState((before) => kept(before, isThere)),
  /** Brings the keyboard to a card. */
  go: (id: string) => useSelection.setState({ cursor: id, wanted: id, lost: null }),
  at: (id: string) => useSelection.setState({ cursor: id, lost: null }),
  lose: (id: string) => useSelection.setState({ lost: id }),
  /** Hears that a card is drawn, which may be the one that had the focus. */
  drawn: (id: string) => {
    if (useSelection.getState().lost === id && isFree(document.activeElement)) select.go(id);
  },
  arrived: () => useSelection.setState({ wanted: null }),
};

// Another project has other cards.
useWorld.subscribe((now, before) => {
  if (now.project !== before.project) useSelection.setState(noSelection);
});
