// Picks the tasks that another one needs: a few letters, then the task.

import { X } from "lucide-react";
import { type KeyboardEvent, useId, useMemo, useState } from "react";
import type { BoardTask } from "@/api/client";
import { useWorld } from "@/live/world";
import { cn } from "@/ui/cn";
import { TextField } from "@/ui/Field";

const MOST_SHOWN = 8;

type Props = {
  id: string;
  value: readonly string[];
  onChange: (ids: string[]) => void;
  /** Tasks that may be picked. */
  allows: (task: BoardTask) => boolean;
};

export function NeedsPicker({ id, value, onChange, allows }: Props) {
  const tasks = useWorld((world) => world.tasks);
  const [typed, setTyped] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const listId = useId();
  const found = useMemo(() => {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (task: BoardTask) =>
      words.every((word) => `${task.key} ${task.title}`.toLowerCase().includes(word));
    return [...tasks.values()]
      .filter((task) => !value.includes(task.id) && allows(task) && fits(task))
      .slice(0, MOST_SHOWN);
  }, [tasks, typed, value, allows]);
  const chosen = found[Math.min(at, found.length - 1)];

  const add = (task: BoardTask) => {
    onChange([...value, task.id]);
    setTyped("");
    setAt(0);
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      setOpen(true);
      if (isOpen)
        setAt(
          (before) =>
            (before + (event.key === "ArrowDown" ? 1 : found.length - 1)) % Math.max(1, found.length),
        );
    } else if (event.key === "Enter" && isOpen && chosen) add(chosen);
    else if (event.key === "Escape" && isOpen) setOpen(false);
    else if (event.key === "Backspace" && typed === "" && value.length > 0) onChange(value.slice(0, -1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div>
      {value.length > 0 ? (
        <ul aria-label="Needs" className="mb-1.5 flex flex-wrap gap-1">
          {value.map((each) => (
            <Needed
              key={each}
              task={tasks.get(each)}
              id={each}
              onRemove={() => onChange(value.filter((other) => other !== each))}
            />
          ))}
        </ul>
      ) : null}
      <div className="relative">
        <TextField
          id={id}
          role="combobox"
          aria-expanded={isOpen && found.length > 0}
          aria-controls={listId}
          aria-activedescendant={isOpen && chosen ? `${listId}${chosen.id}` : undefined}
          aria-autocomplete="list"
          autoComplete="off"
          placeholder="Find a task"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
            setOpen(true);
          }}
          onFocus={() => setOpen(typed !== "")}
          onClick={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={press}
        />
        <ul
          id={listId}
          role="listbox"
          aria-label="Tasks"
          hidden={!isOpen || found.length === 0}
          className="absolute inset-x-0 bottom-full z-10 mb-1 max-h-56 overflow-y-auto rounded-lg border border-line bg-overlay p-1 shadow-float"
        >
          {found.map((task) => (
            <li
              key={task.id}
              id={`${listId}${task.id}`}
              role="option"
              aria-selected={task === chosen}
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => add(task)}
              className={cn(
                "flex cursor-default items-baseline gap-2 rounded-md px-2 py-1 text-sm hover:bg-hover touch:py-2.5",
                task === chosen && "bg-hover",
              )}
            >
              <span className="font-mono text-2xs text-fg-3">{task.key}</span>
              <span className="min-w-0 truncate">{task.title}</span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function Needed({ task, id, onRemove }: { task: BoardTask | undefined; id: string; onRemove: () => void }) {
  const word = task ? `${task.key} ${task.title}` : id;
  return (
    <li className="inline-flex h-6 max-w-full items-center gap-1 rounded-full border border-line pl-2 pr-1 text-xs text-fg-2">
      <span className="truncate">{word}</span>
      <button
        type="button"
        aria-label={`Remove ${word} from needs`}
        onClick={onRemove}
        className="grid size-5 shrink-0 place-items-center rounded-full hover:bg-hover"
      >
        <X className="size-3" aria-hidden />
      </button>
    </li>
  );
}
