//! Cases in which the commits are arranged unlike one branch each on the base.
//!
//! Knows nothing of odd files.

use super::{Case, CaseBuilder, edited, text};

pub(super) const CASES: [Case; 15] = [
    ("branch equal to the base", |s| {
        s.base().write("a", text("a"));
        s.same("still", "main");
        s.branch("edits").write("a", edited(&text("a"), 3, "x"));
    }),
    ("branch without a change", |s| {
        s.base().write("a", text("a"));
        s.branch("empty");
    }),
    ("branch behind the base", |s| {
        s.base().write("a", text("a"));
        s.same("behind", "main");
        s.base().write("b", text("b"));
    }),
    ("branch forked before the base", |s| {
        s.base().write("a", text("a"));
        s.branch("old").write("a", edited(&text("a"), 3, "x"));
        s.branch("clashes").write("a", edited(&text("a"), 13, "x"));
        s.base().write("a", edited(&text("a"), 13, "y"));
        s.leaves_out(&["clashes"]);
    }),
    ("branch forked before a folder was renamed", |s| {
        let base = s.base();
        base.write("old/a", text("a"));
        base.write("old/b", text("b"));
        s.branch("edits").write("old/a", edited(&text("a"), 3, "x"));
        s.branch("adds").write("old/c", text("c"));
        s.base().rename("old", "new");
        s.leaves_out(&["adds"]);
    }),
    ("the same branch twice", |s| {
        s.base().write("a", text("a"));
        s.branch("edits").write("a", edited(&text("a"), 3, "x"));
        s.same("again", "edits");
    }),
    ("stacked branches", |s| {
        stack(s);
    }),
    ("stacked branches, the upper one first", |s| {
        stack(s);
        s.branches.reverse();
    }),
    ("branch on top of one that is left out", |s| {
        s.base().write("a", text("a"));
        s.branch("first").write("a", edited(&text("a"), 3, "x"));
        s.branch("clashes").write("a", edited(&text("a"), 3, "y"));
        s.branch_on("on-top", &["clashes"]).write("b", text("b"));
        s.branch_on("reverts", &["clashes"]).write("a", text("a"));
        s.leaves_out(&["clashes", "on-top"]);
    }),
    ("branch with several commits that go back and forth", |s| {
        s.base().write("a", text("a"));
        s.branch("first").write("a", edited(&text("a"), 3, "x"));
        s.branch("wavers").write("a", edited(&text("a"), 3, "y"));
        s.commit("wavers", &["wavers"]).write("a", text("a"));
        s.commit("wavers", &["wavers"]).write("b", text("b"));
    }),
    ("branch that has merged another", |s| {
        s.base().write("a", text("a"));
        s.branch("first").write("a", edited(&text("a"), 3, "x"));
        s.branch("second").write("a", edited(&text("a"), 13, "y"));
        s.branch_on("third", &["second", "first"])
            .write("a", edited(&text("a"), 3, "x"));
    }),
    ("branch that has merged a later base", |s| {
        s.base().write("a", text("a"));
        s.branch("own").write("b", text("b"));
        s.base().write("a", edited(&text("a"), 3, "x"));
        s.commit("own", &["own", "main"])
            .write("a", edited(&text("a"), 3, "x"));
        s.branch("other").write("a", edited(&text("a"), 13, "y"));
    }),
    ("criss-cross merges", |s| {
        criss_cross(s, "right");
    }),
    ("criss-cross merges that were resolved in two ways", |s| {
        criss_cross(s, "wrong");
        s.leaves_out(&["right-way"]);
    }),
    ("history without a common commit", |s| {
        s.base().write("a", text("a"));
        s.branch("before").write("b", text("b"));
        s.branch_on("stranger", &[]).write("c", text("c"));
        s.branch("after").write("a", edited(&text("a"), 3, "x"));
        s.leaves_out(&["stranger"]);
    }),
];

fn stack(story: &mut CaseBuilder) {
    story.base().write("a", text("a"));
    let [one, two] = ["x", "y"].map(|word| edited(&text("a"), 3, word));
    story.branch("lower").write("a", &one);
    story.branch_on("middle", &["lower"]).write("a", &two);
    story.branch_on("upper", &["middle"]).rename("a", "b");
}

/// Two branches that have each merged the other's first commit, so that both are merge bases.
fn criss_cross(story: &mut CaseBuilder, second_word: &str) {
    story.base().write("a", text("a"));
    let first = edited(&text("a"), 3, "left");
    let second = edited(&text("a"), 13, "right");
    story.commit("left", &["main"]).write("a", &first);
    story.commit("right", &["main"]).write("a", second);
    let merged = edited(&first, 13, "right");
    let left = story.branch_on("left-way", &["left", "right"]);
    left.write("a", edited(&merged, 8, "right"));
    let right = story.branch_on("right-way", &["right", "left"]);
    right.write("a", edited(&merged, 8, second_word));
}
