// On or off, at once.

import { Switch as Radix } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "./cn";

export function Switch({ className, ...rest }: ComponentProps<typeof Radix.Root>) {
  return (
    <Radix.Root
      className={cn(
        "relative h-5 w-9 shrink-0 rounded-full border border-line-strong bg-sunken transition-colors disabled:opacity-50 data-[state=checked]:border-accent data-[state=checked]:bg-accent",
        className,
      )}
      {...rest}
    >
      <Radix.Thumb className="block size-3.5 translate-x-0.5 rounded-full bg-fg-3 transition-transform data-[state=checked]:translate-x-[17px] data-[state=checked]:bg-on-accent" />
    </Radix.Root>
  );
}
