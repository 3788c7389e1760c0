import { beforeEach, expect, test, vi } from "vitest";
import { remember } from "@/browser/memory";

beforeEach(() => {
  localStorage.clear();
  vi.resetModules();
});

test("what was seen is known to the next page, and the oldest is forgotten", async () => {
  remember("viewed", Array.from({ length: 5_000 }, (_, mark) => `m${mark}`).join(" "));
  const first = await import("./reading");
  first.setViewed("m5000", true);
  first.setViewed("m7", false);
  first.ignoreWhitespace(true);
  vi.resetModules();
  const { useReading } = await import("./reading");
  const { viewed, ignoresWhitespace, isSplit } = useReading.getState();
  expect([viewed.size, viewed.has("m0"), viewed.has("m7"), viewed.has("m5000")]).toEqual([
    4_999,
    false,
    false,
    true,
  ]);
  expect([ignoresWhitespace, isSplit]).toEqual([true, false]);
});
