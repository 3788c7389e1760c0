// Searches a whole transcript, in large pieces that are not kept.

import { hasWords } from "./entry";
import type { Load } from "./reader";

/** How many lines are looked at a time. */
const PIECE = 2_000;
/** More matches than this are not counted. */
export const MOST_MATCHES = 10_000;

export type Found = { matches: number[]; scanned: number };

/** Looks on from `before` to the end, wherever that is by then, and tells what was found after each piece. */
export async function search(
  load: Load,
  words: string,
  before: Found,
  total: () => number,
  signal: AbortSignal,
  tell: (found: Found) => void,
): Promise<void> {
  const wanted = words.toLowerCase();
  let { scanned } = before;
  let matches = before.matches;
  while (scanned < total() && matches.length < MOST_MATCHES) {
    const page = await load(scanned, PIECE, signal);
    if (signal.aborted) return;
    if (page.entries.length === 0) break;
    const found = page.entries.filter((line) => hasWords(line, wanted)).map((line) => line.line);
    if (found.length > 0) matches = [...matches, ...found];
    scanned = page.from + page.entries.length;
    tell({ matches, scanned });
  }
}

/** The match to go to from a line: the next one after it, or before it, around the ends. */
export function nextMatch(matches: readonly number[], from: number, direction: 1 | -1): number | null {
  if (matches.length === 0) return null;
  const [first, last] = [matches[0] ?? null, matches.at(-1) ?? null];
  if (direction > 0) return matches.find((line) => line > from) ?? first;
  return matches.findLast((line) => line < from) ?? last;
}
