// The shape of what is still on its way.

import { cn } from "./cn";

export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cn("rounded-md bg-hover", className)} />;
}
