// A real server with a real repository and the scripted agent, and a browser that was let in by its link.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = fileURLToPath(new URL("../", import.meta.url));
const dist = join(here, "dist/");
const pleach = process.env.PLEACH ?? join(here, "../target/debug/pleach");
const browserPath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2" };

function check() {
  if (!existsSync(browserPath)) throw new Error("there is no Chromium: apt-get install --no-install-recommends chromium");
  if (!existsSync(pleach)) throw new Error(`there is no ${pleach}: cargo build, or set PLEACH`);
  if (!existsSync(join(dist, "index.html"))) throw new Error("the board is not built: npm run build");
}

/** A script for the agent: how many steps it works, and the file that it writes. */
export function script(steps, file, text = "hello") {
  const work = Array.from({ length: steps }, (_, step) => `say step ${step}\nwork`).join("\n");
  return `\`\`\`script\n${work}\nwrite ${file}\n${text}\n.\nsay done\n\`\`\``;
}

export class Scene {
  static async open(options = {}) {
    check();
    const scene = new Scene();
    scene.folder = mkdtempSync(join(tmpdir(), "pleach-board-"));
    scene.repository = join(scene.folder, "garden");
    scene.home = join(scene.folder, "home");
    mkdirSync(join(scene.home, ".config/pleach"), { recursive: true });
    mkdirSync(scene.repository);
    writeFileSync(join(scene.home, ".config/pleach/config.toml"), `agent = "demo"\nland = "none"\n${options.config ?? ""}`);
    scene.env = { PATH: process.env.PATH, HOME: scene.home, PLEACH_HOME: join(scene.folder, "state"), GIT_CONFIG_NOSYSTEM: "1" };
    scene.flags = options.yes === false ? [] : ["--yes"];
    if (options.git !== false) scene.makeRepository();
    await scene.serve(0);
    await scene.openFront();
    scene.browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
    scene.context = await scene.browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "dark" });
    scene.context.setDefaultTimeout(15_000);
    scene.page = await scene.context.newPage();
    scene.errors = [];
    scene.page.on("pageerror", (error) => scene.errors.push(error.message));
    return scene;
  }

  makeRepository() {
    const git = (...args) => execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], { cwd: this.repository, env: this.env });
    git("init", "--quiet", "--initial-branch=main");
    writeFileSync(join(this.repository, "README.md"), "# Garden\n");
    writeFileSync(join(this.repository, "AGENTS.md"), "Be brief.\n");
    git("add", "--all");
    git("commit", "--quiet", "--message=begin");
  }

  /** Starts the server and waits until it says where it listens. */
  async serve(port) {
    this.server = spawn(pleach, ["serve", "--port", String(port), ...this.flags, "--json", "--log", "off"], { cwd: this.repository, env: this.env, stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(createInterface({ input: this.server.stdout }), "line");
    const said = JSON.parse(line);
    this.address = new URL(said.url ?? said.address);
    this.code = /enter=(\w+)/.exec(line)?.[1];
    this.token = readFileSync(join(this.env.PLEACH_HOME, "token"), "utf8").trim();
  }

  /** Kills the server at once. */
  async kill() {
    this.server.kill("SIGKILL");
    await once(this.server, "exit");
  }

  /** Serves the built pages, and passes everything else on. */
  async openFront() {
    const front = createServer((asked, answer) => {
      const path = new URL(asked.url, "http://front").pathname;
      if (path.startsWith("/api/")) {
        const headers = { ...asked.headers, host: this.address.host };
        if (headers.origin) headers.origin = this.address.origin;
        const passed = request({ host: this.address.hostname, port: this.address.port, path: asked.url, method: asked.method, headers }, (got) => {
          answer.writeHead(got.statusCode, got.headers);
          got.pipe(answer);
          got.on("close", () => answer.destroy());
        });
        passed.on("error", () => answer.destroy());
        answer.on("close", () => passed.destroy());
        asked.pipe(passed);
        return;
      }
      const file = join(dist, normalize(path));
      const shown = file.startsWith(dist) && existsSync(file) && statSync(file).isFile() ? file : join(dist, "index.html");
      answer.writeHead(200, { "content-type": types[extname(shown)] ?? "application/octet-stream", "content-security-policy": "default-src 'self'; style-src 'self' 'unsafe-inline'" });
      createReadStream(shown).pipe(answer);
    });
    await new Promise((listens) => front.listen(0, "127.0.0.1", listens));
    this.front = front;
    this.url = `http://127.0.0.1:${front.address().port}`;
  }

  async call(method, path, body) {
    const answer = await fetch(new URL(path, this.address), {
      method,
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? null : answer.json();
  }

  async project() {
    return (await this.call("GET", "/api/projects")).projects[0].id;
  }

  async task(title, description, more = {}) {
    return this.call("POST", "/api/tasks", { projectId: await this.project(), title, description, ...more });
  }

  /** Opens the board by the link of the server. */
  async enter() {
    await this.page.goto(`${this.url}/#enter=${this.code}`);
  }

  column(title) {
    return this.page.getByRole("region", { name: title, exact: true });
  }

  card(title, column) {
    return (column ? this.column(column) : this.page).getByRole("article", { name: title, exact: true });
  }

  async select(...titles) {
    for (const title of titles) {
      await this.card(title).hover();
      await this.page.getByRole("checkbox", { name: `Select ${title}`, exact: true }).click();
    }
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  /** What axe finds on the page as it is, as words. */
  async violations() {
    await this.page.evaluate(readFileSync(join(here, "node_modules/axe-core/axe.min.js"), "utf8"));
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const found = await this.page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly }), tags);
    return found.violations.map((each) => `${each.id}: ${each.nodes[0]?.html}`);
  }

  async close() {
    await this.browser?.close();
    this.front?.closeAllConnections();
    this.front?.close();
    if (this.server?.exitCode === null && this.server.signalCode === null) {
      this.server.kill("SIGTERM");
      await once(this.server, "exit");
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
