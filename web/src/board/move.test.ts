// Cards find places between their new neighbours.

import { expect, test } from "vitest";
import type { BoardTask } from "@/api/client";
import { places } from "./move";

const order = ["a", "b", "c"].map((id, at) => ({ id, position: at + 1 }) as BoardTask);
const put = (moved: string[], index: number) => places(order, new Set(moved), index, moved.length);

test("a card is put between two others", () => {
  expect(put(["x"], 1)).toEqual([1.5]);
  expect(put(["x"], 0)).toEqual([0]);
  expect(put(["x"], 3)).toEqual([4]);
});

test("several cards keep their order", () => {
  const [first = 0, second = 0] = put(["x", "y"], 1);
  expect(1 < first && first < second && second < 2).toBe(true);
  expect(put(["x", "y"], 3)).toEqual([4, 5]);
  const top = put(["x", "y"], 0);
  expect(top).toEqual([...top].sort((a, b) => a - b));
  expect(top.every((place) => place < 1)).toBe(true);
});

test("a card that moves is no neighbour of itself", () => {
  expect(put(["b"], 2)).toEqual([2]);
  expect(put(["b"], 3)).toEqual([4]);
});
