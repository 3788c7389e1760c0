// Measures the built board in Chromium: its size, and 2,000 cards under 200 events a second.

import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { fake } from "./fake.mjs";

const CARDS = 2000;
const RATE = 200;
const SECONDS = 8;
const limits = { entryKb: 240, frameMs: 50, taskMs: 100 };

/** The scripts that the page loads before anything is opened, as sent. */
function entryKb() {
  const dist = new URL("../dist/", import.meta.url);
  const page = readFileSync(new URL("index.html", dist), "utf8");
  const first = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map((match) => match[1]);
  return first.reduce((sum, file) => sum + gzipSync(readFileSync(new URL(file, dist))).length, 0) / 1000;
}

/** The longest task of the page's main thread in milliseconds of its own CPU. */
async function longestTask(session, during) {
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"] } });
  await during();
  const ended = new Promise((done) => session.once("Tracing.tracingComplete", done));
  await session.send("Tracing.end");
  await ended;
  const mains = new Set(events.filter((event) => event.name === "thread_name" && event.args.name === "CrRendererMain").map((event) => `${event.pid}/${event.tid}`));
  const tasks = events.filter((event) => event.name.endsWith("RunTask") && mains.has(`${event.pid}/${event.tid}`));
  return Math.max(0, ...tasks.map((event) => (event.tdur ?? 0) / 1000));
}

async function frames(page, seconds) {
  const gaps = await page.evaluate(
    (ms) =>
      new Promise((done) => {
        const found = [];
        let last = performance.now();
        const end = last + ms;
        const tick = (now) => {
          found.push(now - last);
          last = now;
          if (now < end) requestAnimationFrame(tick);
          else done(found);
        };
        requestAnimationFrame(tick);
      }),
    seconds * 1000,
  );
  const sorted = gaps.sort((a, b) => a - b);
  return { fps: gaps.length / seconds, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0 };
}

const server = await fake(CARDS);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
let isGood = true;
const tell = (what, value, limit) => {
  const good = limit === undefined || value <= limit;
  isGood &&= good;
  console.log(`${good ? "ok  " : "FAIL"} ${what}: ${value.toFixed(1)}${limit === undefined ? "" : ` (at most ${limit})`}`);
};
try {
  tell("entry scripts, kB gzip", entryKb(), limits.entryKb);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.on("pageerror", (error) => console.log("page error:", error.message));
  const begun = performance.now();
  await page.goto(server.address);
  await page.getByRole("article").first().waitFor();
  tell(`${CARDS} cards open, ms`, performance.now() - begun);
  tell("cards drawn", await page.getByRole("article").count());
  const session = await page.context().newCDPSession(page);
  server.talk(RATE);
  let seen;
  const longest = await longestTask(session, async () => {
    seen = await frames(page, SECONDS);
  });
  tell(`frames a second under ${RATE} events a second`, seen.fps);
  tell("99th percentile of frames, ms", seen.p99, limits.frameMs);
  tell("longest task of the main thread, ms of CPU", longest, limits.taskMs);
  await page.mouse.move(360, 500);
  const wheel = setInterval(() => void page.mouse.wheel(0, 120).catch(() => undefined), 50);
  const scrolled = await frames(page, SECONDS / 2);
  clearInterval(wheel);
  tell("99th percentile of frames while scrolling, ms", scrolled.p99, limits.frameMs);
} finally {
  server.close();
  await browser.close();
}
process.exitCode = isGood ? 0 : 1;
