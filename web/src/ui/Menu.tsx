// A menu that opens from a button.

import { Check } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
import { cn } from "./cn";

/** Menus are drawn within the page, so that they belong to one of its regions. */
export function pageElement(): HTMLElement | null {
  return document.getElementById("page");
}

type Props = { trigger: ReactNode; children: ReactNode; align?: "start" | "center" | "end" };

export function Menu({ trigger, children, align = "end" }: Props) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal container={pageElement()}>
        <Radix.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-[var(--radix-dropdown-menu-content-available-height)] min-w-44 overflow-y-auto rounded-lg border border-line bg-overlay p-1 shadow-float"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const row =
  "flex min-h-7 cursor-default select-none items-center gap-2 rounded-md px-2 py-1 text-sm text-fg outline-none data-[disabled]:text-fg-3 data-[highlighted]:bg-hover touch:min-h-10 [&_svg]:size-3.5 [&_svg]:shrink-0 [&_svg]:text-fg-3";

export function MenuItem({ className, ...rest }: ComponentProps<typeof Radix.Item>) {
  return <Radix.Item className={cn(row, className)} {...rest} />;
}

export function MenuRadio({
  value,
  onValueChange,
  children,
}: {
  value: string;
  onValueChange: (value: string) => void;
  children: ReactNode;
}) {
  return (
    <Radix.RadioGroup value={value} onValueChange={onValueChange}>
      {children}
    </Radix.RadioGroup>
  );
}

export function MenuRadioItem({ children, className, ...rest }: ComponentProps<typeof Radix.RadioItem>) {
  return (
    <Radix.RadioItem className={cn(row, "pl-7 relative", className)} {...rest}>
      <Radix.ItemIndicator className="absolute left-2">
        <Check />
      </Radix.ItemIndicator>
      {children}
    </Radix.RadioItem>
  );
}

/** A choice of which several may hold; the menu stays open. */
export function MenuCheckItem({ children, className, ...rest }: ComponentProps<typeof Radix.CheckboxItem>) {
  return (
    <Radix.CheckboxItem
      className={cn(row, "pl-7 relative", className)}
      onSelect={(event) => event.preventDefault()}
      {...rest}
    >
      <Radix.ItemIndicator className="absolute left-2">
        <Check />
      </Radix.ItemIndicator>
      {children}
    </Radix.CheckboxItem>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2 py-1 text-xs text-fg-3">{children}</Radix.Label>;
}

export function MenuLine() {
  return <Radix.Separator className="my-1 h-px bg-line" />;
}
