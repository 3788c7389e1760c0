// An agent that prints as many lines as it is told, and then more of them bit by bit until a gate is opened.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const [, , gates, count, rate] = process.argv;
const E = "\u001b[";
const kinds = [
  (n) => `${E}32m   Compiling${E}0m serde_derive v1.0.${n % 300} (/home/you/.cargo/registry/src)`,
  (n) => `${E}1;33mwarning${E}0m: unused variable: \`x${n}\``,
  (n) => `${E}1;31merror[E0${n % 900}]${E}0m: mismatched types ${E}2mat src/lib.rs:${n % 700}:12${E}0m`,
  (n) => `test module::case_${n} ... ${E}32mok${E}0m`,
  (n) => `{"ts":${n},"level":"info","msg":"tool call finished","ms":${n % 97}}`,
  (n) =>
    `${E}38;2;255;140;0mtrue colour${E}0m and plain text that is a little bit longer than the others to see how it wraps at line ${n}`,
  (n) => `${E}36m▸ step ${n}${E}0m cargo check --workspace`,
];

let printed = 0;
function print(lines) {
  const text = Array.from({ length: lines }, () => kinds[printed % kinds.length](printed++)).join("\n");
  return new Promise((done) => process.stdout.write(`${text}\n`, done));
}

while (printed < Number(count)) await print(1000);
while (!existsSync(join(gates, "enough"))) {
  await print(Math.ceil(Number(rate) / 20));
  await pause(50);
}
