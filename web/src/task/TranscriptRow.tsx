// A line of a transcript with its number, where it belongs.

import { memo } from "react";
import { cn } from "@/ui/cn";
import { EntryRow } from "./entries";
import { FLAT, type Line } from "./entry";

type Props = {
  index: number;
  start: number;
  line: Line | undefined;
  measure: (element: HTMLElement | null) => void;
  wraps: boolean;
  isMarked: boolean;
  words: string;
  isOpen: boolean | undefined;
  onToggle: (key: string, open: boolean) => void;
  result: string | undefined;
};

export const TranscriptRow = memo(function TranscriptRow({
  index,
  start,
  line,
  measure,
  wraps,
  isMarked,
  words,
  isOpen,
  onToggle,
  result,
}: Props) {
  return (
    <div
      ref={measure}
      data-index={index}
      className={cn(
        "absolute left-0 top-0 flex min-h-5 pr-4",
        wraps ? "w-full" : "min-w-full",
        isMarked && "bg-accent-soft",
      )}
      style={{ transform: `translateY(${start}px)` }}
    >
      <a
        href={`#L${index + 1}`}
        tabIndex={-1}
        aria-label={`Line ${index + 1}`}
        className={cn(
          "w-12 shrink-0 select-none pr-3 text-right text-fg-3 hover:text-accent-text sm:w-16",
          line?.detail && !FLAT.has(line.type) && "pt-0.5",
        )}
      >
        {index + 1}
      </a>
      <div
        className={cn(
          "min-w-0 flex-1",
          wraps ? "whitespace-pre-wrap [overflow-wrap:anywhere]" : "whitespace-pre",
        )}
      >
        {line ? (
          <EntryRow
            line={line}
            words={words || undefined}
            isOpen={isOpen}
            onToggle={onToggle}
            result={result}
          />
        ) : (
          <span className="text-fg-3">…</span>
        )}
      </div>
    </div>
  );
});
