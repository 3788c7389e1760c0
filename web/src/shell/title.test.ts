import { expect, it } from "vitest";
import { titleOf } from "./title";

it("the title counts what needs a person before what runs", () => {
  expect(titleOf("Board", 0, 0)).toBe("Board · Pleach");
  expect(titleOf("Board", 0, 3)).toBe("▸3 Board · Pleach");
  expect(titleOf("Batch 4", 2, 3)).toBe("(2) ▸3 Batch 4 · Pleach");
});

it("hidden characters of a task's title are marked in it", () => {
  expect(titleOf("pay \u202elive", 0, 0)).toBe("pay ⟨U+202E⟩live · Pleach");
});
