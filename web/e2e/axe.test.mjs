// axe finds nothing on any page and dialog, in both themes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gated, scenes, script } from "./scene.mjs";

const open = scenes();
const still = { context: { reducedMotion: "reduce" } };

/** Looks at the page in both themes, as often as it is asked to; `found` is what is wrong with it. */
function looking(scene) {
  const found = [];
  const look = async (name) => {
    for (const colorScheme of ["dark", "light"]) {
      await scene.page.emulateMedia({ colorScheme });
      await scene.settle();
      found.push(...(await scene.violations()).map((each) => `${name}, ${colorScheme}: ${each}`));
    }
  };
  return { found, look };
}

test("an empty board, and what opens above it", async () => {
  const scene = await open(still);
  const { page } = scene;
  const { found, look } = looking(scene);
  await scene.enter();
  await page.getByText("No tasks yet").waitFor();
  await look("empty board");
  const files = await page.evaluateHandle(() => {
    const carried = new DataTransfer();
    carried.items.add(new File(["- [ ] Sow\n"], "plan.md"));
    return carried;
  });
  await page.locator("#page > div").first().dispatchEvent("dragenter", { dataTransfer: files });
  await page.getByText("Drop the plan to import its tasks").waitFor();
  await look("import");
  await page.locator("#page > div").first().dispatchEvent("drop", { dataTransfer: files });
  await scene.card("Sow").waitFor();
  await look("toast");
  for (const [key, name] of [
    ["c", "New task"],
    ["?", "Keys"],
    ["Control+k", "Search and commands"],
  ]) {
    await page.keyboard.press(key);
    await page.getByRole("dialog", { name }).waitFor();
    await look(name);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await scene.button("Project: garden").click();
  await page.getByRole("menuitem", { name: "Add a project…" }).click();
  await page.getByRole("dialog", { name: "Add a project" }).waitFor();
  await look("Add a project");
  await page.goto(new URL("/nowhere", scene.address).href);
  await page.getByText("Page not found").waitFor();
  await look("not found");
  assert.deepEqual(found, []);
});

test("a board with a selection, and on small screens", async () => {
  const scene = await open(still);
  const { page } = scene;
  const { found, look } = looking(scene);
  const first = await scene.task("Weed", "", { labels: ["garden"], priority: "high" });
  await scene.task("Water", "", { dependsOn: [first.id], priority: "critical" });
  await scene.enter();
  await scene.select("Weed", "Water");
  await look("selection");
  await scene.button("Options…").click();
  await page.getByText("2 waves").waitFor();
  await look("run dialog");
  await page.keyboard.press("Escape");
  await scene.card("Weed").hover();
  await scene.button("Move Weed").click();
  await page.getByRole("menu").waitFor();
  await look("move menu");
  await page.keyboard.press("Escape");
  await page.goto(new URL("/?q=weed&label=garden", scene.address).href);
  await page.getByText("1 task of 2 hidden").waitFor();
  await look("filter");
  await scene.button("Clear filter").click();
  await page.setViewportSize({ width: 360, height: 740 });
  await look("360 pixels");
  assert.deepEqual(found, []);
});

test("consent, a queue that waits, and questions", async () => {
  const scene = await open({ ...still, yes: false });
  scene.expected.push(
    /status of 4\d\d .*\/api\/batches$/,
    /ERR_CONNECTION_(REFUSED|RESET)/,
    /ERR_INCOMPLETE_CHUNKED_ENCODING/,
  );
  const { page } = scene;
  const { found, look } = looking(scene);
  await scene.task("Dig", script(0, "a.txt"));
  await scene.task("Water", script(0, "b.txt"));
  await scene.enter();
  await scene.select("Dig", "Water");
  await scene.button("Execute Queue").click();
  await page.getByRole("dialog", { name: "Review what controls the agents" }).waitFor();
  await look("consent");
  await scene.button("Consent and start").click();
  await scene.card("Water", "Needs you").getByText("Waiting").waitFor();
  await look("queue");
  await scene.button("Cancel batch").click();
  await page.getByRole("dialog", { name: "Cancel batch 1?" }).waitFor();
  await look("question");
  await page.keyboard.press("Escape");
  await scene.kill();
  await page.getByText(/Disconnected from the server/).waitFor();
  await look("disconnected");
  assert.deepEqual(found, []);
});

test("the pages of tasks and batches, history and settings", async () => {
  const scene = await open({
    ...still,
    agent: "actor",
    config: 'max_parallel = 2\nvalidate = "echo all is well"',
    files: { "hours.md": "Open from dawn to dusk.\n" },
  });
  const { page } = scene;
  const { found, look } = looking(scene);
  const words =
    "```script\nthink of the beds\nread README.md\nplan look; plant; water\nrun make test\nok\n.\nwrite hours.md\nOpen all night.\n.\nusage 4100 0.02\nsay done\n```";
  const first = await scene.task("Open at night", words, { labels: ["hours"], priority: "low" });
  await scene.task("Open on Sundays", gated("one", "hours.md", "Open on Sundays."), { priority: "high" });
  await scene.task("Build a bench", "```script\nfail\n```");
  const last = await scene.task("Paint the door", gated("two", "door.md"), { dependsOn: [first.id] });
  await scene.enter();
  await scene.card("Paint the door").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Control+a");
  await scene.button("Execute Parallel").click();
  await scene.card("Open at night", "Done").waitFor();
  await scene.card("Build a bench", "Needs you").waitFor();
  scene.letGo("one");
  await scene.card("Open on Sundays", "Needs you").waitFor();
  await scene.card("Paint the door", "In progress").getByText("it waits at two").waitFor();
  await look("running batch");
  const visit = async (path, there) => {
    await page.goto(new URL(path, scene.address).href);
    await there.waitFor();
    await look(path);
  };
  await visit(`/tasks/${last.id}`, page.getByRole("log").getByText("it waits at two"));
  scene.letGo("two");
  await scene.ended("2/4");
  await visit(`/tasks/${first.id}`, page.getByRole("log").getByText("done").first());
  await visit(`/tasks/${first.id}?tab=diff`, page.getByText("hours.md").first());
  await visit(`/tasks/${first.id}?tab=details`, page.getByRole("region", { name: "Details" }));
  await visit(`/tasks/${first.id}?tab=attempts`, page.getByText("Attempt 1"));
  await visit("/batches/1", page.getByRole("region", { name: "Tasks" }));
  await visit("/batches/1?tab=graph", page.getByText("Paint the door").first());
  await visit("/batches/1?tab=timeline", page.getByText("Paint the door").first());
  await visit("/batches/1?tab=conflicts", page.getByRole("region", { name: "Conflicts" }));
  await visit("/batches/1?tab=diff", page.getByText("door.md").first());
  await visit("/batches/1?tab=validation", page.getByText("all is well").first());
  await visit("/batches/1?tab=worktrees", page.getByRole("tab", { name: "Worktrees", selected: true }));
  await visit("/batches", page.getByRole("main").getByRole("link", { name: "Batch 1" }));
  await visit("/settings", page.getByRole("slider", { name: "Max batch size" }));
  assert.deepEqual(found, []);
});
