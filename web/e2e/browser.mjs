// The Chromium of this machine.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const path = process.env.CHROMIUM ?? "/usr/bin/chromium";

export function launch() {
  if (!existsSync(path))
    throw new Error("there is no Chromium: apt-get install --no-install-recommends chromium");
  return chromium.launch({ executablePath: path, args: ["--no-sandbox", "--disable-gpu"] });
}
