// What an agent says, while it says it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { scenes } from "./scene.mjs";

const open = scenes();

const STORY = `\`\`\`script
think the tests come first
read README.md
run cargo test --workspace
running 3 tests
test beds::are_counted ... ok
.
write beds.txt
tomato
basil
.
lines 400
wait first
say the first gate is open
wait second
say the second gate is open
usage 41300 0.18
wait third
say all beds are planted
\`\`\``;

/** Opens the transcript of a task whose agent stands at the first gate. */
async function streaming() {
  const scene = await open({ agent: "actor" });
  await scene.task("Plant beds", STORY);
  await scene.enter();
  await scene.card("Plant beds").hover();
  await scene.button("Run Plant beds").click();
  await scene.card("Plant beds", "In progress").getByRole("heading").click();
  const log = scene.page.getByRole("log", { name: "Transcript" });
  await log.getByText("line 400 of the work").waitFor();
  return { scene, page: scene.page, log };
}

/** How far the end of the log is below what is seen, in pixels. */
const below = (log) =>
  log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);

/** Waits until the end of the log is seen. */
async function isAtEnd(page, log) {
  await page.waitForFunction(
    (element) => element.scrollHeight - element.scrollTop - element.clientHeight < 24,
    await log.elementHandle(),
  );
}

test("a transcript is followed while it streams, until a person scrolls up", async () => {
  const { scene, page, log } = await streaming();
  await isAtEnd(page, log);
  scene.letGo("first");
  await log.getByText("the first gate is open").waitFor();
  await isAtEnd(page, log);

  await log.hover();
  await page.mouse.wheel(0, -2000);
  await scene.button("Follow").waitFor();
  const seen = page.waitForResponse((answer) => answer.url().includes("/log?"));
  scene.letGo("second");
  await seen;
  await page.getByText("41.3k tokens · $0.18").first().waitFor();
  assert.ok((await below(log)) > 500);

  await scene.button("Follow").click();
  await log.getByText("the second gate is open").waitFor();
  scene.letGo("third");
  await log.getByText("all beds are planted").first().waitFor();
  await scene.ended("1/1");
});

test("a transcript opens at its end, with motion and without, and stays there in less room", async () => {
  const { scene, page, log } = await streaming();
  for (const reducedMotion of ["no-preference", "reduce"]) {
    await page.emulateMedia({ reducedMotion });
    await page.reload();
    await log.getByText("line 400 of the work").waitFor();
    await scene.settle();
    await isAtEnd(page, log);
  }
  await page.setViewportSize({ width: 1440, height: 600 });
  await isAtEnd(page, log);
});

test("tool calls are folded, and open by a click", async () => {
  const { scene, page, log } = await streaming();
  await log.focus();
  await page.keyboard.press("Home");
  const call = log.getByRole("button", { name: /cargo test --workspace/ });
  await call.waitFor();
  assert.equal(await call.getAttribute("aria-expanded"), "false");
  assert.equal(await log.getByText("beds::are_counted").count(), 0);
  await call.click();
  assert.equal(await call.getAttribute("aria-expanded"), "true");
  await log.getByText("test beds::are_counted ... ok").waitFor();
  const edit = log.getByRole("button", { name: /Added beds\.txt/ });
  assert.equal(await edit.getAttribute("aria-expanded"), "true");
  await log.getByRole("group", { name: "Changed lines" }).getByText("basil").waitFor();
  for (const gate of ["first", "second", "third"]) scene.letGo(gate);
  await scene.ended("1/1");
});

test("a search finds lines that are far away", async () => {
  const { scene, page, log } = await streaming();
  await page.getByRole("searchbox", { name: "Search the transcript" }).fill("tests come first");
  await page.getByText("1 match").waitFor();
  await page.keyboard.press("Enter");
  await log.getByText("the tests come first").waitFor();
  assert.ok((await below(log)) > 500);
  await page.getByRole("searchbox", { name: "Search the transcript" }).fill("nothing says this");
  await page.getByText("No matches").waitFor();
  for (const gate of ["first", "second", "third"]) scene.letGo(gate);
  await scene.ended("1/1");
});

test("what a task changed is shown as a diff", async () => {
  const { scene, page } = await streaming();
  for (const gate of ["first", "second", "third"]) scene.letGo(gate);
  await scene.ended("1/1");
  await page.getByRole("tab", { name: "Diff" }).click();
  await page.getByRole("tabpanel").getByText("beds.txt").first().waitFor();
  await page.getByText("tomato").first().waitFor();
  await page.getByRole("tab", { name: "Attempts" }).click();
  await page.getByRole("region", { name: "Attempts" }).getByText("Attempt 1").waitFor();
});

test("a file that was viewed stays folded, and white space can be left out", async () => {
  const scene = await open({
    agent: "actor",
    files: { "beds.txt": "tomato\nbasil\n", "path.txt": "gravel\n" },
  });
  const { page } = scene;
  const task = await scene.task(
    "Indent",
    "```script\nwrite beds.txt\ntomato\n  basil\nmint\n.\nwrite path.txt\n  gravel\n.\n```",
  );
  await scene.enter();
  await scene.card("Indent").hover();
  await scene.button("Run Indent").click();
  await scene.ended("1/1");
  await page.goto(new URL(`/tasks/${task.id}?tab=diff`, scene.address).href);
  const panel = page.getByRole("tabpanel");
  const file = (name) => panel.getByRole("button", { name });
  await panel.getByText("mint").waitFor();
  await page.getByRole("checkbox", { name: "Viewed beds.txt" }).check();
  await panel.getByText("mint").waitFor({ state: "detached" });
  await panel.getByText("2 files, +3 −2, 1 viewed").waitFor();
  await page.reload();
  await panel.getByText("gravel").first().waitFor();
  assert.equal(await file(/beds\.txt/).getAttribute("aria-expanded"), "false");
  await scene.button("Ignore white space").click();
  await panel.getByText("1 file, +1 −0, 1 viewed").waitFor();
  await page.getByRole("checkbox", { name: "Viewed beds.txt" }).uncheck();
  await panel.getByText("mint").waitFor();
});
