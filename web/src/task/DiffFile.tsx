// One file of a patch with syntax colours, from the board's own tokens. Loaded when a diff is opened.

import { processFile, registerCustomCSSVariableTheme } from "@pierre/diffs";
import { FileDiff, Virtualizer, WorkerPoolContextProvider } from "@pierre/diffs/react";
import DiffWorker from "@pierre/diffs/worker/worker.js?worker";
import { type CSSProperties, type ReactNode, useEffect, useMemo, useRef } from "react";
import { visible } from "@/visible/visible";
import { hash } from "./patch";

const THEME = "pleach";

registerCustomCSSVariableTheme(THEME, {
  foreground: "var(--fg)",
  background: "var(--bg)",
  "token-comment": "var(--fg-3)",
  "token-keyword": "var(--queued)",
  "token-constant": "var(--ready)",
  "token-string": "var(--done)",
  "token-string-expression": "var(--done)",
  "token-function": "var(--accent-text)",
  "token-parameter": "var(--attention)",
  "token-punctuation": "var(--fg-2)",
  "token-link": "var(--accent-text)",
  "token-inserted": "var(--done)",
  "token-deleted": "var(--failed)",
});

/** The variables that the shadow root of a diff takes its colours from. */
const LOOK = {
  "--diffs-font-family": "var(--font-mono)",
  "--diffs-header-font-family": "var(--font-sans)",
  "--diffs-font-size": "12px",
  "--diffs-line-height": "20px",
  "--diffs-font-features": '"liga" 0, "calt" 0',
  "--diffs-bg-addition-override": "var(--add-bg)",
  "--diffs-bg-deletion-override": "var(--del-bg)",
  "--diffs-bg-addition-emphasis-override": "var(--add-bg)",
  "--diffs-bg-deletion-emphasis-override": "var(--del-bg)",
  "--diffs-bg-addition-number-override": "var(--add-bg)",
  "--diffs-bg-deletion-number-override": "var(--del-bg)",
  "--diffs-addition-color-override": "var(--done)",
  "--diffs-deletion-color-override": "var(--failed)",
  "--diffs-modified-color-override": "var(--ready)",
  "--diffs-fg-number-override": "var(--fg-3)",
  "--diffs-fg-number-addition-override": "var(--done)",
  "--diffs-fg-number-deletion-override": "var(--failed)",
  "--diffs-bg-separator-override": "var(--raised)",
} as CSSProperties;

/** Where diffs scroll: only what is seen is drawn, and colours are worked out beside the page. */
export function DiffScroller({ label, children }: { label: string; children: ReactNode }) {
  const around = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const scroller = around.current?.firstElementChild;
    scroller?.setAttribute("tabindex", "0");
    scroller?.setAttribute("role", "region");
    scroller?.setAttribute("aria-label", label);
  }, [label]);
  return (
    <WorkerPoolContextProvider poolOptions={POOL} highlighterOptions={HIGHLIGHTER}>
      <div ref={around} className="flex min-h-0 flex-1 flex-col">
        <Virtualizer
          className="min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2"
          contentClassName="p-3"
        >
          {children}
        </Virtualizer>
      </div>
    </WorkerPoolContextProvider>
  );
}

const POOL = { workerFactory: () => new DiffWorker(), poolSize: 2 };
const HIGHLIGHTER = { theme: THEME };

export default function DiffFile({
  text,
  path,
  style,
}: {
  text: string;
  path: string;
  style: "unified" | "split";
}) {
  const file = useMemo(
    () => processFile(visible(text), { cacheKey: `${path} ${text.length} ${hash(text)}` }),
    [text, path],
  );
  const options = useMemo(
    () =>
      ({
        theme: THEME,
        diffStyle: style,
        disableFileHeader: true,
        overflow: "wrap",
        hunkSeparators: "line-info-basic",
        lineDiffType: "word",
      }) as const,
    [style],
  );
  if (!file) return <p className="px-3 py-2 text-sm text-fg-2">No lines to show.</p>;
  return <FileDiff fileDiff={file} options={options} style={LOOK} />;
}
