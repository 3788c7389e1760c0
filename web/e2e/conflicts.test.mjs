// Two tasks that change the same line, and the four ways out.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gated, scenes, script } from "./scene.mjs";

const open = scenes();
const files = { "hours.md": "Open from dawn to dusk.\n" };

/** A batch in which "Open on Sundays" does not merge with "Open at night", shown with its conflicts. */
async function conflict({ isOver = true } = {}) {
  const scene = await open({ agent: "actor", config: "max_parallel = 1", files });
  const { page } = scene;
  await scene.task("Open at night", script(0, "hours.md", "Open all night."));
  await scene.task("Open on Sundays", script(0, "hours.md", "Open on Sundays."));
  if (!isOver) await scene.task("Paint the door", gated("paint", "door.md"));
  await scene.enter();
  await scene.card("Open on Sundays").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Control+a");
  await scene.button("Execute Parallel").click();
  await scene.card("Open on Sundays", "Needs you").getByText("Conflicted").waitFor();
  if (isOver) await scene.ended("1/2");
  else await scene.card("Paint the door", "In progress").getByText("it waits at paint").waitFor();
  await page.getByRole("link", { name: "Batch 1" }).first().click();
  await page.getByRole("tab", { name: /Conflicts/ }).click();
  const pair = page
    .getByRole("region", { name: "Conflicts" })
    .getByRole("listitem")
    .filter({ hasText: "Open on Sundays" })
    .first();
  await pair.getByRole("link", { name: /Open at night/ }).waitFor();
  await pair.getByRole("list", { name: "Files" }).getByText("hours.md").waitFor();
  return { scene, page, pair };
}

const outcomes = async (scene) =>
  (await scene.call("GET", "/api/batches/1")).tasks.map((task) => task.outcome);
const woven = (scene) => scene.git("show", "pleach/batch-1:hours.md");

test("a conflict is resolved by hand", async () => {
  const { scene, page, pair } = await conflict();
  await pair.getByRole("button", { name: "Resolve by hand" }).click();
  const command = await pair.getByText(/^cd /).textContent();
  const file = join(command.slice(3).replace(/^'|'$/g, ""), "hours.md");
  assert.match(readFileSync(file, "utf8"), /<<<<<<</);
  writeFileSync(file, "Open all night and on Sundays.\n");
  await pair.getByRole("button", { name: /Weave my resolution|^Done$/ }).click();
  await page.getByText("No conflicts").waitFor();
  await scene.ended("2/2");
  assert.deepEqual(await outcomes(scene), ["merged", "merged"]);
  assert.equal(woven(scene), "Open all night and on Sundays.\n");
});

test("marks that are left in a file are told, and nothing is woven", async () => {
  const { scene, page, pair } = await conflict();
  scene.expected.push(/status of 409 .*\/resolve$/);
  await pair.getByRole("button", { name: "Resolve by hand" }).click();
  await pair.getByRole("button", { name: /Weave my resolution|^Done$/ }).click();
  await page
    .getByRole("region", { name: /Notifications/ })
    .getByText(/hours\.md|mark/)
    .first()
    .waitFor();
  assert.deepEqual(await outcomes(scene), ["merged", "conflicted"]);
});

test("a task that conflicts is run again on the woven result", async () => {
  const { scene, page, pair } = await conflict();
  await pair.getByRole("button", { name: "Rerun" }).click();
  await scene.ended("2/2");
  await page.getByText("No conflicts").waitFor();
  assert.deepEqual(await outcomes(scene), ["merged", "merged"]);
  assert.equal(woven(scene), "Open on Sundays.\n");
});

test("a task that conflicts is left out, and its work is kept", async () => {
  const { scene, pair } = await conflict();
  await pair.getByRole("button", { name: "Leave out" }).click();
  await pair.getByText(/It stays left out/).waitFor();
  assert.deepEqual(await outcomes(scene), ["merged", "conflicted"]);
  assert.equal(woven(scene), "Open all night.\n");
  assert.equal(scene.git("show", "pleach/task-1/2:hours.md"), "Open on Sundays.\n");
});

test("a batch with a conflict is aborted", async () => {
  const { scene, page } = await conflict({ isOver: false });
  await scene.button("Abort batch").click();
  await page.getByRole("dialog").getByRole("button", { name: "Abort batch" }).click();
  await page.getByText("The batch is cancelled. All work is kept.").waitFor();
  const batch = await scene.call("GET", "/api/batches/1");
  assert.equal(batch.status, "cancelled");
  assert.equal(batch.tasks[2].outcome, "cancelled");
});
