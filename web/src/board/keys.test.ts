// Arrow keys find the next card.

import { renderHook } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { allowSingleKeys, isSingle, keyName, useHotkeys } from "@/keys/hotkeys";
import { neighbour } from "./keys";

const columns = { todo: ["a", "b", "c"], in_progress: [], needs_you: ["d"], done: ["e", "f"], cancelled: [] };

test("up and down stay in the column", () => {
  expect([
    neighbour(columns, "a", 1, 0),
    neighbour(columns, "c", 1, 0),
    neighbour(columns, "a", -1, 0),
  ]).toEqual(["b", "c", "a"]);
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
  const press = (key: string, more: KeyboardEventInit = {}) =>
    keyName(new KeyboardEvent("keydown", { key, ...more }));
  expect(press("k", { metaKey: true })).toBe("ctrl+k");
  expect(press("K", { shiftKey: true })).toBe("shift+k");
  expect(press("?", { shiftKey: true })).toBe("?");
  expect(press("ArrowDown", { shiftKey: true })).toBe("shift+ArrowDown");
});

test("letters and signs are single keys; arrows and keys with Ctrl are not", () => {
  expect(["r", "shift+j", "?", "/"].map(isSingle)).toEqual([true, true, true, true]);
  expect(["ArrowUp", "shift+ArrowDown", "ctrl+k", "alt+x", "Escape"].map(isSingle)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("a person can turn single keys off", () => {
  const keys = { r: vi.fn(), ArrowUp: vi.fn() };
  const { unmount } = renderHook(() => useHotkeys(keys));
  const press = () =>
    ["r", "ArrowUp"].map((key) => document.dispatchEvent(new KeyboardEvent("keydown", { key })));
  allowSingleKeys(false);
  press();
  expect([keys.r.mock.calls.length, keys.ArrowUp.mock.calls.length]).toEqual([0, 1]);
  allowSingleKeys(true);
  press();
  expect([keys.r.mock.calls.length, keys.ArrowUp.mock.calls.length]).toEqual([1, 2]);
  unmount();
});
