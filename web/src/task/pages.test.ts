import { describe, expect, it } from "vitest";
import { around, PAGE, Pages } from "./pages";

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => `l${from + i}`);

describe("pages of a transcript", () => {
  it("fetches only the missing tail", () => {
    const pages = new Pages<string>();
    pages.put(0, numbers(0, 120));
    pages.grow(150);
    expect(pages.missing(0, 149)).toEqual([{ from: 120, limit: 30 }]);
    pages.put(120, numbers(120, 30));
    expect(pages.missing(0, 149)).toEqual([]);
    expect(pages.line(149)).toBe("l149");
  });

  it("holds a tail that begins in the middle of a page", () => {
    const pages = new Pages<string>();
    pages.grow(1_234);
    pages.put(734, numbers(734, 500));
    expect(pages.line(733)).toBeUndefined();
    expect(pages.line(1_233)).toBe("l1233");
    expect(pages.missing(500, 1_233)).toEqual([{ from: 500, limit: 234 }]);
  });

  it("asks for long gaps in runs of a page", () => {
    const pages = new Pages<string>();
    pages.grow(1_300);
    expect(pages.missing(0, 5_000)).toEqual([
      { from: 0, limit: PAGE },
      { from: PAGE, limit: PAGE },
      { from: 2 * PAGE, limit: 300 },
    ]);
  });

  it("goes on after a page that came short", () => {
    const pages = new Pages<string>();
    pages.grow(500);
    pages.put(0, numbers(0, 3));
    expect(pages.missing(0, 499)).toEqual([{ from: 3, limit: 497 }]);
  });

  it("does not ask twice for what is under way", () => {
    const pages = new Pages<string>();
    pages.grow(180);
    expect(pages.missing(0, 179, [{ from: 100, limit: 50 }])).toEqual([
      { from: 0, limit: 100 },
      { from: 150, limit: 30 },
    ]);
  });

  it("forgets the pages that were used least", () => {
    const pages = new Pages<string>(2);
    pages.put(0, numbers(0, PAGE));
    pages.put(PAGE, numbers(PAGE, PAGE));
    pages.line(0);
    pages.put(2 * PAGE, numbers(2 * PAGE, PAGE));
    expect(pages.line(0)).toBe("l0");
    expect(pages.line(PAGE)).toBeUndefined();
    expect(pages.total).toBe(3 * PAGE);
  });

  it("never gets shorter", () => {
    const pages = new Pages<string>();
    pages.grow(10);
    expect(pages.grow(4)).toBe(false);
    expect(pages.total).toBe(10);
  });

  it("looks a little further than what is seen", () => {
    expect(around(10, 60, 100_000)).toEqual([0, 499]);
    expect(around(400, 450, 100_000)).toEqual([0, 999]);
    expect(around(99_950, 99_999, 100_000)).toEqual([99_500, 99_999]);
    expect(around(0, 0, 0)).toEqual([0, -1]);
  });
});
