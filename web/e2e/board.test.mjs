// The board: moving cards, importing plans, and telling people that they are needed.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scenes, script } from "./scene.mjs";

const open = scenes();

test("cards are dragged to other columns, and that can be undone", async () => {
  const scene = await open();
  await scene.task("Weed", "");
  await scene.task("Rest", "");
  await scene.enter();
  await scene.card("Weed").dragTo(scene.column("Done").locator("div").first());
  await scene.card("Weed", "Done").waitFor();
  await scene.button("Undo").click();
  await scene.card("Weed", "Todo").waitFor();
});

test("the menu of a card moves it to other columns, up and down", async () => {
  const scene = await open();
  const { page } = scene;
  await scene.task("Weed", "");
  await scene.task("Rest", "");
  await scene.enter();
  const choose = async (card, item) => {
    await scene.card(card).hover();
    await scene.button(`Move ${card}`).click();
    await page.getByRole("menuitem", { name: item, exact: true }).click();
  };
  await choose("Rest", "Up");
  await page.waitForFunction(() => document.querySelector("article")?.getAttribute("aria-label") === "Rest");
  await choose("Weed", "Cancelled");
  await scene.card("Weed", "Cancelled").waitFor();
  await page.reload();
  await scene.card("Weed", "Cancelled").waitFor();
});

test("a plan is imported by dropping it on the board", async () => {
  const scene = await open();
  const { page } = scene;
  await scene.enter();
  await page.getByText("No tasks yet").waitFor();
  const files = await page.evaluateHandle(() => {
    const carried = new DataTransfer();
    carried.items.add(new File(["- [ ] Sow peas\n- [ ] Sow beans\n"], "plan.md", { type: "text/markdown" }));
    return carried;
  });
  const target = page.locator("#page > div").first();
  await target.dispatchEvent("dragenter", { dataTransfer: files });
  await page.getByText("Drop the plan to import its tasks").waitFor();
  await target.dispatchEvent("drop", { dataTransfer: files });
  await scene.card("Sow beans", "Todo").waitFor();
  await scene.card("Sow peas", "Todo").waitFor();
});

test("the plan of a project is offered, and kept in step both ways once it is imported", async () => {
  const scene = await open();
  const plan = join(scene.repository, "TODO.md");
  writeFileSync(plan, "- [ ] 1.1 Sow peas\n- [ ] 1.2 Sow beans\n");
  await scene.enter();
  await scene.button("Import TODO.md").click();
  await scene.card("Sow beans", "Todo").waitFor();
  writeFileSync(plan, "- [ ] 1.1 Sow peas\n- [x] 1.2 Sow beans\n- [ ] 1.3 Water\n");
  await scene.card("Water", "Todo").waitFor();
  await scene.card("Sow beans", "Done").waitFor();
  const saved = scene.page.waitForResponse((answer) => answer.request().method() === "PATCH");
  await scene.card("Sow peas").dragTo(scene.column("Done").locator("div").first());
  await saved;
  assert.match(readFileSync(plan, "utf8"), /^- \[x\] 1\.1 Sow peas$/m);
});

test("a plan that cannot be read is told with its place", async () => {
  const scene = await open();
  scene.expected.push(/status of 4\d\d .*\/api\/tasks\/import$/);
  const { page } = scene;
  await scene.enter();
  await page.getByText("No tasks yet").waitFor();
  const buffer = Buffer.from("- [ ] 1.1 Sow (depends: 1.2)\n- [ ] 1.2 Reap (depends: 1.1)\n");
  await page.getByLabel("Plan file").setInputFiles({ name: "plan.md", mimeType: "text/markdown", buffer });
  await page.getByText("Could not import plan.md").waitFor();
  await page.getByText(/1\.1 → 1\.2 → 1\.1/).waitFor();
});

test("a person who is needed is told by a toast, by the title and by the system", async () => {
  const scene = await open({ context: { permissions: ["notifications"] } });
  const { page } = scene;
  await scene.context.addInitScript(() => {
    globalThis.told = [];
    globalThis.Notification = class {
      static permission = "granted";
      constructor(title, { body }) {
        globalThis.told.push(`${title}: ${body}`);
      }
    };
    Object.defineProperty(document, "hidden", { get: () => true });
  });
  await scene.task("Heat the bench", "```script\nfail\n```");
  await scene.task("Sweep", script(0, "a.txt"));
  await scene.enter();
  await scene.select("Heat the bench", "Sweep");
  await scene.button("Execute Parallel").click();
  await page
    .getByRole("region", { name: /Notifications/ })
    .getByText("“Heat the bench” failed")
    .waitFor();
  await scene.card("Heat the bench", "Needs you").getByText("Failed").waitFor();
  await page.waitForFunction(() => document.title.startsWith("(1) "));
  await page.waitForFunction(() =>
    globalThis.told.some((words) => words.includes("“Heat the bench” failed")),
  );
});
