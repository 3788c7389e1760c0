import type { toast } from "sonner";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { LiveEvent } from "./events";
import { noticeOf, tell } from "./notices";
import { useLeave } from "./notify";
import { reduce } from "./reducer";
import { batch, event } from "./samples";
import { emptyWorld } from "./state";

const show = { warning: vi.fn(), success: vi.fn(), error: vi.fn() };

function hear(...events: LiveEvent[]) {
  told(events, false);
}

function told(events: LiveEvent[], isLate: boolean) {
  const notices = events.flatMap((event) => noticeOf(event, emptyWorld) ?? []);
  tell(notices, isLate, show as unknown as typeof toast);
}

function ended(outcome: string): LiveEvent {
  return event("batch:task:skipped", { batchId: 4, taskId: "7", outcome });
}

describe("notices", () => {
  beforeEach(() => {
    vi.clearAllMocks();
    localStorage.clear();
    useLeave.setState({ leave: "denied" });
  });

  it("tell that a person is needed, but not what follows from something told", () => {
    hear(ended("conflicted"));
    hear(ended("blocked"));
    hear(event("batch:task:waiting", { batchId: 4, taskId: "8" }));
    expect(show.warning.mock.calls.map(([words]) => words)).toEqual([
      "“A task of batch 4” does not merge cleanly",
      "“A task of batch 4” needs your approval",
    ]);
  });

  it("open where something can be done", () => {
    const gone: string[] = [];
    const heard = (event: Event) => gone.push((event as CustomEvent<string>).detail);
    addEventListener("pleach:go", heard);
    hear(ended("conflicted"));
    show.warning.mock.calls[0]?.[1].action.onClick();
    removeEventListener("pleach:go", heard);
    expect(gone).toEqual(["/batches/4?tab=conflicts"]);
  });

  it("offer to notify outside the page once, and never where the answer is known", () => {
    hear(ended("invalid"));
    useLeave.setState({ leave: "default" });
    hear(ended("invalid"));
    hear(ended("invalid"));
    expect(show.warning.mock.calls.map(([, options]) => options.cancel?.label)).toEqual([
      undefined,
      "Notify me",
      undefined,
    ]);
  });

  it("are one sentence where there are many", () => {
    hear(ended("conflicted"), ended("invalid"), event("batch:completed", { batchId: 4 }));
    expect(show.warning.mock.calls.map(([words]) => words)).toEqual(["2 tasks need you, 1 batch is done"]);
    expect(show.success).not.toHaveBeenCalled();
  });

  it("say of what happened meanwhile that it did", () => {
    told([ended("conflicted"), event("batch:failed", { batchId: 4, error: "no" })], true);
    expect(show.warning.mock.calls.map(([words]) => words)).toEqual([
      "While you were away: 1 task needs you, 1 batch failed",
    ]);
  });

  it("do not ask for what somebody has seen to already", () => {
    const waiting = event("batch:task:waiting", { batchId: 4, taskId: "id-8" });
    const world = reduce({ ...emptyWorld, project: "p" }, { type: "batch", batch: batch(4, ["8"]) });
    expect(noticeOf(waiting, world)).toBeUndefined();
  });
});
