// Times are told by the clock of the server.

import { renderHook } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { aheadBy, useElapsed } from "./clock";
import { batch } from "./samples";

const now = Date.parse("2026-01-01T03:00:00Z");

afterEach(() => vi.useRealTimers());

test("a clock that is hours off is noticed, a second is not", () => {
  expect(aheadBy("Thu, 01 Jan 2026 00:00:00 GMT", now)).toBe(-3 * 3_600_000);
  expect(aheadBy("Thu, 01 Jan 2026 02:59:59 GMT", now)).toBe(0);
  expect([aheadBy(null, now), aheadBy("soon", now)]).toEqual([0, 0]);
});

test("time stands still for a batch that nobody is at, and that is over", () => {
  vi.useFakeTimers({ now });
  const begun = { ...batch(7, ["1"]), seconds: 5, startedAt: "2026-01-01T02:59:00Z" };
  const elapsed = (more: Partial<typeof begun> & { completedAt?: string }) =>
    renderHook(() => useElapsed({ ...begun, ...more })).result.current;
  expect(elapsed({})).toBe(60);
  expect(elapsed({ interrupted: true })).toBe(5);
  expect(elapsed({ status: "completed", completedAt: "2026-01-01T02:59:20Z" })).toBe(20);
  expect(elapsed({ idleSeconds: 40 })).toBe(20);
  expect(elapsed({ idleSeconds: 15, status: "completed", completedAt: "2026-01-01T02:59:20Z" })).toBe(5);
});
