//! Cases with names that break careless reading, writing and matching.
//!
//! Knows nothing of what happens to files of plain names.

use super::{Case, CaseBuilder, edited, text};

pub(super) const CASES: [Case; 13] = [
    ("spaces in names", |s| named(s, b" a  name ")),
    ("line breaks in names", |s| named(s, b"a\nname\n")),
    ("tabs in names", |s| named(s, b"a\tname")),
    ("quotes and backslashes in names", |s| {
        named(s, b"a\"name'\\n");
    }),
    ("leading dashes", |s| named(s, b"--force")),
    ("pathspec magic in names", |s| named(s, b":(glob)**")),
    ("globs in names", |s| named(s, b"*[a-z]?")),
    ("names of control characters", |s| {
        named(s, b"\x01\x7f\x1b[31m");
    }),
    ("names that are not UTF-8", |s| named(s, b"latin-\xe9")),
    ("names like revisions", |s| named(s, b"HEAD@{1}:..x^{tree}")),
    ("composed and decomposed letters are two files", |s| {
        let base = s.base();
        base.write("caf\u{e9}", text("composed"));
        base.write("cafe\u{301}", text("decomposed"));
        s.branch("first")
            .write("caf\u{e9}", edited(&text("composed"), 3, "x"));
        s.branch("second")
            .write("cafe\u{301}", edited(&text("decomposed"), 3, "y"));
        s.branch("third").take("caf\u{e9}");
        s.leaves_out(&["third"]);
    }),
    ("names that differ in case are two files", |s| {
        let base = s.base();
        base.write("Name", text("upper"));
        s.branch("adds").write("name", text("lower"));
        s.branch("edits")
            .write("Name", edited(&text("upper"), 3, "x"));
    }),
    ("names that sort differently as files and folders", |s| {
        let base = s.base();
        for name in ["a", "a-b", "a.b", "a0"] {
            base.write(name, text(name));
        }
        s.branch("first").write("a/x", text("x"));
        s.branch("second").write("a-b/x", text("y"));
        s.branch("third").write("a0", edited(&text("a0"), 3, "x"));
        s.branch("fourth").write("a.b/x", text("z"));
    }),
];

/// The name as that of a file and of a folder, edited, added to, removed and fought over.
fn named(story: &mut CaseBuilder, name: &[u8]) {
    let inside = |file: &[u8]| [b"dir-", name, b"/", file].concat();
    let base = story.base();
    base.write(name, text("a"));
    base.write(inside(name), text("b"));
    base.write(inside(b"plain"), text("c"));
    story
        .branch("edits")
        .write(name, edited(&text("a"), 3, "x"));
    story
        .branch("edits-too")
        .write(name, edited(&text("a"), 13, "y"));
    story.branch("adds").write(inside(b"new"), text("d"));
    story.branch("goes").take(inside(b"plain"));
    story
        .branch("fights")
        .write(name, edited(&text("a"), 3, "z"));
    story
        .branch("moves")
        .rename(inside(name), [b"moved-", name].concat());
    story
        .branch("follows")
        .write(inside(name), edited(&text("b"), 3, "z"));
    story.leaves_out(&["fights"]);
}
