// Where the tasks of a batch stand in its graph: waves are columns, and lines cross as little as is cheap to find.

import type { components } from "../api/schema";

export type Order = components["schemas"]["OrderView"];

export type Placed = { id: string; wave: number; x: number; y: number; isCritical: boolean };
export type Joined = { from: string; to: string; kind: string; isCritical: boolean };
export type Layout = { nodes: Placed[]; edges: Joined[]; width: number; height: number };

export const NODE = { width: 224, height: 60 };
const GAP = { x: 72, y: 18 };
/** Room for the title of a wave. */
const TOP = 36;

/** Places every task of an order. */
export function layOut(order: Order): Layout {
  const critical = new Set(order.criticalPath);
  const steps = new Set(order.criticalPath.slice(1).map((to, i) => `${order.criticalPath[i]}\n${to}`));
  const columns = sorted(order);
  const tallest = Math.max(1, ...columns.map((column) => column.length));
  const pitch = NODE.height + GAP.y;
  const nodes = columns.flatMap((column, wave) =>
    column.map((id, row) => ({
      id,
      wave,
      x: wave * (NODE.width + GAP.x),
      y: TOP + ((tallest - column.length) / 2 + row) * pitch,
      isCritical: critical.has(id),
    })),
  );
  const edges = order.edges.map((edge) => ({ ...edge, isCritical: steps.has(`${edge.from}\n${edge.to}`) }));
  return {
    nodes,
    edges: shown(edges),
    width: columns.length * (NODE.width + GAP.x) - GAP.x,
    height: TOP + tallest * pitch - GAP.y,
  };
}

/** Each wave in the order of where its predecessors stand. */
function sorted(order: Order): string[][] {
  const before = new Map<string, string[]>();
  for (const edge of order.edges) {
    before.set(edge.to, [...(before.get(edge.to) ?? []), edge.from]);
  }
  const place = new Map<string, number>();
  return order.waves.map((wave) => {
    const rank = (id: string, i: number) => {
      const places = (before.get(id) ?? []).flatMap((from) => place.get(from) ?? []);
      if (places.length === 0) return wave.length > 1 ? i / (wave.length - 1) : 0.5;
      return places.reduce((sum, at) => sum + at, 0) / places.length;
    };
    const ranked = wave.map((id, i) => ({ id, rank: rank(id, i), i }));
    ranked.sort((a, b) => a.rank - b.rank || a.i - b.i);
    const column = ranked.map((entry) => entry.id);
    for (const [row, id] of column.entries())
      place.set(id, column.length > 1 ? row / (column.length - 1) : 0.5);
    return column;
  });
}

/** Leaves out `after` edges that a chain of others already tells; `needs` edges are always shown. */
function shown(edges: Joined[]): Joined[] {
  const next = new Map<string, string[]>();
  for (const edge of edges) next.set(edge.from, [...(next.get(edge.from) ?? []), edge.to]);
  const isTold = (edge: Joined) => {
    const seen = new Set<string>();
    const open = (next.get(edge.from) ?? []).filter((to) => to !== edge.to);
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (at === edge.to) return true;
      if (seen.has(at)) continue;
      seen.add(at);
      open.push(...(next.get(at) ?? []));
    }
    return false;
  };
  // Beyond this many the search costs more than the lines do.
  if (edges.length > 600) return edges;
  return edges.filter((edge) => edge.kind === "needs" || edge.isCritical || !isTold(edge));
}

/** Every task that waits for one of these, directly or not, by `needs` edges only. */
export function dependents(order: Order, of: Iterable<string>): Set<string> {
  const found = new Set<string>();
  const open = [...of];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const edge of order.edges) {
      if (edge.from !== at || edge.kind !== "needs" || found.has(edge.to)) continue;
      found.add(edge.to);
      open.push(edge.to);
    }
  }
  return found;
}
