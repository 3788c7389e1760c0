// The pieces that rows of a transcript are made of.

import { Check, ChevronRight, CircleX, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "@/ui/cn";
import { Ansi } from "./Ansi";
import { patchLines } from "./entry";

const SIGNS = { add: "+", del: "−", same: " ", hunk: " " };
const TONES = { add: "bg-add-bg", del: "bg-del-bg", same: "", hunk: "text-fg-3" };

/** The lines of a patch, without numbers. */
export function SmallDiff({ patch }: { patch: string }) {
  return (
    <div
      className="overflow-x-auto rounded-md border border-line bg-bg py-1"
      tabIndex={0}
      role="group"
      aria-label="Changed lines"
    >
      {patchLines(patch)
        .filter((line) => line.kind !== "hunk" || line.text !== "@@")
        .map((line, i) => (
          <div key={i} className={cn("min-w-max whitespace-pre px-2", TONES[line.kind])}>
            <span className="select-none pr-2 text-fg-3">{SIGNS[line.kind]}</span>
            {line.text}
          </div>
        ))}
    </div>
  );
}

const EDGES = {
  attention: "border-attention text-attention",
  failed: "border-failed text-failed",
  done: "border-done text-done",
};

export function Marker({
  icon: Icon,
  tone,
  word,
  text,
  note,
}: {
  icon: LucideIcon;
  tone: keyof typeof EDGES;
  word: string;
  text: string;
  note?: string;
}) {
  return (
    <div className={cn("my-1 border-l-2 py-0.5 pl-2 font-sans text-sm", EDGES[tone])}>
      <div className="flex items-center gap-1.5 font-medium">
        <Icon className="size-3.5 shrink-0" aria-hidden />
        {word}
        {note ? <span className="font-normal text-fg-3">{note}</span> : null}
      </div>
      {text ? <div className="whitespace-pre-wrap break-words text-fg">{text}</div> : null}
    </div>
  );
}

export function Status({ word }: { word: string }) {
  const tone = word === "ok" ? "text-done" : word === "error" ? "text-failed" : "text-attention";
  const Icon = word === "ok" ? Check : CircleX;
  return (
    <span className={cn("inline-flex shrink-0 items-center gap-1", tone)}>
      <Icon className="size-3" aria-hidden />
      {word}
    </span>
  );
}

export function Block({ text, words }: { text: string; words?: string | undefined }) {
  const lines = text.replace(/\n$/, "").split("\n");
  return (
    <pre className="max-h-96 overflow-auto rounded-md border border-line bg-bg px-2 py-1" tabIndex={0}>
      {lines.map((line, i) => (
        <div key={i} className="min-h-5 whitespace-pre">
          <Ansi text={line} {...(words ? { words } : {})} />
        </div>
      ))}
    </pre>
  );
}

type FoldProps = {
  isOpen: boolean;
  onToggle: () => void;
  head: ReactNode;
  children: ReactNode;
  icon?: LucideIcon;
  tone?: string;
  canOpen?: boolean;
  isNested?: boolean;
};

export function Fold({
  isOpen,
  onToggle,
  head,
  children,
  icon: Icon,
  tone,
  canOpen = true,
  isNested = false,
}: FoldProps) {
  return (
    <div className={cn(isNested && "pl-5")}>
      <button
        type="button"
        onClick={onToggle}
        disabled={!canOpen}
        aria-expanded={canOpen ? isOpen : undefined}
        className="flex h-6 w-full min-w-0 items-center gap-1.5 rounded-sm text-left enabled:hover:bg-hover"
      >
        <ChevronRight
          className={cn(
            "size-3 shrink-0 text-fg-3 transition-transform",
            isOpen && "rotate-90",
            !canOpen && "invisible",
          )}
          aria-hidden
        />
        {Icon ? <Icon className={cn("size-3.5 shrink-0", tone)} aria-hidden /> : null}
        {head}
      </button>
      {isOpen && canOpen ? <div className="py-1 pl-[18px]">{children}</div> : null}
    </div>
  );
}

export function FoldLink({ isOpen, onClick, more }: { isOpen: boolean; onClick: () => void; more: string }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="ml-1 block font-sans text-xs text-accent-text underline"
    >
      {isOpen ? "Show less" : `Show ${more}`}
    </button>
  );
}
