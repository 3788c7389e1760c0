// A real server with a real repository and a scripted agent, and a browser that was let in by its link.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, afterEach } from "node:test";
import { fileURLToPath } from "node:url";
import { launch } from "./browser.mjs";
import { openForge, TOKEN } from "./forge.mjs";

const here = fileURLToPath(new URL("./", import.meta.url));
export const pleach = process.env.PLEACH ?? join(here, "../../target/debug/pleach");
const slurm = process.env.SLURM ?? join(here, "../../target/debug/examples/slurm");
const axe = readFileSync(join(here, "../node_modules/axe-core/axe.min.js"), "utf8");
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** A script for the agent: how many steps it works, and the file that it writes. */
export function script(steps, file, text = "hello") {
  const work = Array.from({ length: steps }, (_, step) => `say step ${step}\nwork`).join("\n");
  return `\`\`\`script\n${work}\nwrite ${file}\n${text}\n.\nsay done\n\`\`\``;
}

/** A script of the actor that waits at a gate before it writes its file. */
export function gated(gate, file, text = "hello") {
  return `\`\`\`script\nsay it waits at ${gate}\nwait ${gate}\nwrite ${file}\n${text}\n.\nsay done\n\`\`\``;
}

/** Gives the tests of a file a scene each, and one browser for all; whatever the page complains of fails the test. */
export function scenes() {
  let browser;
  let scene;
  afterEach(async () => {
    const complaints = scene?.complaints ?? [];
    await scene?.close();
    scene = undefined;
    assert.deepEqual(complaints, []);
  });
  after(() => browser?.close());
  return async (options = {}) => {
    browser ??= await launch();
    scene = new Scene();
    await scene.open(browser, options);
    return scene;
  };
}

export class Scene {
  /** What the page complained of: errors, policies, requests. */
  complaints = [];
  /** What it may complain of, because the test provokes it. */
  expected = [];

  async open(browser, options) {
    if (!existsSync(pleach)) throw new Error(`there is no ${pleach}: cargo build, or set PLEACH`);
    this.folder = mkdtempSync(join(tmpdir(), "pleach-board-"));
    this.repository = join(this.folder, options.name ?? "garden");
    this.gates = join(this.folder, "gates");
    const config = join(this.folder, "home/.config/pleach");
    for (const folder of [config, this.repository, this.gates]) mkdirSync(folder, { recursive: true });
    const actor = `[agents.actor]\npreset = "acp:actor"\ncommand = ${JSON.stringify([process.execPath, join(here, "actor.mjs"), this.gates])}\n`;
    const share = `[cluster]\nshare = "${join(this.folder, "share")}"\nscratch = "${join(this.folder, "node")}"\n`;
    // One task at a time fills the node.
    const cluster = options.slurm ? `${share}[sizes.default]\ncpus = 4\n` : "";
    const land = options.forge ? '[forge]\nkind = "github"\n' : "";
    writeFileSync(
      join(config, "config.toml"),
      `agent = "${options.agent ?? "demo"}"\nland = "${options.forge ? "pr" : "none"}"\n${options.config ?? ""}\n${land}${cluster}${actor}${options.agents?.(this.gates) ?? ""}`,
    );
    this.env = {
      PATH: process.env.PATH,
      HOME: join(this.folder, "home"),
      PLEACH_HOME: join(this.folder, "state"),
      GIT_CONFIG_NOSYSTEM: "1",
      PLEACH_GIT_TOKEN: TOKEN,
    };
    if (options.slurm) await this.openCluster();
    this.flags = options.yes === false ? [] : ["--yes"];
    if (options.git !== false) this.makeRepository(options.files ?? {});
    if (options.forge) {
      this.forge = await openForge(this.folder, this.repository);
      this.env.PLEACH_GIT_HOST = new URL(this.forge.url).host;
      this.git("remote", "add", "origin", this.forge.url);
    }
    await this.serve(0);
    this.context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      colorScheme: "dark",
      ...options.context,
    });
    this.context.setDefaultTimeout(30_000);
    await this.listen();
    this.page = await this.context.newPage();
  }

  /** Starts a Slurm of one node with four processors, which the server is told of. */
  async openCluster() {
    if (!existsSync(slurm)) throw new Error(`there is no ${slurm}: cargo build --examples, or set SLURM`);
    this.cluster = spawn(slurm, ["1"], { stdio: ["pipe", "pipe", "inherit"] });
    [this.env.SLURM_CONF] = await once(createInterface({ input: this.cluster.stdout }), "line");
    // The queue is looked at more often than a person would want it to.
    this.env.PLEACH_PACE = "20";
  }

  async listen() {
    const note = (words) =>
      this.expected.some((pattern) => pattern.test(words)) || this.complaints.push(words);
    await this.context.addInitScript(() =>
      addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
      ),
    );
    this.context.on("weberror", (error) => note(`error: ${error.error().message}`));
    this.context.on(
      "console",
      (message) => message.type() === "error" && note(`console: ${message.text()} ${message.location().url}`),
    );
    // What the page itself gives up, such as a search, is no failure.
    this.context.on(
      "requestfailed",
      (request) =>
        request.failure()?.errorText === "net::ERR_ABORTED" ||
        note(`request: ${request.url()} ${request.failure()?.errorText}`),
    );
  }

  git(...args) {
    return execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
      cwd: this.repository,
      env: this.env,
      encoding: "utf8",
    });
  }

  makeRepository(files) {
    this.git("init", "--quiet", "--initial-branch=main");
    for (const [name, text] of Object.entries({
      "README.md": "# Garden\n",
      "AGENTS.md": "Be brief.\n",
      ...files,
    })) {
      mkdirSync(join(this.repository, name, ".."), { recursive: true });
      writeFileSync(join(this.repository, name), text);
    }
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message=begin");
  }

  /** Starts the server and waits until it says where it listens. */
  async serve(port) {
    this.server = spawn(pleach, ["serve", "--port", String(port), ...this.flags, "--json", "--log", "off"], {
      cwd: this.repository,
      env: this.env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(createInterface({ input: this.server.stdout }), "line");
    const said = JSON.parse(line);
    this.link = said.link;
    this.address = new URL(said.address);
    this.token = readFileSync(join(this.env.PLEACH_HOME, "token"), "utf8").trim();
  }

  /** Kills the server at once. */
  async kill() {
    this.server.kill("SIGKILL");
    await once(this.server, "exit");
  }

  /** Opens the link of a server that was started again in another tab; the pass of the one before is worth nothing. */
  async signInAgain() {
    await this.page.getByText("Sign in", { exact: true }).waitFor();
    const tab = await this.context.newPage();
    await tab.goto(this.link);
    await tab.getByRole("main").waitFor();
    await tab.close();
  }

  /** Lets an agent that waits at a gate go on. */
  letGo(gate) {
    writeFileSync(join(this.gates, gate), "");
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
    await this.page.goto(this.link);
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

  /** Waits until the only batch has ended as it should, such as "2/3"; everything of it is on disk then. */
  async ended(complete, page = this.page) {
    const strip = page.getByRole("region", { name: "Batches" });
    await strip.getByText(`${complete} complete`, { exact: true }).waitFor();
    await strip.getByRole("button", { name: /^Hide batch / }).waitFor();
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  /** Waits until the page is drawn as it is meant, with no change of colour or place under way. */
  async settle() {
    await this.page.evaluate(async () => {
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      const changes = document.getAnimations().filter((each) => each instanceof CSSTransition);
      await Promise.allSettled(changes.map((each) => each.finished));
    });
  }

  /** What axe finds on the page as it is, as words. */
  async violations() {
    await this.page.evaluate(axe);
    const found = await this.page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly }), tags);
    return found.violations.map(
      ({ id, nodes: [first] }) => `${id}: ${first.html} ${first.any[0]?.message ?? ""}`,
    );
  }

  async close() {
    await this.context?.close();
    this.forge?.close();
    if (this.server?.exitCode === null && this.server.signalCode === null) {
      this.server.kill("SIGTERM");
      await once(this.server, "exit");
    }
    if (this.cluster) {
      this.cluster.stdin.end();
      await once(this.cluster, "exit");
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
