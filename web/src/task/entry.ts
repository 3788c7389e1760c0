// What a line of a transcript is, in the words and parts that the page shows.

import { dollars, duration, tokens } from "@/text/format";
import type { components } from "../api/schema";
import { plain } from "./ansi";

export type Line = components["schemas"]["TranscriptLine"];
export type Entry = components["schemas"]["Entry"];
export type Usage = components["schemas"]["Usage"];

/** Lines that are as high as plain ones, and have nothing to fold. */
export const FLAT: ReadonlySet<string> = new Set(["raw", "usage", "session"]);

/** A line of a patch: what it is, and its text without the mark. */
export type PatchLine = { kind: "add" | "del" | "same" | "hunk"; text: string };

const HEADER =
  /^(diff --git |index |--- |\+\+\+ |new file |deleted file |old mode |new mode |similarity |rename )/;

/** How many lines of a text are shown before it is folded. */
export const FOLD_LINES = 12;

/** The lines of a patch without its headers. */
export function patchLines(patch: string): PatchLine[] {
  const lines = patch.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const found: PatchLine[] = [];
  // After the first hunk a line that begins like a header is one that was added or removed.
  let isHead = true;
  for (const line of lines) {
    if (line.startsWith("diff --git ")) isHead = true;
    if ((isHead && HEADER.test(line)) || line.startsWith("\\ ")) continue;
    isHead = false;
    if (line.startsWith("@@")) found.push({ kind: "hunk", text: line.replace(/^(@@.*?@@).*$/, "$1") });
    else if (line.startsWith("+")) found.push({ kind: "add", text: line.slice(1) });
    else if (line.startsWith("-")) found.push({ kind: "del", text: line.slice(1) });
    else found.push({ kind: "same", text: line.startsWith(" ") ? line.slice(1) : line });
  }
  return found;
}

/** How many lines a patch adds and removes. */
export function patchSize(patch: string): { added: number; removed: number } {
  const lines = patchLines(patch);
  return {
    added: lines.filter((line) => line.kind === "add").length,
    removed: lines.filter((line) => line.kind === "del").length,
  };
}

/** The first line of a text that says something. */
export function firstLine(text: string): string {
  return plain(text.split("\n").find((line) => line.trim() !== "") ?? "").trim();
}

/** How many lines a text has; an end of line at its end counts for none. */
export function lineCount(text: string): number {
  if (text === "") return 0;
  return text.replace(/\n$/, "").split("\n").length;
}

/** What a tool was given, as a person would write it. */
export function inputText(input: unknown): string {
  if (input === undefined || input === null) return "";
  if (typeof input === "string") return input;
  if (typeof input !== "object" || Array.isArray(input)) return JSON.stringify(input, null, 2);
  const entries = Object.entries(input);
  const part = ([key, value]: [string, unknown]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return text.includes("\n") ? `${key}:\n${text.replace(/^/gm, "  ")}` : `${key}: ${text}`;
  };
  return entries.map(part).join("\n");
}

/** What an agent took, in short. */
export function usageText(usage: { tokens?: number; usd?: number | null }): string {
  const { tokens: count = 0, usd } = usage;
  const cost = usd === undefined || usd === null ? null : dollars(usd);
  // An agent may tell its cost alone.
  if (cost && count === 0) return cost;
  return [`${tokens(count)} tokens`, ...(cost ? [cost] : [])].join(" · ");
}

/** What a person is told of a pause. */
export function pauseText(ms: number | null | undefined): string {
  return ms ? `retry in ${duration(ms / 1_000)}` : "";
}

/** The text of a line for search and copy, as many lines as it has. */
export function copyText(line: Line): string {
  const { detail } = line;
  if (!detail) return plain(line.text);
  switch (detail.type) {
    case "tool_call":
      return [`> ${detail.title}`, inputText(detail.input)].filter(Boolean).join("\n");
    case "tool_result":
      return detail.output;
    case "file_edit":
      return [`${detail.change} ${detail.path}`, detail.diff ?? ""].filter(Boolean).join("\n");
    case "usage":
      return usageText(detail);
    default:
      return plain(line.text);
  }
}

/** Whether a line has the words, which are given in lower case. */
export function hasWords(line: Line, words: string): boolean {
  if (plain(line.text).toLowerCase().includes(words)) return true;
  return line.detail ? copyText(line).toLowerCase().includes(words) : false;
}
