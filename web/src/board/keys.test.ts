// Arrow keys find the next card.

import { expect, test } from "vitest";
import { keyName } from "@/keys/hotkeys";
import { neighbour } from "./keys";

const columns = { todo: ["a", "b", "c"], in_progress: [], needs_you: ["d"], done: ["e", "f"], cancelled: [] };

test("up and down stay in the column", () => {
  expect([neighbour(columns, "a", 1, 0), neighbour(columns, "c", 1, 0), neighbour(columns, "a", -1, 0)]).toEqual(["b", "c", "a"]);
});

test("left and right jump over empty columns and keep the row", () => {
  expect(neighbour(columns, "c", 0, 1)).toBe("d");
  expect(neighbour(columns, "d", 0, 1)).toBe("e");
  expect(neighbour(columns, "f", 0, -1)).toBe("d");
  expect(neighbour(columns, "e", 0, 1)).toBe("e");
});

test("the first key brings one to the first card", () => {
  expect(neighbour(columns, null, 1, 0)).toBe("a");
});

test("keys have one name on every system", () => {
  const press = (key: string, more: KeyboardEventInit = {}) => keyName(new KeyboardEvent("keydown", { key, ...more }));
  expect(press("k", { metaKey: true })).toBe("ctrl+k");
  expect(press("K", { shiftKey: true })).toBe("shift+k");
  expect(press("?", { shiftKey: true })).toBe("?");
  expect(press("ArrowDown", { shiftKey: true })).toBe("shift+ArrowDown");
});
