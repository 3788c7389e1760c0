// Turns one line with terminal colours into spans; what only moves a cursor is dropped.

/** How a span looks. Colours 0 to 15 are names of the palette, others are hex. */
export type Look = {
  fg?: string;
  bg?: string;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  strike?: boolean;
};

export type Span = { text: string; look: Look | null };

const ESCAPE = "\u001b";
// CSI sequences, OSC sequences (links, titles), and two-letter ones.
const SEQUENCE =
  /\u001b(?:\[([0-9;:<=>?]*)([ -/]*[@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g;
// What is left of control letters; a tab is text.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g;
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** The spans of a line. */
export function spans(line: string): Span[] {
  if (!line.includes(ESCAPE)) return line === "" ? [] : [{ text: clean(line), look: null }];
  const found: Span[] = [];
  let look: Look = {};
  let reversed = false;
  let at = 0;
  const push = (text: string) => {
    const shown = clean(text);
    if (shown === "") return;
    const seen = reversed ? { ...look, fg: look.bg ?? "black", bg: look.fg ?? "white" } : look;
    found.push({ text: shown, look: Object.keys(seen).length > 0 ? seen : null });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    push(line.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] !== "m") continue;
    const codes = (match[1] || "0").split(/[;:]/).map(Number);
    ({ look, reversed } = applied(look, reversed, codes));
  }
  push(line.slice(at));
  return found;
}

/** A line without its colours. */
export function plain(line: string): string {
  return line.includes(ESCAPE) ? clean(line.replace(SEQUENCE, "")) : clean(line);
}

function clean(text: string): string {
  return text.replace(CONTROL, "");
}

function applied(before: Look, wasReversed: boolean, codes: number[]): { look: Look; reversed: boolean } {
  let look = { ...before };
  let reversed = wasReversed;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 0) {
      look = {};
      reversed = false;
    } else if (code === 7 || code === 27) reversed = code === 7;
    else if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(i + 1));
      i += used;
      if (colour) look[code === 38 ? "fg" : "bg"] = colour;
    } else styled(look, code);
  }
  return { look, reversed };
}

function styled(look: Look, code: number): void {
  if (code === 1) look.bold = true;
  else if (code === 2) look.dim = true;
  else if (code === 3) look.italic = true;
  else if (code === 4) look.underline = true;
  else if (code === 9) look.strike = true;
  else if (code === 22) {
    delete look.bold;
    delete look.dim;
  } else if (code === 23) delete look.italic;
  else if (code === 24) delete look.underline;
  else if (code === 29) delete look.strike;
  else if (code === 39) delete look.fg;
  else if (code === 49) delete look.bg;
  else {
    const [digit, base] = [code % 10, Math.floor(code / 10)];
    const name = digit < 8 ? NAMES[digit] : undefined;
    if (name && (base === 3 || base === 9)) look.fg = name;
    else if (name && (base === 4 || base === 10)) look.bg = name;
  }
}

/** A colour of 256 or of true colour, and how many numbers it took. */
function extended(rest: number[]): [string | null, number] {
  if (rest[0] === 5) return [indexed(rest[1] ?? 0), 2];
  if (rest[0] === 2) return [hex(rest[1] ?? 0, rest[2] ?? 0, rest[3] ?? 0), 4];
  return [null, 0];
}

function indexed(index: number): string {
  const name = NAMES[index % 8];
  if (index < 16 && name) return name;
  if (index > 231) {
    const grey = 8 + (index - 232) * 10;
    return hex(grey, grey, grey);
  }
  const step = (part: number) => (part === 0 ? 0 : 55 + part * 40);
  const cube = index - 16;
  return hex(step(Math.floor(cube / 36)), step(Math.floor(cube / 6) % 6), step(cube % 6));
}

function hex(...parts: number[]): string {
  const digits = parts.map((part) => Math.min(255, Math.max(0, part)).toString(16).padStart(2, "0"));
  return `#${digits.join("")}`;
}
