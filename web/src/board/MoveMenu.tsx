// Everything that dragging does, as a menu.

import { ArrowDown, ArrowUp, EllipsisVertical } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import { useState } from "react";
import { select, useSelection } from "@/app/selection";
import { columnNames, columnTitles, isBusy, statusOfColumn } from "@/live/columns";
import { useWorld } from "@/live/world";
import { MenuItem, MenuLabel, MenuLine, pageElement } from "@/ui/Menu";
import { moveTo, shift } from "./move";

export function MoveMenu({ id, title, order }: { id: string; title: string; order: readonly string[] }) {
  const [open, setOpen] = useState(false);
  return (
    <Radix.Root modal={false} open={open} onOpenChange={setOpen}>
      <Radix.Trigger
        aria-label={`Move ${title}`}
        data-move={id}
        title="Move"
        className="grid size-6 place-items-center rounded-md text-fg-3 hover:bg-hover hover:text-fg touch:size-8"
      >
        <EllipsisVertical className="size-3.5" aria-hidden />
      </Radix.Trigger>
      {open ? <Content id={id} order={order} /> : null}
    </Radix.Root>
  );
}

function Content({ id, order }: { id: string; order: readonly string[] }) {
  const task = useWorld((world) => world.tasks.get(id));
  const selected = useSelection((selection) => selection.ids);
  if (!task) return null;
  const here = task.column;
  const ids = selected.has(id) ? [...selected] : [id];
  const busy = isBusy(task);
  return (
    <Radix.Portal container={pageElement()}>
      <Radix.Content
        align="end"
        sideOffset={4}
        collisionPadding={8}
        onCloseAutoFocus={(event) => {
          event.preventDefault();
          select.go(id);
        }}
        className="z-50 min-w-44 rounded-lg border border-line bg-overlay p-1 shadow-float"
      >
        <MenuLabel>
          {busy ? "Its batch is running" : ids.length > 1 ? `Move ${ids.length} tasks to` : "Move to"}
        </MenuLabel>
        {columnNames
          .filter((name) => statusOfColumn[name] !== null)
          .map((name) => (
            <MenuItem
              key={name}
              disabled={busy || (name === here && ids.length === 1)}
              onSelect={() => void moveTo(ids, name)}
            >
              {columnTitles[name]}
            </MenuItem>
          ))}
        <MenuLine />
        <MenuItem disabled={busy} onSelect={() => shift(id, -1, order)}>
          <ArrowUp aria-hidden /> Up
        </MenuItem>
        <MenuItem disabled={busy} onSelect={() => shift(id, 1, order)}>
          <ArrowDown aria-hidden /> Down
        </MenuItem>
      </Radix.Content>
    </Radix.Portal>
  );
}
