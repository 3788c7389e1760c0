// The look of places to write in.

import type { ComponentProps } from "react";
import { cn } from "./cn";

const look =
  "w-full rounded-md border border-line-strong bg-raised px-2.5 text-sm text-fg disabled:opacity-50";

export function TextField({ className, ...rest }: ComponentProps<"input">) {
  return <input className={cn(look, "h-8 touch:h-10", className)} {...rest} />;
}

export function TextArea({ className, ...rest }: ComponentProps<"textarea">) {
  return <textarea className={cn(look, "min-h-20 resize-y py-2", className)} {...rest} />;
}
