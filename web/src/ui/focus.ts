// Gives the focus back to what had it before a window opened over the page.

import { useRef } from "react";

const OVERLAYS = '[role="dialog"], [role="menu"], [role="listbox"]';

/** What had the focus last outside of windows and menus, unless a person left it. */
let last: HTMLElement | null = null;

if (typeof document !== "undefined") {
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement && !target.closest(OVERLAYS)) last = target;
  });
  document.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (target === last && relatedTarget === null) last = null;
  });
}

function canTake(element: Element | null): element is HTMLElement {
  return element instanceof HTMLElement && element.isConnected && element !== document.body;
}

/** What a window does with the focus when it opens and closes. */
export function useGivenBack() {
  const opener = useRef<Element | null>(null);
  return {
    opened: () => {
      opener.current = document.activeElement;
    },
    closed: (event: Event) => {
      event.preventDefault();
      // What opened next keeps it.
      if (document.querySelector('[role="dialog"][data-state="open"]')) return;
      const to = [opener.current, last, document.getElementById("page")].find(canTake);
      to?.focus({ preventScroll: true });
    },
  };
}
