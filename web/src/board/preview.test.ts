// A batch is foreseen from what its tasks say.

import { expect, test } from "vitest";
import type { BoardTask } from "@/api/client";
import { preview } from "./preview";

/** Tasks are written as `id needs,needs file,file`. */
function tasks(...lines: string[]): BoardTask[] {
  return lines.map((line) => {
    const [id = "", needs = "", files = ""] = line.split(" ");
    const list = (text: string) => text.split(",").filter((word) => word && word !== "-");
    return { id, dependsOn: list(needs), files: list(files), status: "pending" } as unknown as BoardTask;
  });
}

function shown(chosen: BoardTask[], all = chosen) {
  const seen = preview(chosen, new Map(all.map((task) => [task.id, task])));
  return {
    waves: seen.waves.map((wave) => wave.map((task) => task.id).join("")).join(" "),
    collisions: seen.collisions.map((pair) => `${pair.first.id}${pair.then.id}:${pair.file}`),
    missing: seen.missing.map((task) => task.id),
  };
}

test("tasks come in waves by what they need", () => {
  expect(shown(tasks("a", "b", "c a", "d c,b")).waves).toBe("ab c d");
});

test("tasks that declare the same file come one after the other", () => {
  expect(shown(tasks("a - x", "b - x,y", "c a x")).collisions).toEqual(["ab:x"]);
});

test("what is needed and not selected is named", () => {
  const all = tasks("a", "b a");
  expect(shown(all.slice(1), all).missing).toEqual(["a"]);
});
