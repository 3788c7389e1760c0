// Batches on a cluster: a real Slurm of one node.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gated, scenes } from "./scene.mjs";

const open = scenes();

test("a cluster that is not available says why not, and cannot be chosen", async () => {
  const scene = await open({ config: 'slurm.bin = "/nowhere"' });
  const { page } = scene;
  await scene.task("Dig", "");
  await scene.enter();
  await scene.select("Dig");
  await scene.button("Options…").click();
  const { clusters } = await scene.call("GET", "/api/clusters");
  const places = page.getByRole("combobox", { name: "Where" }).getByRole("option");
  const slurm = clusters.find(({ name }) => name === "slurm");
  await places.filter({ hasText: slurm.reason }).waitFor({ state: "attached" });
  assert.deepEqual(await places.allTextContents(), ["This machine (default)", `Slurm (${slurm.reason})`]);
  assert.deepEqual(await Promise.all((await places.all()).map((place) => place.isDisabled())), [false, true]);
});

test("a task waits in the queue for a reason, and runs on a node", async () => {
  const scene = await open({ agent: "actor", slurm: true });
  const { page } = scene;
  for (const name of ["dig", "water"]) await scene.task(name, gated(name, `${name}.txt`));
  await scene.enter();
  await scene.select("dig", "water");
  await scene.button("Options…").click();
  await page.getByRole("combobox", { name: "Where" }).selectOption("slurm");
  await scene.button("Start batch").click();
  const runs = scene.card("dig", "In progress");
  await runs.getByText("it waits at dig").waitFor();
  await runs.getByTitle("Runs on n1").waitFor();
  const waits = scene.card("water", "In progress");
  await waits.getByText("Queued").waitFor();
  await waits.getByText("in Slurm's queue: Resources").click();
  await page.getByRole("tab", { name: "Details" }).click();
  await page.getByText("In Slurm's queue: Resources").waitFor();
  await page.getByRole("link", { name: "Board" }).click();
  scene.letGo("dig");
  await waits.getByTitle("Runs on n1").waitFor();
  await waits.getByText("it waits at water").waitFor();
  assert.equal(await waits.getByText("in Slurm's queue").count(), 0);
  scene.letGo("water");
  await scene.ended("2/2");
  const { batches } = await scene.call("GET", "/api/batches?status=all");
  assert.equal(batches[0].settings.where, "slurm");
  assert.deepEqual(
    batches[0].tasks.map((task) => [task.status, task.node]),
    [
      ["completed", "n1"],
      ["completed", "n1"],
    ],
  );
});
