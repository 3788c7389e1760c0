// Several views of one thing, of which one is shown; which one stands in the address.

import { Tabs as Radix } from "radix-ui";
import { type ReactNode, Suspense, useState } from "react";
import { useWord } from "@/app/Go";
import { Loading } from "@/ui/Skeleton";

export type Tab = { name: string; title: string; count?: number | undefined; body: () => ReactNode };

type Props = {
  tabs: Tab[];
  label: string;
  /** The tab that is shown when the address names none; stays what it was at first. */
  first?: string;
};

export function Tabs({ tabs, label, first: wanted }: Props) {
  const [word, setWord] = useWord("tab");
  const [first] = useState(wanted ?? tabs[0]?.name ?? "");
  const shown = tabs.some((tab) => tab.name === word) ? (word ?? first) : first;
  return (
    <Radix.Root
      value={shown}
      onValueChange={(name) => setWord(name === first ? null : name)}
      className="flex min-h-0 flex-1 flex-col"
    >
      <Radix.List
        aria-label={label}
        className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-3"
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.name}
            value={tab.name}
            className="-mb-px flex h-9 items-center gap-1.5 whitespace-nowrap border-b-2 border-transparent px-2 text-sm text-fg-2 hover:text-fg focus-visible:-outline-offset-2 data-[state=active]:border-accent-text data-[state=active]:text-fg touch:h-11"
          >
            {tab.title}
            {tab.count ? (
              <span className="rounded-full bg-hover px-1.5 text-2xs text-fg-2">{tab.count}</span>
            ) : null}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) =>
        tab.name === shown ? (
          <Radix.Content
            key={tab.name}
            value={tab.name}
            className="flex min-h-0 flex-1 flex-col focus-visible:-outline-offset-2"
          >
            <Suspense fallback={<Loading />}>{tab.body()}</Suspense>
          </Radix.Content>
        ) : null,
      )}
    </Radix.Root>
  );
}
