// Cards have the names that tests and screen readers rely on.

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { BoardTask } from "@/api/client";
import { change } from "@/live/world";
import { Card } from "./Card";
import { noSelection, useSelection } from "./selection";

const at = "2026-01-01T00:00:00Z";

function task(key: string, more: Partial<BoardTask> = {}): BoardTask {
  return {
    id: key, key, projectId: "p", title: `Task ${key}`, description: "", status: "pending", priority: "high", labels: ["core"], dependsOn: [], files: [],
    position: Number(key), createdAt: at, updatedAt: at, ...more,
  };
}

function show(tasks: BoardTask[], onOpen = vi.fn()) {
  change({ type: "loaded", project: "p", tasks, batches: [] });
  const order = tasks.map((each) => each.id);
  render(
    <>
      {order.map((id, index) => (
        <Card key={id} id={id} order={order} above={order[index - 1]} below={order[index + 1]} onOpen={onOpen} />
      ))}
    </>,
  );
  return onOpen;
}

beforeEach(() => useSelection.setState(noSelection));
afterEach(cleanup);

test("a card is an article named by its title, with a checkbox of its own", () => {
  show([task("1")]);
  expect(screen.getByRole("article", { name: "Task 1" })).toBeTruthy();
  expect(screen.getByRole("checkbox", { name: "Select Task 1" })).toBeTruthy();
  expect(screen.getByText("High")).toBeTruthy();
});

test("clicking the body opens the task, clicking the checkbox does not", () => {
  const onOpen = show([task("1")]);
  fireEvent.click(screen.getByRole("checkbox", { name: "Select Task 1" }));
  expect(onOpen).not.toHaveBeenCalled();
  expect([...useSelection.getState().ids]).toEqual(["1"]);
  fireEvent.click(screen.getByText("Task 1"));
  expect(onOpen).toHaveBeenCalledWith("1");
});

test("shift-click selects a range", () => {
  show([task("1"), task("2"), task("3")]);
  fireEvent.click(screen.getByRole("checkbox", { name: "Select Task 1" }));
  fireEvent.click(screen.getByRole("checkbox", { name: "Select Task 3" }), { shiftKey: true });
  expect(useSelection.getState().ids.size).toBe(3);
});

test("a task of a running batch wears its state and cannot be run again", () => {
  show([task("1", { status: "in_progress", batch: { id: 4, status: "running", outcome: null } })]);
  expect(screen.getByText("Running")).toBeTruthy();
  expect(screen.getByText("Batch 4")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Run Task 1" })).toBeNull();
});
