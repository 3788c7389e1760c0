import { describe, expect, it } from "vitest";
import type { Line } from "./entry";
import { type Found, nextMatch, search } from "./search";

describe("the search in a transcript", () => {
  it("finds matches in all pieces and tells as it goes", async () => {
    const load = async (from: number | "tail", limit: number) => {
      const first = Number(from);
      const entries = Array.from(
        { length: Math.min(limit, 5_000 - first) },
        (_, i): Line => ({
          line: first + i,
          type: "raw",
          text: (first + i) % 1_500 === 0 ? "An \u001b[31mERROR" : "fine",
        }),
      );
      return { entries, from: first, total: 5_000, attempt: 1, isOver: true };
    };
    const told: Found[] = [];
    await search(
      load,
      "an error",
      { matches: [], scanned: 0 },
      () => 5_000,
      new AbortController().signal,
      (found) => told.push(found),
    );
    expect(told.map((found) => found.scanned)).toEqual([2_000, 4_000, 5_000]);
    expect(told.at(-1)?.matches).toEqual([0, 1_500, 3_000, 4_500]);
  });

  it("goes from match to match and around", () => {
    const next = (from: number, direction: 1 | -1) => nextMatch([2, 5, 9], from, direction);
    expect([next(2, 1), next(9, 1), next(5, -1), next(2, -1), next(-1, 1)]).toEqual([5, 2, 2, 9, 2]);
    expect(nextMatch([], 3, 1)).toBeNull();
  });
});
