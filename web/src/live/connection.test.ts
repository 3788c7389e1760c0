// The stream goes on where it was, whatever breaks.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { listen } from "./connection";
import type { FromStream } from "./events";

class FakeSource extends EventTarget {
  static readonly CLOSED = 2;
  static made: FakeSource[] = [];
  readonly url: string;
  readyState = 1;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;

  constructor(url: string) {
    super();
    this.url = url;
    FakeSource.made.push(this);
  }

  say(name: string, lastEventId: string, data = "{}") {
    this.dispatchEvent(Object.assign(new Event(name), { data, lastEventId }));
  }

  close() {
    this.readyState = FakeSource.CLOSED;
  }
}

let heard: FromStream[];
const last = () => FakeSource.made.at(-1) as FakeSource;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", FakeSource);
  FakeSource.made = [];
  heard = [];
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("events are passed on with their names", () => {
  listen((message) => heard.push(message));
  last().onopen?.();
  last().say("batch:started", "4", '{"batchId":1}');
  expect(heard).toEqual([{ kind: "open" }, { kind: "event", name: "batch:started", data: '{"batchId":1}' }]);
});

test("a connection that the browser gave up is made again after the last event", () => {
  listen((message) => heard.push(message));
  last().say("batch:started", "4");
  last().say("execution:log", "");
  last().close();
  last().onerror?.();
  vi.advanceTimersByTime(1000);
  expect(FakeSource.made.map((source) => source.url)).toEqual(["/api/events", "/api/events?from=4"]);
  expect(heard.at(-1)).toEqual({ kind: "lost", isRefused: true });
});

test("a connection that the browser makes again itself is left to it", () => {
  listen((message) => heard.push(message));
  last().readyState = 0;
  last().onerror?.();
  vi.advanceTimersByTime(5000);
  expect(FakeSource.made.length).toBe(1);
  expect(heard).toEqual([{ kind: "lost", isRefused: false }]);
});

test("after a reset nothing of the old log is asked for", () => {
  listen((message) => heard.push(message));
  last().say("batch:started", "4");
  last().say("reset", "");
  last().close();
  last().onerror?.();
  vi.advanceTimersByTime(1000);
  expect(last().url).toBe("/api/events");
  expect(heard.map((message) => message.kind)).toEqual(["event", "reset", "lost"]);
});

test("a server that refuses is asked less and less often, until it lets the page in", () => {
  listen((message) => heard.push(message));
  const refuse = () => {
    last().close();
    last().onerror?.();
  };
  refuse();
  vi.advanceTimersByTime(1_000);
  refuse();
  vi.advanceTimersByTime(1_999);
  expect(FakeSource.made.length).toBe(2);
  vi.advanceTimersByTime(1);
  expect(FakeSource.made.length).toBe(3);
  last().onopen?.();
  refuse();
  vi.advanceTimersByTime(1_000);
  expect(FakeSource.made.length).toBe(4);
});
