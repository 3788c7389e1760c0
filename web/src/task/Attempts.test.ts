import { describe, expect, it } from "vitest";
import { endOf } from "./Attempts";
import type { Line } from "./entry";
import { countText } from "./SearchBar";

const said = (...details: NonNullable<Line["detail"]>[]) => details.map((detail, line): Line => ({ line, type: detail.type, text: "text" in detail ? detail.text : "", detail }));

describe("attempts", () => {
  it("end as their result says", () => {
    const lines = said({ type: "usage", tokens: 1_500, input: 0, output: 0, cached: 0, usd: null }, { type: "result", outcome: { failed: "login" }, message: "Log in first", denials: 0 });
    expect(endOf(lines, true)).toEqual({ word: "Failed: Login", said: "Log in first", usage: "1.5k tokens" });
  });

  it("without a result tell what was said last", () => {
    const lines = said({ type: "text", text: "Almost there\nreally" });
    expect(endOf(lines, true)).toEqual({ word: "Ended", said: "Almost there", usage: "" });
    expect(endOf(lines, false).word).toBe("Under way");
  });
});

describe("the count of a search", () => {
  it("says where one is and whether there is more", () => {
    const text = (matches: number[], scanned: number, current: number | null = null) => countText({ words: "a", found: { matches, scanned }, current }, 100);
    expect([text([], 50), text([], 100), text([3], 100), text([3, 9], 60), text([3, 9], 100, 9)]).toEqual(["Searching…", "No match", "1 match", "2+ matches", "2/2 matches"]);
    expect(countText({ words: "", found: { matches: [], scanned: 0 }, current: null }, 100)).toBe("");
  });
});
