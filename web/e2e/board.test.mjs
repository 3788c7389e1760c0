// The board in a real browser against a real server.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Scene, script } from "./scene.mjs";

/** @type {Scene} */
let scene;

async function open(options) {
  scene = await Scene.open(options);
  return scene;
}

afterEach(async () => {
  const errors = scene?.errors ?? [];
  await scene?.close();
  assert.deepEqual(errors, []);
});

test("three selected tasks run in parallel, and badges and bar follow by events", async () => {
  const { page } = await open();
  for (const name of ["one", "two", "three"]) await scene.task(`Plant ${name}`, script(4, `${name}.txt`));
  await scene.enter();
  await scene.select("Plant one", "Plant two", "Plant three");
  await page.getByText("3 tasks selected").waitFor();
  await scene.button("Execute Parallel").click();
  const bar = page.getByRole("progressbar");
  await bar.waitFor();
  await scene.card("Plant two", "In progress").getByText("Running").waitFor();
  await scene.card("Plant two", "In progress").getByText(/step \d/).waitFor();
  await page.getByText("3/3 complete").waitFor();
  assert.equal(await bar.getAttribute("aria-valuenow"), "100");
  for (const name of ["one", "two", "three"]) await scene.card(`Plant ${name}`, "Done").getByText("Completed").waitFor();
});

test("a queue asks before each task", async () => {
  const { page } = await open();
  await scene.task("Dig", script(1, "a.txt"));
  await scene.task("Water", script(1, "b.txt"));
  await scene.enter();
  await scene.select("Dig", "Water");
  await scene.button("Execute Queue").click();
  await scene.card("Water", "Needs you").getByText("Waiting").waitFor();
  assert.deepEqual(await scene.violations(), []);
  await scene.button("Approve next").click();
  await page.getByText("2/2 complete").waitFor();
  await scene.button("Approve next").waitFor({ state: "detached" });
});

test("a batch is cancelled after a question", async () => {
  const { page } = await open();
  await scene.task("Dig deep", script(40, "a.txt"));
  await scene.enter();
  await scene.card("Dig deep").hover();
  await scene.button("Run Dig deep").click();
  await scene.card("Dig deep", "In progress").getByText("Running").waitFor();
  await scene.button("Cancel batch").click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel batch" }).click();
  await scene.card("Dig deep", "Cancelled").waitFor();
});

test("the run dialog starts what it says", async () => {
  const { page } = await open();
  await scene.task("Dig", script(1, "a.txt"));
  const second = await scene.task("Water", script(1, "b.txt"));
  await scene.call("PATCH", `/api/tasks/${second.id}`, { dependsOn: [(await scene.call("GET", `/api/tasks?project=${await scene.project()}`)).tasks[0].id] });
  await scene.enter();
  await scene.select("Dig", "Water");
  await scene.button("Options…").click();
  await page.getByText("2 waves").waitFor();
  assert.deepEqual(await scene.violations(), []);
  await page.getByRole("radio", { name: "Serial" }).click();
  await scene.button("Start batch").click();
  await page.getByText("2/2 complete").waitFor();
  const { batches } = await scene.call("GET", "/api/batches?status=all");
  assert.equal(batches[0].mode, "queue");
  assert.equal(batches[0].settings.autoApprove, true);
});

test("what steers agents is shown, and nothing starts without consent", async () => {
  const { page } = await open({ yes: false });
  await scene.task("Dig", script(1, "a.txt"));
  await scene.enter();
  await scene.select("Dig");
  await scene.button("Execute Parallel").click();
  await page.getByRole("dialog", { name: "This needs your consent" }).getByText("AGENTS.md").waitFor();
  assert.deepEqual((await scene.call("GET", "/api/batches?status=all")).batches, []);
  assert.deepEqual(await scene.violations(), []);
  await scene.button("Consent and start").click();
  await scene.card("Dig", "Done").waitFor();
});

test("everything works by keyboard alone", async () => {
  const { page } = await open();
  await scene.enter();
  await page.getByText("No tasks yet").waitFor();
  for (const title of ["First", "Second"]) {
    await page.keyboard.press("c");
    await page.getByLabel("Title").waitFor();
    await page.keyboard.type(title);
    await page.keyboard.press("Tab");
    await page.keyboard.insertText(script(1, `${title}.txt`));
    await page.keyboard.press("Control+Enter");
    await scene.card(title).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("x");
  await page.keyboard.press("Shift+ArrowDown");
  await page.getByText("2 tasks selected").waitFor();
  await page.keyboard.press("p");
  await page.getByText("2/2 complete").waitFor();
  await page.keyboard.press("m");
  await page.getByRole("menu").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("settings");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
});

test("cards are dragged to other columns, and that can be undone", async () => {
  await open();
  await scene.task("Weed", "");
  await scene.task("Rest", "");
  await scene.enter();
  await scene.card("Weed").dragTo(scene.column("Done").locator("div").first());
  await scene.card("Weed", "Done").waitFor();
  await scene.button("Undo").click();
  await scene.card("Weed", "Todo").waitFor();
});

test("a plan is imported by dropping it on the board", async () => {
  const { page } = await open();
  await scene.enter();
  await page.getByText("No tasks yet").waitFor();
  const files = await page.evaluateHandle(() => {
    const carried = new DataTransfer();
    carried.items.add(new File(["- [ ] Sow peas\n- [ ] Sow beans\n"], "plan.md", { type: "text/markdown" }));
    return carried;
  });
  await page.locator("#page > div").dispatchEvent("drop", { dataTransfer: files });
  await scene.card("Sow beans", "Todo").waitFor();
});

test("settings are saved at once and there after a reload", async () => {
  const { page } = await open();
  await scene.enter();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("slider", { name: "Max batch size" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("switch", { name: "Stop on failure" }).click();
  const saved = page.waitForResponse((answer) => answer.request().method() === "PATCH" && (answer.request().postData() ?? "").includes("rerun"));
  await page.getByLabel("Conflict behavior").selectOption("rerun");
  await saved;
  await page.reload();
  await page.getByRole("slider", { name: "Max batch size" }).waitFor();
  assert.equal(await page.getByRole("slider", { name: "Max batch size" }).getAttribute("aria-valuenow"), "4");
  assert.equal(await page.getByRole("switch", { name: "Stop on failure" }).getAttribute("aria-checked"), "true");
  assert.equal(await page.getByLabel("Conflict behavior").inputValue(), "rerun");
});

test("a server that is killed and started again loses and doubles nothing", async () => {
  const { page } = await open();
  await scene.task("Before", "");
  await scene.enter();
  await scene.card("Before").waitFor();
  await scene.kill();
  await page.getByText(/Disconnected from the server/).waitFor();
  await scene.serve(scene.address.port);
  await scene.task("After", "");
  await scene.card("After").waitFor();
  await page.getByText(/Disconnected from the server/).waitFor({ state: "detached" });
  assert.equal(await page.getByRole("article").count(), 2);
});

test("twelve tabs share one stream", async () => {
  await open();
  await scene.task("Seen", "");
  await scene.enter();
  await scene.card("Seen").waitFor();
  const tabs = [];
  for (let tab = 0; tab < 11; tab += 1) {
    tabs.push(await scene.context.newPage());
    await tabs[tab].goto(scene.url);
    await tabs[tab].getByRole("article", { name: "Seen" }).waitFor();
  }
  await scene.task("New", "");
  for (const tab of tabs) await tab.getByRole("article", { name: "New" }).waitFor();
});

test("a folder that is no repository has no parallel mode", async () => {
  const { page } = await open({ git: false });
  await scene.enter();
  const { projects } = await scene.call("GET", "/api/projects");
  if (projects.length === 0) await scene.call("POST", "/api/projects", { path: scene.repository });
  await page.reload();
  await scene.task("Dig", "");
  await scene.select("Dig");
  await page.getByText("Parallel mode requires a git repository").waitFor();
  assert.equal(await scene.button("Execute Parallel").isDisabled(), true);
});

test("axe finds nothing on the board in both themes, wide and at 360 pixels", async () => {
  const { page } = await open();
  await scene.task("Weed", "", { labels: ["garden"], priority: "high" });
  await scene.enter();
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1440, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await scene.card("Weed").waitFor();
      assert.deepEqual(await scene.violations(), []);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    }
  }
});
