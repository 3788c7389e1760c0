// Nobody consents in mid-batch to what they have not seen.

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { approve, useApproval } from "@/actions/approve";
import { api, type BatchView } from "@/api/client";
import { ApproveDialog } from "./ApproveDialog";

const batch = (consent: string[]) =>
  ({
    id: 7,
    tasks: [
      { taskId: "a", status: "completed", consent: [] },
      { taskId: "b", status: "waiting", consent },
    ],
  }) as unknown as BatchView;

const sent: unknown[] = [];

beforeEach(() => {
  sent.length = 0;
  const ok = (data: unknown) => Promise.resolve({ data, response: new Response() });
  const change = {
    what: "file",
    name: ".claude/settings.json",
    kind: "new",
    role: "settings",
    now: "{}",
    isCut: false,
  };
  vi.spyOn(api, "GET").mockImplementation(((path: string) =>
    ok(
      path.endsWith("/consent")
        ? { pending: { taskId: "id-b", key: "b", fingerprint: "f", changes: [change] } }
        : batch([]),
    )) as never);
  vi.spyOn(api, "POST").mockImplementation(((_: string, { body }: { body: unknown }) => {
    sent.push(body);
    return ok({});
  }) as never);
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  useApproval.setState({ pending: null });
});

test("what waits for approval alone is approved at once", async () => {
  await approve(batch([]));
  expect(sent).toEqual([{}]);
});

test("what waits for consent is shown first, and approved as it was shown", async () => {
  render(<ApproveDialog />);
  await approve(batch([".claude/settings.json"]));
  expect(sent).toEqual([]);
  expect(await screen.findByText(".claude/settings.json")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Consent and start" }));
  await vi.waitFor(() => expect(sent).toEqual([{ consent: "f" }]));
});
