// What a person is told about at once: that they are needed, and that a batch ended.

import type { ExternalToast, toast } from "sonner";
import type { LiveEvent } from "./events";
import type { World } from "./reducer";

type Toast = typeof toast;
export type Notice = (show: Toast) => void;

function titleOf(world: World, batchId: number, key: string): string {
  return world.batches.get(batchId)?.tasks.find((task) => task.taskId === key)?.title ?? `Task ${key}`;
}

function open(path: string, word = "Open"): ExternalToast {
  return { action: { label: word, onClick: () => dispatchEvent(new CustomEvent("pleach:go", { detail: path })) } };
}

const troubles: Record<string, string> = {
  conflicted: "does not merge cleanly",
  invalid: "was left out: the tests fail with it",
  blocked: "is blocked",
  failed: "failed",
  timed_out: "took too long",
};

/** The notice that an event is worth, if any. */
export function noticeOf(event: LiveEvent, world: World): Notice | undefined {
  const ask = (words: string, options: ExternalToast) => (show: Toast) => {
    show.warning(words, options);
    notify(words);
  };
  switch (event.name) {
    case "batch:task:waiting": {
      const { batchId, taskId, consent } = event.data;
      const title = titleOf(world, batchId, taskId);
      return ask(consent?.length ? `“${title}” waits for your consent` : `“${title}” waits for your approval`, {
        id: `wait-${batchId}`,
        ...open(`/batches/${batchId}`),
      });
    }
    case "batch:task:failed":
    case "batch:task:skipped": {
      const { batchId, taskId, outcome } = event.data;
      const trouble = troubles[outcome ?? ""];
      // What is blocked follows from something that was told already.
      if (!trouble || outcome === "blocked") return undefined;
      return ask(`“${titleOf(world, batchId, taskId)}” ${trouble}`, open(`/batches/${batchId}`));
    }
    case "batch:completed": {
      const { batchId, prUrl } = event.data;
      return (show) => {
        show.success(prUrl ? `Batch ${batchId} is done; its pull request is open` : `Batch ${batchId} is done`, open(`/batches/${batchId}`));
        notify(`Batch ${batchId} is done`);
      };
    }
    case "batch:failed":
      return (show) => {
        show.error(`Batch ${event.data.batchId} failed: ${event.data.error ?? "nothing was merged"}`, open(`/batches/${event.data.batchId}`));
        notify(`Batch ${event.data.batchId} failed`);
      };
    default:
      return undefined;
  }
}

/** Tells it outside the page too, if the person allowed that and looks elsewhere. */
function notify(words: string) {
  if (!document.hidden || typeof Notification === "undefined" || Notification.permission !== "granted") return;
  new Notification("Pleach", { body: words, icon: "/icon.svg", tag: words });
}
