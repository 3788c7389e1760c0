import { beforeEach, expect, test, vi } from "vitest";

beforeEach(() => {
  localStorage.clear();
  vi.resetModules();
});

test("what was seen is known to the next page, and the oldest is forgotten", async () => {
  const first = await import("./reading");
  for (let mark = 0; mark <= 5_000; mark += 1) first.setViewed(`m${mark}`, true);
  first.setViewed("m7", false);
  first.ignoreWhitespace(true);
  vi.resetModules();
  const { useReading } = await import("./reading");
  const { viewed, ignoresWhitespace, isSplit } = useReading.getState();
  expect([viewed.size, viewed.has("m0"), viewed.has("m7"), viewed.has("m5000")]).toEqual([4_999, false, false, true]);
  expect([ignoresWhitespace, isSplit]).toEqual([true, false]);
});
