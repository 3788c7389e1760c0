// The list of batches waits until it is known whose.

import { QueryClientProvider } from "@tanstack/react-query";
import { renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { api } from "@/api/client";
import { queryClient } from "@/api/queries";
import { useBatches } from "./queries";

afterEach(() => {
  vi.restoreAllMocks();
  queryClient.clear();
});

function list(project: string | undefined, projects: { id: string; status: string }[]) {
  queryClient.setQueryData(["projects"], projects);
  const asked = vi
    .spyOn(api, "GET")
    .mockResolvedValue({ data: { batches: [] }, response: new Response() } as never);
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
  );
  return { asked, ...renderHook(({ id }) => useBatches(id), { wrapper, initialProps: { id: project } }) };
}

test("batches of all projects are not listed while one is about to be shown", async () => {
  const { asked, result, rerender } = list(undefined, [{ id: "p", status: "ready" }]);
  expect(result.current.isPending).toBe(true);
  rerender({ id: "p" });
  await waitFor(() => expect(result.current.data).toBeDefined());
  const calls = asked.mock.calls as unknown as [string, { params: { query: { project?: string } } }][];
  expect(calls.map(([, { params }]) => params.query.project)).toEqual(["p"]);
});

test("without a project the list is there all the same", async () => {
  const { result } = list(undefined, []);
  await waitFor(() => expect(result.current.data).toBeDefined());
});
