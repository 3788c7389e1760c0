// What a person is told about at once: that they are needed, and that a batch ended.

import type { ExternalToast, toast } from "sonner";
import { counted } from "@/text/format";
import type { LiveEvent } from "./events";
import { askLeave, go, notify, offersLeave } from "./notify";
import type { World } from "./state";

type Toast = typeof toast;

export type Notice = {
  kind: "needed" | "done" | "failed";
  words: string;
  /** What is said outside the page, where there is less room. */
  short: string;
  path: string;
  /** A later notice with the same name takes the place of this one. */
  id?: string;
};

/** How long a notice stays that asks something. */
const LONG_MS = 20_000;
/** So many are told one by one; more are told in one sentence. */
const MOST = 2;

const troubles: Record<string, string> = {
  conflicted: "does not merge cleanly",
  invalid: "was left out: it fails the tests",
  failed: "failed",
  timed_out: "timed out",
};

function taskIn(world: World, { batchId, taskId }: { batchId: number; taskId: string }) {
  const task = world.batches.get(batchId)?.tasks.find((each) => each.taskId === taskId);
  return { title: task?.title ?? `A task of batch ${batchId}`, status: task?.status };
}

/** What people call a batch; one that is not known yet is asked for before anything is told of it. */
function numberIn(world: World, batchId: number): number {
  return world.batches.get(batchId)?.number ?? batchId;
}

function needed(words: string, path: string, id?: string): Notice {
  return { kind: "needed", words, short: words, path, ...(id ? { id } : {}) };
}

/** The notice that an event is worth, if any. What is blocked follows from something that was told already. */
export function noticeOf(event: LiveEvent, world: World): Notice | undefined {
  switch (event.name) {
    case "batch:task:waiting": {
      const { batchId, consent } = event.data;
      const { title, status } = taskIn(world, event.data);
      // Somebody has seen to it meanwhile.
      if (status !== undefined && status !== "waiting") return undefined;
      return needed(
        `“${title}” needs your ${consent?.length ? "consent" : "approval"}`,
        `/batches/${batchId}`,
        `wait-${batchId}`,
      );
    }
    case "batch:task:failed":
    case "batch:task:skipped": {
      const { batchId, outcome } = event.data;
      const trouble = troubles[outcome ?? ""];
      if (!trouble) return undefined;
      const path = outcome === "conflicted" ? `/batches/${batchId}?tab=conflicts` : `/batches/${batchId}`;
      return needed(`“${taskIn(world, event.data).title}” ${trouble}`, path);
    }
    case "batch:interrupted": {
      const { batchId } = event.data;
      return needed(
        `Batch ${numberIn(world, batchId)} is interrupted: no process is running it`,
        `/batches/${batchId}`,
      );
    }
    case "batch:completed": {
      const { batchId, prUrl } = event.data;
      const short = `Batch ${numberIn(world, batchId)} is done`;
      return {
        kind: "done",
        short,
        words: prUrl ? `${short}; its pull request is open` : short,
        path: `/batches/${batchId}`,
      };
    }
    case "batch:failed": {
      const { batchId, error } = event.data;
      const short = `Batch ${numberIn(world, batchId)} failed`;
      return {
        kind: "failed",
        short,
        words: `${short}: ${error ?? "nothing was merged"}`,
        path: `/batches/${batchId}`,
      };
    }
    default:
      return undefined;
  }
}

/** Many notices as one. */
export function summed(notices: readonly Notice[], isLate: boolean): Notice {
  const count = (kind: Notice["kind"]) => notices.filter((notice) => notice.kind === kind).length;
  const [need, failed, done] = [count("needed"), count("failed"), count("done")];
  const parts = [
    need > 0 ? counted(need, "task needs you", "tasks need you") : "",
    failed > 0 ? counted(failed, "batch failed", "batches failed") : "",
    done > 0 ? counted(done, "batch is done", "batches are done") : "",
  ];
  const short = parts.filter(Boolean).join(", ");
  const pages = new Set(notices.map((notice) => notice.path.replace(/\?.*/, "")));
  const path = pages.size === 1 ? ([...pages][0] as string) : "/batches";
  return {
    kind: need > 0 ? "needed" : failed > 0 ? "failed" : "done",
    short,
    words: isLate ? `While you were away: ${short}` : short,
    path,
  };
}

/** Tells what there is to tell; `isLate` where it happened while nobody listened. */
export function tell(notices: readonly Notice[], isLate: boolean, show: Toast) {
  const isMuch = notices.length > (isLate ? 1 : MOST);
  for (const notice of isMuch ? [summed(notices, isLate)] : notices) tellOne(notice, show);
}

/** The first notice that a person is needed offers to tell it outside the page too. */
function tellOne({ kind, words, short, path, id }: Notice, show: Toast) {
  const asks = kind === "needed" && offersLeave();
  const options: ExternalToast = {
    action: { label: "Open", onClick: () => go(path) },
    ...(asks ? { cancel: { label: "Notify me", onClick: () => void askLeave() }, duration: LONG_MS } : {}),
    ...(id ? { id } : {}),
  };
  const say = { needed: show.warning, done: show.success, failed: show.error }[kind];
  say(words, options);
  notify(short, path);
}
