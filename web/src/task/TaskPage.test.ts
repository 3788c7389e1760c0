import { expect, test } from "vitest";
import { attemptOf } from "./TaskPage";

test("an address names an attempt only by a number that there is", () => {
  expect(["1", "3", "4", "0", "-1", "1.5", "x", "", null].map((word) => attemptOf(word, 3))).toEqual([
    1, 3, 3, 3, 3, 3, 3, 3, 3,
  ]);
});
