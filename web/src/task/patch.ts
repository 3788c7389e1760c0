// A patch of many files, taken apart file by file.

import type { components } from "../api/schema";

export type ShownPatch = components["schemas"]["ShownPatch"];

export type FilePatch = {
  path: string;
  text: string;
  added: number | null;
  removed: number | null;
  note: string;
};

/** The files of a patch, with their own part of it; those that had no room come without. */
export function filesOf(shown: ShownPatch): FilePatch[] {
  const parts = shown.patch.split(/^(?=diff --git )/m).filter((part) => part.startsWith("diff --git "));
  const known = new Map(shown.files.map((file) => [file.path, file]));
  const found = parts.map((text) => {
    const path = pathOf(text);
    const file = known.get(path);
    known.delete(path);
    return { path, text, added: file?.added ?? null, removed: file?.removed ?? null, note: noteOf(text) };
  });
  const rest = [...known.values()].map((file) => ({
    path: file.path,
    text: "",
    added: file.added ?? null,
    removed: file.removed ?? null,
    note: "not shown",
  }));
  return [...found, ...rest];
}

/** What is to be said of a part that has no lines; nothing where it has some. */
function noteOf(text: string): string {
  if (/^@@ /m.test(text)) return "";
  const from = /^rename from (.*)$/m.exec(text)?.[1];
  if (from) return `was ${unquoted(from)}`;
  if (/^(Binary files |GIT binary patch)/m.test(text)) return "binary";
  return /^new mode /m.test(text) ? "mode changed" : "empty";
}

const ESCAPES: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** A name as it is; Git puts names with strange letters into quotes and writes their bytes as `\\303\\274`. */
export function unquoted(name: string): string {
  const quoted = /^"(.*)"$/.exec(name)?.[1];
  if (quoted === undefined) return name;
  const bytes: number[] = [];
  for (const [, octal, escaped, plain] of quoted.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gu)) {
    if (octal) bytes.push(Number.parseInt(octal, 8));
    else if (escaped && escaped in ESCAPES) bytes.push(ESCAPES[escaped] as number);
    else bytes.push(...new TextEncoder().encode(escaped ?? plain));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

/** The path that a part of a patch is about; the old one where the file is gone. */
function pathOf(text: string): string {
  const head = text.split(/^@@ /m, 1)[0] ?? text;
  const name = (mark: string) => {
    const found = new RegExp(`^${mark} (.*?)\\t?$`, "m").exec(head)?.[1];
    return found === undefined || found === "/dev/null"
      ? undefined
      : unquoted(found).replace(/^[abciow]\//, "");
  };
  const renamed = /^rename to (.*)$/m.exec(head)?.[1];
  return (
    name("\\+\\+\\+") ??
    (renamed === undefined ? undefined : unquoted(renamed)) ??
    name("---") ??
    bothNames(head)
  );
}

/** The path of a part that names it only in its first line, twice. */
function bothNames(text: string): string {
  const found = /^diff --git (?:("a\/(?:[^"\\]|\\.)*")|a\/(.*?)) "?b\//.exec(text);
  return found?.[1] ? unquoted(found[1]).slice(2) : (found?.[2] ?? "");
}

/** A short word for a text. */
export function hash(text: string): number {
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) | 0;
  return sum;
}

/** What a file is known by that a person has seen: once it is another one it has another mark. */
export function markOf({ path, text }: FilePatch): string {
  return hash(`${path}\n${/^index .*$/m.exec(text)?.[0] ?? text}`).toString(36);
}

/** Which files are shown open at first: small ones, until there is enough to read. */
export function openAtFirst(files: readonly FilePatch[]): Set<string> {
  const open = new Set<string>();
  let lines = 0;
  for (const file of files) {
    const size = (file.added ?? 0) + (file.removed ?? 0);
    if (file.note !== "" || size > 400) continue;
    if (lines + size > 800) break;
    lines += size;
    open.add(file.path);
  }
  return open;
}
