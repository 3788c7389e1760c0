import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { BatchView } from "@/api/client";
import { Conflicts } from "./Conflicts";

const asked: string[] = [];

vi.mock("@/actions/actions", async (original) => ({
  ...(await original<typeof import("@/actions/actions")>()),
  resolveTask: async (_batch: number, task: string, action: string) => {
    asked.push(`${action} ${task}`);
    return action === "start"
      ? {
          path: "/tmp/a folder",
          files: [{ path: "a.rs", kind: "both changed the same lines" }],
          begunBefore: false,
        }
      : {};
  },
  retryTask: async (_batch: number, task: string) => void asked.push(`retry ${task}`),
  cancelTask: async (_batch: number, task: string) => void asked.push(`cancel ${task}`),
  cancelBatch: async (batch: number, rollback = false) =>
    void asked.push(`cancel batch ${batch}${rollback ? " and roll back" : ""}`),
}));

afterEach(() => {
  cleanup();
  asked.length = 0;
});

function batch(status = "running"): BatchView {
  const task = (key: string, outcome: string | null) => ({
    taskId: `id-${key}`,
    key,
    title: `Task ${key}`,
    outcome,
    state: outcome ?? "running",
  });
  const view = {
    id: 7,
    status,
    completedAt: status === "completed" ? "2026-01-01T00:00:00Z" : null,
    projectId: "p",
    plan: "board",
    mainRepoPath: "/repo",
    tasks: [task("1", "merged"), task("2", "conflicted"), task("3", null), task("4", null)],
    conflicts: [{ taskId: "id-2", key: "2", files: ["a.rs"], with: ["id-1"] }],
    predictedConflicts: [{ tasks: ["id-3", "id-4"], files: ["b.rs"] }],
  };
  return view as unknown as BatchView;
}

describe("conflicts of a batch", () => {
  it("are pairs of tasks with their files", () => {
    render(<Conflicts batch={batch()} />);
    const heading = screen.getAllByRole("heading", { level: 3 })[0];
    expect(heading?.textContent).toContain("2 Task 2");
    expect(heading?.textContent).toContain("1 Task 1");
    expect(screen.getByText("a.rs")).toBeTruthy();
  });

  it("are laid out to resolve by hand, and woven", async () => {
    render(<Conflicts batch={batch()} />);
    fireEvent.click(screen.getByRole("button", { name: "Resolve by hand" }));
    await screen.findByText("cd '/tmp/a folder'");
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Weave my resolution" })).toHaveProperty("disabled", false),
    );
    fireEvent.click(screen.getByRole("button", { name: "Weave my resolution" }));
    await screen.findByRole("button", { name: "Resolve by hand" });
    expect(asked).toEqual(["start id-2", "done id-2"]);
  });

  it("that were laid out before the page was loaded go on where they were", async () => {
    const begun = batch();
    const [conflict] = begun.conflicts;
    render(
      <Conflicts
        batch={{
          ...begun,
          conflicts: conflict ? [{ ...conflict, resolving: { path: "/tmp/laid out" } }] : [],
        }}
      />,
    );
    expect(screen.getByText("cd '/tmp/laid out'")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Resolve by hand" })).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Leave out" }));
    await waitFor(() => expect(asked).toEqual(["abort id-2"]));
  });

  it("can be rerun or left out", async () => {
    render(<Conflicts batch={batch()} />);
    fireEvent.click(screen.getByRole("button", { name: "Rerun" }));
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Leave out" })).toHaveProperty("disabled", false),
    );
    fireEvent.click(screen.getByRole("button", { name: "Leave out" }));
    await screen.findByText(/stays left out/);
    expect(asked).toEqual(["retry id-2"]);
  });

  it("abort the batch only when a person is sure", async () => {
    render(<Conflicts batch={batch()} />);
    fireEvent.click(screen.getByRole("button", { name: "Abort batch" }));
    expect(asked).toEqual([]);
    const sure = (await screen.findAllByRole("button", { name: "Abort batch" })).at(-1);
    if (sure) fireEvent.click(sure);
    await waitFor(() => expect(asked).toEqual(["cancel batch 7"]));
  });

  it("cannot abort a batch that is over", () => {
    render(<Conflicts batch={batch("completed")} />);
    expect(screen.getByRole("button", { name: "Abort batch" })).toHaveProperty("disabled", true);
  });

  it("can roll back a batch that is over and has not landed", async () => {
    render(<Conflicts batch={{ ...batch("completed"), number: 3, hasBranch: true }} />);
    fireEvent.click(screen.getByRole("button", { name: "Abort and roll back" }));
    expect(await screen.findByText("Roll back batch 3?")).toBeTruthy();
    const sure = (await screen.findAllByRole("button", { name: "Abort and roll back" })).at(-1);
    if (sure) fireEvent.click(sure);
    await waitFor(() => expect(asked).toEqual(["cancel batch 7 and roll back"]));
  });

  it("that are coming can be helped by cancelling a task", async () => {
    render(<Conflicts batch={batch()} />);
    fireEvent.click(screen.getByRole("button", { name: "Cancel 4" }));
    await waitFor(() => expect(asked).toEqual(["cancel id-4"]));
  });
});
