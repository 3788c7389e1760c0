// Takes pictures of every page in both themes, of a real server at work, into docs/pictures.

import { mkdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { launch } from "../e2e/browser.mjs";
import { Scene } from "../e2e/scene.mjs";
import { files, first, running, second, todo } from "./greenhouse.mjs";

const folder = fileURLToPath(new URL("../../docs/pictures/", import.meta.url));
const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
// Toasts come and go.
const style = "[data-sonner-toaster] { display: none !important; }";

const config = 'max_parallel = 5\nvalidate = "node --test"\nretries = 0';
const browser = await launch();
const scene = new Scene();
await scene.open(browser, {
  name: "greenhouse",
  agent: "actor",
  forge: true,
  files,
  config,
  context: { reducedMotion: "reduce", viewport: WIDE },
});
const { page } = scene;
const ids = new Map();

/** Puts tasks on the board; what they need is named by its title. */
async function add(tasks) {
  for (const { title, description, needs = [], ...more } of tasks) {
    const { id } = await scene.task(title, description, {
      ...more,
      dependsOn: needs.map((need) => ids.get(need)),
    });
    ids.set(title, id);
  }
  return tasks.map(({ title }) => ids.get(title));
}

async function start(tasks) {
  const { id } = await scene.call("POST", "/api/batches", { taskIds: await add(tasks), mode: "parallel" });
  return id;
}

async function until(batch, isThere) {
  for (let tries = 0; ; tries += 1) {
    const now = await scene.call("GET", `/api/batches/${batch}`);
    if (isThere(now)) return now;
    if (tries === 300)
      throw new Error(
        `batch ${batch} does not get there: ${now.tasks.map((task) => `${task.title}: ${task.state} ${task.error ?? ""}`).join("\n")}`,
      );
    await pause(200);
  }
}

async function picture(name) {
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(() => document.fonts.ready);
    await scene.settle();
    await page.screenshot({ path: `${folder}board-${name}-${colorScheme}.png`, style });
  }
}

/** Goes to a page and takes its picture once something is there. */
async function visit(name, path, there) {
  await page.goto(new URL(path, scene.address).href);
  await there.waitFor();
  await page.mouse.move(0, 0);
  await picture(name);
}

const isOver = ({ status }) => ["completed", "failed", "cancelled"].includes(status);
const stateOf = (batch, title) => batch.tasks.find((task) => task.title === title);

try {
  mkdirSync(folder, { recursive: true });
  await until(await start(first), isOver);
  await until(await start(second), isOver);
  const batch = await start(running);
  await add(todo);
  await until(batch, (now) => {
    const waits = ["Water the mint twice a day", "Add tax to the total of a basket"].every(
      (title) => stateOf(now, title).state === "running",
    );
    return (
      waits &&
      now.conflicts.length === 1 &&
      now.predictedConflicts.length === 1 &&
      stateOf(now, "Heat the bench by the sun").outcome === "failed"
    );
  });
  const shown = ids.get("Add tax to the total of a basket");
  await scene.enter();
  await scene
    .card("Water the mint twice a day", "In progress")
    .getByText(/running the tests/)
    .waitFor();
  await page.mouse.move(0, 0);
  await picture("running");
  await scene.select(
    "Let customers keep a wish list",
    "Show opening hours on every page",
    "Measure the soil once an hour",
  );
  await picture("selection");
  await scene.button("Options…").click();
  await page.getByRole("dialog").getByText("1 wave").waitFor();
  await picture("run");
  await page.keyboard.press("Escape");
  await visit("transcript", `/tasks/${shown}`, page.getByRole("log").getByText("All twelve tests pass"));
  await visit("graph", `/batches/${batch}?tab=graph`, page.getByText("Print a receipt with the tax").first());
  await visit("timeline", `/batches/${batch}?tab=timeline`, page.getByText("Open on Sundays").first());
  await visit(
    "conflicts",
    `/batches/${batch}?tab=conflicts`,
    page.getByRole("region", { name: "Conflicts" }),
  );
  await visit(
    "worktrees",
    `/batches/${batch}?tab=worktrees`,
    page.getByRole("region", { name: "Worktrees" }),
  );
  await visit("history", "/batches", page.getByRole("main").getByRole("link", { name: "Batch 1" }));
  await visit("settings", "/settings", page.getByRole("slider", { name: "Max batch size" }));
  await page.setViewportSize(PHONE);
  await visit("phone", "/", scene.card("Measure the soil once an hour"));
  scene.letGo("end");
  await until(batch, (now) => stateOf(now, "Add tax to the total of a basket").outcome === "merged");
  scene.letGo("later");
  await until(batch, isOver);
  await page.setViewportSize(WIDE);
  // Words are apart once they have their colours.
  await visit("diff", `/batches/${batch}?tab=diff`, page.getByText("export", { exact: true }).first());
  await visit("summary", `/batches/${batch}`, page.getByText("Finished tasks"));
  await visit(
    "validation",
    `/batches/${batch}?tab=validation`,
    page.getByRole("tabpanel").getByText("node --test").first(),
  );
  await visit("task-diff", `/tasks/${shown}?tab=diff`, page.getByText("export", { exact: true }).first());
  await visit("details", `/tasks/${shown}?tab=details`, page.getByRole("button", { name: "Edit" }));
  await visit("attempts", `/tasks/${shown}?tab=attempts`, page.getByText(`Batch ${batch}, attempt 1`));
} finally {
  await scene.close();
  await browser.close();
}
