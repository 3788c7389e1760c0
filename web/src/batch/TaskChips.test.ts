import { expect, test } from "vitest";
import { placed } from "./TaskChips";

test("who stays keeps the place, and who comes takes a free one", () => {
  const first = placed([], ["1", "2", "3"]);
  expect(first).toEqual(["1", "2", "3"]);
  const second = placed(first, ["1", "3"]);
  expect(second).toEqual(["1", null, "3"]);
  expect(placed(second, ["1", "3"])).toEqual(second);
  expect(placed(second, ["1", "3", "4", "5"])).toEqual(["1", "4", "3", "5"]);
  expect(placed(second, ["1"])).toEqual(["1"]);
  expect(placed(second, [])).toEqual([]);
});
