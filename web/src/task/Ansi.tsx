// A line with the colours of a terminal, held within what can be read on either background.

import { type CSSProperties, Fragment, memo } from "react";
import { type Look, spans } from "./ansi";

const PALETTE: Record<string, string> = {
  black: "var(--fg-3)",
  red: "var(--failed)",
  green: "var(--done)",
  yellow: "var(--running)",
  blue: "var(--accent-text)",
  magenta: "var(--queued)",
  cyan: "var(--ready)",
  white: "var(--fg)",
};

function styleOf(look: Look): CSSProperties {
  const style: CSSProperties = {};
  const { fg, bg } = look;
  if (fg && !(bg && fg === "black")) style.color = PALETTE[fg] ?? `oklch(from ${fg} var(--ansi-bound) c h)`;
  if (bg) style.background = `color-mix(in oklab, ${PALETTE[bg] ?? bg} 16%, transparent)`;
  if (look.bold) style.fontWeight = 600;
  if (look.dim && !fg) style.color = "var(--fg-3)";
  if (look.italic) style.fontStyle = "italic";
  if (look.underline || look.strike) {
    style.textDecoration = [look.underline && "underline", look.strike && "line-through"]
      .filter(Boolean)
      .join(" ");
  }
  return style;
}

/** The spans of a line, with the words of a search marked. */
export const Ansi = memo(function Ansi({ text, words }: { text: string; words?: string }) {
  return spans(text).map((span, i) =>
    span.look ? (
      <span key={i} style={styleOf(span.look)}>
        <Marked text={span.text} words={words} />
      </span>
    ) : (
      <Marked key={i} text={span.text} words={words} />
    ),
  );
});

/** A text in which the words of a search are marked. */
export function Marked({ text, words }: { text: string; words?: string | undefined }) {
  if (!words) return <>{text}</>;
  const lower = text.toLowerCase();
  // Letters that change their length in lower case would shift the marks.
  if (lower.length !== text.length || !lower.includes(words)) return <>{text}</>;
  const parts = [];
  let at = 0;
  for (let found = lower.indexOf(words); found >= 0; found = lower.indexOf(words, at)) {
    parts.push(
      <Fragment key={found}>
        {text.slice(at, found)}
        <mark className="rounded-sm bg-accent-soft text-fg outline outline-1 outline-accent-text">
          {text.slice(found, found + words.length)}
        </mark>
      </Fragment>,
    );
    at = found + words.length;
  }
  return (
    <>
      {parts}
      {text.slice(at)}
    </>
  );
}
