// What an agent said and did: a log of any length, of which only what is seen is drawn and fetched.

import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, MessageSquareText } from "lucide-react";
import {
  type Dispatch,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  type SetStateAction,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { type Keys, useHotkeys } from "@/keys/hotkeys";
import { useConnection } from "@/live/world";
import { Banner } from "@/ui/Banner";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { foldKey } from "./entries";
import { FLAT } from "./entry";
import { type Load, Reader } from "./reader";
import { SearchBar, useSearchIn } from "./SearchBar";
import { Tools } from "./Tools";
import { TranscriptRow } from "./TranscriptRow";

/** The height of most lines. */
const LINE = 20;
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
  const isLive = useConnection((connection) => connection.state === "live");
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (isLive && !wasLive.current) reader.wake();
    wasLive.current = isLive;
  }, [reader, isLive]);
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
  useFollow(
    scroller,
    following,
    setFollowing,
    () => virtual.scrollToEnd(),
    `${state.version} ${virtual.getTotalSize()}`,
  );

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
    if (event.key === "End") setFollowing(true);
    else if (event.key === "Home") goTo(0);
    else return;
    event.preventDefault();
  };
  const { focus, go } = find;
  const keys = useMemo<Keys>(
    () => ({
      "/": focus,
      n: () => go(1),
      "shift+n": () => go(-1),
      f: () => setFollowing(true),
      w: () => setWraps((before) => !before),
    }),
    [focus, go],
  );
  useHotkeys(keys);
  useOpened(find.current, reader, state.version, setFolds);

  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-1">
        {children?.(state)}
        <span className="flex-1" />
        <SearchBar find={find} total={state.total} />
        <Tools load={load} total={state.total} wraps={wraps} onWraps={setWraps} fileName={fileName} />
      </div>
      {state.error ? (
        <Banner
          tone="error"
          action={
            <Button size="small" onClick={() => reader.retry()}>
              Try again
            </Button>
          }
        >
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
                <TranscriptRow
                  // Another wrapping is another height, which is taken when a row is put in.
                  key={`${row.key} ${wraps}`}
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
            <EmptyState icon={MessageSquareText} title="No output yet">
              {isRunning ? "The agent's output appears here." : "This attempt printed nothing."}
            </EmptyState>
          ) : null}
        </div>
        {!following && state.total > 0 ? (
          <Button
            className="absolute bottom-3 right-5 shadow-float"
            size="small"
            onClick={() => setFollowing(true)}
          >
            <ArrowDown aria-hidden /> {isRunning ? "Follow" : "Go to end"}
          </Button>
        ) : null}
      </div>
    </div>
  );
}

/** Unfolds the match that was gone to, once it is there. */
function useOpened(
  line: number | null,
  reader: Reader,
  version: number,
  setFolds: Dispatch<SetStateAction<ReadonlyMap<string, boolean>>>,
) {
  const opened = useRef<number | null>(null);
  useEffect(() => {
    const found = line === null ? undefined : reader.pages.line(line);
    if (!found) {
      if (line === null) opened.current = null;
      return;
    }
    if (opened.current === line || FLAT.has(found.type)) return;
    opened.current = line;
    setFolds((before) => new Map(before).set(foldKey(found), true));
  }, [line, reader, version, setFolds]);
}

/** Keeps the end in sight until a person scrolls up, and again once they are back there. */
function useFollow(
  scroller: RefObject<HTMLDivElement | null>,
  following: boolean,
  setFollowing: (following: boolean) => void,
  toEnd: () => void,
  stamp: string,
) {
  const end = useRef(toEnd);
  end.current = toEnd;
  useLayoutEffect(() => {
    if (following) end.current();
  }, [following, stamp]);
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
  useEffect(() => {
    const element = scroller.current;
    if (!element || !following) return;
    // A log that becomes lower, as below a bar that appears, keeps its end in sight.
    const resized = new ResizeObserver(() => end.current());
    resized.observe(element);
    return () => resized.disconnect();
  }, [scroller, following]);
}
