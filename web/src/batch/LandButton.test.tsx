import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type BatchView, Refused } from "@/api/client";
import { LandButton } from "./LandButton";

const asked: [number, string | null, boolean?][] = [];
const address = "https://forge.example/people/hedge.git";
let isConfirmed = true;

vi.mock("@/actions/actions", async (original) => ({
  ...(await original<typeof import("@/actions/actions")>()),
  landBatch: async (batch: number, into: string | null, confirmPush?: boolean) => {
    asked.push(confirmPush ? [batch, into, true] : [batch, into]);
    if (!isConfirmed && !confirmPush)
      throw new Refused(422, { code: "push_unconfirmed", message: "not confirmed", details: { address } });
  },
}));

afterEach(() => {
  cleanup();
  asked.length = 0;
  isConfirmed = true;
});

function batch(more: object = {}): BatchView {
  const view = {
    id: 7,
    status: "completed",
    completedAt: "2026-01-01T00:00:00Z",
    prUrl: null,
    landInto: null,
    tasks: [{ taskId: "1", outcome: "merged" }],
    ...more,
  };
  return view as unknown as BatchView;
}

describe("landing a batch", () => {
  it("goes to the server", async () => {
    render(<LandButton batch={batch()} />);
    fireEvent.click(screen.getByRole("button", { name: "Land" }));
    await waitFor(() => expect(asked).toEqual([[7, null]]));
  });

  it("goes to a branch where there is no server", async () => {
    render(<LandButton batch={batch({ landInto: "main" })} />);
    fireEvent.click(screen.getByRole("button", { name: "Land in main" }));
    await waitFor(() => expect(asked).toEqual([[7, "main"]]));
  });

  it("shows the address of a first push, and goes on once that is confirmed", async () => {
    isConfirmed = false;
    render(<LandButton batch={batch()} />);
    fireEvent.click(screen.getByRole("button", { name: "Land" }));
    const dialog = await screen.findByRole("dialog");
    expect(dialog.textContent).toContain(address);
    expect(asked).toEqual([[7, null]]);
    fireEvent.click(screen.getByRole("button", { name: "Push there" }));
    await waitFor(() =>
      expect(asked).toEqual([
        [7, null],
        [7, null, true],
      ]),
    );
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("is offered for what is over and merged, and has no pull request", () => {
    for (const more of [
      { status: "running", completedAt: null },
      { prUrl: "https://forge/1" },
      { tasks: [{ taskId: "1", outcome: "failed" }] },
    ]) {
      render(<LandButton batch={batch(more)} />);
    }
    expect(screen.queryByRole("button")).toBeNull();
  });
});
