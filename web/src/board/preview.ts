// What a batch of some tasks will look like, as far as the board can tell before the server plans it.

import type { BoardTask } from "@/api/client";

export type Preview = {
  /** Tasks that can start together, in order. */
  waves: BoardTask[][];
  /** Pairs that declare the same file, so that one comes after the other. */
  collisions: { first: BoardTask; then: BoardTask; file: string }[];
  /** Tasks that are needed, not done and not selected. */
  missing: BoardTask[];
};

export function preview(chosen: readonly BoardTask[], all: ReadonlyMap<string, BoardTask>): Preview {
  const inside = new Set(chosen.map((task) => task.id));
  const needed = chosen.flatMap((task) => task.dependsOn).flatMap((id) => all.get(id) ?? []);
  const missing = [...new Set(needed)].filter((task) => !inside.has(task.id) && task.status !== "completed");
  const left = new Set(chosen);
  const waves: BoardTask[][] = [];
  while (left.size > 0) {
    const waits = new Set([...left].map((task) => task.id));
    const wave = [...left].filter((task) => !task.dependsOn.some((id) => waits.has(id)));
    if (wave.length === 0) break;
    for (const task of wave) left.delete(task);
    waves.push(wave);
  }
  return { waves, collisions: collisions(chosen), missing };
}

function collisions(chosen: readonly BoardTask[]): Preview["collisions"] {
  const first = new Map<string, BoardTask>();
  const found: Preview["collisions"] = [];
  for (const task of chosen) {
    for (const file of task.files) {
      const other = first.get(file);
      if (other && !task.dependsOn.includes(other.id)) found.push({ first: other, then: task, file });
      else if (!other) first.set(file, task);
    }
  }
  return found;
}
