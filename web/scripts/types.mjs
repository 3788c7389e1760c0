// Writes the types of the API from its document; with --check says whether they are fresh.

import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const here = new URL("../", import.meta.url);
const place = new URL("src/api/schema.d.ts", here);
const head = "// The types of the API. Made by `npm run types` from openapi.json; not written by hand.\n\n";
const types =
  head + astToString(await openapiTS(new URL("openapi.json", here), { defaultNonNullable: false }));
if (!process.argv.includes("--check")) {
  writeFileSync(place, types);
} else if (readFileSync(place, "utf8") !== types) {
  console.error("src/api/schema.d.ts is not what openapi.json says: `npm run types` writes it anew");
  process.exitCode = 1;
}
