// A made-up project with batches in every state, for trying and measuring pages without agents.

const START = Date.now() - 14 * 60_000;
const at = (seconds) => new Date(START + seconds * 1000).toISOString();

const TITLES = [
  "Fix CLI flag parsing",
  "Add retry policy for the merge queue",
  "Speed up the settings page",
  "Document worktree cleanup on crash",
  "Remove the old diff parser for renames",
  "Test token budget accounting",
  "Migrate log rotation to the new writer",
  "Show coming conflicts on the board",
  "Refactor the plan reader",
  "Write the changelog",
  "Check licences of dependencies",
  "Name the folder in every error",
];

/** key, state, outcome, start, end, needs, files */
const ROWS = [
  ["1", "running", null, 20, null, [], ["src/cli.rs"]],
  ["2", "running", null, 25, null, [], ["src/merge.rs", "src/queue.rs"]],
  ["3", "merged", "merged", 0, 180, [], ["web/settings.ts"]],
  ["4", "no_changes", "no_changes", 5, 60, [], []],
  ["5", "conflicted", "conflicted", 62, 330, ["3"], ["src/diff.rs", "src/lib.rs"]],
  ["6", "failed", "failed", 185, 420, ["3"], ["src/budget.rs"]],
  ["7", "blocked", "blocked", null, null, ["6"], []],
  ["8", "running", null, 425, null, ["4"], ["src/radar.rs", "src/merge.rs"]],
  ["9", "queued", null, null, null, ["1", "2"], []],
  ["10", "queued", null, null, null, ["9"], []],
  ["11", "timed_out", "timed_out", 200, 700, [], []],
  ["12", "cancelled", "cancelled", 340, 400, [], []],
];

const STATUS = { merged: "completed", no_changes: "completed", conflicted: "skipped", invalid: "skipped", blocked: "skipped", failed: "failed", timed_out: "failed", cancelled: "cancelled" };
const ERRORS = { conflicted: "it does not merge cleanly", failed: "the agent exited with 1: tests fail in src/budget.rs", blocked: "task 6 failed", timed_out: "the task took too long" };

export const project = { id: "p1", name: "greenhouse", path: "/home/you/greenhouse", status: "ready", isGit: true, branch: "main", createdAt: at(-90000), updatedAt: at(-90000) };

function taskView([key, state, outcome, from, to, , files]) {
  const seconds = from === null ? 0 : (to ?? 840) - from;
  return {
    taskId: key,
    title: TITLES[Number(key) - 1],
    status: outcome ? STATUS[outcome] : state,
    state,
    outcome,
    attempts: from === null ? 0 : key === "6" ? 2 : 1,
    lastAttempt: from === null ? 0 : key === "6" ? 3 : 1,
    consent: [],
    files,
    sandbox: "landlock",
    seconds,
    tokens: from === null ? null : seconds * 310,
    cost: from === null ? null : seconds * 0.0011,
    error: ERRORS[outcome] ?? null,
    startedAt: from === null ? null : at(from),
    completedAt: to === null || to === undefined ? null : at(to),
    branch: outcome === "conflicted" || outcome === "failed" ? `pleach/task-7/${key}` : null,
    sessionId: from === null ? null : `0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f${key}`,
    worktreeId: `batch-7/task-${key}`,
    worktreePath: outcome ? null : `/home/you/.local/state/pleach/worktrees/greenhouse-1c0ffee/batch-7/task-${key}`,
  };
}

const tasksOf7 = ROWS.map(taskView);
const count = (tasks, status) => tasks.filter((task) => task.status === status).length;

function batchOf(id, status, tasks, more = {}) {
  const over = tasks.filter((task) => task.outcome).length;
  return {
    id,
    projectId: "p1",
    mode: "parallel",
    status,
    interrupted: false,
    tasks,
    settings: { maxConcurrent: 4, concurrentNow: 4, autoApprove: false, stopOnFailure: false, conflictBehavior: "skip" },
    mainRepoPath: "/home/you/greenhouse",
    plan: "board",
    base: "8d1c4f2e9b",
    batchBranch: `pleach/batch-${id}`,
    prUrl: null,
    progress: {
      total: tasks.length,
      completed: count(tasks, "completed"),
      failed: count(tasks, "failed"),
      running: count(tasks, "running"),
      queued: count(tasks, "queued"),
      skipped: count(tasks, "skipped"),
      cancelled: count(tasks, "cancelled"),
      percentage: Math.floor((100 * over) / tasks.length),
    },
    validation: { verdict: "not_configured", runs: [], flaky: [] },
    conflicts: [],
    predictedConflicts: [],
    stages: [],
    createdAt: at(-3),
    startedAt: at(0),
    seconds: 840,
    workedSeconds: tasks.reduce((sum, task) => sum + task.seconds, 0),
    ...more,
  };
}

const runs = [
  { number: 1, tasks: 9, tree: "5be1f00d5be1f00d5be1f00d5be1f00d5be1f00d", run: "red" },
  { number: 2, tasks: 4, tree: "77aa00bb77aa00bb77aa00bb77aa00bb77aa00bb", run: "green" },
  { number: 3, tasks: 8, tree: "c0ffee11c0ffee11c0ffee11c0ffee11c0ffee11", run: "green" },
];

export const batches = [
  batchOf(7, "running", tasksOf7, {
    secondsLeft: 420,
    conflicts: [{ taskId: "5", files: ["src/diff.rs", "src/lib.rs"], with: ["3"] }],
    predictedConflicts: [{ tasks: ["2", "8"], files: ["src/merge.rs"] }],
    validation: { verdict: "unknown", command: "cargo test", runs: [], flaky: [] },
  }),
  batchOf(6, "completed", ROWS.slice(0, 9).map(([key, , , , , needs, files], i) => taskView([key, "merged", "merged", i * 40, i * 40 + 200, needs, files])), {
    prUrl: "https://example.com/you/greenhouse/pull/41",
    validation: { verdict: "proved", command: "cargo test --workspace", tree: "c0ffee11c0ffee11c0ffee11c0ffee11c0ffee11", runs, flaky: [] },
    completedAt: at(560),
    createdAt: at(-4000),
    seconds: 560,
  }),
  batchOf(5, "failed", [taskView(ROWS[5])], { error: "nothing was merged", createdAt: at(-90000), completedAt: at(-89000), seconds: 235 }),
];

export const tasks = ROWS.map(([key, , , , , needs, files], i) => {
  const inBatch = tasksOf7[i];
  return {
    id: `task${key.padStart(12, "0")}`,
    key,
    projectId: "p1",
    title: TITLES[i],
    description: "Make it so that people see at once what is wrong.\n\nThe message names the flag, says what was expected, and proposes the nearest one. Add tests for the three cases in the issue.",
    status: inBatch.outcome === "merged" || inBatch.outcome === "no_changes" ? "completed" : inBatch.status === "running" ? "in_progress" : inBatch.outcome === "cancelled" ? "cancelled" : "pending",
    priority: ["low", "medium", "high", "critical"][i % 4],
    labels: i % 3 === 0 ? ["cli", "errors"] : [],
    dependsOn: needs.map((need) => `task${need.padStart(12, "0")}`),
    files,
    position: i,
    plan: null,
    createdAt: at(-100000),
    updatedAt: at(0),
    batch: { id: 7, status: inBatch.status, outcome: inBatch.outcome },
  };
});

export const order = {
  waves: [["1", "2", "3", "4", "11", "12"], ["5", "6", "8", "9"], ["7", "10"]],
  edges: [...ROWS.flatMap(([key, , , , , needs]) => needs.map((from) => ({ from, to: key, kind: "needs" }))), { from: "2", to: "8", kind: "after" }],
  criticalPath: ["1", "9", "10"],
  stages: [],
};

export const patch = `diff --git a/src/cli.rs b/src/cli.rs
index 1111111..2222222 100644
--- a/src/cli.rs
+++ b/src/cli.rs
@@ -10,9 +10,11 @@ use clap::Parser;
 /// Reads the flags.
 pub fn flags(args: &[String]) -> Result<Flags, FlagError> {
     let mut flags = Flags::default();
-    for arg in args {
-        flags.take(arg)?;
+    for (place, arg) in args.iter().enumerate() {
+        // The place is told, so that people find it.
+        flags.take(arg).map_err(|error| error.at(place))?;
     }
+    flags.check()?;
     Ok(flags)
 }
 
diff --git a/web/settings.ts b/web/settings.ts
new file mode 100644
--- /dev/null
+++ b/web/settings.ts
@@ -0,0 +1,6 @@
+// What can be set.
+export type Settings = { maxBatchSize: number; stopOnFailure: boolean };
+
+export function isValid(settings: Settings): boolean {
+  return settings.maxBatchSize >= 1 && settings.maxBatchSize <= 10;
+}
diff --git a/docs/logo.png b/docs/logo.png
new file mode 100644
index 0000000..3333333
Binary files /dev/null and b/docs/logo.png differ
`;

export const diff = {
  patch,
  truncated: false,
  files: [
    { path: "src/cli.rs", added: 4, removed: 2 },
    { path: "web/settings.ts", added: 6, removed: 0 },
    { path: "docs/logo.png" },
  ],
};

/** A patch of many files, 275 lines each. */
export function bigDiff(files = 200) {
  const part = (file) => {
    const path = `crates/part_${file}/src/lib.rs`;
    const lines = Array.from({ length: 275 }, (_, i) => (i % 5 === 0 ? `-    let old_${i} = read(${i})?;` : i % 5 === 1 ? `+    let new_${i} = read(${i}, Mode::Fast)?;` : `     keep(${i}, "text of line ${i}");`));
    return `diff --git a/${path} b/${path}\nindex 1111111..2222222 100644\n--- a/${path}\n+++ b/${path}\n@@ -1,220 +1,220 @@\n${lines.join("\n")}\n`;
  };
  const numbers = Array.from({ length: files }, (_, i) => i);
  return { patch: numbers.map(part).join(""), truncated: false, files: numbers.map((file) => ({ path: `crates/part_${file}/src/lib.rs`, added: 55, removed: 55 })) };
}

const E = "\u001b[";
const RAW = [
  (n) => `${E}32m   Compiling${E}0m serde_derive v1.0.${n % 300} (/home/you/.cargo/registry/src)`,
  (n) => `${E}1;33mwarning${E}0m: unused variable: \`x${n}\``,
  (n) => `${E}1;31merror[E0${n % 900}]${E}0m: mismatched types ${E}2mat src/lib.rs:${n % 700}:12${E}0m`,
  (n) => `test module::case_${n} ... ${E}32mok${E}0m`,
  (n) => `{"ts":${n},"level":"info","msg":"tool call finished","ms":${n % 97}}`,
  (n) => `${E}38;2;255;140;0mtrue colour${E}0m and plain text that is a little bit longer than the others to see how it wraps at line ${n}`,
  () => "",
  (n) => `${E}36m▸ step ${n}${E}0m cargo check --workspace`,
];

/** A line of a transcript that can have any length. */
export function rawLine(line) {
  return { line, type: "raw", text: RAW[line % RAW.length](line) };
}

const details = [
  { type: "session", id: "0f1e2d3c", model: "sonnet", version: "2.1" },
  { type: "text", text: "I'll look at how flags are read, then fix the message." },
  { type: "plan", steps: [{ text: "Read src/cli.rs", status: "completed" }, { text: "Name the flag in the error", status: "in_progress" }, { text: "Add tests", status: "pending" }] },
  { type: "thinking", text: "The parser drops the index of the argument.\nIf I keep it I can point at the place." },
  { type: "tool_call", id: "a", tool: "read", name: "Read", title: "src/cli.rs", input: { file_path: "src/cli.rs", limit: 200 } },
  { type: "tool_result", id: "a", status: "ok", output: "pub fn flags(args: &[String]) {\n    for arg in args {\n        flags.take(arg)?;\n    }\n}" },
  { type: "usage", tokens: 8200, input: 7800, output: 400, cached: 5000, usd: 0.031 },
  { type: "file_edit", path: "src/cli.rs", change: "modify", diff: "@@ -12,3 +12,4 @@\n     let mut flags = Flags::default();\n-    for arg in args {\n+    for (place, arg) in args.iter().enumerate() {\n+        // The place is told, so that people find it.\n" },
  { type: "tool_call", id: "b", tool: "execute", name: "Bash", title: "cargo test -p cli", input: { command: "cargo test -p cli", timeout: 120000 } },
  { type: "tool_result", id: "b", status: "error", exit_code: 101, output: `${E}31merror${E}0m: test failed\nrunning 3 tests\ntest flags::unknown ... ${E}31mFAILED${E}0m\n` },
  { type: "retry", attempt: 1, trouble: "overload", message: "The model is overloaded", delay_ms: 2000 },
  { type: "limit", message: "You have reached your limit; it resets at 18:00", retry_after_ms: 3600000 },
  { type: "error", trouble: "network", message: "Connection reset by peer" },
  { type: "tool_call", id: "c", tool: "search", name: "Grep", title: "FlagError", input: { pattern: "FlagError" } },
  { type: "tool_result", id: "c", status: "denied", output: "" },
  { type: "file_edit", path: "tests/flags.rs", change: "add", diff: `@@ -0,0 +1,20 @@\n${Array.from({ length: 20 }, (_, i) => `+// test ${i}`).join("\n")}\n` },
  { type: "raw", text: `plain output with ${E}38;5;208mcolour${E}0m and ${E}7mreversed${E}0m words` },
  { type: "text", text: "The message names the flag now, and three tests cover it." },
  { type: "usage", tokens: 41300, input: 39000, output: 2300, cached: 30000, usd: 0.184 },
  { type: "result", outcome: "completed", message: "Unknown flags are named, with the nearest one proposed." },
];

export const entries = details.map((detail, line) => ({ line, type: detail.type, text: detail.text ?? detail.title ?? detail.output ?? detail.path ?? detail.message ?? "", detail }));

export const testOutput = Array.from({ length: 60 }, (_, i) => `test engine::case_${i} ... ${E}${i === 40 ? "31mFAILED" : "32mok"}${E}0m`).join("\n");
