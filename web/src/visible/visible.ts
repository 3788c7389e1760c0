// Makes characters visible that hide something or make text read in another order than it is written in.

/** Controls, marks of direction, and what has no width; a tab and the end of a line are text. */
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\r(?!\n)/gu;

/** Characters of which writing systems and emoji are put together. */
const JOINERS = new Set(["\u200c", "\u200d"]);

export type Piece = { text: string; isMark: boolean };

/** The pieces of a text; hidden characters are pieces of their own, such as `⟨U+202E⟩`. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const end = match.index + match[0].length;
    if (JOINERS.has(match[0]) && joins(text, match.index, end)) continue;
    if (match.index > at) found.push({ text: text.slice(at, match.index), isMark: false });
    found.push({ text: `⟨U+${(match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`, isMark: true });
    at = end;
  }
  if (at < text.length || text === "") found.push({ text: text.slice(at), isMark: false });
  return found;
}

/** Whether a joiner stands between two characters of scripts that use it, or of emoji. */
function joins(text: string, at: number, end: number): boolean {
  const before = text.charCodeAt(at - 1);
  const behind = text.charCodeAt(end);
  const isWritten = (code: number) => code >= 0x600 && !(code >= 0x2000 && code <= 0x206f) && code !== 0xfeff;
  return isWritten(before) && isWritten(behind);
}

/** The text with marks in the place of hidden characters. */
export function visible(text: string): string {
  return hides(text) ? pieces(text).map((piece) => piece.text).join("") : text;
}

/** Whether there may be anything hidden in a text. */
export function hides(text: string): boolean {
  return text.search(HIDDEN) >= 0;
}
