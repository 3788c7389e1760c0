// Columns follow the words of the server.

import { expect, test } from "vitest";
import type { BoardTask } from "@/api/client";
import { columnOf, spread, wordOf } from "./columns";

/** Written as `status batch-status/outcome -> column word`. */
function check(text: string) {
  const [left = "", right] = text.split(" -> ");
  const [status, last] = left.split(" ");
  const [word, outcome] = (last ?? "").split("/");
  const batch = last ? { id: 1, number: 1, status: word as string, outcome: outcome ?? null } : null;
  const task = { status: status as BoardTask["status"], batch };
  expect(`${columnOf(task)} ${wordOf(task)}`).toBe(right);
}

test("a task that no batch had is where its status says", () => {
  check("pending -> todo pending");
  check("in_progress -> in_progress in_progress");
  check("completed -> done completed");
  check("cancelled -> cancelled cancelled");
  check("skipped -> cancelled skipped");
  check("failed -> needs_you failed");
});

test("a task of a batch that runs is where the batch says", () => {
  check("pending queued -> in_progress queued");
  check("in_progress running -> in_progress running");
  check("in_progress limited -> in_progress limited");
  check("pending waiting -> needs_you waiting");
});

test("a task that did not make it needs a person", () => {
  for (const outcome of ["conflicted", "invalid", "blocked"])
    check(`pending skipped/${outcome} -> needs_you ${outcome}`);
  for (const outcome of ["failed", "timed_out"]) check(`pending failed/${outcome} -> needs_you ${outcome}`);
  check("pending cancelled/cancelled -> cancelled cancelled");
  for (const outcome of ["conflicted", "failed"])
    check(`in_progress failed/${outcome} -> needs_you ${outcome}`);
  check("in_progress completed/merged -> done completed");
  check("completed completed/merged -> done completed");
  check("completed completed/no_changes -> done no_changes");
});

test("what a person said last of a task counts more than its last batch", () => {
  check("completed failed/failed -> done completed");
  check("cancelled failed/failed -> cancelled cancelled");
});

test("places between two others are found where there is room", () => {
  expect([
    spread(1, 2, 1),
    spread(undefined, 2, 1),
    spread(2, undefined, 1),
    spread(undefined, undefined, 1),
  ]).toEqual([[1.5], [1], [3], [1]]);
  expect([
    spread(undefined, 3, 2),
    spread(0, 3, 2),
    spread(1, 1, 1),
    spread(1, 1 + Number.EPSILON, 1),
  ]).toEqual([[1, 2], [1, 2], undefined, undefined]);
});
