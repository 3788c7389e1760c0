// A key as it is written on it.

import type { ReactNode } from "react";

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-flex h-[18px] min-w-[18px] items-center justify-center rounded-sm border border-line bg-surface px-1 font-mono text-2xs text-fg-2">
      {children}
    </kbd>
  );
}
