// How this browser reads diffs: in which form, and what a person has seen of them.

import { create } from "zustand";
import { recall, remember } from "@/browser/memory";

/** So many marks are kept; the oldest go first. */
const MOST = 5_000;

type Reading = {
  isSplit: boolean;
  ignoresWhitespace: boolean;
  /** The marks of files that were seen. */
  viewed: ReadonlySet<string>;
};

export const useReading = create<Reading>(() => ({
  isSplit: recall("diff-split") !== null,
  ignoresWhitespace: recall("diff-whitespace") !== null,
  viewed: new Set(recall("viewed")?.split(" ") ?? []),
}));

export function readSplit(isSplit: boolean) {
  useReading.setState({ isSplit });
  remember("diff-split", isSplit ? "yes" : null);
}

export function ignoreWhitespace(ignoresWhitespace: boolean) {
  useReading.setState({ ignoresWhitespace });
  remember("diff-whitespace", ignoresWhitespace ? "ignore" : null);
}

export function setViewed(mark: string, isViewed: boolean) {
  const viewed = new Set(useReading.getState().viewed);
  viewed.delete(mark);
  if (isViewed) viewed.add(mark);
  const kept = [...viewed].slice(-MOST);
  useReading.setState({ viewed: new Set(kept) });
  remember("viewed", kept.length > 0 ? kept.join(" ") : null);
}
