// What was not chosen in the dialog stays as the settings say.

import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { BatchOptions, ClusterFound } from "@/api/client";
import { RunDialog } from "./RunDialog";

const asked: BatchOptions[] = [];
let usual: number | "auto";
let clusters: ClusterFound[] = [];

const place = (name: "local" | "slurm", available: boolean): ClusterFound => ({
  name,
  title: name === "slurm" ? "Slurm" : "This machine",
  available,
  reason: available ? null : "there is no share",
  isDefault: name === "local",
});

vi.mock("@/api/queries", async (original) => ({
  ...(await original<typeof import("@/api/queries")>()),
  useSettings: () => ({ data: { maxBatchSize: usual } }),
  useAgents: () => ({ data: [] }),
  useClusters: () => ({ data: clusters }),
}));
vi.mock("@/app/project", () => ({ useProject: () => ({ id: "p", isRepository: true }) }));
vi.mock("./usePreview", () => ({ usePreview: () => ({ preview: undefined, error: null, isOld: false }) }));
vi.mock("@/actions/start", async (original) => ({
  ...(await original<typeof import("@/actions/start")>()),
  startBatch: async (options: BatchOptions) => asked.push(options) > 0,
}));

afterEach(() => {
  cleanup();
  asked.length = 0;
});

test.each(["auto" as const, 24])(
  "a limit of %s is left to the settings until somebody moves the slider",
  async (limit) => {
    usual = limit;
    render(<RunDialog tasks={["1", "2"]} />);
    expect(screen.getAllByRole("status").map((shown) => shown.textContent)).toContain(String(limit));
    fireEvent.click(screen.getByRole("button", { name: "Start batch" }));
    await waitFor(() => expect(asked).toHaveLength(1));
    expect(asked[0]).toEqual({ taskIds: ["1", "2"], mode: "parallel", withDeps: false });
    fireEvent.keyDown(screen.getByRole("slider"), { key: "Home" });
    fireEvent.click(screen.getByRole("button", { name: "Start batch" }));
    await waitFor(() => expect(asked).toHaveLength(2));
    expect(asked[1]).toMatchObject({ maxConcurrent: 1 });
  },
);

test("a batch runs where it is chosen to, and what is not available says why not", async () => {
  usual = 3;
  clusters = [place("local", true), place("slurm", false)];
  const { rerender } = render(<RunDialog tasks={["1"]} />);
  const slurm = screen.getByRole<HTMLOptionElement>("option", { name: "Slurm (there is no share)" });
  expect(slurm.disabled).toBe(true);
  clusters = [place("local", true), place("slurm", true)];
  rerender(<RunDialog tasks={["1"]} />);
  expect(screen.getByRole<HTMLOptionElement>("option", { name: "Slurm" }).disabled).toBe(false);
  fireEvent.change(screen.getByRole("combobox", { name: "Where" }), { target: { value: "slurm" } });
  fireEvent.click(screen.getByRole("button", { name: "Start batch" }));
  await waitFor(() => expect(asked).toHaveLength(1));
  expect(asked[0]).toMatchObject({ where: "slurm" });
});
