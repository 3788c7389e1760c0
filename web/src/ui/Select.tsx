// One of a few words, by the browser's own list.

import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";
import { cn } from "./cn";

type Props = ComponentProps<"select"> & { options: { value: string; label: string; disabled?: boolean }[] };

export function Select({ options, className, ...rest }: Props) {
  return (
    <span className={cn("relative inline-flex", className)}>
      <select
        className="h-8 w-full appearance-none rounded-md border border-line-strong bg-raised pl-2.5 pr-8 text-sm text-fg disabled:opacity-50 touch:h-10"
        {...rest}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronDown
        className="pointer-events-none absolute right-2.5 top-1/2 size-3.5 -translate-y-1/2 text-fg-3"
        aria-hidden
      />
    </span>
  );
}
