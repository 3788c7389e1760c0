// Measures the built board in Chromium, prints every figure with its limit, and fails where one is beyond it.

import { fileURLToPath } from "node:url";
import { launch } from "../e2e/browser.mjs";
import { Scene } from "../e2e/scene.mjs";
import { serveCards } from "./cards.mjs";
import { entryKb, watch } from "./measure.mjs";

const CARDS = 2_000;
const EVENTS_A_SECOND = 200;
const LINES = 100_000;
const LINES_A_SECOND = 500;
const SECONDS = 8;
const limits = { entryKb: 240, frameMs: 50, taskMs: 100, openMs: 1000, endPx: 24 };
const view = { viewport: { width: 1440, height: 900 } };

let isGood = true;
function tell(what, value, limit) {
  const good = limit === undefined || value <= limit;
  isGood &&= good;
  const bound = limit === undefined ? "" : ` (at most ${limit})`;
  console.log(
    `${limit === undefined ? "    " : good ? "ok  " : "FAIL"} ${what}: ${value.toFixed(1)}${bound}`,
  );
}

/** Tells of the frames and the longest task of a page. */
async function tellOf(what, page, seconds = SECONDS) {
  const seen = await watch(page, beside, seconds);
  tell(`${what}, frames a second`, seen.fps);
  tell(`${what}, 99th percentile of frames, ms`, seen.p99, limits.frameMs);
  tell(`${what}, the same of an empty page meanwhile`, seen.empty);
  tell(`${what}, longest task of the main thread, ms of CPU`, seen.longest, limits.taskMs);
}

async function cards(browser) {
  const server = await serveCards(CARDS);
  const page = await browser.newPage(view);
  try {
    page.on("pageerror", (error) => console.log("page error:", error.message));
    const begun = performance.now();
    await page.goto(server.address);
    await page.getByRole("article").first().waitFor();
    tell(`${CARDS} cards, open from nothing, ms`, performance.now() - begun);
    tell(`${CARDS} cards, of which are drawn`, await page.getByRole("article").count());
    server.talk(EVENTS_A_SECOND);
    await tellOf(`${CARDS} cards under ${EVENTS_A_SECOND} events a second`, page);
    await page.mouse.move(360, 500);
    const wheel = setInterval(() => void page.mouse.wheel(0, 120).catch(() => undefined), 50);
    await tellOf(`${CARDS} cards under events while scrolling`, page, SECONDS / 2);
    clearInterval(wheel);
  } finally {
    await page.close();
    server.close();
  }
}

/** A real server whose agent has printed the whole transcript and goes on. */
async function printing(browser) {
  const scene = new Scene();
  const printer = fileURLToPath(new URL("printer.mjs", import.meta.url));
  const agent = (gates) =>
    `[agents.printer]\ncommand = ${JSON.stringify([process.execPath, printer, gates, String(LINES), String(LINES_A_SECOND)])}\n`;
  await scene.open(browser, { agent: "printer", agents: agent });
  const task = await scene.task("Print", "Print a lot.");
  await scene.enter();
  await scene.card("Print").waitFor();
  await scene.call("POST", `/api/tasks/${task.id}/run`, {});
  for (let total = 0; total < LINES; ) {
    ({ total } = await scene
      .call("GET", `/api/batches/1/tasks/${task.key}/log?from=tail&limit=1`)
      .catch(() => ({ total: 0 })));
  }
  return scene;
}

async function transcript(browser) {
  const scene = await printing(browser);
  const { page } = scene;
  try {
    const isOpen = () =>
      page.waitForFunction(() => document.querySelector('[role="log"] [data-index]')?.textContent.length > 2);
    const inPage = await page.evaluate(() => {
      const begun = performance.now();
      document.querySelector("article").click();
      return new Promise((done) => {
        const look = () =>
          document.querySelector('[role="log"] [data-index]')?.textContent.length > 2
            ? done(performance.now() - begun)
            : requestAnimationFrame(look);
        look();
      });
    });
    tell(`transcript of ${LINES} lines, open from the board, ms`, inPage, limits.openMs);
    const begun = performance.now();
    await page.reload();
    await isOpen();
    tell(`transcript of ${LINES} lines, open from nothing, ms`, performance.now() - begun, limits.openMs);
    await tellOf(`transcript followed at ${LINES_A_SECOND} lines a second`, page);
    const rest = await page
      .getByRole("log")
      .evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
    tell("transcript followed, distance from the end, px", rest, limits.endPx);
    scene.letGo("enough");
    await page.getByText("1/1 complete").waitFor();
    const searched = performance.now();
    await page.getByLabel("Search the transcript").fill("case_50004");
    await page.getByText("1 match").waitFor();
    tell("transcript, search of every line, ms", performance.now() - searched);
  } finally {
    await scene.close();
  }
}

tell("entry scripts, kB gzip", entryKb(), limits.entryKb);
const browsers = [await launch(), await launch()];
const beside = await browsers[1].newPage(view);
try {
  await cards(browsers[0]);
  await transcript(browsers[0]);
} finally {
  await Promise.all(browsers.map((browser) => browser.close()));
}
process.exitCode = isGood ? 0 : 1;
