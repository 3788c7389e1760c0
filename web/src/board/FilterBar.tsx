// Chooses which tasks the board shows, and says how many it does not.

import { useRouter, useRouterState } from "@tanstack/react-router";
import { ListFilter, X } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { boardSearch, leaveBoardAt } from "@/app/Go";
import { type Keys, useHotkeys } from "@/keys/hotkeys";
import { useWorld } from "@/live/world";
import { counted } from "@/text/format";
import { lookOf } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { Menu, MenuCheckItem, MenuLabel } from "@/ui/Menu";
import { choices, type Filter, filterIn, isEmpty, type List, lists, searchWith, toggledIn } from "./filter";

/** How long the typing has to rest before the board follows. */
const REST_MS = 120;

const titles: Record<List, string> = { status: "Status", label: "Label", batch: "Batch" };

function wordFor(list: List, value: string): string {
  return list === "status" ? lookOf(value).word : list === "batch" ? `Batch ${value}` : value;
}

/** The filter that stands in the address, and how to put another one there. */
export function useFilter(): [Filter, (filter: Filter) => void] {
  const router = useRouter();
  // While another page is on its way the address is no longer the board's.
  const search = useRouterState({
    select: ({ location }) => (location.pathname === "/" ? location.searchStr : boardSearch()),
  });
  const filter = useMemo(() => filterIn(search), [search]);
  useEffect(() => {
    leaveBoardAt(search);
  }, [search]);
  const set = useCallback(
    (next: Filter) => {
      const { pathname, searchStr } = router.state.location;
      const words = searchWith(next, searchStr);
      router.history.replace(words ? `${pathname}?${words}` : pathname);
    },
    [router],
  );
  return [filter, set];
}

type Props = { filter: Filter; onChange: (filter: Filter) => void; shown: number; total: number };

export function FilterBar({ filter, onChange, shown, total }: Props) {
  const hidden = total - shown;
  const none: Filter = { text: "", status: [], label: [], batch: [] };
  return (
    <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-2 gap-y-1 px-3 pt-2">
      <Words text={filter.text} onChange={(text) => onChange({ ...filter, text })} />
      <Choices filter={filter} onChange={onChange} />
      {lists.flatMap((list) =>
        filter[list].map((value) => (
          <button
            key={`${list} ${value}`}
            type="button"
            aria-label={`${titles[list]} ${wordFor(list, value)}: do not filter by it`}
            onClick={() => onChange(toggledIn(filter, list, value))}
            className="inline-flex h-6 items-center gap-1 rounded-full bg-accent-soft pl-2 pr-1.5 text-xs text-accent-text hover:bg-hover touch:h-8"
          >
            {wordFor(list, value)} <X className="size-3" aria-hidden />
          </button>
        )),
      )}
      <p role="status" className="text-xs text-fg-2 empty:hidden">
        {isEmpty(filter)
          ? null
          : hidden === 0
            ? "No task is filtered out"
            : `${counted(hidden, "task")} of ${total} hidden`}
      </p>
      {isEmpty(filter) ? null : (
        <Button size="small" look="ghost" onClick={() => onChange(none)}>
          Clear filter
        </Button>
      )}
    </div>
  );
}

function Words({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [typed, setTyped] = useState(text);
  const field = useRef<HTMLInputElement>(null);
  const latest = useRef(onChange);
  latest.current = onChange;
  // What the address says wins, unless the person is typing.
  useEffect(() => {
    if (document.activeElement !== field.current) setTyped(text);
  }, [text]);
  useEffect(() => {
    if (typed === text) return;
    const timer = setTimeout(() => latest.current(typed), REST_MS);
    return () => clearTimeout(timer);
  }, [typed, text]);
  const keys = useMemo<Keys>(
    () => ({
      "/": () => field.current?.select(),
    }),
    [],
  );
  useHotkeys(keys);
  return (
    <TextField
      ref={field}
      type="search"
      aria-label="Filter tasks"
      aria-keyshortcuts="/"
      placeholder="Filter tasks"
      className="h-7 w-44 sm:w-56"
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        setTyped("");
        latest.current("");
        event.currentTarget.blur();
      }}
    />
  );
}

function Choices({ filter, onChange }: Pick<Props, "filter" | "onChange">) {
  return (
    <Menu
      align="start"
      trigger={
        <Button size="small" look="ghost">
          <ListFilter aria-hidden /> Filter
        </Button>
      }
    >
      <ChoiceLists filter={filter} onChange={onChange} />
    </Menu>
  );
}

function ChoiceLists({ filter, onChange }: Pick<Props, "filter" | "onChange">) {
  const tasks = useWorld((world) => world.tasks);
  const offered = useMemo(() => choices(tasks.values(), filter), [tasks, filter]);
  return lists.map((list) =>
    offered[list].length === 0 ? null : (
      <div key={list} role="group" aria-label={titles[list]}>
        <MenuLabel>{titles[list]}</MenuLabel>
        {offered[list].map((value) => (
          <MenuCheckItem
            key={value}
            checked={filter[list].includes(value)}
            onCheckedChange={() => onChange(toggledIn(filter, list, value))}
          >
            {wordFor(list, value)}
          </MenuCheckItem>
        ))}
      </div>
    ),
  );
}
