// Notices outside the page, by the browser. A person is asked for leave only after a click.

import { create } from "zustand";
import { recall, remember } from "@/browser/memory";
import { visible } from "@/visible/visible";

const isThere = typeof Notification !== "undefined";

export const useLeave = create<{ leave: NotificationPermission }>(() => ({
  leave: isThere ? Notification.permission : "denied",
}));

/** Asks the person, who has just clicked. */
export async function askLeave() {
  if (isThere) useLeave.setState({ leave: await Notification.requestPermission() });
}

/** Whether a notice should offer to ask; it does so once. */
export function offersLeave(): boolean {
  if (useLeave.getState().leave !== "default" || recall("offered-notices")) return false;
  remember("offered-notices", "yes");
  return true;
}

/** Opens a page of the board, from places that know no router. */
export function go(path: string) {
  dispatchEvent(new CustomEvent("pleach:go", { detail: path }));
}

/** Phones allow pages no notifications of their own, and say so by an error. */
function made(words: string): Notification | undefined {
  try {
    return new Notification("Pleach", { body: words, icon: "/icon.svg", tag: words });
  } catch {
    return undefined;
  }
}

/** Tells it outside the page, if the person allowed that and looks elsewhere. */
export function notify(words: string, path: string) {
  if (!document.hidden || useLeave.getState().leave !== "granted") return;
  const shown = made(visible(words));
  if (!shown) return;
  shown.onclick = () => {
    window.focus();
    go(path);
    shown.close();
  };
}
