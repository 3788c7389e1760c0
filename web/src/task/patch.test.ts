import { describe, expect, it } from "vitest";
import { filesOf, markOf, openAtFirst, unquoted } from "./patch";

const PATCH = `diff --git a/src/a.rs b/src/a.rs
index 1..2 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1 +1 @@
-diff --git is text here
+two
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/old name b/new name
similarity index 100%
rename from old name
rename to new name
diff --git a/pic.png b/pic.png
new file mode 100644
Binary files /dev/null and b/pic.png differ
`;

describe("a patch of many files", () => {
  it("is taken apart file by file", () => {
    const file = (path: string, added: number | null = 1) => ({ path, added, removed: 1 });
    const files = filesOf({
      patch: PATCH,
      truncated: true,
      files: [file("src/a.rs"), file("pic.png", null), file("more.rs")],
    });
    expect(
      files.map((each) => `${each.path} ${each.added} ${each.text.split("\n").length} ${each.note}`.trim()),
    ).toEqual([
      "src/a.rs 1 8",
      "gone.txt null 7",
      "new name null 5 was old name",
      "pic.png null 4 binary",
      "more.rs 1 1 not shown",
    ]);
  });

  it("knows files by their names, whatever letters these have", () => {
    const strange = ["\u00fcn\u00ef \u{1f600}.txt", 'a b/quote"x.txt', "back\\slash", "tab\there"];
    const quoted = [
      "\\303\\274n\\303\\257 \\360\\237\\230\\200.txt",
      'a b/quote\\"x.txt',
      "back\\\\slash",
      "tab\\there",
    ];
    expect(quoted.map((name) => unquoted(`"${name}"`))).toEqual(strange);
    const added = quoted.map(
      (name) =>
        `diff --git "a/${name}" "b/${name}"\nnew file mode 100644\n--- /dev/null\n+++ "b/${name}"\n@@ -0,0 +1 @@\n+++ x\n`,
    );
    const empty = `diff --git "a/${quoted[0]}0" "b/${quoted[0]}0"\nnew file mode 100644\nindex 0..e\n`;
    const renamed = `diff --git a/plain "b/${quoted[0]}1"\nsimilarity index 100%\nrename from plain\nrename to "${quoted[0]}1"\n`;
    const names = [...strange, `${strange[0]}0`, `${strange[0]}1`];
    const files = filesOf({
      patch: [...added, empty, renamed].join(""),
      truncated: false,
      files: names.map((path) => ({ path, added: 1, removed: 0 })),
    });
    expect(files.map((file) => file.path)).toEqual(names);
  });

  it("knows a file that was seen by what it is now", () => {
    const seen = (text: string, path = "a") => markOf({ path, text, added: 1, removed: 0, note: "" });
    const text = "diff --git a/a b/a\nindex 1..2 100644\n@@ -1 +1 @@\n-x\n+ y\n";
    expect(seen(text.replace("+ y", "+y"))).toBe(seen(text));
    expect(new Set([seen(text), seen(text, "b"), seen(text.replace("1..2", "1..3"))]).size).toBe(3);
  });

  it("opens small files until there is enough to read", () => {
    const file = (path: string, added: number, note = "") => ({
      path,
      text: "diff",
      added,
      removed: 0,
      note,
    });
    const open = openAtFirst([
      file("a", 300),
      file("huge", 5_000),
      file("cut", 1, "binary"),
      file("b", 400),
      file("c", 300),
      file("d", 1),
    ]);
    expect([...open]).toEqual(["a", "b"]);
  });
});
