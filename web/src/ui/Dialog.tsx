// A window over the page that keeps the focus until it is closed. What is marked `data-first` gets it first.

import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { Button } from "./Button";
import { cn } from "./cn";
import { useGivenBack } from "./focus";

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  footer?: ReactNode;
  className?: string;
  /** Whether there is only text to read, so that keys must scroll it. */
  isText?: boolean;
};

export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  children,
  footer,
  className,
  isText = false,
}: Props) {
  const focus = useGivenBack();
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          {...(description ? {} : { "aria-describedby": undefined })}
          onEscapeKeyDown={(event) => {
            // A list that is open within closes first.
            if (document.activeElement?.getAttribute("aria-expanded") === "true") event.preventDefault();
          }}
          onCloseAutoFocus={focus.closed}
          onOpenAutoFocus={(event) => {
            focus.opened();
            const first = (event.currentTarget as HTMLElement | null)?.querySelector<HTMLElement>(
              "[data-first]",
            );
            if (!first) return;
            event.preventDefault();
            first.focus();
          }}
          className={cn(
            "fixed left-1/2 top-1/2 z-50 flex max-h-[calc(100dvh-24px)] w-[calc(100vw-24px)] max-w-[560px] -translate-x-1/2 -translate-y-1/2 flex-col rounded-xl border border-line bg-overlay shadow-float",
            className,
          )}
        >
          <header className="flex items-start gap-3 border-b border-line px-4 py-3">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-base font-semibold">{title}</Radix.Title>
              {description ? (
                <Radix.Description asChild className="mt-0.5 text-sm text-fg-2">
                  <div>{description}</div>
                </Radix.Description>
              ) : null}
            </div>
            <Radix.Close asChild>
              <Button look="ghost" size="icon" aria-label="Close">
                <X />
              </Button>
            </Radix.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-4 py-4" tabIndex={isText ? 0 : undefined}>
            {children}
          </div>
          {footer ? (
            <footer className="flex justify-end gap-2 border-t border-line px-4 py-3">{footer}</footer>
          ) : null}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
