// A stand-in for the server: the built board with as many cards and events as a measurement wants, from memory.

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const dist = fileURLToPath(new URL("../dist/board/", import.meta.url));
const types = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
const csp = "default-src 'self'; style-src 'self' 'unsafe-inline'";
const at = "2026-01-01T00:00:00.000Z";

/** The places of cards, by their number. */
const places = [
  { status: "pending", column: "todo", word: "pending" },
  { status: "pending", column: "in_progress", word: "running" },
  { status: "pending", column: "needs_you", word: "failed" },
  { status: "completed", column: "done", word: "completed" },
  { status: "cancelled", column: "cancelled", word: "cancelled" },
];

function task(number, batch) {
  const key = String(number);
  const inBatch = number % 5 === 1;
  return {
    id: `task${key.padStart(12, "0")}`,
    key,
    projectId: "p",
    plan: null,
    line: null,
    title: `Task ${key}: make part ${number % 97} better`,
    description: "",
    ...places[number % 5],
    phase: null,
    priority: ["low", "medium", "high", "critical"][number % 4],
    labels: number % 3 === 0 ? ["core"] : ["ui", "docs"],
    dependsOn: [],
    files: [],
    position: number,
    batch: inBatch
      ? { id: batch, status: "running", outcome: null }
      : number % 5 === 2
        ? { id: 1, status: "failed", outcome: "failed" }
        : null,
    createdAt: at,
    updatedAt: at,
  };
}

function batchOf(id, tasks) {
  const views = tasks.map((each) => ({
    taskId: each.id,
    key: each.key,
    title: each.title,
    ...places[1],
    status: "running",
    state: "running",
    can: ["cancel"],
    outcome: null,
    attempts: 1,
    lastAttempt: 1,
    consent: [],
    files: [],
    sandbox: "none",
    seconds: 1,
  }));
  return {
    id,
    projectId: "p",
    mode: "parallel",
    status: "running",
    interrupted: false,
    tasks: views,
    mainRepoPath: "/p",
    plan: "board",
    settings: {
      maxConcurrent: 3,
      concurrentNow: 3,
      autoApprove: true,
      stopOnFailure: false,
      conflictBehavior: "skip",
    },
    progress: {
      total: views.length,
      completed: 0,
      failed: 0,
      running: views.length,
      queued: 0,
      skipped: 0,
      cancelled: 0,
      percentage: 0,
    },
    validation: { flaky: [], runs: [], verdict: "unknown" },
    conflicts: [],
    predictedConflicts: [],
    stages: [],
    createdAt: at,
    startedAt: at,
    seconds: 0,
    workedSeconds: 0,
  };
}

/** Serves the built board with `count` tasks; `talk(rate)` sends so many events a second, `talk(0)` none. */
export async function serveCards(count) {
  const tasks = Array.from({ length: count }, (_, number) => task(number, 2));
  const running = tasks.filter((each) => each.batch?.id === 2);
  const batch = batchOf(2, running);
  const streams = new Set();
  let seq = 0;
  const project = {
    id: "p",
    name: "p",
    path: "/p",
    isRepository: true,
    status: "ready",
    planFiles: [],
    hasPlan: false,
    addedAt: at,
  };
  const answers = {
    "/api/projects": { projects: [project] },
    "/api/tasks": { tasks },
    "/api/batches": { batches: [batch] },
    "/api/batches/2": batch,
  };

  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    if (path === "/api/events") {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      response.write("retry: 1000\nid: 0\n\n");
      streams.add(response);
      request.on("close", () => streams.delete(response));
    } else if (answers[path]) {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answers[path]));
    } else {
      const asked = join(dist, normalize(path));
      const file =
        asked.startsWith(dist) && existsSync(asked) && statSync(asked).isFile()
          ? asked
          : join(dist, "index.html");
      response.writeHead(200, {
        "content-type": types[extname(file)] ?? "application/octet-stream",
        "content-security-policy": csp,
      });
      createReadStream(file).pipe(response);
    }
  });
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));

  /** Mostly what agents do, some moves between columns. */
  const say = () => {
    seq += 1;
    const pick = tasks[(seq * 7919) % tasks.length];
    const who = running[(seq * 31) % running.length];
    const isMove = seq % 4 === 0;
    const isBusy = pick.column === "in_progress";
    const moved = { ...pick, ...(isBusy ? {} : places[seq % 8 === 0 ? 3 : 0]), updatedAt: at };
    const [name, data] = isMove
      ? ["task:updated", { taskId: pick.id, projectId: "p", task: moved, at }]
      : [
          "execution:progress",
          {
            batchId: 2,
            taskId: who.id,
            key: who.key,
            attempt: 1,
            action: `reads file ${seq}`,
            tokens: seq,
            costUsd: 0,
            at,
          },
        ];
    const text = `${isMove ? `id: ${seq}\n` : ""}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    for (const stream of streams) stream.write(text);
  };
  let timer;
  let owed = 0;
  const talk = (rate) => {
    clearInterval(timer);
    if (rate > 0) {
      timer = setInterval(() => {
        for (owed += rate / 100; owed >= 1; owed -= 1) say();
      }, 10);
    }
  };
  const close = () => {
    talk(0);
    for (const stream of streams) stream.end();
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${server.address().port}`, talk, close };
}
