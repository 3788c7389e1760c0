// The shape of what is still on its way.

import { cn } from "./cn";

export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cn("rounded-md bg-hover", className)} />;
}

/** A page or a part of one that is on its way. */
export function Loading() {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-2 p-4">
      <Skeleton className="h-5 w-2/3" />
      <Skeleton className="h-5 w-1/2" />
      <Skeleton className="h-32 w-full" />
    </div>
  );
}
