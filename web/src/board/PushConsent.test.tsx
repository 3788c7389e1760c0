// The first push of a project starts once a person has seen where it goes.

import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startBatch, useStarting } from "@/actions/start";
import { api } from "@/api/client";
import { batch } from "@/live/samples";
import { PushDialog } from "./PushConsent";

const address = "https://forge.example/people/hedge.git";

beforeEach(() => {
  vi.spyOn(api, "POST").mockImplementation((async (
    _: string,
    { body }: { body: { confirmPush?: boolean; land?: string } },
  ) => {
    if (body.confirmPush || body.land === "none")
      return { data: { ...batch(7, ["1"]), warnings: [] }, response: new Response(null, { status: 201 }) };
    const error = { code: "push_unconfirmed", message: "not confirmed", details: { address } };
    return { error: { error }, response: new Response(null, { status: 422 }) };
  }) as unknown as typeof api.POST);
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  useStarting.setState({ push: null });
});

function bodies() {
  return vi
    .mocked(api.POST)
    .mock.calls.map((call) => (call as unknown as [string, { body: unknown }])[1].body);
}

test("a batch starts when the address is confirmed", async () => {
  render(<PushDialog />);
  expect(await startBatch({ taskIds: ["1"], consent: "f" })).toBe(false);
  const dialog = await screen.findByRole("dialog");
  expect(dialog.textContent).toContain(address);
  fireEvent.click(screen.getByRole("button", { name: "Start and push there" }));
  await waitFor(() =>
    expect(bodies()).toEqual([
      { taskIds: ["1"], consent: "f" },
      { taskIds: ["1"], consent: "f", confirmPush: true },
    ]),
  );
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
});

test("it can start without a push", async () => {
  render(<PushDialog />);
  await startBatch({ taskIds: ["1"] });
  fireEvent.click(await screen.findByRole("button", { name: "Start without pushing" }));
  await waitFor(() => expect(bodies().at(-1)).toEqual({ taskIds: ["1"], land: "none" }));
});

test("nothing starts when it is not confirmed", async () => {
  render(<PushDialog />);
  await startBatch({ taskIds: ["1"] });
  fireEvent.click(await screen.findByRole("button", { name: "Cancel" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(bodies()).toEqual([{ taskIds: ["1"] }]);
});
