// What a person chooses: filters, projects, settings.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pleach, scenes } from "./scene.mjs";

const open = scenes();

test("filters are in the address, survive a reload, and say what they hide", async () => {
  const scene = await open();
  const { page } = scene;
  await scene.task("Weed", "", { labels: ["beds"] });
  await scene.task("Water the weeds", "", { labels: ["hose"] });
  await scene.task("Rest", "", { labels: ["beds"] });
  await scene.enter();
  await scene.card("Rest").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("weed");
  await page.getByText("1 task of 3 hidden").waitFor();
  await scene.button("Filter").click();
  await page.getByRole("menuitemcheckbox", { name: "beds" }).click();
  await page.getByText("2 tasks of 3 hidden").waitFor();
  await page.reload();
  await page.getByText("2 tasks of 3 hidden").waitFor();
  await scene.card("Weed").waitFor();
  assert.equal(await page.getByRole("article").count(), 1);
  await scene.button("Clear filter").click();
  await scene.card("Rest").waitFor();
  assert.equal(await page.getByRole("article").count(), 3);
});

test("a project is added on the page, or the server says why not", async () => {
  const scene = await open();
  scene.expected.push(/status of 4\d\d .*\/api\/projects$/);
  const { page } = scene;
  await scene.task("Weed", "");
  await scene.enter();
  await scene.card("Weed").waitFor();
  await scene.button("Project: garden").click();
  await page.getByRole("menuitem", { name: "Add a project…" }).click();
  const field = page.getByLabel("Folder or URL");
  await field.fill(join(scene.folder, "nowhere"));
  await scene.button("Add project").click();
  await page.getByRole("dialog").getByRole("alert").waitFor();
  mkdirSync(join(scene.folder, "orchard"));
  await field.fill(join(scene.folder, "orchard"));
  await scene.button("Add project").click();
  await scene.button("Project: orchard").waitFor();
  await page.getByText("No tasks yet").waitFor();
});

test("settings are saved at once and there after a reload", async () => {
  const scene = await open();
  const { page } = scene;
  await scene.enter();
  await page.getByRole("link", { name: "Settings" }).click();
  const most = page.getByRole("slider", { name: "Max batch size" });
  const saved = (word) =>
    page.waitForResponse(
      (answer) => answer.request().method() === "PATCH" && (answer.request().postData() ?? "").includes(word),
    );
  const changes = [saved("maxBatchSize"), saved("stopOnFailure"), saved("queueAutoApprove"), saved("rerun")];
  await most.focus();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("switch", { name: "Stop on failure" }).click();
  await page.getByRole("switch", { name: "Queue auto-approve" }).click();
  await page.getByLabel("Conflict behavior").selectOption("rerun");
  await Promise.all(changes);
  await page.reload();
  await most.waitFor();
  assert.equal(await most.getAttribute("aria-valuenow"), "4");
  for (const name of ["Stop on failure", "Queue auto-approve"])
    assert.equal(await page.getByRole("switch", { name }).getAttribute("aria-checked"), "true");
  assert.equal(await page.getByLabel("Conflict behavior").inputValue(), "rerun");
});

test("a setting that the project overrides says so", async () => {
  const scene = await open({ files: { "pleach.toml": "max_parallel = 7\n" } });
  const { page } = scene;
  await scene.enter();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByText(/pleach\.toml: 7/).waitFor();
});

test("a folder that is no repository has no parallel mode", async () => {
  const scene = await open({ git: false });
  const { page } = scene;
  await scene.enter();
  const { projects } = await scene.call("GET", "/api/projects");
  if (projects.length === 0) await scene.call("POST", "/api/projects", { path: scene.repository });
  await page.reload();
  await scene.task("Dig", "");
  await scene.select("Dig");
  await page.getByText("Parallel mode requires a git repository").waitFor();
  assert.equal(await scene.button("Execute Parallel").isDisabled(), true);
  await page.keyboard.press("Escape");
  // Agents would change the folder itself, so a person at a terminal allows it first.
  scene.expected.push(/403/);
  await scene.card("Dig").hover();
  await scene.button("Run Dig").click();
  await page
    .getByRole("region", { name: /Notifications/ })
    .getByText(/pleach trust/)
    .waitFor();
  execFileSync(pleach, ["trust", scene.repository, "--yes"], { env: scene.env });
  await scene.card("Dig").hover();
  await scene.button("Run Dig").click();
  await scene.card("Dig", "Done").waitFor();
});
