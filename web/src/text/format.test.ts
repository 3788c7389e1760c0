import { describe, expect, it } from "vitest";
import { counted, dollars, duration, tokens, worded } from "./format";

describe("numbers as people read them", () => {
  it("tells time spans", () => {
    expect([4.4, 60, 200, 7_500].map(duration)).toEqual(["4s", "1m 00s", "3m 20s", "2h 05m"]);
  });

  it("tells tokens and money", () => {
    expect([812, 1_000, 12_340, 345_600, 1_240_000].map(tokens)).toEqual([
      "812",
      "1k",
      "12.3k",
      "346k",
      "1.2M",
    ]);
    expect([0, 0.004, 0.126, 12].map(dollars)).toEqual(["$0.00", "< $0.01", "$0.13", "$12.00"]);
  });

  it("tells words and counts", () => {
    expect(worded("timed_out")).toBe("Timed out");
    expect([counted(1, "file"), counted(1_200, "file")]).toEqual(["1 file", "1,200 files"]);
  });
});
