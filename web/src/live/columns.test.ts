// Cards find places between others.

import { expect, test } from "vitest";
import { spread } from "./columns";

test("places between two others are found where there is room", () => {
  expect([
    spread(1, 2, 1),
    spread(undefined, 2, 1),
    spread(2, undefined, 1),
    spread(undefined, undefined, 1),
  ]).toEqual([[1.5], [1], [3], [1]]);
  expect([
    spread(undefined, 3, 2),
    spread(0, 3, 2),
    spread(1, 1, 1),
    spread(1, 1 + Number.EPSILON, 1),
  ]).toEqual([[1, 2], [1, 2], undefined, undefined]);
});
