// A batch that is started is on the board as what it is by then.

import { toast } from "sonner";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { api } from "@/api/client";
import { queryClient } from "@/api/queries";
import { heard } from "@/live/order";
import { at, batch, event, ofTask, stands, task } from "@/live/samples";
import { change, useWorld } from "@/live/world";
import { startBatch } from "./start";

let meanwhile: () => void;

beforeEach(() => {
  meanwhile = () => undefined;
  vi.spyOn(api, "POST").mockImplementation((async () => {
    meanwhile();
    return { data: { ...batch(7, ["1"]), warnings: [] }, response: new Response(null, { status: 200 }) };
  }) as unknown as typeof api.POST);
  change({ type: "loaded", project: "p", tasks: [task("1")], batches: [] });
});

afterEach(() => {
  vi.restoreAllMocks();
  queryClient.clear();
});

test("an answer that comes after the batch has ended does not start it again", async () => {
  meanwhile = () => {
    heard(ofTask("batch:task:completed", "1", stands.merged));
    heard(event("batch:completed", { batchId: 7, batch: { status: "completed", completedAt: at } }));
  };
  expect(await startBatch({ taskIds: ["id-1"] })).toBe(true);
  const { batches, stale } = useWorld.getState();
  expect([batches.get(7)?.status, batches.get(7)?.tasks[0]?.status, stale.has(7)]).toEqual([
    "completed",
    "completed",
    true,
  ]);
});

test("tasks do not run beside each other without git, however they are started", async () => {
  const said = vi.spyOn(toast, "error").mockReturnValue(1);
  queryClient.setQueryData(["projects"], [{ id: "p", isRepository: false }]);
  expect(await startBatch({ taskIds: ["id-1"], mode: "parallel" })).toBe(false);
  expect(api.POST).not.toHaveBeenCalled();
  expect(said).toHaveBeenCalledWith("Parallel mode requires a git repository");
  expect(await startBatch({ taskIds: ["id-1"], mode: "queue" })).toBe(true);
});

test("a task that is run without a mode runs alone where there is no git", async () => {
  queryClient.setQueryData(["projects"], [{ id: "p", isRepository: false }]);
  expect(await startBatch({ taskIds: ["id-1"] })).toBe(true);
  expect(vi.mocked(api.POST).mock.calls[0]?.[1]).toMatchObject({
    body: { taskIds: ["id-1"], mode: "serial" },
  });
});
