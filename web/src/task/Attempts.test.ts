import { expect, it } from "vitest";
import { tookText } from "./Attempts";

it("an attempt tells what it took as far as that is known", () => {
  const begun = {
    batchId: 1,
    batchNumber: 1,
    attempt: 2,
    startedAt: "2026-01-01T00:00:00Z",
    outcome: "running" as const,
  };
  const now = Date.parse("2026-01-01T00:01:30Z");
  expect(tookText(begun, now)).toBe("1m 30s");
  expect(
    tookText(
      { ...begun, agent: "claude", completedAt: "2026-01-01T00:00:12Z", tokens: 1_500, cost: 0.126 },
      now,
    ),
  ).toBe("claude · 12s · 1.5k tokens · $0.13");
  expect(tookText({ ...begun, cost: 0 }, now)).toBe("1m 30s · $0.00");
});
