// Answers that come late do not undo what was heard.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { api, type BatchView } from "@/api/client";
import { queryClient } from "@/api/queries";
import { fetchStale, refreshBatch, watchBatch } from "./batches";
import { load, show } from "./load";
import { asked, beginAnew, heard } from "./order";
import { batch, event, ofTask, stands, task } from "./samples";
import { emptyWorld } from "./state";
import { change, putTasks, useConnection, useWorld } from "./world";

type Answer = { data?: unknown; error?: unknown; status?: number };
let server: (path: string) => Promise<Answer>;
let calls: string[];
/** Time goes on from test to test, as it does for a page. */
let start = 0;

/** A promise that is kept when it is told to. */
function gate<T>() {
  let open: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    open = done;
  });
  return { promise, open };
}

beforeEach(() => {
  start += 1_000_000;
  vi.useFakeTimers({ now: start });
  calls = [];
  server = async () => ({ data: {} });
  vi.spyOn(api, "GET").mockImplementation((async (
    path: string,
    init: { params?: { path?: { id?: number }; query?: { project?: string } } },
  ) => {
    const full =
      path.replace("{id}", String(init?.params?.path?.id)) +
      (init?.params?.query?.project ? `?${init.params.query.project}` : "");
    calls.push(full);
    const { data, error, status = 200 } = await server(full);
    return { data, error, response: new Response(null, { status }) };
  }) as unknown as typeof api.GET);
  useWorld.setState(emptyWorld, true);
  useConnection.setState({ state: "live", wanted: null, error: null });
  queryClient.clear();
  change({ type: "loaded", project: "p", tasks: [task("1"), task("2")], batches: [batch(7, ["1"])] });
});

afterEach(async () => {
  useWorld.setState(emptyWorld, true);
  await vi.advanceTimersByTimeAsync(60_000);
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const status = () => useWorld.getState().batches.get(7)?.tasks[0]?.status;

test("what is heard while a batch is asked for stays true", async () => {
  const late = gate<Answer>();
  server = () => late.promise;
  const asking = refreshBatch(7);
  heard(ofTask("batch:task:completed", "1", stands.merged));
  await vi.advanceTimersByTimeAsync(20);
  expect(status()).toBe("completed");
  late.open({ data: batch(7, ["1"]) });
  await asking;
  expect(status()).toBe("completed");
  expect(useWorld.getState().stale.has(7)).toBe(false);
});

test("what was heard before the question is not told again", async () => {
  heard(ofTask("batch:task:started", "1", stands.running));
  const ended: BatchView = batch(7, ["1"]);
  ended.tasks = ended.tasks.map((each) => ({ ...each, status: "completed", outcome: "merged" }));
  server = async () => ({ data: ended });
  await refreshBatch(7);
  await vi.advanceTimersByTimeAsync(20);
  expect(status()).toBe("completed");
});

test("a task that was deleted while it was saved is gone", async () => {
  const late = gate<ReturnType<typeof task>>();
  const asking = asked(
    () => late.promise,
    (saved) => ({ type: "tasks", tasks: [saved] }),
  );
  heard(event("task:deleted", { taskId: "id-2" }));
  late.open(task("2", { title: "Saved" }));
  await asking;
  expect([...useWorld.getState().tasks.keys()]).toEqual(["id-1"]);
});

test("an answer of a server that is no longer there is not taken", async () => {
  const late = gate<Answer>();
  server = () => late.promise;
  const asking = refreshBatch(7);
  beginAnew();
  late.open({ data: batch(7, ["1"]) });
  await asking;
  expect(useWorld.getState()).toBe(emptyWorld);
});

test("events that come while the board is fetched are on it", async () => {
  const late = gate<Answer>();
  server = (path) =>
    path.startsWith("/api/tasks") ? late.promise : Promise.resolve({ data: { batches: [] } });
  const showing = show("p");
  heard(event("task:created", { taskId: "id-3", task: task("3") }));
  late.open({ data: { tasks: [task("1")] } });
  expect(await showing).toBe(true);
  expect([...useWorld.getState().tasks.keys()]).toEqual(["id-1", "id-3"]);
});

test("a board that could not be fetched is asked for again, and the person is told", async () => {
  server = async () => ({ error: {}, status: 503 });
  expect(await show("q")).toBe(false);
  expect(useConnection.getState()).toMatchObject({ wanted: "q", error: { status: 503 } });
  expect(useWorld.getState().project).toBe("p");
  server = async () => ({ data: { tasks: [], batches: [] } });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(useConnection.getState().error).toBeNull();
  expect(useWorld.getState().project).toBe("q");
});

test("a project that is no longer there is not wanted, and not chosen from an old list", async () => {
  queryClient.setQueryData(["projects"], [{ id: "q" }, { id: "p" }]);
  server = async () => ({ error: {}, status: 404 });
  await show("q");
  expect(useConnection.getState()).toMatchObject({ wanted: "p", error: null });
  expect(queryClient.getQueryData(["projects"])).toEqual([{ id: "p" }]);
});

test("the later of two loads counts", async () => {
  const first = gate<Answer>();
  server = (path) =>
    path === "/api/tasks?q" ? first.promise : Promise.resolve({ data: { tasks: [], batches: [] } });
  const slow = show("q");
  await show("r");
  first.open({ data: { tasks: [], batches: [] } });
  expect(await slow).toBe(false);
  expect(useWorld.getState().project).toBe("r");
  useConnection.setState({ wanted: null });
  expect(await load()).toBe(false);
});

/** Something that makes the server know more of a batch. */
const stir = (batchId: number) => change({ type: "events", events: [event("batch:merging", { batchId })] });
const askedFor = (id: number) => calls.filter((call) => call === `/api/batches/${id}`).length;

test("a batch is asked for at most once a second", async () => {
  server = async () => ({ data: batch(7, ["1"]) });
  for (let step = 0; step < 40; step += 1) {
    stir(7);
    fetchStale();
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(askedFor(7)).toBe(4);
});

test("a batch that the server refuses is not asked for again", async () => {
  server = async () => ({ error: {}, status: 404 });
  stir(8);
  fetchStale();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(askedFor(8)).toBe(1);
});

test("a batch that cannot be fetched is asked for less and less often", async () => {
  server = async () => ({ error: {}, status: 500 });
  stir(9);
  fetchStale();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(askedFor(9)).toBeGreaterThan(3);
  expect(askedFor(9)).toBeLessThan(8);
  server = async () => ({ data: batch(9, ["1"]) });
});

test("a known batch of another project is asked for only while a page shows it", async () => {
  server = async () => ({ data: { ...batch(11, []), projectId: "q" } });
  stir(11);
  fetchStale();
  await vi.advanceTimersByTimeAsync(5_000);
  stir(11);
  fetchStale();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(askedFor(11)).toBe(1);
  const leave = watchBatch(11);
  await vi.advanceTimersByTimeAsync(5_000);
  leave();
  expect(askedFor(11)).toBe(2);
});

test("nothing is asked for again while the page is hidden, but what is unknown is", async () => {
  const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  server = async (path) => ({ data: batch(Number(path.split("/").at(-1)), ["1"]) });
  stir(7);
  stir(12);
  fetchStale();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([askedFor(7), askedFor(12)]).toEqual([0, 1]);
  hidden.mockReturnValue(false);
  fetchStale();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(askedFor(7)).toBe(1);
});

test("a page's own copy of a task follows what is heard of it", () => {
  queryClient.setQueryData(["task", "far"], task("9", { id: "far", projectId: "q" }));
  const far = task("9", { id: "far", projectId: "q", title: "New" });
  heard(event("task:updated", { taskId: "far", task: far }));
  expect(queryClient.getQueryData(["task", "far"])).toMatchObject({ title: "New" });
  heard(event("task:deleted", { taskId: "far" }));
  expect(queryClient.getQueryData(["task", "far"])).toBeUndefined();
});

test("a task put onto the board is there at once", () => {
  putTasks([task("5")]);
  expect(useWorld.getState().columns.todo).toContain("id-5");
});
