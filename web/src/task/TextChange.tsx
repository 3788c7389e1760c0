// What a text was and is: the lines that differ where there are both, otherwise all of it.

import { parseDiffFromFile } from "@pierre/diffs";
import { cn } from "@/ui/cn";

type Line = { sign: "+" | "−" | " "; text: string };

const TONES = { "+": "bg-add-bg", "−": "bg-del-bg", " ": "" };

export default function TextChange({
  name,
  before,
  now,
}: {
  name: string;
  before: string | null;
  now: string | null;
}) {
  return (
    <div
      className="max-h-80 overflow-auto border-t border-line bg-bg py-1 font-mono text-xs"
      tabIndex={0}
      role="group"
      aria-label={`Contents of ${name}`}
    >
      {linesOf(name, before, now).map((line, i) => (
        <div
          key={i}
          className={cn("min-h-5 whitespace-pre-wrap px-2 [overflow-wrap:anywhere]", TONES[line.sign])}
        >
          <span className="select-none pr-2 text-fg-3">{line.sign}</span>
          {line.text}
        </div>
      ))}
    </div>
  );
}

/** The lines of a change, with those around it. */
export function linesOf(name: string, before: string | null, now: string | null): Line[] {
  if (before === null || now === null) {
    const sign = before === null ? "+" : "−";
    return split(before ?? now ?? "").map((text) => ({ sign, text }));
  }
  const diff = parseDiffFromFile({ name, contents: before }, { name, contents: now });
  const lines: Line[] = [];
  const take = (sign: Line["sign"], from: readonly string[], at: number, count: number) => {
    for (const text of from.slice(at, at + count)) lines.push({ sign, text: text.replace(/\r?\n$/, "") });
  };
  for (const hunk of diff.hunks) {
    if (lines.length > 0) lines.push({ sign: " ", text: "⋯" });
    for (const part of hunk.hunkContent) {
      if (part.type === "context") take(" ", diff.additionLines, part.additionLineIndex, part.lines);
      else {
        take("−", diff.deletionLines, part.deletionLineIndex, part.deletions);
        take("+", diff.additionLines, part.additionLineIndex, part.additions);
      }
    }
  }
  return lines;
}

function split(text: string): string[] {
  return text.replace(/\n$/, "").split("\n");
}
