// A server without agents: the built board and made-up answers, with transcripts of any length that grow.

import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { batches, bigDiff, diff, entries, order, project, rawLine, tasks, testOutput } from "./data.mjs";

const DIST = process.env.PLEACH_WEB_DIST ?? fileURLToPath(new URL("../dist", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2", ".svg": "image/svg+xml", ".json": "application/json" };
const CSP = "default-src 'self'; style-src 'self' 'unsafe-inline'";

/** Starts it; `lines` is how long the transcript of task 1 is, `grow` how many lines it gets a second. */
export function serve({ port = 0, lines = 100_000, grow = 0 } = {}) {
  const state = { lines };
  const listeners = new Set();
  const timer = grow > 0 ? setInterval(() => tell(state, listeners, grow), 100) : undefined;
  const server = createServer((request, response) => answer(request, response, state, listeners));
  return new Promise((done) => {
    server.listen(port, "127.0.0.1", () => {
      const close = () => {
        clearInterval(timer);
        server.closeAllConnections();
        server.close();
      };
      done({ url: `http://127.0.0.1:${server.address().port}`, state, close });
    });
  });
}

function tell(state, listeners, grow) {
  state.lines += Math.max(1, Math.round(grow / 10));
  const data = { batchId: 7, projectId: "p1", taskId: "1", worktreeId: "batch-7/task-1", attempt: 1, total: state.lines, at: new Date().toISOString() };
  for (const listener of listeners) listener.write(`event: execution:log\ndata: ${JSON.stringify(data)}\n\n`);
}

function answer(request, response, state, listeners) {
  const url = new URL(request.url, "http://localhost");
  const found = url.pathname.startsWith("/api") ? api(request, url, state) : null;
  if (url.pathname === "/api/events") {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(": hello\n\n");
    listeners.add(response);
    request.on("close", () => listeners.delete(response));
  } else if (url.pathname.startsWith("/api")) {
    const body = found ?? { error: { code: "not_found", message: "there is no such thing", hint: "look at the board" } };
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  } else file(url.pathname, response);
}

function file(path, response) {
  const wanted = join(DIST, path);
  const shown = extname(path) && wanted.startsWith(DIST) && existsSync(wanted) ? wanted : join(DIST, "index.html");
  response.writeHead(200, { "content-type": TYPES[extname(shown)] ?? "application/octet-stream", "content-security-policy": CSP });
  createReadStream(shown).pipe(response);
}

function api(request, url, state) {
  const parts = url.pathname.split("/").slice(2);
  const [what, id, more, task, which] = parts;
  const batch = batches.find((each) => String(each.id) === id);
  if (what === "projects") return id ? project : { projects: [project] };
  if (what === "agents") return { agents: [] };
  if (what === "tasks") return id ? tasks.find((each) => each.id === id) : { tasks };
  if (what === "settings") return settings();
  if (what !== "batches") return null;
  if (!id) return { batches: url.searchParams.get("status") === "all" ? batches : batches.filter((each) => each.status === "running") };
  if (!batch) return null;
  if (request.method === "POST" && which === "resolve") return { path: "/home/you/.local/state/pleach/worktrees/greenhouse-1c0ffee/batch-7/resolve-5", files: [{ path: "src/diff.rs", kind: "both changed the same lines" }], begunBefore: false };
  if (request.method === "POST") return { ...batch, message: "done" };
  if (which === "log") return log(url, task, state);
  if (which === "diff" || more === "diff") return batch.id === 5 ? bigDiff() : diff;
  if (more === "plan") return order;
  if (more === "validation") return { ...batch.validation, log: batch.validation.runs.length ? { run: Number(url.searchParams.get("run") ?? 1), from: 0, to: testOutput.length, total: testOutput.length, text: testOutput } : null };
  if (more === "worktrees") return { worktrees: batch.tasks.filter((each) => each.worktreePath).map((each) => ({ path: each.worktreePath, state: "in_use", exists: true, task: each.taskId, branch: `pleach/task-7/${each.taskId}` })) };
  return batch;
}

function settings() {
  const value = (of) => ({ value: of, source: "default" });
  return { maxBatchSize: value(3), parallelLimit: value(3), queueAutoApprove: value(false), stopOnFailure: value(false), conflictBehavior: value("skip") };
}

/** A page of a transcript: task 1 has the long one, the others one with every kind of entry. */
function log(url, task, state) {
  const isLong = task === "1" || task === "task000000000001";
  const total = isLong ? state.lines : entries.length;
  const limit = Number(url.searchParams.get("limit") ?? 500);
  const wanted = url.searchParams.get("from") ?? "0";
  const from = wanted === "tail" ? Math.max(0, total - limit) : Math.min(Number(wanted), total);
  const until = Math.min(total, from + limit);
  const page = isLong ? Array.from({ length: until - from }, (_, i) => rawLine(from + i)) : entries.slice(from, until);
  return { entries: page, from, total, attempt: Number(url.searchParams.get("attempt") ?? 1), isOver: !isLong };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await serve({ port: Number(process.env.PORT ?? 0), grow: Number(process.env.GROW ?? 0) });
  console.log(server.url);
}
