//! Cases within one file: lines, bytes, line ends, attributes.
//!
//! Knows nothing of where the file is.

use super::{Case, CaseBuilder, crlf, edited, lines, text};

pub(super) const CASES: [Case; 33] = [
    ("the same line edited", |s| {
        both(
            s,
            &text("a"),
            &edited(&text("a"), 5, "x"),
            &edited(&text("a"), 5, "y"),
        );
        s.leaves_out(&["second"]);
    }),
    ("the same line edited alike", |s| {
        both(
            s,
            &text("a"),
            &edited(&text("a"), 5, "x"),
            &edited(&text("a"), 5, "x"),
        );
    }),
    ("lines next to each other edited", |s| {
        both(
            s,
            &text("a"),
            &edited(&text("a"), 5, "x"),
            &edited(&text("a"), 6, "y"),
        );
        s.leaves_out(&["second"]);
    }),
    ("lines with one between edited", |s| {
        both(
            s,
            &text("a"),
            &edited(&text("a"), 5, "x"),
            &edited(&text("a"), 7, "y"),
        );
    }),
    ("the same edit and one more", |s| {
        let once = edited(&text("a"), 5, "x");
        both(s, &text("a"), &once, &edited(&once, 15, "y"));
    }),
    ("lines added at the same end", |s| {
        both(s, &text("a"), &(text("a") + "x\n"), &(text("a") + "y\n"));
        s.leaves_out(&["second"]);
    }),
    ("lines added at both ends", |s| {
        both(
            s,
            &text("a"),
            &(text("a") + "x\n"),
            &("y\n".to_owned() + &text("a")),
        );
    }),
    ("the last line break taken and a line added", |s| {
        both(s, &text("a"), text("a").trim_end(), &(text("a") + "y\n"));
        s.leaves_out(&["second"]);
    }),
    ("whitespace against words", |s| {
        let line = text("a")
            .lines()
            .nth(4)
            .map(|line| format!("  {line}"))
            .unwrap_or_default();
        both(
            s,
            &text("a"),
            &edited(&text("a"), 5, &line),
            &edited(&text("a"), 5, "y"),
        );
        s.leaves_out(&["second"]);
    }),
    ("whitespace alone in two ways", |s| {
        let old = text("a");
        both(
            s,
            &old,
            &old.replace(" has", "  has"),
            &old.replace(" has", "\thas"),
        );
        s.leaves_out(&["second"]);
    }),
    ("repeated blocks moved", |s| {
        let block = lines("same", 4);
        let [one, two] = [lines("one", 4), lines("two", 4)];
        both(
            s,
            &[&*block, &one, &block, &two, &block].concat(),
            &[&*one, &block, &two, &block].concat(),
            &[&*block, &one, &block, &two].concat(),
        );
    }),
    ("file emptied against edit", |s| {
        both(s, &text("a"), "", &edited(&text("a"), 5, "x"));
        s.leaves_out(&["second"]);
    }),
    ("empty file filled by both", |s| {
        both(s, "", "x\n", "y\n");
        s.leaves_out(&["second"]);
    }),
    ("empty files added, moved and filled", |s| {
        let base = s.base();
        base.write("one", "");
        base.write("two", "");
        s.branch("moves").rename("one", "three");
        s.branch("fills").write("one", "x\n");
        s.branch("goes").take("two");
        s.branch("adds").write("four", "");
        s.leaves_out(&["fills"]);
    }),
    ("emptied by both", |s| both(s, &text("a"), "", "")),
    ("binary changed by both", |s| {
        both(s, "\0old", "\0first", "\0second");
        s.leaves_out(&["second"]);
    }),
    ("binary changed by one", |s| {
        both(s, "\0old", "\0first", "\0old");
    }),
    ("binary changed alike", |s| {
        both(s, "\0old", "\0first", "\0first");
    }),
    ("binary against text", |s| {
        both(
            s,
            &text("a"),
            &format!("\0{}", text("a")),
            &edited(&text("a"), 5, "x"),
        );
        s.leaves_out(&["second"]);
    }),
    ("line ends of a whole file against one line", |s| {
        both(
            s,
            &text("a"),
            &crlf(&text("a")),
            &edited(&text("a"), 5, "x"),
        );
        s.leaves_out(&["second"]);
    }),
    ("edits in a file with CRLF", windows_lines),
    ("edits in a file with CRLF and eol=crlf", |s| {
        s.base().write(".gitattributes", "*.txt text eol=crlf\n");
        windows_lines(s);
    }),
    ("edits in a file with CRLF and text=auto", |s| {
        s.base().write(".gitattributes", "* text=auto\n");
        windows_lines(s);
    }),
    ("edits in a file with CRLF and core.autocrlf", |s| {
        s.settings.push(("core", "autocrlf", "true"));
        windows_lines(s);
    }),
    ("edits in a file with LF and core.autocrlf", |s| {
        s.settings.push(("core", "autocrlf", "true"));
        both(
            s,
            &text("a"),
            &edited(&text("a"), 5, "x"),
            &edited(&text("a"), 15, "y"),
        );
    }),
    ("union of two edits", |s| {
        with_attributes(s, "*.txt merge=union\n");
    }),
    ("never merged, by attribute", |s| {
        with_attributes(s, "*.txt -merge\n");
        s.leaves_out(&["second"]);
    }),
    ("binary by attribute, edited far apart", |s| {
        s.base().write(".gitattributes", "*.txt binary\n");
        both(
            s,
            &text("a"),
            &edited(&text("a"), 5, "x"),
            &edited(&text("a"), 15, "y"),
        );
        s.leaves_out(&["second"]);
    }),
    ("a merge driver that nobody has set up", |s| {
        s.base().write(".gitattributes", "*.txt merge=ours\n");
        both(
            s,
            &text("a"),
            &edited(&text("a"), 5, "x"),
            &edited(&text("a"), 15, "y"),
        );
        s.branch("third").write("a.txt", edited(&text("a"), 5, "z"));
        s.leaves_out(&["third"]);
    }),
    ("markers of another size", |s| {
        with_attributes(s, "*.txt conflict-marker-size=20\n");
        s.leaves_out(&["second"]);
    }),
    ("attributes that come with a branch in the middle", |s| {
        s.base().write("a.txt", text("a"));
        for (name, word) in [("first", "x"), ("second", "y")] {
            s.branch(name).write("a.txt", edited(&text("a"), 5, word));
        }
        s.branch("union")
            .write(".gitattributes", "*.txt merge=union\n");
        s.branch("third").write("a.txt", edited(&text("a"), 5, "z"));
        s.branch("never")
            .write("sub/.gitattributes", "*.txt -merge\n");
        s.leaves_out(&["second"]);
    }),
    (
        "attributes that a branch brings along for its own edit",
        |s| {
            s.base().write("a.txt", text("a"));
            s.branch("first").write("a.txt", edited(&text("a"), 5, "x"));
            let second = s.branch("second");
            second.write(".gitattributes", "*.txt merge=union\n");
            second.write("a.txt", edited(&text("a"), 5, "y"));
            s.leaves_out(&["second"]);
        },
    ),
    ("attributes of a folder, removed in the middle", |s| {
        let base = s.base();
        base.write("dir/.gitattributes", "*.txt merge=union\n");
        base.write("dir/a.txt", text("a"));
        let edit = |word| edited(&text("a"), 5, word);
        s.branch("first").write("dir/a.txt", edit("x"));
        s.branch("second").write("dir/a.txt", edit("y"));
        s.branch("goes").take("dir/.gitattributes");
        s.branch("third").write("dir/a.txt", edit("z"));
        s.leaves_out(&["third"]);
    }),
];

fn both(story: &mut CaseBuilder, base: &str, first: &str, second: &str) {
    story.base().write("a.txt", base);
    story.branch("first").write("a.txt", first);
    story.branch("second").write("a.txt", second);
}

fn windows_lines(story: &mut CaseBuilder) {
    let old = text("a");
    let [first, second] = [edited(&old, 5, "x"), edited(&old, 15, "y")];
    both(story, &crlf(&old), &crlf(&first), &crlf(&second));
}

fn with_attributes(story: &mut CaseBuilder, attributes: &str) {
    story.base().write(".gitattributes", attributes);
    let [first, second] = ["x", "y"].map(|word| edited(&text("a"), 5, word));
    both(story, &text("a"), &first, &second);
}
