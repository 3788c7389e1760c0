// Folders of the board import each other in one direction only. Tests may use what they like.

import { expect, test } from "vitest";

const sources = import.meta.glob<string>(["./*/**/*.{ts,tsx}", "!./**/*.test.{ts,tsx}", "!./**/*.d.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});

/** Which folders each folder imports from. */
function folderGraph(files: Record<string, string>): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const [path, text] of Object.entries(files)) {
    const folder = path.split("/")[1] as string;
    const uses = graph.get(folder) ?? new Set();
    graph.set(folder, uses);
    for (const [, other] of text.matchAll(/["'](?:@|\.\.)\/([\w-]+)\/[\w./-]+["']/g)) {
      if (other !== folder) uses.add(other as string);
    }
  }
  return graph;
}

/** The folders that are left when those go, again and again, that import from none of the others. */
function inCycles(graph: Map<string, Set<string>>): string[] {
  const left = new Map(graph);
  for (;;) {
    const free = [...left].find(([, uses]) => ![...uses].some((other) => left.has(other)));
    if (!free) return [...left.keys()].sort();
    left.delete(free[0]);
  }
}

test("no folder imports from one that imports from it", () => {
  const graph = folderGraph(sources);
  expect(graph.get("shell")?.has("board")).toBe(true);
  expect(inCycles(graph)).toEqual([]);
});

test("a cycle is found, over several folders too", () => {
  const graph = folderGraph({
    "./a/one.ts": 'import { b } from "@/b/two";',
    "./b/two.ts": 'lazy(() => import("../c/three"));',
    "./c/three.ts": 'import { a } from "@/a/one";',
    "./d/four.ts": 'import { a } from "@/a/one";',
  });
  expect(inCycles(graph)).toEqual(["a", "b", "c", "d"]);
});
