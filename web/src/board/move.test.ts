// Cards find places between their new neighbours, and go back where they were if the server refuses.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { api, type BoardTask } from "@/api/client";
import { heard } from "@/live/order";
import { event, task } from "@/live/samples";
import { change, useWorld } from "@/live/world";
import { moveTo, places, shift } from "./move";

const order = ["a", "b", "c"].map((id, at) => ({ id, position: at + 1 }) as BoardTask);
const put = (moved: string[], index: number, among = order) => [
  ...places(among, new Set(moved), index).values(),
];

test("a card is put between two others", () => {
  expect(put(["x"], 1)).toEqual([1.5]);
  expect(put(["x"], 0)).toEqual([0]);
  expect(put(["x"], 3)).toEqual([4]);
});

test("several cards keep their order", () => {
  const [first = 0, second = 0] = put(["x", "y"], 1);
  expect(1 < first && first < second && second < 2).toBe(true);
  expect(put(["x", "y"], 3)).toEqual([4, 5]);
  const top = put(["x", "y"], 0);
  expect(top).toEqual([...top].sort((a, b) => a - b));
  expect(top.every((place) => place < 1)).toBe(true);
});

test("a card that moves is no neighbour of itself", () => {
  expect(put(["b"], 2)).toEqual([2]);
  expect(put(["b"], 3)).toEqual([4]);
});

test("cards at the same place make room", () => {
  const same = ["a", "b", "c"].map((id) => ({ id, position: 1 }) as BoardTask);
  const found = places([...same, { id: "d", position: 4 } as BoardTask], new Set(["x"]), 1);
  expect([...found.keys()]).toEqual(["x", "b", "c"]);
  const [x = 0, b = 0, c = 0] = [...found.values()];
  expect(1 < x && x < b && b < c && c < 4).toBe(true);
});

let save: (
  id: string,
  body: Partial<BoardTask>,
) => Promise<{ data?: BoardTask; error?: unknown; status?: number }>;
/** A task as the server answers it. */
const saved = (id: string, body: Partial<BoardTask>) => {
  const place = body.status === "completed" ? ({ column: "done", word: "completed" } as const) : {};
  return task(id.slice(3), { ...body, ...place });
};
const keys = (column: "todo" | "done") =>
  useWorld
    .getState()
    .columns[column].map((id) => id.slice(3))
    .join(" ");

beforeEach(() => {
  vi.spyOn(api, "PATCH").mockImplementation((async (
    _: string,
    init: { params: { path: { id: string } }; body: Partial<BoardTask> },
  ) => {
    const { data, error, status = 200 } = await save(init.params.path.id, init.body);
    return { data, error, response: new Response(null, { status }) };
  }) as unknown as typeof api.PATCH);
  change({ type: "loaded", project: "p", tasks: ["1", "2", "3"].map((key) => task(key)), batches: [] });
});

afterEach(() => vi.restoreAllMocks());

test("a card that the server refuses to move goes back, and keeps what was heard of it meanwhile", async () => {
  save = async () => {
    heard(event("task:updated", { taskId: "id-2", task: task("2", { title: "New" }) }));
    return { error: {}, status: 409 };
  };
  const moving = moveTo(["id-2"], "done");
  expect(keys("done")).toBe("2");
  await moving;
  expect([keys("todo"), keys("done"), useWorld.getState().tasks.get("id-2")?.title]).toEqual([
    "1 2 3",
    "",
    "New",
  ]);
});

test("a refused card goes back where it was", async () => {
  save = async () => ({ error: {}, status: 409 });
  await moveTo(["id-2"], "done");
  expect([keys("todo"), keys("done")]).toEqual(["1 2 3", ""]);
});

test("a card that was deleted while it moved does not come back", async () => {
  save = async () => {
    heard(event("task:deleted", { taskId: "id-2" }));
    return { error: {}, status: 404 };
  };
  await moveTo(["id-2"], "done");
  expect([keys("todo"), keys("done")]).toEqual(["1 3", ""]);
});

test("a card that the server does not know is taken off the board", async () => {
  save = async () => ({ error: {}, status: 404 });
  await moveTo(["id-2"], "done");
  expect([keys("todo"), keys("done")]).toEqual(["1 3", ""]);
});

test("many cards move in two pictures, one before the server answers and one after", async () => {
  save = async (id, body) => ({ data: saved(id, body) });
  let pictures = 0;
  const stop = useWorld.subscribe(() => {
    pictures += 1;
  });
  await moveTo(["id-1", "id-2", "id-3"], "done");
  stop();
  expect([keys("done"), pictures]).toEqual(["1 2 3", 2]);
});

test("many cards are saved a few at a time, and those that are refused go back", async () => {
  let [open, most] = [0, 0];
  save = async (id, body) => {
    open += 1;
    most = Math.max(most, open);
    await Promise.resolve();
    open -= 1;
    return id === "id-17" ? { error: {}, status: 409 } : { data: saved(id, body) };
  };
  const tasks = Array.from({ length: 40 }, (_, at) => task(String(at)));
  change({ type: "loaded", project: "p", tasks, batches: [] });
  await moveTo(
    tasks.map((each) => each.id),
    "done",
  );
  expect([most, useWorld.getState().columns.done.length, keys("todo")]).toEqual([6, 39, "17"]);
});

test("a card passes a neighbour at the same place", async () => {
  change({
    type: "loaded",
    project: "p",
    tasks: ["1", "2", "3"].map((key) => task(key, { position: 1 })),
    batches: [],
  });
  save = async (id, body) => ({ data: saved(id, body) });
  shift("id-3", -1, ["id-1", "id-2", "id-3"]);
  await vi.waitFor(() => expect(keys("todo")).toBe("1 3 2"));
});
