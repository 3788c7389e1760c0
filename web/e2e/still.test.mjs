// What is read stays where it is while a batch goes on.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gated, scenes } from "./scene.mjs";

const open = scenes();

/** From now on notes what moves by itself; gives what moved so far, in words. */
async function watching(page) {
  await page.evaluate(() => {
    globalThis.moved = [];
    const words = ({ node, previousRect: from, currentRect: to }) =>
      `${node.nodeName.toLowerCase()} “${node.textContent.slice(0, 40)}” from ${from.x},${from.y} to ${to.x},${to.y}`;
    // Cards that go to another column are what there is to see, and what has no words, such as a bar, may grow.
    const isToStay = (node) =>
      node?.textContent.trim() && !(node.closest ? node : node.parentElement)?.closest("article");
    const hasMoved = ({ previousRect: from, currentRect: to }) =>
      Math.abs(from.x - to.x) > 1 || Math.abs(from.y - to.y) > 1;
    const observer = new PerformanceObserver((list) => {
      const sources = list.getEntries().flatMap((shift) => [...shift.sources]);
      globalThis.moved.push(
        ...sources.filter((source) => isToStay(source.node) && hasMoved(source)).map(words),
      );
    });
    observer.observe({ type: "layout-shift" });
  });
  return () => page.evaluate(() => globalThis.moved);
}

for (const [name, path] of [
  ["the board", "/"],
  ["the page of a batch", "/batches/1"],
  ["its graph", "/batches/1?tab=graph"],
  ["the page of a task", "/tasks/"],
  ["the history", "/batches"],
]) {
  test(`nothing on ${name} moves by itself while a batch goes on`, async () => {
    const scene = await open({ agent: "actor", config: 'max_parallel = 2\nvalidate = "echo all is well"' });
    const { page } = scene;
    const { id } = await scene.task("Plant one", gated("one", "one.txt"));
    for (const each of ["two", "three"]) await scene.task(`Plant ${each}`, gated(each, `${each}.txt`));
    await scene.enter();
    await scene.select("Plant one", "Plant two", "Plant three");
    await scene.button("Execute Parallel").click();
    await scene.card("Plant one", "In progress").getByText("it waits at one").waitFor();
    await page.goto(new URL(path === "/tasks/" ? path + id : path, scene.address).href);
    await page.getByText("0/3 complete").first().waitFor();
    await scene.settle();
    const moved = await watching(page);
    scene.letGo("two");
    await page.getByText("1/3 complete").first().waitFor();
    scene.letGo("three");
    scene.letGo("one");
    await scene.ended("3/3");
    await scene.settle();
    assert.deepEqual(await moved(), []);
  });
}
