import { describe, expect, it } from "vitest";
import {
  copyText,
  firstLine,
  hasWords,
  inputText,
  type Line,
  lineCount,
  patchLines,
  patchSize,
  usageText,
} from "./entry";

const PATCH = `diff --git a/a.rs b/a.rs
index 1..2 100644
--- a/a.rs
+++ b/a.rs
@@ -1,3 +1,3 @@ fn main() {
 one
-two
+three
\\ No newline at end of file
`;

const line = (detail: Line["detail"], text = ""): Line => ({
  line: 0,
  type: detail?.type ?? "raw",
  text,
  detail,
});

describe("entries of a transcript", () => {
  it("shows a patch without its headers", () => {
    expect(patchLines(PATCH).map((part) => `${part.kind} ${part.text}`)).toEqual([
      "hunk @@ -1,3 +1,3 @@",
      "same one",
      "del two",
      "add three",
    ]);
    expect(patchSize(PATCH)).toEqual({ added: 1, removed: 1 });
  });

  it("shows lines that look like headers where they are none", () => {
    const lines = patchLines(
      "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n select 1;\n--- old comment\n+++ i;\n",
    );
    expect(lines.map((part) => `${part.kind} ${part.text}`)).toEqual([
      "hunk @@ -1,2 +1,2 @@",
      "same select 1;",
      "del -- old comment",
      "add ++ i;",
    ]);
  });

  it("shows what a tool was given", () => {
    expect(inputText({ command: "cargo test", env: { A: 1 }, script: "a\nb" })).toBe(
      'command: cargo test\nenv:\n  {\n    "A": 1\n  }\nscript:\n  a\n  b',
    );
    expect(inputText(undefined)).toBe("");
  });

  it("counts lines and finds the first that says something", () => {
    expect([lineCount(""), lineCount("a"), lineCount("a\nb\n")]).toEqual([0, 1, 2]);
    expect(firstLine("\n  \u001b[31mred\u001b[0m \nmore")).toBe("red");
  });

  it("tells usage in short", () => {
    expect(usageText({ tokens: 12_300, usd: 0.25 })).toBe("12.3k tokens · $0.25");
    expect(usageText({ tokens: 5, usd: null })).toBe("5 tokens");
    expect(usageText({ tokens: 0, usd: 0.18 })).toBe("$0.18");
  });

  it("searches in all that a line holds", () => {
    expect(hasWords(line(null, "\u001b[1mHello\u001b[0m there"), "hello there")).toBe(true);
    const call = line(
      { type: "tool_call", id: "1", tool: "execute", name: "Bash", title: "run", input: { command: "Make" } },
      "run",
    );
    expect(hasWords(call, "make")).toBe(true);
    expect(copyText(call)).toBe("> run\ncommand: Make");
    expect(hasWords(call, "absent")).toBe(false);
  });
});
