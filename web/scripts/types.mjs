// Writes the types of the API from its document.

import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const here = new URL("../", import.meta.url);
const document = JSON.parse(readFileSync(new URL("openapi.json", here), "utf8"));
// Names of operations are not used, and need not be unique.
for (const path of Object.values(document.paths)) for (const operation of Object.values(path)) delete operation.operationId;
const head = "// The types of the API. Made by `npm run types` from openapi.json; not written by hand.\n\n";
const types = astToString(await openapiTS(document, { defaultNonNullable: false }));
writeFileSync(new URL("src/api/schema.d.ts", here), head + types);
