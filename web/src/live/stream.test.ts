// A tab hears the events through the worker, or by itself where there is none that works.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { FromStream, ToStream } from "./events";
import { openStream } from "./stream";

class FakeWorker {
  static made: FakeWorker[] = [];
  onerror: (() => void) | null = null;
  readonly said: ToStream[] = [];
  readonly port = {
    onmessage: null as ((message: { data: FromStream }) => void) | null,
    start: () => undefined,
    close: () => undefined,
    postMessage: (word: ToStream) => this.said.push(word),
  };

  constructor() {
    FakeWorker.made.push(this);
  }
}

let heard: FromStream[];
const fetched = vi.fn(() => new Promise<Response>(() => undefined));
let stop: () => void;
const worker = (at: number) => FakeWorker.made.at(at) as FakeWorker;
const turn = (name: string, persisted: boolean) =>
  dispatchEvent(Object.assign(new Event(name), { persisted }));

beforeEach(() => {
  vi.stubGlobal("SharedWorker", FakeWorker);
  vi.stubGlobal("fetch", fetched);
  localStorage.setItem("pleach.pass", "a-pass");
  FakeWorker.made = [];
  fetched.mockClear();
  heard = [];
  stop = openStream((message) => heard.push(message));
});

afterEach(() => {
  stop();
  vi.unstubAllGlobals();
});

test("a page that comes back from the browser's cache joins again", () => {
  turn("pagehide", true);
  expect(worker(0).said).toEqual([{ pass: "a-pass" }, "bye"]);
  turn("pageshow", true);
  expect(FakeWorker.made.length).toBe(2);
  worker(1).port.onmessage?.({ data: { kind: "open" } });
  expect(heard).toEqual([{ kind: "open" }]);
});

test("a page that is shown for the first time has joined already", () => {
  turn("pageshow", false);
  expect(FakeWorker.made.length).toBe(1);
});

test("where the worker does not start, the tab listens by itself", () => {
  worker(0).onerror?.();
  expect(fetched).toHaveBeenCalledOnce();
});

test("an error of a worker that has spoken changes nothing", () => {
  worker(0).port.onmessage?.({ data: { kind: "open" } });
  worker(0).onerror?.();
  expect(fetched).not.toHaveBeenCalled();
});
