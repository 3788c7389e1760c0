// An agent that follows the script in its prompt and speaks the Agent Client Protocol, so that there are tool calls, edits and
// usage to see; it waits at gates until a test opens them.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

const gates = process.argv[2];
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
let folder = process.cwd();
let isCancelled = false;
let count = 0;

function tell(update) {
  send({ method: "session/update", params: { sessionId: "s1", update } });
}

function say(text, kind = "agent_message_chunk") {
  count += 1;
  tell({ sessionUpdate: kind, messageId: `m${count}`, content: { type: "text", text } });
}

/** One call of a tool, from its beginning to its end. */
function use(kind, title, input, { output = "", diff, status = "completed" } = {}) {
  count += 1;
  const call = { toolCallId: `c${count}`, title, kind, rawInput: input };
  tell({ sessionUpdate: "tool_call", status: "in_progress", ...call });
  const content = diff
    ? [{ type: "diff", ...diff }]
    : [{ type: "content", content: { type: "text", text: output } }];
  tell({
    sessionUpdate: "tool_call_update",
    toolCallId: call.toolCallId,
    status,
    content,
    rawOutput: { exit_code: status === "failed" ? 1 : 0 },
  });
}

const load = (file) => (existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : "");

function save(file, text) {
  const path = join(folder, file);
  const before = load(file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  use(
    "edit",
    `Edit ${file}`,
    { path },
    { diff: { path, oldText: before === "" ? null : before, newText: text } },
  );
}

/** The lines of the prompt's first block of the language `script`. */
function scriptOf(prompt) {
  const lines = prompt.split("\n");
  const from = lines.findIndex((line) => line.trim() === "```script");
  const rest = lines.slice(from + 1);
  return from < 0
    ? []
    : rest.slice(
        0,
        rest.findIndex((line) => line.trim() === "```"),
      );
}

/** What each word of a script does; `rest` are its words, `body` the lines below it up to a full stop. */
const words = {
  say: ({ rest }) => say(`${rest}\n`),
  think: ({ rest }) => say(`${rest}\n`, "agent_thought_chunk"),
  lines: ({ rest }) => {
    for (let line = 1; line <= Number(rest); line += 1) say(`line ${line} of the work\n`);
  },
  plan: ({ rest }) => {
    const steps = rest.split("; ").map((content, at) => ({
      content,
      priority: "medium",
      status: at === 0 ? "completed" : at === 1 ? "in_progress" : "pending",
    }));
    tell({ sessionUpdate: "plan", entries: steps });
  },
  read: ({ rest }) => use("read", rest, { path: join(folder, rest) }, { output: load(rest) }),
  run: ({ rest, body }) => use("execute", rest, { command: rest }, { output: body() }),
  flunk: ({ rest, body }) => use("execute", rest, { command: rest }, { output: body(), status: "failed" }),
  write: ({ rest, body }) => save(rest, `${body()}\n`),
  append: ({ file, text }) => save(file, `${load(file)}${text}\n`),
  replace: ({ file, text }) => save(file, load(file).replace(...text.split(" => "))),
  usage: ({ file, text }) => {
    const usage = {
      inputTokens: Math.round(Number(file) * 0.9),
      outputTokens: Math.round(Number(file) * 0.1),
    };
    tell({
      sessionUpdate: "usage_update",
      used: Number(file),
      size: 200_000,
      cost: { amount: Number(text), currency: "USD" },
    });
    tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "" }, _meta: { usage } });
  },
  work: () => pause(400),
  wait: async ({ rest }) => {
    while (!isCancelled && !existsSync(join(gates, rest))) await pause(20);
  },
};

async function follow(prompt) {
  const lines = scriptOf(prompt);
  while (lines.length > 0 && !isCancelled) {
    const [verb, ...more] = lines.shift().trim().split(" ");
    const rest = more.join(" ");
    const body = () =>
      lines
        .splice(0, lines.findIndex((line) => line.trim() === ".") + 1)
        .slice(0, -1)
        .join("\n");
    if (verb === "fail") return { error: { code: -32000, message: rest || "I give up" } };
    if (verb) await words[verb]({ rest, body, file: more[0], text: more.slice(1).join(" ") });
  }
  return { result: { stopReason: isCancelled ? "cancelled" : "end_turn" } };
}

const answers = {
  initialize: () => ({
    result: { protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: "actor", version: "1.0" } },
  }),
  "session/new": ({ cwd }) => {
    folder = cwd;
    return { result: { sessionId: "s1" } };
  },
  "session/prompt": ({ prompt }) => follow(prompt.map((part) => part.text ?? "").join("\n")),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "session/cancel") isCancelled = true;
  const answer = answers[method];
  if (id !== undefined && answer) void Promise.resolve(answer(params)).then((said) => send({ id, ...said }));
  else if (id !== undefined && method) send({ id, error: { code: -32601, message: `no ${method}` } });
}
process.exit(0);
