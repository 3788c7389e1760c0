// The search in a transcript: a field, how many lines have the words, and the way between them.

import { ChevronDown, ChevronUp } from "lucide-react";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { grouped } from "@/text/format";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import type { Load } from "./reader";
import { type Found, MOST_MATCHES, nextMatch, search } from "./search";

/** How long the typing has to rest before it is searched. */
const REST_MS = 200;

export type Find = {
  typed: string;
  setTyped: (typed: string) => void;
  /** What is searched, in lower case. */
  words: string;
  found: Found;
  /** The match that was gone to. */
  current: number | null;
  go: (direction: 1 | -1) => void;
  focus: () => void;
  field: RefObject<HTMLInputElement | null>;
};

const NOTHING: Found = { matches: [], scanned: 0 };

/** Searches while the words stay the same, and goes on as the transcript grows. */
export function useSearchIn(load: Load, total: number, goTo: (line: number) => void): Find {
  const [typed, setTyped] = useState("");
  const [words, setWords] = useState("");
  const [found, setFound] = useState(NOTHING);
  const [current, setCurrent] = useState<number | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const latest = useRef(found);
  latest.current = found;
  const end = useRef(total);
  end.current = total;
  const under = useRef<AbortController | null>(null);

  useEffect(() => {
    const timer = setTimeout(() => {
      under.current?.abort();
      under.current = null;
      latest.current = NOTHING;
      setWords(typed.trim().toLowerCase());
      setFound(NOTHING);
      setCurrent(null);
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [typed, load]);
  useEffect(() => () => under.current?.abort(), []);

  // One search goes on at a time; it looks at what came meanwhile by itself.
  useEffect(() => {
    if (words === "" || under.current || latest.current.scanned >= total) return;
    const abort = new AbortController();
    under.current = abort;
    const tell = (now: Found) => {
      if (abort.signal.aborted) return;
      latest.current = now;
      setFound(now);
    };
    const over = () => {
      if (under.current === abort) under.current = null;
    };
    search(load, words, latest.current, () => end.current, abort.signal, tell).then(over, over);
  }, [load, words, total]);

  const go = useCallback(
    (direction: 1 | -1) => {
      const next = nextMatch(latest.current.matches, current ?? -1, direction);
      if (next === null) return;
      setCurrent(next);
      goTo(next);
    },
    [current, goTo],
  );
  const focus = useCallback(() => field.current?.focus(), []);
  return { typed, setTyped, words, found, current, go, focus, field };
}

/** What is said about the matches: which one of how many. */
export function countText(
  { words, found, current }: Pick<Find, "words" | "found" | "current">,
  total: number,
): string {
  if (words === "") return "";
  const count = found.matches.length;
  const more = count >= MOST_MATCHES || found.scanned < total ? "+" : "";
  if (count === 0) return more ? "Searching…" : "No matches";
  const place = current === null ? "" : `${grouped(found.matches.indexOf(current) + 1)}/`;
  return `${place}${grouped(count)}${more} ${count === 1 && !more && !place ? "match" : "matches"}`;
}

export function SearchBar({ find, total }: { find: Find; total: number }) {
  return (
    <search className="flex items-center gap-1">
      <span role="status" className="whitespace-nowrap pr-1 text-xs text-fg-3">
        {countText(find, total)}
      </span>
      <TextField
        ref={find.field}
        type="search"
        aria-label="Search the transcript"
        placeholder="Search"
        className="h-7 w-40 sm:w-52"
        value={find.typed}
        onChange={(event) => find.setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") find.go(event.shiftKey ? -1 : 1);
          else if (event.key === "Escape" && find.typed !== "") {
            event.stopPropagation();
            find.setTyped("");
          }
        }}
      />
      <Button
        size="icon"
        look="ghost"
        aria-label="Previous match"
        disabled={find.found.matches.length === 0}
        onClick={() => find.go(-1)}
      >
        <ChevronUp />
      </Button>
      <Button
        size="icon"
        look="ghost"
        aria-label="Next match"
        disabled={find.found.matches.length === 0}
        onClick={() => find.go(1)}
      >
        <ChevronDown />
      </Button>
    </search>
  );
}
