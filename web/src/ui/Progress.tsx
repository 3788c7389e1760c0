// How much of something is over.

import { cn } from "./cn";

type Part = { count: number; tone: string };
type Props = {
  label: string;
  value: number;
  total: number;
  percent: number;
  parts: Part[];
  className?: string;
};

export function Progress({ label, value, total, percent, parts, className }: Props) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-valuetext={`${value}/${total} complete, ${percent} %`}
      className={cn("flex h-1.5 overflow-hidden rounded-full bg-line", className)}
    >
      {parts.map((part) =>
        part.count > 0 ? (
          <span
            key={part.tone}
            className={cn("h-full transition-[width]", part.tone)}
            style={{ width: `${(100 * part.count) / Math.max(1, total)}%` }}
          />
        ) : null,
      )}
    </div>
  );
}
