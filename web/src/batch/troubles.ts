// What did not make it in a batch, in words.

import type { BatchView } from "@/api/client";

/** As in `1 failed, 2 left out`; nothing where all is well. */
export function troubles({ failed, skipped, cancelled }: BatchView["progress"]): string {
  const parts = [
    [failed, "failed"],
    [skipped, "left out"],
    [cancelled, "cancelled"],
  ] as const;
  return parts.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(", ");
}
