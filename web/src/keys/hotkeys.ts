// Keys that work wherever the person is, unless they are writing or a window is open.

import { useEffect } from "react";
import { create } from "zustand";
import { recall, remember } from "@/browser/memory";

/** What keys do; `false` says that the key was not meant. */
export type Keys = Record<string, (event: KeyboardEvent) => void | false>;

/** A key press in words: `ctrl+k`, `shift+ArrowDown`, `x`. Ctrl and ⌘ are the same. */
export function keyName(event: KeyboardEvent): string {
  const isLetter = event.key.length === 1;
  const key = isLetter ? event.key.toLowerCase() : event.key;
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("ctrl");
  if (event.altKey) parts.push("alt");
  if (event.shiftKey && (!isLetter || /[a-z]/i.test(event.key))) parts.push("shift");
  return [...parts, key].join("+");
}

/** Whether keys belong to what has the focus and not to the page. */
function isTaken(event: KeyboardEvent): boolean {
  const at = event.target instanceof Element ? event.target : null;
  if (at?.closest('[role="dialog"], [role="menu"], [role="listbox"]')) return true;
  const isField =
    at?.matches('input:not([type="checkbox"]), textarea, select, [contenteditable="true"]') ?? false;
  if (isField) return true;
  // Enter and space do what the focused control does.
  const presses = event.key === "Enter" || event.key === " ";
  return presses && (at?.matches("button, a, input, summary") ?? false);
}

/** Whether letters and signs alone do something; a person who speaks to the page, or types past a field, turns that off. */
export const useSingleKeys = create<{ isOn: boolean }>(() => ({ isOn: recall("single-keys") !== "off" }));

export function allowSingleKeys(isOn: boolean) {
  remember("single-keys", isOn ? null : "off");
  useSingleKeys.setState({ isOn });
}

/** Whether a key is one letter or sign, with Shift or without. */
export function isSingle(name: string): boolean {
  return name.replace(/^shift\+/, "").length === 1;
}

export function useHotkeys(keys: Keys) {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const name = keyName(event);
      const act = keys[name];
      if (!act || event.defaultPrevented || (isSingle(name) && !useSingleKeys.getState().isOn)) return;
      if (isTaken(event) && name !== "ctrl+k") return;
      if (act(event) !== false) event.preventDefault();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [keys]);
}
