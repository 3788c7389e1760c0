import { describe, expect, it } from "vitest";
import type { BoardTask } from "@/api/client";
import { arrange } from "@/live/columns";
import { choices, filterIn, isEmpty, passing, searchWith, shownColumns, toggledIn } from "./filter";

function task(key: string, more: Partial<BoardTask> = {}): BoardTask {
  return {
    id: `id${key}`,
    key,
    title: `Task ${key}`,
    labels: [],
    status: "pending",
    column: "todo",
    word: "pending",
    dependsOn: [],
    files: [],
    position: Number(key),
    batch: null,
    ...more,
  } as unknown as BoardTask;
}

const tasks = new Map(
  [
    task("1", { title: "Cache images", labels: ["backend", "perf"] }),
    task("2", {
      title: "Show images",
      labels: ["frontend"],
      column: "in_progress",
      word: "running",
      batch: { id: 7, number: 7, status: "running", outcome: null },
    }),
    task("3", {
      title: "Sort trees",
      labels: ["backend"],
      column: "needs_you",
      word: "failed",
      batch: { id: 6, number: 6, status: "failed", outcome: "failed" },
    }),
  ].map((each) => [each.id, each]),
);

function found(search: string): string[] {
  const passes = passing(filterIn(search));
  return [...tasks.values()].filter(passes).map((each) => each.key);
}

describe("the filter of the board", () => {
  it("stands in the address and comes back from there", () => {
    const search = "?tab=x&q=some+words&status=failed&label=a%26b&label=c&batch=7";
    expect(filterIn(searchWith(filterIn(search), search))).toEqual({
      text: "some words",
      status: ["failed"],
      label: ["a&b", "c"],
      batch: ["7"],
    });
    expect(searchWith(filterIn(""), search)).toBe("tab=x");
  });

  it("finds every word anywhere, any of a list, and all of several lists", () => {
    expect(found("")).toEqual(["1", "2", "3"]);
    expect(found("?q=IMAGES")).toEqual(["1", "2"]);
    expect(found("?q=images+perf")).toEqual(["1"]);
    expect(found("?label=backend&label=frontend")).toEqual(["1", "2", "3"]);
    expect(found("?label=backend&status=failed")).toEqual(["3"]);
    expect(found("?batch=7")).toEqual(["2"]);
    expect(found("?batch=8")).toEqual([]);
  });

  it("keeps columns that did not change, so that they are not drawn again", () => {
    const columns = arrange(tasks);
    const filter = filterIn("?label=backend");
    const first = shownColumns(columns, tasks, filter, columns);
    expect(first.todo).toEqual(["id1"]);
    expect(first.in_progress).toEqual([]);
    expect(shownColumns(columns, new Map(tasks), filter, first)).toBe(first);
    expect(shownColumns(columns, tasks, filterIn("?q="), first)).toBe(columns);
  });

  it("offers what tasks have, and what is chosen already", () => {
    const chosen = toggledIn(filterIn(""), "label", "gone");
    expect(isEmpty(chosen)).toBe(false);
    expect(isEmpty(toggledIn(chosen, "label", "gone"))).toBe(true);
    expect(choices(tasks.values(), chosen)).toEqual({
      status: ["failed", "pending", "running"],
      label: ["backend", "frontend", "gone", "perf"],
      batch: ["7", "6"],
    });
  });
});
