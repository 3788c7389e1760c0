import { describe, expect, it } from "vitest";
import { countText } from "./SearchBar";

describe("the count of a search", () => {
  it("says where one is and whether there is more", () => {
    const text = (matches: number[], scanned: number, current: number | null = null) =>
      countText({ words: "a", found: { matches, scanned }, current }, 100);
    expect([text([], 50), text([], 100), text([3], 100), text([3, 9], 60), text([3, 9], 100, 9)]).toEqual([
      "Searching…",
      "No matches",
      "1 match",
      "2+ matches",
      "2/2 matches",
    ]);
    expect(countText({ words: "", found: { matches: [], scanned: 0 }, current: null }, 100)).toBe("");
  });
});
