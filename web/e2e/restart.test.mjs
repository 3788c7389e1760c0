// Servers and terminals that die under the page.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { gated, pleach, scenes } from "./scene.mjs";

const open = scenes();
const LOST = [
  /ERR_CONNECTION_(REFUSED|RESET)/,
  /ERR_EMPTY_RESPONSE/,
  /ERR_INCOMPLETE_CHUNKED_ENCODING/,
  /ERR_SOCKET_NOT_CONNECTED/,
  /401/,
];

test("a server that is killed and started again loses and doubles nothing", async () => {
  const scene = await open();
  scene.expected.push(...LOST);
  const { page } = scene;
  await scene.task("Before", "");
  await scene.enter();
  await scene.card("Before").waitFor();
  await scene.kill();
  await page.getByText(/Disconnected from the server/).waitFor();
  await scene.serve(scene.address.port);
  await scene.task("After", "");
  await scene.signInAgain();
  await scene.card("After").waitFor();
  await page.getByText(/Disconnected from the server/).waitFor({ state: "detached" });
  assert.equal(await page.getByRole("article").count(), 2);
  await page.reload();
  await scene.card("After").waitFor();
});

test("a batch goes on after its server was killed", async () => {
  const scene = await open({ agent: "actor" });
  scene.expected.push(...LOST);
  const { page } = scene;
  await scene.task("Plant one", gated("one", "one.txt"));
  await scene.task("Plant two", gated("two", "two.txt"));
  await scene.enter();
  await scene.select("Plant one", "Plant two");
  await scene.button("Execute Parallel").click();
  scene.letGo("one");
  await scene.card("Plant one", "Done").waitFor();
  await scene.card("Plant two", "In progress").getByText("it waits at two").waitFor();
  await scene.kill();
  await page.getByText(/Disconnected from the server/).waitFor();
  await scene.serve(scene.address.port);
  await scene.signInAgain();
  await page.getByText(/Disconnected from the server/).waitFor({ state: "detached" });
  await scene.card("Plant two", "In progress").waitFor();
  assert.equal(await page.getByRole("article").count(), 2);
  scene.letGo("two");
  await scene.card("Plant two", "Done").waitFor();
  await scene.ended("2/2");
  assert.equal(await page.getByRole("article").count(), 2);
  assert.match(scene.git("ls-tree", "--name-only", "pleach/batch-1"), /one\.txt\ntwo\.txt/);
});

test("a batch whose terminal died is resumed from the board", async () => {
  const plan = `- [ ] Plant one\n\n  ${gated("one", "one.txt").replaceAll("\n", "\n  ")}\n`;
  const scene = await open({ agent: "actor", files: { "TODO.md": plan } });
  const { page } = scene;
  await scene.call("POST", "/api/tasks/import", { projectId: await scene.project(), path: "TODO.md" });
  await scene.enter();
  const terminal = spawn(pleach, ["run", "--yes", "--json"], {
    cwd: scene.repository,
    env: scene.env,
    stdio: "ignore",
  });
  await scene.card("Plant one", "In progress").getByText("Running").waitFor();
  terminal.kill("SIGKILL");
  await once(terminal, "exit");
  await page
    .getByRole("region", { name: /Notifications/ })
    .getByText("Batch 1 is interrupted")
    .waitFor();
  await scene.button("Resume").click();
  scene.letGo("one");
  await scene.card("Plant one", "Done").waitFor();
  await scene.ended("1/1");
  assert.equal(await page.getByRole("article").count(), 1);
});
