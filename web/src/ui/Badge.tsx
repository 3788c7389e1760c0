// A state as a sign and a word; colour only helps.

import {
  Ban,
  Circle,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleEqual,
  CirclePause,
  CircleSlash,
  CircleX,
  Clock,
  GitMerge,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  OctagonX,
  ShieldX,
  Split,
} from "lucide-react";
import type { ReactNode } from "react";
import type { components } from "@/api/schema";
import { cn } from "./cn";

type Schemas = components["schemas"];
/** All words that the server knows: the compiler asks for the look of a new one. */
type Word = Schemas["TaskWord"] | Schemas["BatchStatusWord"] | Schemas["AttemptOutcome"] | "interrupted";

type Look = { word: string; icon: LucideIcon; tone: string };

/** How each word of the server is shown: states, outcomes and statuses of tasks and batches. */
const looks: Record<Word, Look> = {
  pending: { word: "Todo", icon: Circle, tone: "text-ready" },
  in_progress: { word: "In progress", icon: LoaderCircle, tone: "text-running" },
  queued: { word: "Queued", icon: CircleDashed, tone: "text-queued" },
  waiting: { word: "Waiting", icon: CirclePause, tone: "text-attention" },
  limited: { word: "Limited", icon: Hourglass, tone: "text-attention" },
  asked_again: { word: "Asked again", icon: CircleDashed, tone: "text-queued" },
  lost: { word: "Lost", icon: CirclePause, tone: "text-attention" },
  overloaded: { word: "Overloaded", icon: Hourglass, tone: "text-attention" },
  interrupted: { word: "Interrupted", icon: CirclePause, tone: "text-attention" },
  running: { word: "Running", icon: LoaderCircle, tone: "text-running" },
  stopping: { word: "Stopping", icon: CircleDot, tone: "text-running" },
  built: { word: "Built", icon: CircleDot, tone: "text-running" },
  merging: { word: "Weaving", icon: GitMerge, tone: "text-running" },
  validating: { word: "Validating", icon: CircleDot, tone: "text-running" },
  landing: { word: "Landing", icon: CircleDot, tone: "text-running" },
  completed: { word: "Completed", icon: CircleCheck, tone: "text-done" },
  merged: { word: "Completed", icon: CircleCheck, tone: "text-done" },
  no_changes: { word: "No changes", icon: CircleEqual, tone: "text-done" },
  conflicted: { word: "Conflicted", icon: Split, tone: "text-attention" },
  invalid: { word: "Invalid", icon: ShieldX, tone: "text-attention" },
  failed: { word: "Failed", icon: CircleX, tone: "text-failed" },
  timed_out: { word: "Timed out", icon: Clock, tone: "text-failed" },
  blocked: { word: "Blocked", icon: OctagonX, tone: "text-attention" },
  skipped: { word: "Skipped", icon: CircleSlash, tone: "text-fg-3" },
  cancelled: { word: "Cancelled", icon: Ban, tone: "text-fg-3" },
};

/** The look of a word; one that is not known shows itself. */
export function lookOf(word: string): Look {
  return (looks as Record<string, Look>)[word] ?? { word, icon: Circle, tone: "text-fg-3" };
}

/** A state as a badge; one that is steady is as wide as the longest, so that nothing beside it moves when the state changes. */
export function StateBadge({
  word,
  spin = false,
  isSteady = false,
}: {
  word: string;
  spin?: boolean;
  isSteady?: boolean;
}) {
  const look = lookOf(word);
  const Icon = look.icon;
  return (
    <span
      className={cn(
        "inline-flex h-5 shrink-0 items-center gap-1 rounded-full border border-line bg-bg px-1.5 text-2xs text-fg-2",
        isSteady && "min-w-23",
      )}
    >
      <Icon
        className={cn("size-3", look.tone, spin && look.icon === LoaderCircle && "animate-spin")}
        aria-hidden
      />
      {look.word}
    </span>
  );
}

export function Tag({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <span
      className={cn(
        "inline-block h-5 max-w-32 truncate rounded-full border border-line-strong/50 px-1.5 text-2xs leading-[18px] text-fg-2",
        className,
      )}
    >
      {children}
    </span>
  );
}
