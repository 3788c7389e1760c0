// The stream goes on where it was, whatever breaks.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { listen } from "./connection";
import type { FromStream } from "./events";

type Asked = {
  url: string;
  headers: Record<string, string>;
  signal: AbortSignal;
  say: (text: string) => void;
  end: () => void;
  answer: (status?: number) => void;
  fail: () => void;
};

let asked: Asked[];
let heard: FromStream[];
let stop: () => void;
const last = () => asked.at(-1) as Asked;
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  heard = [];
  vi.stubGlobal(
    "fetch",
    (url: string, { headers, signal }: { headers: Record<string, string>; signal: AbortSignal }) => {
      return new Promise<Response>((resolve, reject) => {
        let stream: ReadableStreamDefaultController<Uint8Array>;
        const body = new ReadableStream<Uint8Array>({
          start: (controller) => {
            stream = controller;
          },
        });
        asked.push({
          url,
          headers,
          signal,
          say: (text) => stream.enqueue(new TextEncoder().encode(text)),
          end: () => stream.close(),
          answer: (status = 200) => resolve(new Response(body, { status })),
          fail: () => reject(new TypeError("no connection")),
        });
      });
    },
  );
  stop = listen((message) => heard.push(message), "a-pass");
});

afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("events are passed on with their names, and the pass is shown", async () => {
  last().answer();
  last().say('id: 4\nevent: batch:started\ndata: {"batchId":1}\n\n');
  await settle();
  expect(heard).toEqual([{ kind: "open" }, { kind: "event", name: "batch:started", data: '{"batchId":1}' }]);
  expect(last().headers).toEqual({ Authorization: "Bearer a-pass" });
});

test("a connection that ended is made again after the last event", async () => {
  last().answer();
  last().say("id: 4\nevent: batch:started\ndata: {}\n\nevent: execution:log\ndata: {}\n\n");
  last().end();
  await settle();
  expect(heard.at(-1)).toEqual({ kind: "lost", isRefused: false });
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked.map(({ url }) => url)).toEqual(["/api/events", "/api/events?from=4"]);
});

test("after a reset nothing of the old log is asked for", async () => {
  last().answer();
  last().say("id: 4\nevent: batch:started\ndata: {}\n\nevent: reset\ndata: {}\n\n");
  last().end();
  await vi.advanceTimersByTimeAsync(1000);
  expect(last().url).toBe("/api/events");
  expect(heard.map((message) => message.kind)).toEqual(["open", "event", "reset", "lost"]);
});

test("a server that is away is asked once a second", async () => {
  for (let times = 0; times < 3; times += 1) {
    last().fail();
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(asked.length).toBe(4);
  expect(heard).toEqual(Array.from({ length: 3 }, () => ({ kind: "lost", isRefused: false })));
});

test("a server that refuses is asked less and less often, until it lets the page in", async () => {
  last().answer(401);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(heard).toEqual([{ kind: "lost", isRefused: true }]);
  last().answer(401);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(asked.length).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked.length).toBe(3);
  last().answer();
  last().end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked.length).toBe(4);
});

test("who stops listening hears nothing more", async () => {
  stop();
  last().fail();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([heard, asked.length, last().signal.aborted]).toEqual([[], 1, true]);
});
