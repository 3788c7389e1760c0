// The way between pages: beside the page, or below it where there is little room.

import { Link, useRouter } from "@tanstack/react-router";
import { Settings as Gear, Kanban, Layers, type LucideIcon } from "lucide-react";
import { boardAddress, isPlain } from "@/app/Go";
import { isOver } from "@/live/state";
import { useWorld } from "@/live/world";

const entries: { to: "/" | "/batches" | "/settings"; word: string; icon: LucideIcon }[] = [
  { to: "/", word: "Board", icon: Kanban },
  { to: "/batches", word: "Batches", icon: Layers },
  { to: "/settings", word: "Settings", icon: Gear },
];

export function Sidebar() {
  const router = useRouter();
  const running = useWorld(
    (world) =>
      [...world.batches.values()].filter((batch) => batch.projectId === world.project && !isOver(batch))
        .length,
  );
  return (
    <nav
      aria-label="Pages"
      className="flex shrink-0 border-t border-line bg-surface sm:w-[52px] sm:flex-col sm:gap-0.5 sm:border-r sm:border-t-0 sm:p-2 lg:w-48"
    >
      <div className="hidden h-9 items-center gap-2 px-2 pb-1 sm:flex">
        <img src="/icon.svg" alt="" className="size-5" />
        <span className="hidden text-base font-semibold lg:inline">Pleach</span>
      </div>
      {entries.map(({ to, word, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === "/", includeSearch: false }}
          onClick={(event) => {
            if (to !== "/" || !isPlain(event)) return;
            event.preventDefault();
            router.history.push(boardAddress());
          }}
          className="flex h-12 flex-1 flex-col items-center justify-center gap-0.5 rounded-md text-2xs text-fg-2 hover:bg-hover hover:text-fg aria-[current=page]:bg-hover aria-[current=page]:text-fg sm:h-8 sm:flex-none sm:flex-row sm:text-sm lg:justify-start lg:gap-2.5 lg:px-2"
        >
          <Icon className="size-4" aria-hidden />
          <span className="sm:sr-only lg:not-sr-only">{word}</span>
          {to === "/batches" && running > 0 ? (
            <span className="hidden rounded-full bg-accent-soft px-1.5 text-2xs text-accent-text lg:ml-auto lg:inline">
              {running}
              <span className="sr-only"> running</span>
            </span>
          ) : null}
        </Link>
      ))}
    </nav>
  );
}
