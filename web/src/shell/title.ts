// What the tab says of the board while another one is looked at: how much needs a person, how much runs.

import { useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { useWorld } from "@/live/world";
import { visible } from "@/visible/visible";
import neededIcon from "./icon-needed.svg";
import runningIcon from "./icon-running.svg";

/** The title of the tab: `(2) ▸3 Board · Pleach` where two tasks need a person and three run. */
export function titleOf(page: string, needed: number, running: number): string {
  return [needed > 0 ? `(${needed})` : "", running > 0 ? `▸${running}` : "", `${visible(page)} · Pleach`]
    .filter(Boolean)
    .join(" ");
}

function usePageName(): string {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [, area = "", id = ""] = path.split("/");
  const task = useWorld((world) => (area === "tasks" ? world.tasks.get(id)?.title : undefined));
  const number = useWorld((world) =>
    area === "batches" ? world.batches.get(Number(id))?.number : undefined,
  );
  if (area === "tasks") return task ?? "Task";
  if (area === "batches") return id ? (number ? `Batch ${number}` : "Batch") : "Batches";
  return area === "settings" ? "Settings" : "Board";
}

export function useTitle() {
  const needed = useWorld((world) => world.columns.needs_you.length);
  const running = useWorld((world) => world.columns.in_progress.length);
  const page = usePageName();
  useEffect(() => {
    document.title = titleOf(page, needed, running);
  }, [page, needed, running]);
  const icon = needed > 0 ? neededIcon : running > 0 ? runningIcon : "/icon.svg";
  useEffect(() => document.querySelector('link[rel="icon"]')?.setAttribute("href", icon), [icon]);
}
