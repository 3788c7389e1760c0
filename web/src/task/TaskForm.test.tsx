import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type BoardTask, Refused } from "@/api/client";
import { change } from "@/live/world";
import { changesOf } from "./DetailsEdit";
import { type Draft, TaskForm } from "./TaskForm";

function task(key: string, title: string, more: Partial<BoardTask> = {}): BoardTask {
  return {
    id: `id${key}`,
    key,
    projectId: "p",
    title,
    description: "",
    status: "pending",
    column: "todo",
    word: "pending",
    priority: "medium",
    labels: [],
    dependsOn: [],
    files: [],
    position: Number(key),
    createdAt: "",
    updatedAt: "",
    ...more,
  };
}

const own = task("3", "Prune", { labels: ["garden"], dependsOn: ["id1"] });

beforeEach(() =>
  change({
    type: "loaded",
    project: "p",
    tasks: [task("1", "Dig"), task("2", "Water the beds"), own, task("4", "Of a file", { plan: "TODO.md" })],
    batches: [],
  }),
);
afterEach(cleanup);

function fill(label: string, value: string) {
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
}

describe("the form of a task", () => {
  it("gives what was written, with labels once and the tasks that were picked by keys", async () => {
    const onSave = vi.fn(async (_draft: Draft) => undefined);
    render(<TaskForm action="Add" onSave={onSave} />);
    fill("Title", "  Rake  ");
    fill("Labels", "garden, slow, garden,");
    fill("Size on a cluster", " large ");
    const needs = screen.getByRole("combobox", { name: "Needs" });
    fireEvent.change(needs, { target: { value: "water" } });
    fireEvent.keyDown(needs, { key: "Enter" });
    fireEvent.click(screen.getByRole("button", { name: "Add" }));
    await waitFor(() =>
      expect(onSave).toHaveBeenCalledWith({
        title: "Rake",
        description: "",
        priority: "medium",
        labels: ["garden", "slow"],
        size: "large",
        dependsOn: ["id2"],
      }),
    );
  });

  it("offers neither the task itself nor tasks of another plan", () => {
    render(<TaskForm task={own} action="Save" onSave={async () => undefined} />);
    fireEvent.click(screen.getByRole("combobox", { name: "Needs" }));
    const list = screen.getByRole("listbox", { name: "Tasks" });
    expect(
      within(list)
        .getAllByRole("option")
        .map((option) => option.textContent),
    ).toEqual(["2Water the beds"]);
    expect(screen.getByRole("button", { name: "Remove 1 Dig from needs" })).toBeTruthy();
  });

  it("says why the server refuses, with its hint, and keeps what was written", async () => {
    const refuse = async () => {
      throw new Refused(422, { code: "cycle", message: "3 needs 1 needs 3", hint: "take one of them out" });
    };
    render(<TaskForm task={own} action="Save" onSave={refuse} />);
    fill("Title", "Prune more");
    fireEvent.click(screen.getByRole("button", { name: "Save" }));
    expect((await screen.findByRole("alert")).textContent).toBe("3 needs 1 needs 3. Take one of them out.");
    expect(screen.getByLabelText("Title")).toHaveProperty("value", "Prune more");
  });

  it("sends only what was changed", () => {
    const draft: Draft = {
      title: "Prune",
      description: "",
      priority: "high",
      labels: ["garden"],
      size: "",
      dependsOn: [],
    };
    expect(changesOf(own, draft)).toEqual({ priority: "high", dependsOn: [] });
  });
});
