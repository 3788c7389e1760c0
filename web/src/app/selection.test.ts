// Selections grow by ranges and lose only what is gone.

import { expect, test } from "vitest";
import { extended, kept, noSelection, toggled, toggledAll } from "./selection";

const order = ["a", "b", "c", "d", "e"];
const shown = (selection: { ids: ReadonlySet<string> }) => [...selection.ids].sort().join("");

test("a range goes from the anchor in both directions", () => {
  const begun = toggled(noSelection, "c");
  expect(shown(extended(begun, "e", order))).toBe("cde");
  expect(shown(extended(begun, "a", order))).toBe("abc");
});

test("a range keeps its anchor while the cursor moves on", () => {
  const once = extended(toggled(noSelection, "b"), "c", order);
  expect(extended(once, "d", order)).toMatchObject({ anchor: "b", cursor: "d" });
});

test("a range into another column selects that card alone", () => {
  const begun = toggled(noSelection, "a");
  expect(shown(extended(begun, "z", ["y", "z"]))).toBe("az");
});

test("selecting all of a full column selects none of it", () => {
  const all = toggledAll(noSelection, order);
  expect(shown(all)).toBe("abcde");
  expect(shown(toggledAll(all, order))).toBe("");
});

test("cards that are gone drop out, the others stay", () => {
  const all = toggledAll(noSelection, order);
  expect(shown(kept(all, (id) => id !== "b"))).toBe("acde");
  expect(kept(all, () => true)).toBe(all);
});
