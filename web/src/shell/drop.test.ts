import { renderHook } from "@testing-library/react";
import { expect, test } from "vitest";
import { useNoDrop } from "./drop";

function drop(types: string[]): boolean {
  const event = Object.assign(new Event("drop", { bubbles: true, cancelable: true }), {
    dataTransfer: { types, dropEffect: "copy" },
  });
  document.body.dispatchEvent(event);
  return event.defaultPrevented;
}

test("a file that is dropped beside the board does not replace the page; cards are none of it", () => {
  const { unmount } = renderHook(() => useNoDrop());
  expect([drop(["Files"]), drop(["text/plain"])]).toEqual([true, false]);
  unmount();
  expect(drop(["Files"])).toBe(false);
});
