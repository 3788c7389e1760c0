import { expect, it } from "vitest";
import { isOther } from "./version";

it("only a server that names another document speaks another version", () => {
  expect(isOther('"abc"', "abc")).toBe(false);
  expect(isOther('W/"abc"', "abc")).toBe(false);
  expect(isOther('"abd"', "abc")).toBe(true);
  expect(isOther(null, "abc")).toBe(false);
  expect(isOther("", "abc")).toBe(false);
});
