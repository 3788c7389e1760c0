//! Bad input: an error with its place and a hint, exit code 2, and nothing written.

use std::fs::File;

use crate::Place;

/// Every command that reads a plan, on a file that it cannot use.
#[track_caller]
fn check_all(place: &Place, file: &str, expected: &str) {
    let calls: [&[&str]; 4] = [
        &["plan", "--plan", file],
        &["next", "--plan", file],
        &["mark", "1", "complete", "--plan", file],
        &["run", "--yes", "--plan", file],
    ];
    for words in calls {
        let error = place.pleach(words).bad(2);
        assert!(error.contains(expected), "{words:?}: {error}");
        assert!(error.contains("hint: "), "{words:?}: {error}");
    }
}

#[test]
fn files_that_are_no_plan_are_refused_by_every_command() {
    let place = Place::new();
    check_all(&place, "missing.md", "missing.md");
    place.write("empty.md", "");
    check_all(&place, "empty.md", "no tasks in empty.md");
    place.write("words.md", "# Only words\n");
    check_all(&place, "words.md", "no tasks in words.md");
    std::fs::write(place.path().join("binary.md"), b"- [ ] a\0b").unwrap();
    check_all(&place, "binary.md", "binary.md");
    std::fs::write(place.path().join("latin.md"), b"- [ ] caf\xe9").unwrap();
    check_all(&place, "latin.md", "latin.md");
    std::fs::create_dir(place.path().join("folder.md")).unwrap();
    check_all(&place, "folder.md", "folder.md");
    let huge = File::create(place.path().join("huge.md")).unwrap();
    huge.set_len(100 << 20).unwrap();
    check_all(&place, "huge.md", "huge.md");
}

#[test]
fn a_missing_plan_and_several_plans_are_told() {
    let place = Place::new();
    assert!(place.pleach(&["plan"]).bad(2).contains("no plan found in"));
    std::fs::create_dir_all(place.path().join("docs/plans")).unwrap();
    place.write("docs/plans/a.md", "- [ ] a\n");
    place.write("docs/plans/b.md", "- [ ] b\n");
    let error = place.pleach(&["plan"]).bad(2);
    assert!(
        error.contains("docs/plans/a.md, docs/plans/b.md") && error.contains("--plan"),
        "{error}"
    );
}

#[test]
fn wrong_selections_are_shown_with_a_caret() {
    let place = Place::new();
    place.write("TODO.md", "- [ ] 63. A\n- [ ] 64. B\n");
    let error = place.pleach(&["plan", "63", "67-65"]).bad(2);
    assert!(error.contains("the range 67-65 runs backwards"), "{error}");
    assert!(error.contains("│ 63 67-65\n  │    ^^^^^"), "{error}");
    assert!(error.contains("hint: write 65-67"), "{error}");
    let json = place.pleach(&["plan", "99", "--json"]);
    assert_eq!(
        (json.code, json.json()["errors"][0]["code"].as_str()),
        (2, Some("task_not_found"))
    );
    let error = place.pleach(&["plan", "99"]).bad(2);
    assert!(error.contains("error: task 99 not found"), "{error}");
}

#[test]
fn duplicates_and_cycles_name_their_lines() {
    let place = Place::new();
    place.write(
        "TODO.md",
        "- [ ] 1.1 A\n- [ ] 1.1 B\n- [ ] 1.2 C (depends: 1.3)\n- [ ] 1.3 D (depends: 1.2)\n",
    );
    let error = place.pleach(&["plan"]).bad(2);
    assert!(
        error.contains("task 1.1 is defined at line 1 and again at line 2"),
        "{error}"
    );
    assert!(error.contains("TODO.md:2"), "{error}");
    assert!(
        error.contains("1.2 → 1.3 → 1.2") && error.contains("TODO.md:3"),
        "{error}"
    );
}

#[test]
fn an_unknown_key_names_the_nearest() {
    let place = Place::new();
    place.write("TODO.md", "- [ ] a\n");
    place.write("pleach.toml", "max_paralel = 3\n");
    assert!(
        place
            .pleach(&["run"])
            .bad(2)
            .contains("hint: did you mean max_parallel?")
    );
}

#[test]
fn help_and_completions_answer() {
    let place = Place::new();
    for words in [
        &["--help"][..],
        &["plan", "--help"],
        &["run", "--help"],
        &["mark", "--help"],
        &["next", "--help"],
    ] {
        assert!(place.pleach(words).good().contains("Usage"), "{words:?}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = place.pleach(&["completions", shell]).good();
        assert!(script.contains("worktrees"), "{shell}");
        for hidden in ["demo-agent", "git-credential"] {
            assert!(!script.contains(hidden), "{shell}: {hidden}");
        }
    }
}

#[test]
fn escape_sequences_of_a_plan_never_reach_the_terminal() {
    let place = Place::new();
    place.write(
        "TODO.md",
        "- [ ] 1.1 A\u{1b}]0;owned\u{7} (depends: 9\u{1b}[35m)\n- [ ] 1.2 B\u{9b}31m\n",
    );
    for words in [
        &["plan"][..],
        &["next"],
        &["mark", "1.7\u{1b}[2J", "complete"],
    ] {
        let answer = crate::command(&place.path(), &place.path(), words)
            .env("CLICOLOR_FORCE", "1")
            .output()
            .unwrap();
        for output in [answer.stdout, answer.stderr] {
            let text = String::from_utf8(output).unwrap();
            let foreign = ["\u{1b}]", "\u{1b}[35m", "\u{1b}[2J", "\u{7}", "\u{9b}"];
            assert!(!foreign.iter().any(|part| text.contains(part)), "{text:?}");
        }
    }
}

#[test]
fn words_of_a_command_that_contradict_each_other_or_mean_nothing_are_refused() {
    let place = Place::new();
    place.write("TODO.md", "- [ ] 1.1 A\n");
    let both = place.pleach(&["run", "--yes", "--pr", "--no-pr"]).bad(2);
    assert!(both.contains("--pr") && both.contains("--no-pr"), "{both}");
    let never = place.pleach(&["gc", "--keep", "0s"]).bad(2);
    assert!(never.contains("above zero"), "{never}");
    let unknown = place.pleach(&["config", "bogus"]).bad(2);
    assert!(
        unknown.contains("`pleach config` lists all keys"),
        "{unknown}"
    );
}
