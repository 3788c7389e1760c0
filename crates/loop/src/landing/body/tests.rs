//! Whole texts as snapshots, tricks one by one, and what must hold for every text of a stranger.

mod properties;
mod rendered;

use super::*;
use pleach_system::text::neutral_text;
use rendered::{Rendered, is_mention, reference_after_keyword};

const BASE: &str = "5c1107fce41d707c379e19969f8a8a8ba682dd97";
const TREE: &str = "8f1e0d2c3b4a5968778695a4b3c2d1e0f1029384";

pub(super) fn task(id: &str, title: &str, fate: TaskFate) -> TaskAccount {
    TaskAccount {
        id: TaskId::new(id),
        title: title.to_owned(),
        details: String::new(),
        fate,
        commits: Vec::new(),
        files: Vec::new(),
        attempts: 1,
        time: Some(Duration::from_secs(75)),
        dollars: None,
        branch: None,
    }
}

fn merged(id: &str, title: &str) -> TaskAccount {
    TaskAccount {
        commits: vec![TREE.parse().unwrap()],
        files: vec!["src/parse.rs".into(), "src/lex.rs".into()],
        ..task(id, title, TaskFate::Merged)
    }
}

pub(super) fn account(tasks: Vec<TaskAccount>) -> Account {
    Account {
        batch: BatchNumber(7),
        plan: Some("TODO.md".into()),
        base: BASE.parse().unwrap(),
        verdict: TestVerdict::NoCommand,
        tasks,
        time: Duration::from_secs(130),
        follows: None,
        effects: CommitEffects::default(),
        builds_on: Vec::new(),
    }
}

fn conflicted() -> TaskAccount {
    let fate = TaskFate::Conflicted {
        files: vec!["src/parse.rs".into()],
        with: vec![TaskId::new("1.1")],
    };
    TaskAccount {
        branch: Some("pleach/task-7/1.3".into()),
        attempts: 2,
        ..task("1.3", "Rename the parser", fate)
    }
}

#[test]
fn a_proved_batch_tells_first_what_it_leaves_out() {
    let invalid = TaskFate::Invalid {
        with: vec![TaskId::new("1.1"), TaskId::new("1.2")],
    };
    let failed = TaskFate::Failed {
        error: "the agent ended with exit code 3: no login for @claude".into(),
    };
    let blocked = TaskFate::Blocked {
        because: "needs 1.5".into(),
    };
    let mut tasks = vec![
        merged("1.1", "Read numbers with `_` in them"),
        merged("1.2", "Tell the line of an error"),
        conflicted(),
        TaskAccount {
            branch: Some("pleach/task-7/1.4".into()),
            ..task("1.4", "Count from one", invalid)
        },
        task("1.5", "Write a manual", failed),
        TaskAccount {
            attempts: 0,
            time: None,
            ..task("1.6", "Print the manual", blocked)
        },
        task("1.7", "Sort the imports", TaskFate::NoChanges),
    ];
    tasks[0].details = "As Rust does:\n\n    1_000\n\nBut not `_1`.".into();
    tasks[0].dollars = Some(0.42);
    tasks[2].dollars = Some(1.5);
    let account = Account {
        verdict: TestVerdict::Proved {
            command: "cargo test --workspace".into(),
            tree: TREE.parse().unwrap(),
            flaky: 1,
        },
        follows: Some("https://github.com/ann/calc/pull/12".into()),
        ..account(tasks)
    };
    insta::assert_snapshot!(format!("{}\n\n{}", title(&account), body(&account)));
}

#[test]
fn a_batch_without_a_test_command_says_that_nothing_was_run() {
    let account = account(vec![merged("63", "Read numbers")]);
    insta::assert_snapshot!(format!("{}\n\n{}", title(&account), body(&account)));
}

#[test]
fn a_red_base_blames_nobody() {
    let account = Account {
        plan: None,
        verdict: TestVerdict::BaseRed {
            command: "make check".into(),
        },
        ..account(vec![merged("a", "Read numbers"), merged("b", "Write them")])
    };
    insta::assert_snapshot!(format!("{}\n\n{}", title(&account), body(&account)));
}

#[test]
fn trouble_with_the_tests_is_told_as_such() {
    let account = Account {
        verdict: TestVerdict::Trouble {
            command: "make check".into(),
            why: "no space left on device".into(),
        },
        ..account(vec![merged("a", "Read numbers")])
    };
    let text = body(&account);
    let told = "**Not proved:** `make check` could not be run on this result, based on 5c1107fce4: no space left on device";
    assert!(text.contains(told), "{text}");
}

#[test]
fn titles_fit_one_line_and_are_cut_at_a_word() {
    let long = "word ".repeat(60);
    let one = title(&account(vec![merged("1", &long)]));
    assert!(
        one.chars().count() <= LONGEST_TITLE && one.ends_with("word…"),
        "{one}"
    );
    let many: Vec<TaskAccount> = (0..20).map(|n| merged("1", &format!("Do {n}"))).collect();
    let many = title(&account(many));
    assert!(
        many.starts_with("20 tasks of TODO.md: Do 0; Do 1; "),
        "{many}"
    );
    assert!(
        many.chars().count() <= LONGEST_TITLE && many.ends_with('…'),
        "{many}"
    );
    let two = vec![merged("1", "Read"), conflicted(), merged("2", "Write")];
    assert_eq!(title(&account(two)), "Two tasks of TODO.md: Read; Write");
    assert_eq!(title(&account(vec![merged("1", " ")])), "Task 1");
    assert_eq!(title(&account(vec![conflicted()])), "Batch 7 of TODO.md");
}

#[test]
fn a_title_makes_no_draft() {
    for draft in ["Draft: x", "WIP: x", "[WIP] x", "(draft) x", "wip"] {
        let title = title(&account(vec![merged("1", draft)]));
        let seen: String = title
            .chars()
            .filter(|c| *c != neutral_text::BREAK)
            .collect();
        assert_eq!(seen, draft);
        let lower = title.to_lowercase();
        assert!(
            !lower.contains("draft") && !lower.contains("wip"),
            "{title:?}"
        );
    }
    let harmless = title(&account(vec![merged("1", "Drafts can be saved")]));
    assert_eq!(harmless, "Drafts can be saved");
}

/// What people try, or write without thinking of it.
const TRICKS: [&str; 46] = [
    "thanks @ann",
    "cc @org/team, (@bob)",
    "fixes #1",
    "Closes: owner/repo#2",
    "resolves https://github.com/o/r/issues/3",
    "Closes !4 and &5",
    "Implements GH-12",
    "Related to #6",
    "fix ENG-7",
    "gh-8",
    "/assign @me",
    "/merge",
    "\n/close\n",
    "<script>alert(1)</script>",
    "<!-- hidden -->",
    "--> <img src=x>",
    "</summary></details>",
    "![pixel](https://evil.example/x.png)",
    "[click](javascript:alert(1))",
    "<https://evil.example>",
    "https://evil.example www.evil.example",
    "[ref]: https://evil.example",
    "[^1] [[wiki]] [x]",
    "a | b | c",
    "a \\| b \\",
    "| --- | --- |",
    "`code` ``` fence",
    "```\ntext\n```",
    "~~~\ntext",
    "# Heading",
    "Heading\n===",
    "- item\n* item\n1. item",
    "> quote",
    "**bold** _it_ *it* ~~gone~~ __b__",
    "$x$ $$y$$ $`z`$",
    ":octocat: :+1:",
    "a\u{202e}b\u{2066}c\u{200f}",
    "a\u{0}b\u{1b}[31mc\u{7}d\u{9b}e",
    "&#64;ann &commat;ann &lt;b&gt;",
    "\u{200b}@\u{200b}ann",
    "@\u{2060}ann @\u{feff}ann @\u{ad}ann",
    "line\r\nbreak\u{2028}break\u{85}break",
    "\\",
    "*",
    "`",
    "[skip ci] {+ in +} ~bug %\"v1\"",
];

/// A batch that has a text wherever a text can be.
pub(super) fn everywhere(text: &str) -> Account {
    let task = |fate: TaskFate| TaskAccount {
        details: format!("{text}\n{text}"),
        files: vec![text.to_owned(); 3],
        commits: vec![TREE.parse().unwrap()],
        branch: Some(text.to_owned()),
        ..task(text, text, fate)
    };
    let ids = vec![TaskId::new(text), TaskId::new(text)];
    let fates = [
        TaskFate::Merged,
        TaskFate::Merged,
        TaskFate::NoChanges,
        TaskFate::Conflicted {
            files: vec![text.to_owned(); 2],
            with: ids.clone(),
        },
        TaskFate::Invalid { with: ids },
        TaskFate::Failed { error: text.into() },
        TaskFate::Blocked {
            because: text.into(),
        },
        TaskFate::Cancelled,
        TaskFate::TimedOut,
    ];
    Account {
        plan: Some(text.to_owned()),
        verdict: TestVerdict::Trouble {
            command: text.to_owned(),
            why: text.to_owned(),
        },
        ..account(fates.into_iter().map(task).collect())
    }
}

/// Every cell holds what belongs there: cells that are too many would be dropped in silence.
#[track_caller]
fn check_rows(account: &Account, seen: &Rendered) {
    let cell = |text: &str, most| neutral_text::neutral(&cut(text, most)).trim().to_owned();
    let included = account.tasks.iter().filter(|task| !task.fate.is_left_out());
    let rows = &seen.rows[1..];
    assert!(rows.len() <= included.clone().count());
    for (row, task) in rows.iter().zip(included) {
        assert_eq!(row.len(), 7);
        assert_eq!(row[0].trim(), cell(task.id.as_str(), LONGEST_NAME / 2));
        assert_eq!(row[1].trim(), cell(&task.title, LONGEST_NAME));
        assert!(["merged", "nothing to change"].contains(&row[2].as_str()));
        assert_eq!(row[6], "1 min 15 s");
    }
}

#[track_caller]
pub(super) fn check_harmless(text: &str) {
    let account = everywhere(text);
    let body = body(&account);
    let seen = Rendered::of(&body);
    assert_eq!(
        seen.rows.len(),
        4,
        "{text:?}: a head and three tasks\n{body}"
    );
    check_rows(&account, &seen);
    assert_eq!((seen.headings, seen.rules), (2, 1), "{text:?}\n{body}");
    assert_eq!(
        (seen.items, seen.blocks),
        (6, if text.trim().is_empty() { 0 } else { 3 }),
        "{text:?}\n{body}"
    );
    assert_eq!(seen.strange, [""; 0], "{text:?}\n{body}");
    let is_order = |line: &str| {
        let word = line.trim_start().strip_prefix('/');
        word.is_some_and(|word| word.starts_with(char::is_alphabetic))
    };
    assert!(!body.lines().any(is_order), "{text:?}: an order\n{body}");
    let title = title(&account);
    assert!(!title.contains(char::is_control), "{text:?}: {title:?}");
    assert!(
        title.chars().count() <= LONGEST_TITLE,
        "{text:?}: {title:?}"
    );
    for told in [&seen.text, &body, &title] {
        assert!(!is_mention(told), "{text:?} mentions somebody:\n{told}");
        assert_eq!(reference_after_keyword(told), None, "{text:?}\n{told}");
        let marks = [
            "\u{202e}", "\u{2066}", "\u{200f}", "\u{0}", "\u{1b}", "\u{7}",
        ];
        assert!(
            !marks.iter().any(|mark| told.contains(mark)),
            "{text:?}\n{told}"
        );
    }
}

#[test]
fn no_trick_means_anything() {
    for trick in TRICKS {
        check_harmless(trick);
    }
}

#[test]
fn only_an_address_of_the_web_is_followed() {
    let told = |address: &str| {
        let follows = Some(address.to_owned());
        body(&Account {
            follows,
            ..account(vec![merged("1", "x")])
        })
    };
    let good = "https://gitlab.com/a/b/-/merge_requests/3";
    assert!(told(good).contains(&format!("\nThis follows up on <{good}>.\n")));
    for bad in [
        "javascript:alert(1)",
        "https://a.b/x> <b>",
        "https://a.b/c d",
        "",
        "`",
    ] {
        let text = told(bad);
        assert_eq!(Rendered::of(&text).strange, [""; 0], "{text}");
    }
}

#[test]
fn what_is_harmless_stays_as_it_is() {
    for text in [
        "Read src/parse.rs:41 as UTF 8, 100% done!",
        "a != b && c: d (e) + f - g",
        "file-2.rs, std::fmt::Display",
        "12:30 a:b",
        "Grüße, 世界 🌱",
    ] {
        assert_eq!(neutral_text::neutral(text), text);
    }
    assert_eq!(escaped("a_b <c>"), "a\\_b &lt;c&gt;");
    assert_eq!(escaped("a & b [ c"), "a &amp; b \\[ c");
    assert_eq!(code("a ` b"), "``a ` b``");
    assert_eq!(code("`a"), "`` `a ``");
}

#[test]
fn much_is_cut_by_whole_pieces_and_counted() {
    let mut tasks: Vec<TaskAccount> = (0..2_000)
        .map(|n| TaskAccount {
            details: "word\n".repeat(100),
            ..merged(
                &format!("m{n}"),
                "Grüße | an | alle und noch viel mehr davon",
            )
        })
        .collect();
    tasks.extend((0..900).map(|_| conflicted()));
    let account = account(tasks);
    let text = body(&account);
    assert!(text.len() <= LONGEST_BODY, "{}", text.len());
    assert!(text.ends_with(&format!("{}\n", marker(BatchNumber(7)))));
    let seen = Rendered::of(&text);
    assert_eq!(seen.strange, [""; 0]);
    check_rows(&account, &seen);
    let told = |count: usize, after: &str| text.contains(&format!("{count}{after}"));
    // The last item says how many are missing.
    assert!(told(900 - (seen.items - 1), " more; "), "{}", seen.items);
    assert!(
        told(2_000 - (seen.rows.len() - 1), " more tasks are"),
        "{}",
        seen.rows.len()
    );
    assert!(
        told(2_000 - seen.blocks, " tasks are not shown"),
        "{}",
        seen.blocks
    );
    assert!(text.contains("(60 more lines)"));
}
