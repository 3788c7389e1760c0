// Finds tasks, batches and commands by a few letters.

import { useNavigate, useRouter } from "@tanstack/react-router";
import { Command } from "cmdk";
import {
  CircleDot,
  FolderPlus,
  Settings as Gear,
  Kanban,
  Keyboard,
  Layers,
  ListOrdered,
  type LucideIcon,
  Moon,
  Plus,
  SlidersHorizontal,
  Sun,
  X,
  Zap,
} from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useMemo, useState } from "react";
import { NEEDS_GIT, startBatch } from "@/actions/start";
import { boardAddress } from "@/app/Go";
import { openOverlay, openRun } from "@/app/overlays";
import { useProject } from "@/app/project";
import { select, useSelection } from "@/app/selection";
import { useTheme, wishFor } from "@/browser/theme";
import { useWorld } from "@/live/world";
import { StateBadge } from "@/ui/Badge";
import { useGivenBack } from "@/ui/focus";
import { Kbd } from "@/ui/Kbd";

const MOST_TASKS = 20;

export function Palette() {
  const [text, setText] = useState("");
  const focus = useGivenBack();
  const close = () => openOverlay("palette", false);
  const does = (act: () => void) => () => {
    close();
    act();
  };
  return (
    <Radix.Root open onOpenChange={(open) => open || close()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          aria-describedby={undefined}
          onOpenAutoFocus={focus.opened}
          onCloseAutoFocus={focus.closed}
          className="fixed left-1/2 top-[12vh] z-50 w-[calc(100vw-24px)] max-w-[560px] -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-overlay shadow-float"
        >
          <Radix.Title className="sr-only">Search and commands</Radix.Title>
          <Command label="Search and commands" loop shouldFilter>
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Search tasks and commands"
              className="h-11 w-full border-b border-line bg-transparent px-4 text-base outline-none"
            />
            <Command.List aria-label="Results" tabIndex={0} className="max-h-[50vh] overflow-y-auto p-1.5">
              <Command.Empty className="px-3 py-6 text-center text-fg-3">Nothing found.</Command.Empty>
              <Commands does={does} />
              <Batches does={does} />
              <Tasks text={text} does={does} />
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

type Does = (act: () => void) => () => void;

function Commands({ does }: { does: Does }) {
  const router = useRouter();
  const navigate = useNavigate();
  const { ids } = useSelection();
  const { shown } = useTheme();
  const chosen = [...ids];
  const needsGit = useProject()?.isRepository === false;
  return (
    <>
      {chosen.length > 0 ? (
        <Group title={chosen.length === 1 ? "1 task selected" : `${chosen.length} tasks selected`}>
          <Item
            icon={Zap}
            keys="P"
            disabled={needsGit}
            onSelect={does(() => void startBatch({ taskIds: chosen, mode: "parallel" }))}
          >
            Execute Parallel {needsGit ? <span className="text-xs text-attention">{NEEDS_GIT}</span> : null}
          </Item>
          <Item
            icon={ListOrdered}
            keys="Q"
            onSelect={does(() => void startBatch({ taskIds: chosen, mode: "queue" }))}
          >
            Execute Queue
          </Item>
          <Item icon={SlidersHorizontal} keys="O" onSelect={does(() => openRun(chosen))}>
            Options…
          </Item>
          <Item icon={X} keys="Esc" onSelect={does(select.clear)}>
            Clear selection
          </Item>
        </Group>
      ) : null}
      <Group title="Commands">
        <Item icon={Plus} keys="C" onSelect={does(() => openOverlay("newTask"))}>
          New task
        </Item>
        <Item icon={FolderPlus} onSelect={does(() => openOverlay("addProject"))}>
          Add a project
        </Item>
        <Item icon={Kanban} keys="G B" onSelect={does(() => router.history.push(boardAddress()))}>
          Board
        </Item>
        <Item icon={Layers} keys="G A" onSelect={does(() => void navigate({ to: "/batches" }))}>
          All batches
        </Item>
        <Item icon={Gear} keys="G S" onSelect={does(() => void navigate({ to: "/settings" }))}>
          Settings
        </Item>
        <Item
          icon={shown === "dark" ? Sun : Moon}
          onSelect={does(() => wishFor(shown === "dark" ? "light" : "dark"))}
        >
          {shown === "dark" ? "Light theme" : "Dark theme"}
        </Item>
        <Item icon={Keyboard} keys="?" onSelect={does(() => openOverlay("sheet"))}>
          Keys
        </Item>
      </Group>
    </>
  );
}

function Batches({ does }: { does: Does }) {
  const navigate = useNavigate();
  const batches = useWorld((world) => world.batches);
  if (batches.size === 0) return null;
  return (
    <Group title="Batches">
      {[...batches.values()]
        .sort((a, b) => b.id - a.id)
        .map((batch) => (
          <Item
            key={batch.id}
            icon={Layers}
            value={`Batch ${batch.number}`}
            onSelect={does(() => void navigate({ to: "/batches/$id", params: { id: String(batch.id) } }))}
          >
            Batch {batch.number} <StateBadge word={batch.status} />
          </Item>
        ))}
    </Group>
  );
}

function Tasks({ text, does }: { text: string; does: Does }) {
  const navigate = useNavigate();
  const tasks = useWorld((world) => world.tasks);
  const found = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const all = [...tasks.values()];
    return all
      .filter((task) => words.every((word) => `${task.key} ${task.title}`.toLowerCase().includes(word)))
      .slice(0, MOST_TASKS);
  }, [tasks, text]);
  if (found.length === 0) return null;
  return (
    <Group title="Tasks">
      {found.map((task) => (
        <Item
          key={task.id}
          icon={CircleDot}
          value={`${task.key} ${task.title} ${task.id}`}
          onSelect={does(() => void navigate({ to: "/tasks/$id", params: { id: task.id } }))}
        >
          <span className="font-mono text-xs text-fg-3">{task.key}</span>{" "}
          <span className="truncate">{task.title}</span>
        </Item>
      ))}
    </Group>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={title}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-fg-3"
    >
      {children}
    </Command.Group>
  );
}

type ItemProps = {
  icon: LucideIcon;
  keys?: string;
  disabled?: boolean;
  value?: string;
  onSelect: () => void;
  children: ReactNode;
};

function Item({ icon: Icon, keys, disabled, value, onSelect, children }: ItemProps) {
  return (
    <Command.Item
      value={value}
      disabled={disabled}
      onSelect={onSelect}
      className="flex h-9 items-center gap-2.5 rounded-md px-2.5 text-sm data-[selected=true]:bg-hover"
    >
      <Icon className="size-4 shrink-0 text-fg-3" aria-hidden />
      <span className="flex min-w-0 flex-1 items-center gap-2">{children}</span>
      {keys ? keys.split(" ").map((key) => <Kbd key={key}>{key}</Kbd>) : null}
    </Command.Item>
  );
}
