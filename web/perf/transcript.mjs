// Measures a transcript of 100,000 lines in Chromium: how fast it opens, and how it scrolls, follows and is searched.

import { chromium } from "playwright-core";
import { serve } from "./server.mjs";

const LINES = 100_000;
const SECONDS = 5;
const server = await serve({ lines: LINES, grow: 500 });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const failures = [];

function check(name, value, limit, unit) {
  const isFine = value <= limit;
  if (!isFine) failures.push(name);
  console.log(`${isFine ? "ok  " : "FAIL"} ${name}: ${Math.round(value * 10) / 10} ${unit} (at most ${limit})`);
}

const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
await page.addInitScript(() => {
  globalThis.longest = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, entry.duration);
  }).observe({ type: "longtask", buffered: true });
});
const client = await page.context().newCDPSession(page);
await client.send("Performance.enable", { timeDomain: "threadTicks" });

async function threadSeconds() {
  const { metrics } = await client.send("Performance.getMetrics");
  return metrics.find((metric) => metric.name === "TaskDuration").value;
}

/** The times between frames while something is done, in milliseconds, and the share of a core that it took. */
async function frames(what) {
  await page.evaluate(() => {
    globalThis.longest = 0;
    globalThis.gaps = [];
    let before = performance.now();
    globalThis.isCounting = true;
    const frame = (now) => {
      globalThis.gaps.push(now - before);
      before = now;
      if (globalThis.isCounting) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  const [cpu, began] = [await threadSeconds(), Date.now()];
  await what();
  const share = (await threadSeconds()) - cpu;
  const seconds = (Date.now() - began) / 1000;
  const { gaps, longest } = await page.evaluate(() => {
    globalThis.isCounting = false;
    return { gaps: globalThis.gaps, longest: globalThis.longest };
  });
  gaps.sort((a, b) => a - b);
  return { p99: gaps[Math.floor(gaps.length * 0.99)] ?? 0, max: gaps.at(-1) ?? 0, fps: gaps.length / seconds, longest, cpu: (100 * share) / seconds };
}

const shown = (text) => page.getByRole("log").getByText(text, { exact: false }).first();
const atEnd = () => page.getByRole("log").evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const print = (name, result) => console.log(`     ${name}: ${result.fps.toFixed(0)} fps, longest frame ${result.max.toFixed(0)} ms, longest task ${result.longest.toFixed(0)} ms, ${result.cpu.toFixed(0)} % of a core`);

await page.goto(`${server.url}/batches`);
await page.getByRole("heading", { name: "Batches" }).waitFor();
await page.evaluate(() => {
  history.pushState({}, "", "/tasks/task000000000001");
  globalThis.began = performance.now();
  dispatchEvent(new PopStateEvent("popstate"));
});
await page.waitForFunction(() => document.querySelector('[role="log"] [data-index]')?.textContent.length > 2);
check("open from another page", await page.evaluate(() => performance.now() - globalThis.began), 1000, "ms");

const began = Date.now();
await page.goto(`${server.url}/tasks/task000000000001`);
await page.waitForFunction(() => document.querySelector('[role="log"] [data-index]')?.textContent.length > 2);
console.log(`     open from nothing: ${Date.now() - began} ms`);
await sleep(500);

const follow = await frames(() => sleep(SECONDS * 1000));
print(`follow ${500} lines a second`, follow);
check("follow, 99th percentile of frames", follow.p99, 50, "ms");
check("follow, distance from the end", await atEnd(), 24, "px");

await page.getByRole("log").hover();
const wheel = await frames(async () => {
  for (let i = 0; i < 60; i++) {
    await page.mouse.wheel(0, i < 50 ? -400 : 300);
    await sleep(30);
  }
});
print("wheel", wheel);
check("wheel, 99th percentile of frames", wheel.p99, 50, "ms");
await page.getByRole("button", { name: "Follow" }).waitFor({ timeout: 2000 });
const place = () => page.getByRole("log").evaluate((log) => log.scrollTop);
const before = await place();
await sleep(1000);
check("scrolled up, the page moves", Math.abs((await place()) - before), 1, "px");

const jumps = await frames(async () => {
  for (let i = 0; i < 30; i++) {
    await page.getByRole("log").evaluate((log, part) => (log.scrollTop = log.scrollHeight * part), ((i * 7919) % 1000) / 1000);
    await sleep(60);
  }
});
print("30 jumps", jumps);
check("jumps, longest task", jumps.longest, 100, "ms");
await page.waitForFunction(() => [...document.querySelectorAll('[role="log"] [data-index]')].every((row) => !row.textContent.endsWith("…")));

await page.getByRole("button", { name: "Follow" }).click();
await page.waitForFunction(() => {
  const log = document.querySelector('[role="log"]');
  return log.scrollHeight - log.scrollTop - log.clientHeight < 24;
});
const searched = Date.now();
await page.getByLabel("Search the transcript").fill("case_50003");
await page.getByText("1 match").waitFor({ timeout: 20000 }).catch(() => undefined);
console.log(`     search all lines: ${Date.now() - searched} ms`);
await page.keyboard.press("Enter");
await shown("case_50003").waitFor();
const { nodes, heap } = await page.evaluate(() => ({ nodes: document.querySelectorAll("*").length, heap: performance.memory.usedJSHeapSize / 1e6 }));
console.log(`     ${nodes} nodes, ${heap.toFixed(1)} MB heap`);

await browser.close();
server.close();
if (failures.length > 0) process.exitCode = 1;
