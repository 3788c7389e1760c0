import { describe, expect, it } from "vitest";
import { filesOf, openAtFirst } from "./patch";

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
    const files = filesOf({ patch: PATCH, truncated: true, files: [file("src/a.rs"), file("pic.png", null), file("more.rs")] });
    expect(files.map((each) => `${each.path} ${each.added} ${each.text.split("\n").length} ${each.note}`.trim())).toEqual([
      "src/a.rs 1 8",
      "gone.txt null 7",
      "new name null 5 was old name",
      "pic.png null 4 binary",
      "more.rs 1 1 not shown",
    ]);
  });

  it("opens small files until there is enough to read", () => {
    const file = (path: string, added: number, note = "") => ({ path, text: "diff", added, removed: 0, note });
    const open = openAtFirst([file("a", 300), file("huge", 5_000), file("cut", 1, "binary"), file("b", 400), file("c", 300), file("d", 1)]);
    expect([...open]).toEqual(["a", "b"]);
  });
});
