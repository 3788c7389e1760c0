// What an agent said and did: a log of any length, of which only what is seen is drawn and fetched.

import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, MessageSquareText } from "lucide-react";
import { type KeyboardEvent, memo, type ReactNode, type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Banner } from "@/ui/Banner";
import { Button } from "@/ui/Button";
import { cn } from "@/ui/cn";
import { EmptyState } from "@/ui/EmptyState";
import { EntryRow, foldKey } from "./entries";
import type { Line } from "./entry";
import { type Load, Reader } from "./reader";
import { SearchBar, useSearchIn } from "./SearchBar";
import { Tools } from "./Tools";

/** The height of most lines. */
const LINE = 20;
/** Lines that are as high as plain ones. */
const FLAT = new Set(["raw", "usage", "session"]);
/** How near to the end counts as being there. */
const NEAR = 24;

type Props = {
  /** Fetches a part; a new function is another transcript. */
  load: Load;
  /** How many lines there are, as far as events tell. */
  total: number;
  /** Whether more may come. */
  isRunning: boolean;
  /** What stands at the beginning of the tools: attempts, usage. */
  children?: (state: ReturnType<Reader["snapshot"]>) => ReactNode;
  /** The name of the file when it is saved. */
  fileName: string;
};

function useReader({ load, total, isRunning }: Props) {
  const reader = useMemo(() => new Reader(load), [load]);
  const state = useSyncExternalStore(reader.subscribe, reader.snapshot);
  useEffect(() => {
    void reader.open();
    return () => reader.close();
  }, [reader]);
  useEffect(() => reader.told(total), [reader, total]);
  useEffect(() => {
    if (!isRunning) reader.check();
  }, [reader, isRunning]);
  return { reader, state };
}

/** The line that the address names, as in `#L120`. */
function lineInAddress(): number | null {
  const found = /^#L(\d+)$/.exec(window.location.hash);
  return found ? Number(found[1]) - 1 : null;
}

export function Transcript(props: Props) {
  const { load, isRunning, fileName, children } = props;
  const { reader, state } = useReader(props);
  const scroller = useRef<HTMLDivElement>(null);
  const [linked, setLinked] = useState(lineInAddress);
  const [following, setFollowing] = useState(linked === null);
  const [wraps, setWraps] = useState(true);
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const virtual = useVirtualizer({
    count: state.total,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE,
    overscan: 12,
    paddingEnd: 24,
  });
  const goTo = useCallback(
    (line: number) => {
      setFollowing(false);
      virtual.scrollToIndex(line, { align: "center" });
    },
    [virtual],
  );
  const find = useSearchIn(load, state.total, goTo);

  useEffect(() => reader.follow(following), [reader, following]);
  const rows = virtual.getVirtualItems();
  const [first, last] = [rows[0]?.index ?? 0, rows.at(-1)?.index ?? 0];
  useEffect(() => reader.want(first, last), [reader, first, last, state.version]);
  useFollow(scroller, following, setFollowing, () => virtual.scrollToEnd(), state.version);

  useEffect(() => {
    if (state.isOpen && linked !== null) goTo(linked);
  }, [state.isOpen, linked, goTo]);
  useEffect(() => {
    const changed = () => setLinked(lineInAddress());
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  useLayoutEffect(() => {
    virtual.measure();
  }, [virtual, wraps]);

  const toggle = useCallback((key: string, open: boolean) => {
    setFollowing(false);
    setFolds((before) => new Map(before).set(key, open));
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") find.focus();
    else if (event.key === "End") setFollowing(true);
    else if (event.key === "Home") goTo(0);
    else if (event.key === "n") find.go(1);
    else if (event.key === "N") find.go(-1);
    else return;
    event.preventDefault();
  };

  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-1">
        {children?.(state)}
        <span className="flex-1" />
        <SearchBar find={find} total={state.total} />
        <Tools load={load} total={state.total} wraps={wraps} onWraps={setWraps} fileName={fileName} />
      </div>
      {state.error ? (
        <Banner tone="error" action={<Button size="small" onClick={() => reader.retry()}>Try again</Button>}>
          The transcript could not be read: {state.error}
        </Banner>
      ) : null}
      <div className="relative min-h-0 flex-1 bg-sunken">
        <div
          ref={scroller}
          role="log"
          aria-label="Transcript"
          aria-live={following && isRunning ? "polite" : "off"}
          aria-busy={!state.isOpen}
          tabIndex={0}
          onKeyDown={onKeyDown}
          className="absolute inset-0 overflow-auto font-mono text-xs leading-5 [overflow-anchor:none] focus-visible:-outline-offset-2"
        >
          <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
            {rows.map((row) => {
              const line = reader.pages.line(row.index);
              const detail = line?.detail;
              return (
                <Row
                  key={row.key}
                  index={row.index}
                  start={row.start}
                  line={line}
                  measure={virtual.measureElement}
                  wraps={wraps}
                  isMarked={row.index === linked || row.index === find.current}
                  words={find.words}
                  isOpen={line && folds.get(foldKey(line))}
                  onToggle={toggle}
                  result={detail?.type === "tool_call" ? reader.results.get(detail.id) : undefined}
                />
              );
            })}
          </div>
          {state.isOpen && state.total === 0 ? (
            <EmptyState icon={MessageSquareText} title="Nothing was said yet">
              {isRunning ? "What the agent says appears here as it says it." : "This attempt printed nothing."}
            </EmptyState>
          ) : null}
        </div>
        {!following && state.total > 0 ? (
          <Button className="absolute bottom-3 right-5 shadow-float" size="small" onClick={() => setFollowing(true)}>
            <ArrowDown aria-hidden /> {isRunning ? "Follow" : "Go to end"}
          </Button>
        ) : null}
      </div>
    </div>
  );
}

/** Keeps the end in sight until a person scrolls up, and again once they are back there. */
function useFollow(scroller: RefObject<HTMLDivElement | null>, following: boolean, setFollowing: (following: boolean) => void, toEnd: () => void, version: number) {
  const end = useRef(toEnd);
  end.current = toEnd;
  useLayoutEffect(() => {
    if (following) end.current();
  }, [following, version]);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    let before = element.scrollTop;
    const scrolled = () => {
      const rest = element.scrollHeight - element.scrollTop - element.clientHeight;
      const isUp = element.scrollTop < before - 1;
      const isDown = element.scrollTop > before + 1;
      before = element.scrollTop;
      if (isUp && rest > NEAR) setFollowing(false);
      else if (isDown && rest <= 2) setFollowing(true);
    };
    element.addEventListener("scroll", scrolled, { passive: true });
    return () => element.removeEventListener("scroll", scrolled);
  }, [scroller, setFollowing]);
}

type RowProps = {
  index: number;
  start: number;
  line: Line | undefined;
  measure: (element: HTMLElement | null) => void;
  wraps: boolean;
  isMarked: boolean;
  words: string;
  isOpen: boolean | undefined;
  onToggle: (key: string, open: boolean) => void;
  result: string | undefined;
};

const Row = memo(function Row({ index, start, line, measure, wraps, isMarked, words, isOpen, onToggle, result }: RowProps) {
  return (
    <div
      ref={measure}
      data-index={index}
      className={cn("absolute left-0 top-0 flex min-h-5 pr-4", wraps ? "w-full" : "min-w-full", isMarked && "bg-accent-soft")}
      style={{ transform: `translateY(${start}px)` }}
    >
      <a
        href={`#L${index + 1}`}
        tabIndex={-1}
        aria-label={`Line ${index + 1}`}
        className={cn("w-12 shrink-0 select-none pr-3 text-right text-fg-3 hover:text-accent-text sm:w-16", line?.detail && !FLAT.has(line.type) && "pt-0.5")}
      >
        {index + 1}
      </a>
      <div className={cn("min-w-0 flex-1", wraps ? "whitespace-pre-wrap [overflow-wrap:anywhere]" : "whitespace-pre")}>
        {line ? <EntryRow line={line} words={words || undefined} isOpen={isOpen} onToggle={onToggle} result={result} /> : <span className="text-fg-3">…</span>}
      </div>
    </div>
  );
});
