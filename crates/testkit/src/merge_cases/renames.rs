//! Cases with moved files and folders.
//!
//! Knows nothing of how renames are found.

use super::{Case, CaseBuilder, edited, lines, link, module, program, text};

pub(super) const CASES: [Case; 31] = [
    ("rename against edit", |s| {
        moved_and("stays", s, |s| {
            s.write("a.txt", edited(&text("a"), 3, "new"));
        });
    }),
    ("edit against rename", |s| {
        s.base().write("a.txt", text("a"));
        s.branch("edits")
            .write("a.txt", edited(&text("a"), 3, "new"));
        s.branch("moves").rename("a.txt", "b.txt");
    }),
    ("rename and edit against edit elsewhere", |s| {
        s.base().write("a.txt", text("a"));
        let moves = s.branch("moves");
        moves.rename("a.txt", "b.txt");
        moves.write("b.txt", edited(&text("a"), 3, "new"));
        s.branch("edits")
            .write("a.txt", edited(&text("a"), 17, "other"));
    }),
    ("rename and edit against the same line", |s| {
        s.base().write("a.txt", text("a"));
        let moves = s.branch("moves");
        moves.rename("a.txt", "b.txt");
        moves.write("b.txt", edited(&text("a"), 3, "new"));
        s.branch("edits")
            .write("a.txt", edited(&text("a"), 3, "other"));
        s.leaves_out(&["edits"]);
    }),
    ("rename against delete", |s| {
        moved_and("goes", s, |s| drop(s.take("a.txt")));
        s.leaves_out(&["goes"]);
    }),
    ("rename against rename to the same", |s| {
        moved_and("moves-too", s, |s| s.rename("a.txt", "b.txt"));
    }),
    ("rename against rename to another", |s| {
        moved_and("moves-too", s, |s| s.rename("a.txt", "c.txt"));
        s.leaves_out(&["moves-too"]);
    }),
    ("two files renamed to one", |s| {
        let base = s.base();
        base.write("a.txt", text("a"));
        base.write("b.txt", text("b"));
        s.branch("first").rename("a.txt", "c.txt");
        s.branch("second").rename("b.txt", "c.txt");
        s.leaves_out(&["second"]);
    }),
    ("rename against add at the target", |s| {
        moved_and("adds", s, |s| s.write("b.txt", text("b")));
        s.leaves_out(&["adds"]);
    }),
    ("rename against a new file at the source", |s| {
        moved_and("replaces", s, |s| s.write("a.txt", text("other")));
    }),
    ("rename and a new file in its place", |s| {
        s.base().write("a.txt", text("a"));
        let moves = s.branch("moves");
        moves.rename("a.txt", "b.txt");
        moves.write("a.txt", text("new"));
        s.branch("edits")
            .write("a.txt", edited(&text("a"), 3, "new"));
        s.leaves_out(&["edits"]);
    }),
    ("two files swap their names", |s| {
        let base = s.base();
        base.write("a.txt", text("a"));
        base.write("b.txt", text("b"));
        let swaps = s.branch("swaps");
        swaps.write("a.txt", text("b"));
        swaps.write("b.txt", text("a"));
        s.branch("edits")
            .write("a.txt", edited(&text("a"), 3, "new"));
        s.leaves_out(&["edits"]);
    }),
    ("rename against mode change", |s| {
        moved_and("turns", s, |s| s.put("a.txt", program(text("a"))));
    }),
    ("folder rename against add into it", |s| {
        folder(s);
        s.branch("moves").rename("old", "new");
        s.branch("adds").write("old/d.txt", text("d"));
        s.leaves_out(&["adds"]);
    }),
    ("add into a folder against its rename", |s| {
        folder(s);
        s.branch("adds").write("old/d.txt", text("d"));
        s.branch("moves").rename("old", "new");
        s.leaves_out(&["moves"]);
    }),
    ("folder rename against edit in it", |s| {
        folder(s);
        s.branch("moves").rename("old", "new");
        s.branch("edits")
            .write("old/a.txt", edited(&text("a"), 3, "new"));
    }),
    ("half of a folder renamed against add into it", |s| {
        folder(s);
        let moves = s.branch("moves");
        moves.rename("old/a.txt", "new/a.txt");
        moves.rename("old/b.txt", "new/b.txt");
        s.branch("adds").write("old/d.txt", text("d"));
    }),
    ("folder split into two against add into it", |s| {
        folder(s);
        s.base().write("old/e.txt", text("e"));
        let moves = s.branch("splits");
        moves.rename("old/a.txt", "one/a.txt");
        moves.rename("old/b.txt", "one/b.txt");
        moves.rename("old/c.txt", "two/c.txt");
        moves.rename("old/e.txt", "two/e.txt");
        s.branch("adds").write("old/d.txt", text("d"));
        s.leaves_out(&["adds"]);
    }),
    ("folder renamed by two branches in two ways", |s| {
        folder(s);
        s.branch("first").rename("old", "one");
        s.branch("second").rename("old", "two");
        s.leaves_out(&["second"]);
    }),
    ("folder renamed below itself against add into it", |s| {
        folder(s);
        s.branch("moves").rename("old", "old/deeper");
        s.branch("adds").write("old/d.txt", text("d"));
    }),
    ("folder merged into one that is there, against add", |s| {
        folder(s);
        s.base().write("new/z.txt", text("z"));
        s.branch("moves").rename("old", "new");
        s.branch("adds").write("old/d.txt", text("d"));
        s.leaves_out(&["adds"]);
    }),
    ("file moved into a folder that another renames", |s| {
        folder(s);
        s.base().write("lone.txt", text("lone"));
        s.branch("renames").rename("old", "new");
        s.branch("moves-in").rename("lone.txt", "old/lone.txt");
        s.leaves_out(&["moves-in"]);
    }),
    (
        "folder rename against a link and a submodule added into it",
        |s| {
            folder(s);
            s.branch("renames").rename("old", "new");
            s.branch("links").put("old/link", link("a.txt"));
            s.branch("nests").put("old/module", module('1'));
            s.leaves_out(&["links", "nests"]);
        },
    ),
    (
        "file renamed into a folder that another makes a file",
        |s| {
            folder(s);
            s.base().write("lone.txt", text("lone"));
            let flat = s.branch("flattens");
            flat.write("old", text("flat"));
            s.branch("moves-in").rename("lone.txt", "old/lone.txt");
            s.leaves_out(&["moves-in"]);
        },
    ),
    ("a rename chain across three branches", |s| {
        s.base().write("a.txt", text("a"));
        s.branch("first").rename("a.txt", "b.txt");
        s.branch_on("second", &["first"]).rename("b.txt", "c.txt");
        s.branch_on("third", &["second"]).rename("c.txt", "d.txt");
        s.branch("edits")
            .write("a.txt", edited(&text("a"), 3, "new"));
    }),
    ("names handed on along a chain", |s| {
        let base = s.base();
        base.write("a.txt", text("a"));
        base.write("b.txt", text("b"));
        s.branch("frees").rename("b.txt", "c.txt");
        s.branch("takes").rename("a.txt", "b.txt");
    }),
    ("rename with just enough in common", |s| similar(s, 11)),
    ("rename with just too little in common", |s| {
        similar(s, 8);
        s.leaves_out(&["edits"]);
    }),
    ("sixty renames at once", |s| {
        let base = s.base();
        for n in 0..60 {
            base.write(format!("old/{n}.txt"), text(&format!("file {n}")));
        }
        let moves = s.branch("moves");
        for n in 0..60 {
            moves.rename(format!("old/{n}.txt"), format!("new{}/{n}.md", n % 7));
        }
        let edits = s.branch("edits");
        for n in (0..60).step_by(9) {
            let own = text(&format!("file {n}"));
            edits.write(format!("old/{n}.txt"), edited(&own, 4, "new"));
        }
    }),
    ("case-only rename against edit", |s| {
        s.base().write("readme.md", text("a"));
        s.branch("moves").rename("readme.md", "README.md");
        s.branch("edits")
            .write("readme.md", edited(&text("a"), 3, "new"));
    }),
    ("copies of one file renamed apart", |s| {
        let base = s.base();
        base.write("a/x.txt", text("same"));
        base.write("b/x.txt", text("same"));
        let moves = s.branch("moves");
        moves.rename("a/x.txt", "c/x.txt");
        moves.rename("b/x.txt", "d/y.txt");
        s.branch("edits")
            .write("b/x.txt", edited(&text("same"), 3, "new"));
    }),
];

fn moved_and(
    other: &'static str,
    story: &mut CaseBuilder,
    deed: fn(&mut crate::tangle::stream::Snapshot),
) {
    story.base().write("a.txt", text("a"));
    story.branch("moves").rename("a.txt", "b.txt");
    deed(story.branch(other));
}

fn folder(story: &mut CaseBuilder) {
    let base = story.base();
    for name in ["a", "b", "c"] {
        base.write(format!("old/{name}.txt"), text(name));
    }
    base.write("other.txt", text("other"));
}

/// A file of twenty equally long lines that keeps so many of them when it moves.
fn similar(story: &mut CaseBuilder, kept: usize) {
    let line = |tag: &str, n: usize| format!("{tag}{n}\n");
    let long = |tag: &str| (10..30).map(|n| line(tag, n)).collect::<String>();
    let (old, new) = (
        long("line of the first kind "),
        long("line of some new kind  "),
    );
    story.base().write("a.txt", &old);
    let mixed: String = old
        .split_inclusive('\n')
        .take(kept)
        .chain(new.split_inclusive('\n').skip(kept))
        .collect();
    let moves = story.branch("moves");
    moves.take("a.txt");
    moves.write("b.txt", mixed);
    let edit = edited(&old, 2, &lines("x", 1));
    story.branch("edits").write("a.txt", edit);
}
