// The same board by keyboard alone, by touch on a small screen, and in many tabs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gated, scenes, script } from "./scene.mjs";

const open = scenes();

test("from an empty board to the page of a finished batch by keyboard alone", async () => {
  const scene = await open();
  const { page } = scene;
  const { keyboard } = page;
  await scene.enter();
  await page.getByText("No tasks yet").waitFor();
  for (const title of ["First", "Second"]) {
    await keyboard.press("c");
    await page.getByLabel("Title").waitFor();
    await keyboard.type(title);
    await keyboard.press("Tab");
    await keyboard.insertText(script(1, `${title}.txt`));
    await keyboard.press("Control+Enter");
    await scene.card(title).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await keyboard.press("ArrowDown");
  await keyboard.press("x");
  await keyboard.press("Shift+ArrowDown");
  await page.getByText("2 tasks selected").waitFor();
  await keyboard.press("p");
  await scene.ended("2/2");
  await keyboard.press("m");
  await page.getByRole("menu").waitFor();
  await keyboard.press("Escape");
  await keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await keyboard.press("g");
  await keyboard.press("a");
  await page.getByRole("heading", { name: "Batches" }).waitFor();
  const isThere = () =>
    page.evaluate(
      () => document.activeElement?.tagName === "A" && document.activeElement.closest("main") !== null,
    );
  for (let steps = 0; steps < 40 && !(await isThere()); steps += 1) await keyboard.press("Tab");
  await keyboard.press("Enter");
  await page.getByRole("heading", { name: "Batch 1" }).waitFor();
  await keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Search and commands" }).waitFor();
  await keyboard.type("settings");
  await keyboard.press("Enter");
  await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
});

test("a whole run by touch, 360 pixels wide", async () => {
  const scene = await open({
    context: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
  });
  const { page } = scene;
  const fits = async () =>
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
  for (const name of ["one", "two"]) await scene.task(`Plant ${name}`, script(1, `${name}.txt`));
  await scene.enter();
  for (const name of ["one", "two"]) await page.getByRole("checkbox", { name: `Select Plant ${name}` }).tap();
  await page.getByText("2 tasks selected").waitFor();
  await fits();
  await scene.button("Execute Parallel").tap();
  await scene.ended("2/2");
  await fits();
  await page.getByRole("link", { name: "Batch 1" }).first().tap();
  await page.getByRole("heading", { name: "Batch 1" }).waitFor();
  await fits();
  for (const tab of ["Graph", "Timeline", "Conflicts", "Woven diff"]) {
    await page.getByRole("tab", { name: tab }).tap();
    await page.getByRole("tab", { name: tab, selected: true }).waitFor();
    await fits();
  }
  await page.getByRole("tab", { name: "Summary" }).tap();
  await page
    .getByRole("tabpanel")
    .getByRole("link", { name: /Plant one/ })
    .tap();
  await page.getByRole("log").getByText("step 0").waitFor();
  await fits();
  await page.getByRole("link", { name: "Settings" }).tap();
  await page.getByRole("heading", { name: "Settings", exact: true }).waitFor();
  await fits();
});

test("twelve tabs follow one running batch", async () => {
  const scene = await open({ agent: "actor" });
  await scene.task("Seen by all", gated("go", "a.txt"));
  await scene.enter();
  await scene.card("Seen by all").hover();
  await scene.button("Run Seen by all").click();
  const tabs = [scene.page];
  while (tabs.length < 12) {
    const tab = await scene.context.newPage();
    await tab.goto(scene.address.href);
    tabs.push(tab);
  }
  const card = (tab, column) =>
    tab.getByRole("region", { name: column, exact: true }).getByRole("article", { name: "Seen by all" });
  for (const tab of tabs) await card(tab, "In progress").getByText("Running").waitFor();
  scene.letGo("go");
  for (const tab of tabs) {
    await card(tab, "Done").waitFor();
    await scene.ended("1/1", tab);
    assert.equal(await tab.getByRole("article").count(), 1);
  }
});
