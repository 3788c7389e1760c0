// Draws the OpenAPI document of this server. Text only ever becomes text nodes.

import { asking } from "./pass.js";

const METHODS = ["get", "post", "put", "patch", "delete"];

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Text in which `words` are code. */
function prose(text) {
  const parts = (text ?? "").split("`");
  const line = element("span");
  line.append(...parts.map((part, at) => (at % 2 === 1 ? element("code", {}, part) : part)));
  return line;
}

function named(schema) {
  return schema.$ref ? schema.$ref.split("/").pop() : null;
}

/** A schema in one line, such as `string | null` or `Task[]`. */
function kind(schema) {
  if (!schema) return "any";
  if (schema.$ref) return named(schema);
  const several = schema.oneOf || schema.anyOf;
  if (several) return several.map(kind).join(" | ");
  if (schema.allOf) return schema.allOf.map(kind).join(" & ");
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  const types = [schema.type ?? "any"].flat();
  return types
    .map((type) => (type === "array" ? `${kind(schema.items)}[]` : type))
    .join(" | ");
}

/** Every schema that a schema speaks of by name. */
function mentioned(schema, found = new Set()) {
  if (!schema || typeof schema !== "object") return found;
  if (schema.$ref) found.add(named(schema));
  for (const part of Object.values(schema)) mentioned(part, found);
  return found;
}

function table(rows) {
  const body = element("tbody");
  for (const [name, type, text, required] of rows) {
    body.append(
      element(
        "tr",
        {},
        element("th", { scope: "row" }, element("code", {}, name), required ? element("span", { class: "must", title: "required" }, " *") : ""),
        element("td", {}, element("code", { class: "kind" }, type)),
        element("td", {}, prose(text)),
      ),
    );
  }
  return element("table", {}, body);
}

function fields(schema) {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(([name, property]) => [
    name,
    kind(property),
    property.description,
    required.has(name),
  ]);
  return rows.length > 0 ? table(rows) : element("p", {}, element("code", { class: "kind" }, kind(schema)));
}

/** The fields of a schema, and of those it speaks of, each once. */
function drawn(schema, schemas) {
  const parts = element("div");
  const seen = new Set();
  const waiting = [...mentioned(schema)];
  if (!named(schema)) parts.append(fields(schema));
  while (waiting.length > 0) {
    const name = waiting.shift();
    if (seen.has(name) || !schemas[name]) continue;
    seen.add(name);
    const of = schemas[name];
    parts.append(
      element(
        "details",
        seen.size === 1 && named(schema) ? { open: "" } : {},
        element("summary", {}, element("code", {}, name), " ", prose(of.description)),
        fields(of),
      ),
    );
    waiting.push(...mentioned(of));
  }
  return parts;
}

function content(part) {
  const [type, body] = Object.entries(part?.content ?? {})[0] ?? [];
  return type ? { type, schema: body.schema ?? {} } : null;
}

function operationCard(method, path, operation, schemas) {
  const card = element("article", { id: `${method}${path}`, class: "operation" });
  card.append(
    element("h3", {}, element("span", { class: `method ${method}` }, method.toUpperCase()), " ", element("code", {}, path)),
    element("p", {}, prose(operation.summary)),
  );
  if (operation.description) card.append(element("p", { class: "quiet" }, prose(operation.description)));
  const parameters = operation.parameters ?? [];
  if (parameters.length > 0) {
    card.append(
      element("h4", {}, "Parameters"),
      table(parameters.map((one) => [one.name, `${kind(one.schema)} (${one.in})`, one.description, one.required])),
    );
  }
  const body = content(operation.requestBody);
  if (body) card.append(element("h4", {}, "Body"), drawn(body.schema, schemas));
  card.append(element("h4", {}, "Answers"));
  const errors = [];
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    const answer = content(response);
    if (Number(status) >= 400) {
      errors.push(status);
      continue;
    }
    const text = answer && answer.type !== "application/json" ? ` ${answer.type}` : "";
    card.append(element("p", {}, element("strong", {}, status), " ", prose(response.description), text));
    if (answer?.schema && answer.type === "application/json") card.append(drawn(answer.schema, schemas));
  }
  if (errors.length > 0) card.append(element("p", { class: "quiet" }, `Errors: ${errors.join(", ")}`));
  return card;
}

async function begin() {
  const answer = await asking("/api/openapi.json");
  if (answer.status === 401) {
    document.getElementById("about").textContent = "Sign in: run `pleach serve` and open the link it prints.";
    return;
  }
  const document_ = await answer.json();
  const schemas = document_.components?.schemas ?? {};
  document.getElementById("title").textContent = `${document_.info.title} ${document_.info.version}: what programs can ask`;
  document.getElementById("about").textContent = document_.info.description ?? "";
  const groups = new Map();
  for (const [path, methods] of Object.entries(document_.paths)) {
    for (const method of METHODS.filter((one) => methods[one])) {
      const tag = methods[method].tags?.[0] ?? "other";
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push([method, path, methods[method]]);
    }
  }
  const contents = document.getElementById("contents");
  const operations = document.getElementById("operations");
  for (const [tag, all] of [...groups].sort(([a], [b]) => a.localeCompare(b))) {
    contents.append(element("h2", {}, tag));
    operations.append(element("h2", {}, tag));
    for (const [method, path, operation] of all) {
      contents.append(
        element("a", { href: `#${method}${path}` }, element("span", { class: `method ${method}` }, method.toUpperCase()), element("span", {}, path)),
      );
      operations.append(operationCard(method, path, operation, schemas));
    }
  }
  // What the address points at was not there when the page was loaded.
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

begin();
