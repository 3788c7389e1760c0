// Short messages over the page, with hidden characters made visible.

import { toast as plain } from "sonner";
import { visible } from "./visible";

function seen(words: readonly unknown[]): unknown[] {
  return words.map((word) => {
    if (typeof word === "string") return visible(word);
    const more = word as { description?: unknown } | null;
    return typeof more?.description === "string" ? { ...more, description: visible(more.description) } : word;
  });
}

/** Toasts as they are, told with other words. */
export const toast: typeof plain = new Proxy(plain, {
  apply: (target, self, words) => Reflect.apply(target, self, seen(words)) as unknown,
  get(target, name) {
    const how: unknown = Reflect.get(target, name);
    return typeof how === "function"
      ? (...words: unknown[]) => Reflect.apply(how, target, seen(words)) as unknown
      : how;
  },
});
