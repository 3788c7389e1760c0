// A patch, file by file: what is small is open, the rest opens when asked for.

import { ChevronRight, FileDiff as FileIcon } from "lucide-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { counted, grouped } from "@/text/format";
import { Banner } from "@/ui/Banner";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { cn } from "@/ui/cn";
import { EmptyState } from "@/ui/EmptyState";
import { Skeleton } from "@/ui/Skeleton";
import { type FilePatch, filesOf, markOf, openAtFirst, type ShownPatch } from "./patch";
import { ignoreWhitespace, readSplit, setViewed, useReading } from "./reading";

const DiffFile = lazy(() => import("./DiffFile"));
const DiffScroller = lazy(async () => ({ default: (await import("./DiffFile")).DiffScroller }));

export function Diff({ shown, empty }: { shown: ShownPatch; empty: string }) {
  const files = useMemo(() => filesOf(shown).map((file) => ({ ...file, mark: markOf(file) })), [shown]);
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map());
  const { isSplit, viewed } = useReading();
  const first = useMemo(() => openAtFirst(files), [files]);
  const isOpen = ({ path, mark }: SeenFile) => changed.get(path) ?? (first.has(path) && !viewed.has(mark));
  const open = (path: string, isOpen: boolean) => setChanged(new Map(changed).set(path, isOpen));
  if (files.length === 0)
    return (
      <EmptyState icon={FileIcon} title="No changes">
        {empty}
      </EmptyState>
    );
  const view = (file: SeenFile, isViewed: boolean) => {
    setViewed(file.mark, isViewed);
    open(file.path, !isViewed);
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <DiffTools
        shown={shown}
        files={files}
        openAll={(open) => setChanged(new Map(files.map((file) => [file.path, open])))}
      />
      {shown.truncated ? (
        <Banner tone="info">This diff is too long to show in full. The rest is in the branch.</Banner>
      ) : null}
      <Suspense fallback={<Skeleton className="m-3 h-24" />}>
        <DiffScroller label="Changed files">
          <ul className="flex flex-col gap-2">
            {files.map((file) => (
              <FileRow
                key={file.path}
                file={file}
                isOpen={isOpen(file)}
                isSplit={isSplit}
                onToggle={() => open(file.path, !isOpen(file))}
                isViewed={viewed.has(file.mark)}
                onView={(isViewed) => view(file, isViewed)}
              />
            ))}
          </ul>
        </DiffScroller>
      </Suspense>
    </div>
  );
}

type SeenFile = FilePatch & { mark: string };

function DiffTools({
  shown,
  files,
  openAll,
}: {
  shown: ShownPatch;
  files: readonly SeenFile[];
  openAll: (open: boolean) => void;
}) {
  const { isSplit, ignoresWhitespace, viewed } = useReading();
  const sum = (key: "added" | "removed") => shown.files.reduce((total, file) => total + (file[key] ?? 0), 0);
  const seen = files.filter((file) => viewed.has(file.mark)).length;
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line px-3 py-1">
      <span className="text-sm text-fg-2">
        {counted(files.length, "file")}, <span className="text-done">+{grouped(sum("added"))}</span>{" "}
        <span className="text-failed">−{grouped(sum("removed"))}</span>
        {seen > 0 ? <span className="text-fg-3">, {grouped(seen)} viewed</span> : null}
      </span>
      <span className="flex-1" />
      <Button size="small" look="ghost" onClick={() => openAll(true)} disabled={files.length > 200}>
        Expand all
      </Button>
      <Button size="small" look="ghost" onClick={() => openAll(false)}>
        Collapse all
      </Button>
      <Button
        size="small"
        look="ghost"
        aria-pressed={ignoresWhitespace}
        onClick={() => ignoreWhitespace(!ignoresWhitespace)}
      >
        Ignore white space
      </Button>
      <Button
        size="small"
        look="ghost"
        className="hidden md:inline-flex"
        aria-pressed={isSplit}
        onClick={() => readSplit(!isSplit)}
      >
        Side by side
      </Button>
    </div>
  );
}

type RowProps = {
  file: SeenFile;
  isOpen: boolean;
  isSplit: boolean;
  isViewed: boolean;
  onToggle: () => void;
  onView: (isViewed: boolean) => void;
};

function FileRow({ file, isOpen, isSplit, isViewed, onToggle, onView }: RowProps) {
  const canOpen = file.note === "";
  return (
    <li className="[overflow:clip] rounded-lg border border-line bg-bg">
      <div
        className={cn(
          "sticky top-0 z-10 flex h-9 items-center bg-raised",
          isOpen && canOpen && "border-b border-line",
        )}
      >
        <button
          type="button"
          onClick={onToggle}
          disabled={!canOpen}
          aria-expanded={canOpen ? isOpen : undefined}
          className="flex h-full min-w-0 flex-1 items-center gap-2 px-3 text-left enabled:hover:bg-hover focus-visible:-outline-offset-2"
        >
          <ChevronRight
            className={cn(
              "size-3.5 shrink-0 text-fg-3 transition-transform",
              isOpen && canOpen && "rotate-90",
              !canOpen && "invisible",
            )}
            aria-hidden
          />
          <span
            className={cn("min-w-0 flex-1 truncate font-mono text-xs", isViewed ? "text-fg-3" : "text-fg")}
          >
            {file.path}
          </span>
          {file.added !== null ? <span className="text-xs text-done">+{grouped(file.added)}</span> : null}
          {file.removed !== null ? (
            <span className="text-xs text-failed">−{grouped(file.removed)}</span>
          ) : null}
          {canOpen ? null : <span className="min-w-0 truncate text-xs text-fg-3">{file.note}</span>}
        </button>
        <label className="flex h-full shrink-0 cursor-pointer items-center gap-1.5 px-3 text-xs text-fg-2 hover:text-fg">
          <Checkbox
            aria-label={`Viewed ${file.path}`}
            checked={isViewed}
            onChange={(event) => onView(event.target.checked)}
          />
          <span className="hidden sm:inline">Viewed</span>
        </label>
      </div>
      {isOpen && canOpen ? (
        <Suspense fallback={<Skeleton className="m-3 h-16" />}>
          <DiffFile text={file.text} path={file.path} style={isSplit ? "split" : "unified"} />
        </Suspense>
      ) : null}
    </li>
  );
}
