// A patch, file by file: what is small is open, the rest opens when asked for.

import { ChevronRight, FileDiff as FileIcon } from "lucide-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { Banner } from "@/ui/Banner";
import { Button } from "@/ui/Button";
import { cn } from "@/ui/cn";
import { EmptyState } from "@/ui/EmptyState";
import { Skeleton } from "@/ui/Skeleton";
import { counted, grouped } from "./format";
import { type FilePatch, filesOf, openAtFirst, type ShownPatch } from "./patch";

const DiffFile = lazy(() => import("./DiffFile"));
const DiffScroller = lazy(async () => ({ default: (await import("./DiffFile")).DiffScroller }));

type Style = "unified" | "split";

export function Diff({ shown, empty }: { shown: ShownPatch; empty: string }) {
  const files = useMemo(() => filesOf(shown), [shown]);
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [style, setStyle] = useState<Style>("unified");
  const first = useMemo(() => openAtFirst(files), [files]);
  const isOpen = (path: string) => changed.get(path) ?? first.has(path);
  const openAll = (open: boolean) => setChanged(new Map(files.map((file) => [file.path, open])));
  if (files.length === 0) return <EmptyState icon={FileIcon} title="No changes">{empty}</EmptyState>;
  const sum = (key: "added" | "removed") => shown.files.reduce((total, file) => total + (file[key] ?? 0), 0);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line px-3 py-1">
        <span className="text-sm text-fg-2">
          {counted(files.length, "file")}, <span className="text-done">+{grouped(sum("added"))}</span> <span className="text-failed">−{grouped(sum("removed"))}</span>
        </span>
        <span className="flex-1" />
        <Button size="small" look="ghost" onClick={() => openAll(true)} disabled={files.length > 200}>
          Expand all
        </Button>
        <Button size="small" look="ghost" onClick={() => openAll(false)}>
          Collapse all
        </Button>
        <Button size="small" look="ghost" className="hidden md:inline-flex" aria-pressed={style === "split"} onClick={() => setStyle(style === "split" ? "unified" : "split")}>
          {style === "split" ? "Unified" : "Side by side"}
        </Button>
      </div>
      {shown.truncated ? <Banner tone="info">This diff is too long to show whole. What is missing is in the branch.</Banner> : null}
      <Suspense fallback={<Skeleton className="m-3 h-24" />}>
        <DiffScroller label="Changed files">
          <ul className="flex flex-col gap-2">
            {files.map((file) => (
              <FileRow key={file.path} file={file} isOpen={isOpen(file.path)} style={style} onToggle={() => setChanged(new Map(changed).set(file.path, !isOpen(file.path)))} />
            ))}
          </ul>
        </DiffScroller>
      </Suspense>
    </div>
  );
}

function FileRow({ file, isOpen, onToggle, style }: { file: FilePatch; isOpen: boolean; onToggle: () => void; style: Style }) {
  const canOpen = file.note === "";
  return (
    <li className="[overflow:clip] rounded-lg border border-line bg-bg">
      <button type="button" onClick={onToggle} disabled={!canOpen} aria-expanded={canOpen ? isOpen : undefined} className={cn("sticky top-0 z-10 flex h-9 w-full items-center gap-2 bg-raised px-3 text-left enabled:hover:bg-hover focus-visible:-outline-offset-2", isOpen && canOpen && "border-b border-line")}>
        <ChevronRight className={cn("size-3.5 shrink-0 text-fg-3 transition-transform", isOpen && canOpen && "rotate-90", !canOpen && "invisible")} aria-hidden />
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-fg">{file.path}</span>
        {file.added !== null ? <span className="text-xs text-done">+{grouped(file.added)}</span> : null}
        {file.removed !== null ? <span className="text-xs text-failed">−{grouped(file.removed)}</span> : null}
        {canOpen ? null : <span className="min-w-0 truncate text-xs text-fg-3">{file.note}</span>}
      </button>
      {isOpen && canOpen ? (
        <Suspense fallback={<Skeleton className="m-3 h-16" />}>
          <DiffFile text={file.text} path={file.path} style={style} />
        </Suspense>
      ) : null}
    </li>
  );
}
