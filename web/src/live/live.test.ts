// The tab follows its connection, and says what people should know once it has names for it.

import { toast } from "sonner";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { api } from "@/api/client";
import { queryClient } from "@/api/queries";
import type { FromStream, LiveEvent } from "./events";
import { goLive } from "./live";
import { batch, ofTask, stands, task } from "./samples";
import { emptyWorld } from "./state";
import { change, useConnection, useWorld } from "./world";

let tell: (message: FromStream) => void = () => undefined;
vi.mock("./stream", () => ({
  openStream: (told: typeof tell) => {
    tell = told;
    return () => undefined;
  },
}));
vi.mock("./version", () => ({ isOtherVersion: async () => false }));

let answers: Record<string, { data?: unknown; status?: number }>;
let calls: string[];
let stop: () => void;
let start = 0;

beforeEach(() => {
  start += 1_000_000;
  vi.useFakeTimers({ now: start });
  calls = [];
  answers = {
    "/api/tasks": { data: { tasks: [task("1")] } },
    "/api/batches": { data: { batches: [] } },
    "/api/projects": { data: { projects: [] } },
  };
  vi.spyOn(api, "GET").mockImplementation((async (path: string) => {
    calls.push(path);
    const { data, status = 200 } = answers[path] ?? { status: 500 };
    return { data, error: data === undefined ? {} : undefined, response: new Response(null, { status }) };
  }) as unknown as typeof api.GET);
  vi.spyOn(toast, "warning").mockReturnValue(1);
  useWorld.setState(emptyWorld, true);
  useConnection.setState({ state: "connecting", wanted: "p", error: null });
  stop = goLive();
});

afterEach(async () => {
  useWorld.setState(emptyWorld, true);
  await vi.advanceTimersByTimeAsync(60_000);
  stop();
  queryClient.clear();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const say = ({ name, data }: LiveEvent) => tell({ kind: "event", name, data: JSON.stringify(data) });
const skipped = (key: string): LiveEvent =>
  ofTask("batch:task:skipped", key, stands.conflicted, { outcome: "conflicted" });
const told = () => vi.mocked(toast.warning).mock.calls.map(([words]) => words);

test("the wanted board is fetched whenever the connection opens", async () => {
  tell({ kind: "open" });
  await vi.advanceTimersByTimeAsync(10);
  expect(useWorld.getState().project).toBe("p");
  tell({ kind: "lost", isRefused: false });
  tell({ kind: "open" });
  await vi.advanceTimersByTimeAsync(10);
  expect(calls.filter((call) => call === "/api/tasks").length).toBe(2);
});

test("a stream that is refused asks why, and a closed door is shown", async () => {
  answers["/api/projects"] = { status: 401 };
  tell({ kind: "lost", isRefused: false });
  await vi.advanceTimersByTimeAsync(10);
  expect(useConnection.getState().error).toBeNull();
  tell({ kind: "lost", isRefused: true });
  await vi.advanceTimersByTimeAsync(10);
  expect(useConnection.getState().error?.status).toBe(401);
});

test("another log begins with nothing", async () => {
  tell({ kind: "open" });
  await vi.advanceTimersByTimeAsync(10);
  queryClient.setQueryData(["batches", "p"], []);
  tell({ kind: "reset" });
  expect(useWorld.getState()).toBe(emptyWorld);
  expect(useConnection.getState().wanted).toBeNull();
  expect(queryClient.getQueryData(["batches", "p"])).toBeUndefined();
});

test("news wait until the batch is known that they are about", async () => {
  tell({ kind: "open" });
  await vi.advanceTimersByTimeAsync(10);
  answers["/api/batches/{id}"] = {
    data: { ...batch(7, ["1"]), tasks: batch(7, ["1"]).tasks.map((each) => ({ ...each, title: "Dig" })) },
  };
  say(skipped("1"));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(told()).toEqual(["“Dig” does not merge cleanly"]);
});

test("news about a batch that never comes are told all the same", async () => {
  tell({ kind: "open" });
  await vi.advanceTimersByTimeAsync(10);
  say(skipped("1"));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(told()).toEqual(["“A task of batch 7” does not merge cleanly"]);
});

test("what happened while nobody listened is one sentence", async () => {
  tell({ kind: "open" });
  await vi.advanceTimersByTimeAsync(10);
  change({ type: "batch", batch: batch(7, ["1", "2"]) });
  tell({ kind: "lost", isRefused: false });
  tell({ kind: "open" });
  say(skipped("1"));
  say(skipped("2"));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(told()).toEqual(["While you were away: 2 tasks need you"]);
});
