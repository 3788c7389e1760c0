// Makes characters visible that hide something or make text read in another order than it is written in.
//
// The same as `crates/system/src/text/hidden.rs`; both are tested by `cases.json`.

/** Controls, what Unicode has programs ignore, and marks of direction; a tab and the end of a line are text. */
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\r(?!\n)/gu;

/** A flag of a region, whose letters are hidden characters. */
const FLAGS = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/gu;

/** Symbols, emoji and ideographs that have several forms, and what chooses one. */
const HAS_VARIANTS =
  /^[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3001-\u303f\u3297\u3299\u3400-\u9fff\uf900-\ufaff\u{1f000}-\u{1faff}\u{20000}-\u{3ffff}]$/u;
const CHOOSES = /^[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]$/u;

export type Piece = { text: string; isMark: boolean };

/** The pieces of a text; hidden characters are pieces of their own, such as `⟨U+202E⟩`. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  const flags = [...text.matchAll(FLAGS)].map((flag) => ({
    from: flag.index,
    to: flag.index + flag[0].length,
  }));
  let at = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const end = match.index + match[0].length;
    if (
      flags.some((flag) => flag.from < match.index && end <= flag.to) ||
      isPartOfWriting(match[0], before(text, match.index), behind(text, end))
    )
      continue;
    if (match.index > at) found.push({ text: text.slice(at, match.index), isMark: false });
    found.push({
      text: `⟨U+${(match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
      isMark: true,
    });
    at = end;
  }
  if (at < text.length || text === "") found.push({ text: text.slice(at), isMark: false });
  return found;
}

function before(text: string, at: number): string {
  return /.$/su.exec(text.slice(Math.max(0, at - 2), at))?.[0] ?? "";
}

function behind(text: string, end: number): string {
  const code = text.codePointAt(end);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** Whether emoji and scripts are written so, such as a family of emoji or a sign in its coloured form. */
function isPartOfWriting(hidden: string, before: string, next: string): boolean {
  if (hidden === "\u200c" || hidden === "\u200d") return isWritten(before) && isWritten(next);
  if (hidden === "\ufe0f" && next === "\u20e3") return /^[0-9#*]$/.test(before);
  if (CHOOSES.test(hidden)) return HAS_VARIANTS.test(before);
  return /^[\u180b-\u180d\u180f]$/.test(hidden) && /^[\u1820-\u18aa]$/.test(before);
}

/** Whether it is of a script that uses joiners, or of an emoji. */
function isWritten(one: string): boolean {
  return (
    (one.codePointAt(0) ?? 0) >= 0x600 &&
    !/^\s$/.test(one) &&
    (one.search(HIDDEN) < 0 || /^[\ufe00-\ufe0f]$/.test(one))
  );
}

/** The text with marks in the place of hidden characters. */
export function visible(text: string): string {
  return hides(text)
    ? pieces(text)
        .map((piece) => piece.text)
        .join("")
    : text;
}

/** Whether there may be anything hidden in a text. */
export function hides(text: string): boolean {
  return text.search(HIDDEN) >= 0;
}
