//! Cases in which a path is of different kinds: file, folder, link, program, submodule, nothing.
//!
//! Knows nothing of renames.

use super::{Case, CaseBuilder, edited, link, module, program, text};
use crate::tangle::stream::Snapshot;

pub(super) const CASES: [Case; 37] = [
    ("edit against delete", |s| {
        two(
            s,
            |s| s.write("a", edited(&text("a"), 3, "new")),
            |s| drop(s.take("a")),
        );
        s.leaves_out(&["second"]);
    }),
    ("delete against edit", |s| {
        two(
            s,
            |s| drop(s.take("a")),
            |s| s.write("a", edited(&text("a"), 3, "new")),
        );
        s.leaves_out(&["second"]);
    }),
    ("delete against delete", |s| {
        two(s, |s| drop(s.take("a")), |s| drop(s.take("a")));
    }),
    ("delete against mode change", |s| {
        two(s, |s| drop(s.take("a")), |s| s.put("a", program(text("a"))));
        s.leaves_out(&["second"]);
    }),
    ("deleted and brought back", |s| {
        s.base().write("a", text("a"));
        s.branch("first").take("a");
        s.branch("edits-a-little").write("b", text("b"));
        s.branch_on("second", &["first"]).write("a", text("a"));
    }),
    ("the same file added twice", |s| {
        two(
            s,
            |s| s.write("new", text("new")),
            |s| s.write("new", text("new")),
        );
    }),
    ("different files added in one place", |s| {
        two(
            s,
            |s| s.write("new", text("new")),
            |s| s.write("new", text("other")),
        );
        s.leaves_out(&["second"]);
    }),
    ("nearly the same file added twice", |s| {
        two(
            s,
            |s| s.write("new", text("new")),
            |s| s.write("new", edited(&text("new"), 3, "x")),
        );
        s.leaves_out(&["second"]);
    }),
    ("the same file added with two modes", |s| {
        two(
            s,
            |s| s.write("new", text("new")),
            |s| s.put("new", program(text("new"))),
        );
        s.leaves_out(&["second"]);
    }),
    ("mode change against edit", |s| {
        two(
            s,
            |s| s.put("a", program(text("a"))),
            |s| s.write("a", edited(&text("a"), 3, "new")),
        );
    }),
    ("edit against mode change", |s| {
        two(
            s,
            |s| s.write("a", edited(&text("a"), 3, "new")),
            |s| s.put("a", program(text("a"))),
        );
    }),
    ("mode change against mode change", |s| {
        two(
            s,
            |s| s.put("a", program(text("a"))),
            |s| s.put("a", program(text("a"))),
        );
    }),
    ("mode change and edit against edit and mode change", |s| {
        two(
            s,
            |s| s.put("a", program(edited(&text("a"), 3, "new"))),
            |s| s.put("a", program(edited(&text("a"), 17, "other"))),
        );
    }),
    ("link against edit", |s| {
        two(
            s,
            |s| s.put("a", link("b")),
            |s| s.write("a", edited(&text("a"), 3, "new")),
        );
        s.leaves_out(&["second"]);
    }),
    ("link against the same link", |s| {
        two(s, |s| s.put("a", link("b")), |s| s.put("a", link("b")));
    }),
    ("link moved by both", |s| {
        s.base().put("a", link("b"));
        s.branch("first").put("a", link("c"));
        s.branch("second").put("a", link("d"));
        s.leaves_out(&["second"]);
    }),
    ("link moved by one and removed by the other", |s| {
        s.base().put("a", link("b"));
        s.branch("first").put("a", link("c"));
        s.branch("second").take("a");
        s.leaves_out(&["second"]);
    }),
    ("link added against file added", |s| {
        two(
            s,
            |s| s.put("new", link("a")),
            |s| s.write("new", text("new")),
        );
        s.leaves_out(&["second"]);
    }),
    ("link to a folder against files in its place", |s| {
        two(
            s,
            |s| s.put("dir", link("other")),
            |s| s.write("dir/inside", text("inside")),
        );
        s.leaves_out(&["second"]);
    }),
    ("folder becomes a link, another edits below it", |s| {
        s.base().write("dir/a", text("a"));
        s.branch("first").put("dir", link("."));
        s.branch("second")
            .write("dir/a", edited(&text("a"), 3, "new"));
        s.leaves_out(&["second"]);
    }),
    ("submodule moved by one", |s| {
        s.base().put("m", module('1'));
        s.branch("first").put("m", module('2'));
        s.branch("second").write("a", text("a"));
    }),
    ("submodule moved by both", |s| {
        s.base().put("m", module('1'));
        s.branch("first").put("m", module('2'));
        s.branch("second").put("m", module('3'));
        s.leaves_out(&["second"]);
    }),
    ("submodule moved alike by both", |s| {
        s.base().put("m", module('1'));
        s.branch("first").put("m", module('2'));
        s.branch("second").put("m", module('2'));
    }),
    ("submodule moved against removed", |s| {
        s.base().put("m", module('1'));
        s.branch("first").put("m", module('2'));
        s.branch("second").take("m");
        s.leaves_out(&["second"]);
    }),
    ("submodule against file", |s| {
        two(
            s,
            |s| s.put("new", module('1')),
            |s| s.write("new", text("new")),
        );
        s.leaves_out(&["second"]);
    }),
    ("submodule against folder", |s| {
        two(
            s,
            |s| s.put("new", module('1')),
            |s| s.write("new/a", text("new")),
        );
        s.leaves_out(&["second"]);
    }),
    ("submodule becomes a file", |s| {
        s.base().put("m", module('1'));
        s.branch("first").write("m", text("m"));
        s.branch("second").write("a", text("a"));
    }),
    ("submodules added with their settings", |s| {
        let settings = |path| format!("[submodule \"{path}\"]\n\tpath = {path}\n\turl = ../x\n");
        let first = s.branch_of_nothing("first");
        first.put("m/one", module('1'));
        first.write(".gitmodules", settings("m/one"));
        let second = s.branch("second");
        second.put("m/two", module('2'));
        second.write(".gitmodules", settings("m/two"));
        s.leaves_out(&["second"]);
    }),
    ("file against folder", |s| {
        two(
            s,
            |s| s.write("new", text("new")),
            |s| s.write("new/a", text("inside")),
        );
        s.leaves_out(&["second"]);
    }),
    ("folder against file", |s| {
        two(
            s,
            |s| s.write("new/a", text("inside")),
            |s| s.write("new", text("new")),
        );
        s.leaves_out(&["second"]);
    }),
    ("file becomes a folder while nobody looks", |s| {
        two(
            s,
            |s| s.write("a/inside", text("inside")),
            |s| s.write("b", text("b")),
        );
    }),
    ("file becomes a folder against edit", |s| {
        two(
            s,
            |s| s.write("a/inside", "short\n"),
            |s| s.write("a", edited(&text("a"), 3, "x")),
        );
        s.leaves_out(&["second"]);
    }),
    (
        "folder removed by one, file of its name added by the other",
        |s| {
            s.base().write("dir/a", text("a"));
            s.branch("first").take("dir/a");
            s.branch("second").write("dir", text("dir"));
        },
    ),
    ("folder becomes a file against add into it", |s| {
        s.base().write("dir/a", text("a"));
        s.branch("first").write("dir", text("dir"));
        s.branch("second").write("dir/b", text("b"));
        s.leaves_out(&["second"]);
    }),
    ("file and folder several levels deep", |s| {
        two(
            s,
            |s| s.write("x/y/z", text("z")),
            |s| s.write("x/y/z/deep/er", text("deep")),
        );
        s.branch("third").write("x/y", text("y"));
        s.branch("fourth").write("x", text("x"));
        s.leaves_out(&["second", "third", "fourth"]);
    }),
    ("two empty a folder, a third adds to it", |s| {
        let base = s.base();
        base.write("dir/a", text("a"));
        base.write("dir/b", text("b"));
        base.write("other", text("other"));
        s.branch("first").take("dir/a");
        s.branch("second").take("dir/b");
        s.branch("third").write("dir/c", text("c"));
    }),
    ("two empty a folder, a third makes it a file", |s| {
        let base = s.base();
        base.write("dir/a", text("a"));
        base.write("dir/b", text("b"));
        s.branch("first").take("dir/a");
        s.branch("second").take("dir/b");
        s.branch("third").write("dir", text("dir"));
    }),
];

/// Two branches on a base with the file `a`.
fn two(story: &mut CaseBuilder, first: fn(&mut Snapshot), second: fn(&mut Snapshot)) {
    story.base().write("a", text("a"));
    first(story.branch("first"));
    second(story.branch("second"));
}

impl CaseBuilder {
    /// A branch on a base that holds one plain file.
    fn branch_of_nothing(&mut self, name: &'static str) -> &mut Snapshot {
        self.base().write("a", text("a"));
        self.branch(name)
    }
}
