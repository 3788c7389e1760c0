import { describe, expect, it } from "vitest";
import type { Line } from "./entry";
import { type LogPage, Reader } from "./reader";

/** A server with so many lines, which remembers what it was asked. */
class Server {
  asked: string[] = [];
  isOver = false;
  fails = false;
  constructor(public total: number) {}

  load = async (from: number | "tail", limit: number): Promise<LogPage> => {
    this.asked.push(`${from}+${limit}`);
    if (this.fails) throw new Error("the server is gone");
    const first = from === "tail" ? Math.max(0, this.total - limit) : Math.min(from, this.total);
    const count = Math.min(limit, this.total - first);
    const entries = Array.from(
      { length: count },
      (_, i): Line => ({ line: first + i, type: "raw", text: `l${first + i}` }),
    );
    return { entries, from: first, total: this.total, attempt: 1, isOver: this.isOver };
  };
}

const settled = () => new Promise((done) => setTimeout(done));

describe("the reader of a transcript", () => {
  it("opens at the end of a long one with one request", async () => {
    const server = new Server(100_000);
    const reader = new Reader(server.load);
    await reader.open();
    expect(server.asked).toEqual(["tail+500"]);
    expect(reader.snapshot()).toMatchObject({ total: 100_000, isOpen: true });
    expect(reader.pages.line(99_999)?.text).toBe("l99999");
  });

  it("fetches what is seen, once", async () => {
    const server = new Server(100_000);
    const reader = new Reader(server.load);
    await reader.open();
    reader.want(50_100, 50_140);
    reader.want(50_101, 50_141);
    await settled();
    expect(server.asked.slice(1)).toEqual(["49500+500", "50000+500"]);
    expect(reader.pages.line(50_120)?.text).toBe("l50120");
  });

  it("fetches only the missing tail while it is followed", async () => {
    const server = new Server(120);
    const reader = new Reader(server.load);
    await reader.open();
    server.total = 150;
    reader.told(150);
    expect(reader.snapshot().total).toBe(120);
    await settled();
    expect(server.asked.slice(1)).toEqual(["120+500"]);
    expect(reader.snapshot().total).toBe(150);
  });

  it("catches up with what came while it fetched", async () => {
    const server = new Server(10);
    const reader = new Reader(server.load);
    await reader.open();
    server.total = 20;
    reader.told(20);
    reader.told(5_000);
    server.total = 5_000;
    await settled();
    expect(reader.snapshot().total).toBe(5_000);
    expect(reader.pages.line(4_999)?.text).toBe("l4999");
  });

  it("only counts new lines while nobody looks at the end", async () => {
    const server = new Server(10);
    const reader = new Reader(server.load);
    await reader.open();
    reader.follow(false);
    reader.told(400);
    await settled();
    expect(server.asked).toHaveLength(1);
    expect(reader.snapshot().total).toBe(400);
  });

  it("says what went wrong and tries again", async () => {
    const server = new Server(10);
    server.fails = true;
    const reader = new Reader(server.load);
    await reader.open();
    expect(reader.snapshot()).toMatchObject({ isOpen: false, error: "the server is gone" });
    server.fails = false;
    reader.retry();
    await settled();
    expect(reader.snapshot()).toMatchObject({ isOpen: true, error: null, total: 10 });
  });

  it("goes on by itself after one request that failed, as soon as more is said", async () => {
    const server = new Server(10);
    const reader = new Reader(server.load);
    await reader.open();
    server.fails = true;
    server.total = 20;
    reader.told(20);
    await settled();
    expect(reader.snapshot()).toMatchObject({ error: "the server is gone", total: 10 });
    server.fails = false;
    server.total = 30;
    reader.told(30);
    await settled();
    expect(reader.snapshot()).toMatchObject({ error: null, total: 30 });
  });

  it("fetches what it missed when it is told to try again", async () => {
    const server = new Server(10);
    const reader = new Reader(server.load);
    await reader.open();
    server.fails = true;
    server.total = 20;
    reader.told(20);
    await settled();
    server.fails = false;
    reader.retry();
    await settled();
    expect(reader.snapshot()).toMatchObject({ error: null, total: 20 });
  });

  it("looks again where events may have been missed, also while it opens", async () => {
    const server = new Server(10);
    const reader = new Reader(server.load);
    const opening = reader.open();
    server.total = 20;
    reader.wake();
    await opening;
    await settled();
    expect(reader.snapshot().total).toBe(20);
    server.total = 30;
    reader.wake();
    await settled();
    expect([reader.snapshot().total, server.asked]).toEqual([30, ["tail+500", "10+500", "20+500"]]);
  });

  it("keeps the last usage and how tools ended", async () => {
    const details: Line["detail"][] = [
      { type: "usage", tokens: 10, input: 5, output: 5, cached: 0, usd: null },
      { type: "tool_result", id: "a", status: "error", output: "" },
      { type: "usage", tokens: 30, input: 20, output: 10, cached: 0, usd: 0.1 },
    ];
    const entries = details.map(
      (detail, line): Line => ({ line, type: detail?.type ?? "raw", text: "", detail }),
    );
    const reader = new Reader(async () => ({ entries, from: 0, total: 3, attempt: 1, isOver: true }));
    await reader.open();
    expect(reader.snapshot().usage?.tokens).toBe(30);
    expect(reader.results.get("a")).toBe("error");
  });
});
