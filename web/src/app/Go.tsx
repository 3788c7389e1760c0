// Links and places in the address that do not load the page again.

import { useRouter, useRouterState } from "@tanstack/react-router";
import { type ComponentProps, type MouseEvent, useCallback } from "react";

/** Whether a click asks for the page here, and not in another tab or window. */
export function isPlain(event: MouseEvent): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}

/** A link within the board. */
export function Go({ href, onClick, ...rest }: ComponentProps<"a"> & { href: string }) {
  const router = useRouter();
  return (
    <a
      href={href}
      onClick={(event) => {
        onClick?.(event);
        if (event.defaultPrevented || !isPlain(event)) return;
        event.preventDefault();
        router.history.push(href);
      }}
      {...rest}
    />
  );
}

/** A word in the address, as in `?tab=diff`; setting it keeps the others. */
export function useWord(name: string): [string | null, (value: string | null) => void] {
  const router = useRouter();
  const text = useRouterState({ select: (state) => state.location.searchStr });
  const value = new URLSearchParams(text).get(name);
  const set = useCallback(
    (next: string | null) => {
      const { pathname, searchStr } = router.state.location;
      const words = new URLSearchParams(searchStr);
      if (next === null) words.delete(name);
      else words.set(name, next);
      const shown = words.toString();
      router.history.replace(shown ? `${pathname}?${shown}` : pathname);
    },
    [router, name],
  );
  return [value, set];
}

let left = "";

/** The words in the address of the board as it was left. */
export function boardSearch(): string {
  return left;
}

export function leaveBoardAt(search: string) {
  left = search;
}

export function boardAddress(): string {
  return `/${left}`;
}
