import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Line } from "./entry";
import type { Load } from "./reader";
import { Transcript } from "./Transcript";

// Nothing has a size in this DOM; the log is as high as forty lines here.
beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(800);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(800);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(20);
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

function lines(details: NonNullable<Line["detail"]>[]): Load {
  const entries = details.map(
    (detail, line): Line => ({ line, type: detail.type, text: "text" in detail ? detail.text : "", detail }),
  );
  return async (from, limit) => {
    const first = from === "tail" ? Math.max(0, entries.length - limit) : from;
    return {
      entries: entries.slice(first, first + limit),
      from: first,
      total: entries.length,
      attempt: 1,
      isOver: true,
    };
  };
}

const show = (load: Load, isRunning = false) =>
  render(<Transcript load={load} total={0} isRunning={isRunning} fileName="a.txt" />);

describe("the transcript", () => {
  it("is a log with what the agent said, and tool calls folded", async () => {
    show(
      lines([
        { type: "text", text: "I will look." },
        {
          type: "tool_call",
          id: "1",
          tool: "execute",
          name: "Bash",
          title: "make",
          input: { command: "make all" },
        },
        { type: "tool_result", id: "1", status: "error", output: "no rule\nto make", exit_code: 2 },
      ]),
    );
    const log = screen.getByRole("log", { name: "Transcript" });
    await waitFor(() => expect(log.textContent).toContain("I will look."));
    expect(log.textContent).not.toContain("command: make all");
    fireEvent.click(screen.getByRole("button", { name: /Bash/ }));
    expect(log.textContent).toContain("command: make all");
    expect(log.textContent).toContain("to make");
  });

  it("counts the lines that have the words", async () => {
    show(
      lines([
        { type: "text", text: "One apple" },
        { type: "text", text: "Two pears" },
        { type: "text", text: "More apples" },
      ]),
    );
    fireEvent.change(screen.getByLabelText("Search the transcript"), { target: { value: "APPLE" } });
    await screen.findByText("2 matches");
    fireEvent.click(screen.getByRole("button", { name: "Next match" }));
    await screen.findByText("1/2 matches");
  });

  it("is searched by a key, and a match within a folded call is unfolded", async () => {
    show(
      lines([
        {
          type: "tool_call",
          id: "1",
          tool: "execute",
          name: "Bash",
          title: "make",
          input: { command: "make all" },
        },
        { type: "tool_result", id: "1", status: "ok", output: "first\nneedle in the hay", exit_code: 0 },
      ]),
    );
    const log = screen.getByRole("log", { name: "Transcript" });
    await waitFor(() => expect(log.textContent).toContain("make"));
    fireEvent.keyDown(document.body, { key: "/" });
    const field = screen.getByLabelText("Search the transcript");
    expect(document.activeElement).toBe(field);
    fireEvent.change(field, { target: { value: "needle" } });
    await screen.findByText("1 match");
    expect(log.textContent).not.toContain("needle in the hay");
    fireEvent.keyDown(field, { key: "Enter" });
    await waitFor(() => expect(log.textContent).toContain("needle in the hay"));
  });

  it("says that nothing was said yet", async () => {
    show(lines([]), true);
    await screen.findByText("No output yet");
  });

  it("says why it cannot be read and tries again", async () => {
    let isBroken = true;
    const fine = lines([{ type: "text", text: "Here again" }]);
    show(async (from, limit, signal) => {
      if (isBroken) throw new Error("the disk is gone");
      return fine(from, limit, signal);
    });
    await screen.findByText(/the disk is gone/);
    isBroken = false;
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByText("Here again");
  });
});
