// Batches from the first click to the pull request.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gated, scenes, script } from "./scene.mjs";

const open = scenes();

test("three selected tasks run in parallel, and badges and bar follow by events", async () => {
  const scene = await open({ agent: "actor" });
  const { page } = scene;
  for (const name of ["one", "two", "three"]) await scene.task(`Plant ${name}`, gated(name, `${name}.txt`));
  await scene.enter();
  await scene.select("Plant one", "Plant two", "Plant three");
  await page.getByText("3 tasks selected").waitFor();
  await scene.button("Execute Parallel").click();
  const bar = page.getByRole("progressbar");
  await bar.waitFor();
  for (const name of ["one", "two", "three"]) {
    await scene.card(`Plant ${name}`, "In progress").getByText("Running").waitFor();
    await scene.card(`Plant ${name}`, "In progress").getByText(`it waits at ${name}`).waitFor();
  }
  assert.equal(await bar.getAttribute("aria-valuenow"), "0");
  scene.letGo("two");
  await scene.card("Plant two", "Done").getByText("Completed").waitFor();
  await page.getByText("1/3 complete").waitFor();
  assert.equal(await bar.getAttribute("aria-valuenow"), "33");
  scene.letGo("one");
  scene.letGo("three");
  await scene.ended("3/3");
  assert.equal(await bar.getAttribute("aria-valuenow"), "100");
  for (const name of ["one", "two", "three"])
    await scene.card(`Plant ${name}`, "Done").getByText("Completed").waitFor();
});

test("one of three tasks is cancelled, and the others finish", async () => {
  const scene = await open({ agent: "actor" });
  const { page } = scene;
  for (const name of ["one", "two", "three"]) await scene.task(`Plant ${name}`, gated(name, `${name}.txt`));
  await scene.enter();
  await scene.select("Plant one", "Plant two", "Plant three");
  await scene.button("Execute Parallel").click();
  await scene.card("Plant two", "In progress").getByText("it waits at two").click();
  await page.getByRole("heading", { name: "Plant two" }).waitFor();
  await scene.button("Cancel").click();
  await page.getByText("Cancelled. Its work is kept.").waitFor();
  scene.letGo("one");
  scene.letGo("three");
  await scene.ended("2/3");
  await page.getByRole("link", { name: "Board" }).click();
  await scene.card("Plant two", "Cancelled").waitFor();
  for (const name of ["one", "three"]) await scene.card(`Plant ${name}`, "Done").waitFor();
});

test("a batch ends with one pull request, and the link to it", async () => {
  const scene = await open({ forge: true });
  const { page } = scene;
  for (const name of ["one", "two"]) await scene.task(`Plant ${name}`, script(0, `${name}.txt`));
  await scene.enter();
  await scene.select("Plant one", "Plant two");
  await scene.button("Execute Parallel").click();
  const link = page.getByRole("region", { name: "Batches" }).getByRole("link", { name: "Pull request" });
  await link.waitFor();
  assert.equal(scene.forge.pulls.length, 1);
  assert.equal(await link.getAttribute("href"), scene.forge.pulls[0].html_url);
  assert.equal(scene.forge.pulls[0].base.ref, "main");
  assert.match(
    scene.git("ls-remote", `${scene.folder}/forge/people/garden.git`),
    /refs\/heads\/pleach\/batch-1/,
  );
  await page.getByRole("link", { name: "Batch 1" }).first().click();
  assert.equal(
    await page.getByRole("link", { name: "Open the pull request" }).getAttribute("href"),
    scene.forge.pulls[0].html_url,
  );
});

test("a queue asks before each task", async () => {
  const scene = await open();
  await scene.task("Dig", script(1, "a.txt"));
  await scene.task("Water", script(1, "b.txt"));
  await scene.enter();
  await scene.select("Dig", "Water");
  await scene.button("Execute Queue").click();
  await scene.card("Water", "Needs you").getByText("Waiting").waitFor();
  const { batches } = await scene.call("GET", "/api/batches");
  assert.deepEqual(
    batches[0].tasks.map((task) => task.status),
    ["completed", "waiting"],
  );
  await scene.button("Approve next").click();
  await scene.ended("2/2");
  await scene.button("Approve next").waitFor({ state: "detached" });
});

test("a batch is cancelled after a question", async () => {
  const scene = await open({ agent: "actor" });
  await scene.task("Dig deep", gated("never", "a.txt"));
  await scene.enter();
  await scene.card("Dig deep").hover();
  await scene.button("Run Dig deep").click();
  await scene.card("Dig deep", "In progress").getByText("Running").waitFor();
  await scene.button("Cancel batch").click();
  await scene.page.getByRole("dialog").getByRole("button", { name: "Cancel batch" }).click();
  await scene.card("Dig deep", "Cancelled").waitFor();
});

test("the run dialog starts what it says", async () => {
  const scene = await open();
  const { page } = scene;
  const first = await scene.task("Dig", script(1, "a.txt"));
  await scene.task("Water", script(1, "b.txt"), { dependsOn: [first.id] });
  await scene.enter();
  await scene.select("Dig", "Water");
  await scene.button("Options…").click();
  await page.getByText("2 waves").waitFor();
  await page.getByRole("radio", { name: "Serial" }).click();
  await scene.button("Start batch").click();
  await scene.ended("2/2");
  const { batches } = await scene.call("GET", "/api/batches?status=all");
  assert.equal(batches[0].mode, "queue");
  assert.equal(batches[0].settings.autoApprove, true);
});

test("what steers agents is shown, and nothing starts without consent", async () => {
  const scene = await open({ yes: false });
  scene.expected.push(/status of 4\d\d .*\/api\/batches$/);
  await scene.task("Dig", script(1, "a.txt"));
  await scene.enter();
  await scene.select("Dig");
  await scene.button("Execute Parallel").click();
  await scene.page
    .getByRole("dialog", { name: "Review what controls the agents" })
    .getByText("Be brief.")
    .waitFor();
  assert.deepEqual((await scene.call("GET", "/api/batches?status=all")).batches, []);
  await scene.button("Consent and start").click();
  await scene.card("Dig", "Done").waitFor();
});
