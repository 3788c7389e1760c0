// A stand-in for GitHub on loopback: a repository that is pushed to, and the interface for pull requests.

import { execFileSync, spawn } from "node:child_process";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { buffer } from "node:stream/consumers";

export const TOKEN = "a-token-that-nobody-guesses";

/** Lets git itself answer for the repository. */
async function repository(root, asked, answer) {
  const { pathname, searchParams } = new URL(asked.url, "http://forge");
  const body = await buffer(asked);
  const header = (name) => asked.headers[name] ?? "";
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      HOME: root,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_PROJECT_ROOT: root,
      GIT_PROTOCOL: header("git-protocol"),
      PATH_INFO: pathname,
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: asked.method,
      REMOTE_USER: "somebody",
      CONTENT_TYPE: header("content-type"),
      CONTENT_LENGTH: String(body.length),
      HTTP_CONTENT_ENCODING: header("content-encoding"),
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  backend.stdin.end(body);
  const said = await buffer(backend.stdout);
  const end = said.indexOf("\r\n\r\n");
  const headers = Object.fromEntries(
    said
      .subarray(0, end)
      .toString()
      .split("\r\n")
      .map((line) => line.split(": ")),
  );
  answer.writeHead(Number.parseInt(headers.Status ?? "200", 10), headers).end(said.subarray(end + 4));
}

/** Serves a copy of a repository; `pulls` are the pull requests that were opened. */
export async function openForge(folder, from) {
  const root = join(folder, "forge");
  const name = `people/${basename(from)}`;
  execFileSync("git", ["clone", "--quiet", "--bare", from, join(root, `${name}.git`)]);
  const pulls = [];
  const server = createServer(async (asked, answer) => {
    const json = (status, body) =>
      answer.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const login = asked.headers.authorization ?? "";
    const isKnown =
      login === `Bearer ${TOKEN}` ||
      Buffer.from(login.replace("Basic ", ""), "base64").toString().endsWith(`:${TOKEN}`);
    if (!isKnown) return answer.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
    if (!asked.url.startsWith("/api/")) return repository(root, asked, answer);
    if (!asked.url.startsWith(`/api/v3/repos/${name}/pulls`)) return json(404, { message: "Not Found" });
    if (asked.method === "GET") return json(200, pulls);
    const wanted = JSON.parse((await buffer(asked)).toString());
    const number = pulls.length + 1;
    const side = (branch) => ({
      ref: branch,
      label: branch,
      sha: "0".repeat(40),
      repo: { id: 1, full_name: name },
    });
    const opened = {
      ...wanted,
      id: 1000 + number,
      number,
      state: "open",
      draft: false,
      html_url: `http://${host}/${name}/pull/${number}`,
      head: side(wanted.head),
      base: side(wanted.base),
    };
    pulls.push(opened);
    return json(201, opened);
  });
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  const host = `127.0.0.1:${server.address().port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://${host}/${name}.git`, pulls, close };
}
