import { expect, it } from "vitest";
import { whereFrom } from "./AddProject";

it("a project is cloned from what git takes for an address, and else a folder", () => {
  expect(whereFrom(" https://example.com/a.git ")).toEqual({ url: "https://example.com/a.git" });
  expect(whereFrom("git@example.com:a/b.git")).toEqual({ url: "git@example.com:a/b.git" });
  expect(whereFrom("file:///srv/a")).toEqual({ url: "file:///srv/a" });
  expect(whereFrom("/home/me/a@b:c")).toEqual({ path: "/home/me/a@b:c" });
  expect(whereFrom("garden")).toEqual({ path: "garden" });
});
