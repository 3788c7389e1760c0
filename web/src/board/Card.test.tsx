// Cards have the names that tests and screen readers rely on.

import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { BoardTask } from "@/api/client";
import { noSelection, select, useSelection } from "@/app/selection";
import type { Doing } from "@/live/state";
import { change, useWorld } from "@/live/world";
import { Card } from "./Card";
import { focusedCard } from "./keys";

const at = "2026-01-01T00:00:00Z";

function task(key: string, more: Partial<BoardTask> = {}): BoardTask {
  return {
    id: key,
    key,
    projectId: "p",
    title: `Task ${key}`,
    description: "",
    status: "pending",
    column: "todo",
    word: "pending",
    priority: "high",
    labels: ["core"],
    dependsOn: [],
    files: [],
    position: Number(key),
    createdAt: at,
    updatedAt: at,
    ...more,
  };
}

function show(tasks: BoardTask[], onOpen = vi.fn()) {
  change({ type: "loaded", project: "p", tasks, batches: [] });
  const order = tasks.map((each) => each.id);
  render(
    order.map((id, index) => (
      <Card
        key={id}
        id={id}
        order={order}
        above={order[index - 1]}
        below={order[index + 1]}
        onOpen={onOpen}
      />
    )),
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
  const running = { id: 4, number: 2, status: "running", outcome: null } as const;
  show([task("1", { column: "in_progress", word: "running", batch: running })]);
  expect(screen.getByText("Running")).toBeTruthy();
  expect(screen.getByText("Batch 2")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Run Task 1" })).toBeNull();
});

test("a queued task says which tasks it waits for, as long as they are not done", () => {
  const queued = { id: 4, number: 2, status: "queued", outcome: null } as const;
  const tasks = [
    task("1", { word: "queued", batch: queued }),
    task("2", { column: "done" }),
    task("3", { word: "queued", dependsOn: ["1", "2"], batch: queued }),
  ];
  show(tasks);
  expect(screen.getByRole("article", { name: "Task 3" }).textContent).toContain("Waiting for 1");
  expect(screen.getByRole("article", { name: "Task 1" }).textContent).toContain("Waiting for a slot");
});

test("a task on a cluster says what it waits for, or where it runs", () => {
  const queued = { id: 4, number: 2, status: "queued", outcome: null } as const;
  const running = { ...queued, status: "running" } as const;
  show([task("1", { word: "queued", batch: queued }), task("2", { word: "running", batch: running })]);
  const doing = (more: Partial<Doing>): Doing => ({
    batch: 4,
    state: "queued",
    action: null,
    queued: null,
    node: null,
    since: null,
    coming: [],
    ...more,
  });
  act(() =>
    useWorld.setState({
      doing: new Map([
        ["1", doing({ queued: "in Slurm's queue: Resources" })],
        ["2", doing({ state: "running", node: "n7", action: "reads" })],
      ]),
    }),
  );
  expect(screen.getByRole("article", { name: "Task 1" }).textContent).toContain(
    "in Slurm's queue: Resources",
  );
  expect(screen.getByTitle("Runs on n7").textContent).toBe("n7");
});

test("clicking beside the checkbox selects the card as well", () => {
  const onOpen = show([task("1")]);
  const label = screen.getByRole("checkbox", { name: "Select Task 1" }).closest("label") as HTMLElement;
  fireEvent.click(label);
  expect(onOpen).not.toHaveBeenCalled();
  expect([...useSelection.getState().ids]).toEqual(["1"]);
});

test("keys are for the card that has the focus, not for the one that had it", () => {
  show([task("1"), task("2")]);
  const [first, second] = screen.getAllByRole("article") as [HTMLElement, HTMLElement];
  act(() => first.focus());
  expect(focusedCard()).toBe("1");
  act(() => first.blur());
  expect([useSelection.getState().cursor, focusedCard()]).toEqual(["1", null]);
  act(() => second.querySelector("button")?.focus());
  expect(focusedCard()).toBe("2");
});

test("a card that leaves the page with the focus has it again when it comes back", () => {
  show([task("1"), task("2")]);
  act(() => screen.getByRole("article", { name: "Task 2" }).focus());
  cleanup();
  show([task("1"), task("2")]);
  expect(focusedCard()).toBe("2");
});

test("a card that comes back takes the focus from nothing else", () => {
  show([task("1")]);
  act(() => screen.getByRole("article", { name: "Task 1" }).focus());
  cleanup();
  const field = document.body.appendChild(document.createElement("input"));
  field.focus();
  show([task("1")]);
  expect(document.activeElement).toBe(field);
  field.remove();
});

test("another project begins with nothing selected", () => {
  show([task("1")]);
  select.toggle("1");
  act(() => change({ type: "loaded", project: "q", tasks: [], batches: [] }));
  expect(useSelection.getState()).toEqual(noSelection);
});
