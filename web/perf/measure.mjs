// What is measured of a page: its size, its frames, and the longest piece of work of its main thread.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const dist = new URL("../dist/board/", import.meta.url);

/** The scripts that the page loads before anything is opened, as sent, in kB. */
export function entryKb() {
  const page = readFileSync(new URL("index.html", dist), "utf8");
  const first = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map((match) => match[1]);
  return first.reduce((sum, file) => sum + gzipSync(readFileSync(new URL(file, dist))).length, 0) / 1000;
}

/** The times between frames for so long: how many a second, and the 99th percentile in milliseconds. */
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

/** Watches a page for some seconds, and an empty one beside it. */
async function once(page, beside, seconds) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: {
      includedCategories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"],
    },
  });
  const [seen, empty] = await Promise.all([frames(page, seconds), frames(beside, seconds)]);
  const ended = new Promise((done) => session.once("Tracing.tracingComplete", done));
  await session.send("Tracing.end");
  await ended;
  await session.detach();
  const thread = (event) => `${event.pid}/${event.tid}`;
  const mains = new Set(
    events
      .filter((event) => event.name === "thread_name" && event.args.name === "CrRendererMain")
      .map(thread),
  );
  const tasks = events.filter((event) => event.name.endsWith("RunTask") && mains.has(thread(event)));
  if (tasks.length === 0) throw new Error("the trace has no task of the main thread");
  return { ...seen, empty: empty.p99, longest: Math.max(...tasks.map((event) => (event.tdur ?? 0) / 1000)) };
}

/** An empty page that is slower than this tells that the machine has no time, and not how fast the board is. */
const BUSY_MS = 34;
const MOST_TRIES = 4;

/**
 * The frames of a page, those of an empty page of another browser at the same time, and the longest task of the page in milliseconds of
 * its own CPU, which no other program disturbs. Where the machine had no time for the empty page either, it is measured again.
 */
export async function watch(page, beside, seconds) {
  for (let tries = 1; ; tries += 1) {
    const seen = await once(page, beside, seconds);
    if (seen.empty <= BUSY_MS || tries === MOST_TRIES) return seen;
    console.log(
      `     the machine is busy: 99th percentile of an empty page is ${seen.empty.toFixed(1)} ms; once more`,
    );
  }
}
