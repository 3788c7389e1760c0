// Who gets in, and who never hears how.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { scenes } from "./scene.mjs";

const open = scenes();

/** What an agent may serve at a port: writes down what it is sent, and tells what its page can read. */
async function preview(port = 0) {
  const heard = [];
  const server = createServer((request, answer) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      heard.push({ ...request.headers, path: request.url, body });
      answer.statusCode = request.url.startsWith("/api") ? 404 : 200;
      answer.setHeader("content-type", "text/html");
      answer.end('<!doctype html><link rel="icon" href="data:,"><title>Preview</title><h1>Preview</h1>');
      server.emit("heard");
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    heard,
    address: `http://127.0.0.1:${server.address().port}/preview`,
    /** The first request of a kind, however long it takes. */
    async until(is) {
      while (!heard.some(is)) await once(server, "heard");
      return heard.find(is);
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

test("a page at another port of this machine receives no pass", async () => {
  const scene = await open();
  const { page } = scene;
  await scene.task("Seen", "");
  await scene.enter();
  await scene.card("Seen").waitFor();
  assert.ok(!page.url().includes("enter"), "the code does not stay in the address");
  const pass = await page.evaluate(() => localStorage.getItem("pleach.pass"));
  assert.ok(pass && pass.length > 64);
  assert.deepEqual(await scene.context.cookies(), []);
  const other = await preview();
  try {
    const tab = await scene.context.newPage();
    await tab.goto(other.address);
    await tab.getByRole("heading", { name: "Preview" }).waitFor();
    const read = await tab.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.referrer]),
    );
    assert.equal(read, '[{},{},"",""]');
    await tab.evaluate(() => fetch("/call", { method: "POST", credentials: "include" }));
    assert.ok(other.heard.length >= 2);
    for (const request of other.heard) {
      assert.equal(request.cookie, undefined);
      assert.equal(request.authorization, undefined);
      assert.ok(!JSON.stringify(request).includes(pass));
    }
    // What it knows does not help it either: the server answers no page of another origin.
    scene.expected.push(/CORS|ERR_FAILED|Failed to load|blocked/);
    const asked = await tab.evaluate(
      (address) =>
        fetch(`${address}api/projects`, { credentials: "include" }).then(
          () => "answered",
          () => "refused",
        ),
      scene.address.href,
    );
    assert.equal(asked, "refused");
  } finally {
    other.close();
  }
});

test("a browser without a pass is told how to sign in, and one link signs in all its tabs", async () => {
  const scene = await open();
  scene.expected.push(/401/);
  const { page } = scene;
  await scene.task("Seen", "");
  await page.goto(scene.address.href);
  await page.getByText("Sign in", { exact: true }).waitFor();
  await page.getByText("open the link it prints").waitFor();
  const tab = await scene.context.newPage();
  await tab.goto(scene.link);
  await tab.getByRole("article", { name: "Seen", exact: true }).waitFor();
  await scene.card("Seen").waitFor();
});

test("whoever listens where the server was gets nothing that the next server takes", async () => {
  const scene = await open();
  scene.expected.push(/ERR_|401|Failed to load|404/);
  const { page } = scene;
  await scene.task("Seen", "");
  await scene.enter();
  await scene.card("Seen").waitFor();
  await scene.kill();
  const port = Number(scene.address.port);
  const squatter = await preview(port);
  // A page that is open goes on asking, and shows its pass.
  const stolen = await squatter.until((request) => request.authorization);
  squatter.close();
  await scene.serve(port);
  const ask = (authorization) =>
    fetch(new URL("/api/projects", scene.address), { headers: { authorization } });
  assert.equal((await ask(stolen.authorization)).status, 401);
  assert.equal((await ask(`Bearer ${scene.token}`)).status, 200);
  await page.getByText("Sign in", { exact: true }).waitFor();
  const tab = await scene.context.newPage();
  await tab.goto(scene.link);
  await scene.card("Seen").waitFor();
});

test("the description of the API is drawn for who has signed in", async () => {
  const scene = await open();
  scene.expected.push(/favicon/);
  const { page } = scene;
  await scene.enter();
  await page.getByText("No tasks yet").waitFor();
  await page.goto(new URL("/api/docs", scene.address).href);
  await page.getByText("/api/batches", { exact: true }).first().waitFor();
});
