import { toast } from "sonner";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LiveEvent } from "./events";
import { hearNews, holdNews } from "./news";
import { useLeave } from "./notify";
import { batch, event } from "./samples";
import { useWorld } from "./world";

vi.mock("sonner", () => ({ toast: { warning: vi.fn(), success: vi.fn(), error: vi.fn() } }));

const stands = (batchId: number): LiveEvent => event("batch:interrupted", { batchId });

beforeEach(() => {
  vi.useFakeTimers();
  vi.clearAllMocks();
  useLeave.setState({ leave: "denied" });
  useWorld.setState({ batches: new Map([4, 5].map((id) => [id, batch(id, ["1"])])) });
});
afterEach(() => vi.useRealTimers());

async function told() {
  await vi.runAllTimersAsync();
  return vi.mocked(toast.warning).mock.calls.map(([words]) => words);
}

test("a batch that stands still is told once, until it goes on", async () => {
  hearNews([stands(4)]);
  expect(await told()).toEqual(["Batch 4 is interrupted: no process is running it"]);
  hearNews([stands(4)]);
  expect(await told()).toHaveLength(1);
  hearNews([event("batch:resumed", { batchId: 4 }), stands(4)]);
  expect(await told()).toHaveLength(2);
});

test("a batch that stood still before the board was opened is no news", async () => {
  const release = holdNews();
  hearNews([stands(5)]);
  release();
  hearNews([stands(5)]);
  expect(await told()).toEqual([]);
});
