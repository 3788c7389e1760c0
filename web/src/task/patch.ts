// A patch of many files, taken apart file by file.

import type { components } from "../api/schema";

export type ShownPatch = components["schemas"]["ShownPatch"];

export type FilePatch = { path: string; text: string; added: number | null; removed: number | null; note: string };

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
  const rest = [...known.values()].map((file) => ({ path: file.path, text: "", added: file.added ?? null, removed: file.removed ?? null, note: "not shown" }));
  return [...found, ...rest];
}

/** What is to be said of a part that has no lines; nothing where it has some. */
function noteOf(text: string): string {
  if (/^@@ /m.test(text)) return "";
  const from = /^rename from (.*)$/m.exec(text)?.[1];
  if (from) return `was ${from}`;
  if (/^(Binary files |GIT binary patch)/m.test(text)) return "binary";
  return /^new mode /m.test(text) ? "mode changed" : "empty";
}

/** The path that a part of a patch is about; the old one where the file is gone. */
function pathOf(text: string): string {
  const name = (mark: string) => new RegExp(`^${mark} (?:"?[abciow]/)?([^\\t\\n]*?)"?\\t?$`, "m").exec(text)?.[1];
  const after = name("\\+\\+\\+");
  if (after && after !== "/dev/null") return after;
  const renamed = /^rename to (.*)$/m.exec(text)?.[1];
  if (renamed) return renamed;
  const before = name("---");
  if (before && before !== "/dev/null") return before;
  return /^diff --git "?a\/(.*?)"? "?b\//.exec(text)?.[1] ?? "";
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
