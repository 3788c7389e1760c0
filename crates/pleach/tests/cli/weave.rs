//! `pleach weave`.

use pleach_testkit::TestRepo;
use serde_json::Value;

use crate::{Answer, command, pleach};

/// A repository with branches from `main`, each with the files it writes.
fn repo(branches: &[(&str, &[(&str, &str)])]) -> TestRepo {
    let repo = TestRepo::new();
    repo.write("story.txt", "once\nupon\na\ntime\n");
    repo.commit("a story");
    for (branch, files) in branches {
        repo.git(&["switch", "--quiet", "--create", branch, "main"]);
        for (file, text) in *files {
            repo.write(file, text);
        }
        repo.commit(&format!("work of {branch}"));
    }
    repo.git(&["switch", "--quiet", "main"]);
    repo
}

const THREE: [(&str, &[(&str, &str)]); 3] = [
    ("one", &[("story.txt", "ONCE\nupon\na\ntime\n")]),
    ("two", &[("story.txt", "Once\nupon\na\ntime\n")]),
    ("three", &[("story.txt", "once\nupon\na\nTIME\n")]),
];

fn weave(repo: &TestRepo, words: &[&str]) -> Answer {
    let words: Vec<&str> = ["weave"].iter().chain(words).copied().collect();
    pleach(repo.path(), &repo.beside("home"), &words)
}

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out).unwrap()
}

#[test]
fn what_merges_becomes_a_branch_and_what_does_not_is_named_with_its_reason() {
    let repo = repo(&THREE);
    let before = repo.fingerprint();
    let words = ["one", "two", "three", "--onto", "main", "--as", "hedge"];
    let answer = weave(&repo, &words);
    assert_eq!(answer.code, 1, "{}", answer.err);
    assert_eq!(
        repo.git(&["show", "hedge:story.txt"]),
        "ONCE\nupon\na\nTIME"
    );
    assert!(
        answer.out.contains("two  left out, conflicts with one"),
        "{}",
        answer.out
    );
    assert!(
        answer
            .out
            .contains("2 of 3 branches woven into hedge, 1 left out")
    );
    repo.git(&["branch", "-D", "hedge"]);
    assert_eq!(repo.fingerprint(), before);
}

#[test]
fn the_command_in_the_report_shows_the_conflict() {
    let repo = repo(&[
        ("it's", &[("a file", "mine\n")]),
        ("other", &[("a file", "theirs\n")]),
    ]);
    let answer = weave(&repo, &["it's", "other", "--onto", "main", "--as", "hedge"]);
    let line = answer
        .out
        .lines()
        .find_map(|line| line.trim().strip_prefix("view "));
    let shown = std::process::Command::new("sh")
        .args(["-c", line.unwrap()])
        .current_dir(repo.path())
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.contains("<<<<<<< it's\nmine\n=======\ntheirs\n>>>>>>> other"),
        "{shown}"
    );
}

#[test]
fn programs_are_told_the_same() {
    let repo = repo(&THREE);
    let words = [
        "one", "two", "three", "--onto", "main", "--as", "hedge", "--json",
    ];
    let told = json(&weave(&repo, &words));
    assert_eq!(told["tip"], repo.git(&["rev-parse", "hedge"]));
    assert_eq!(told["tree"], repo.git(&["rev-parse", "hedge^{tree}"]));
    assert_eq!(told["merged"], serde_json::json!(["one", "three"]));
    assert_eq!(told["invalid"], serde_json::json!([]));
    let conflict = &told["conflicted"][0];
    assert_eq!(conflict["branch"], "two");
    assert_eq!(conflict["files"], serde_json::json!(["story.txt"]));
    assert_eq!(conflict["with"], serde_json::json!(["one"]));
    assert_eq!(conflict["kinds"][0]["kind"], "content");
}

#[test]
fn every_strategy_has_its_history_and_the_same_tree() {
    let repo = repo(&THREE);
    let count = |range: &str, more: &[&str]| {
        let words: Vec<&str> = [&["rev-list", "--count"], more, &[range]].concat();
        repo.git(&words)
    };
    let mut trees = Vec::new();
    for (strategy, merges, commits) in [
        ("merge", "2", "4"),
        ("squash", "0", "2"),
        ("rebase", "0", "2"),
        ("octopus", "1", "3"),
    ] {
        let words = [
            "one", "three", "--onto", "main", "--as", strategy, "--merge", strategy,
        ];
        assert_eq!(weave(&repo, &words).code, 0);
        let range = format!("main..{strategy}");
        assert_eq!(count(&range, &["--merges"]), merges, "{strategy}");
        assert_eq!(count(&range, &[]), commits, "{strategy}");
        trees.push(repo.git(&["rev-parse", &format!("{strategy}^{{tree}}")]));
    }
    trees.dedup();
    assert_eq!(trees.len(), 1);
}

#[test]
fn neither_a_dry_run_nor_a_refusal_writes_anything() {
    let repo = repo(&THREE);
    let before = repo.fingerprint();
    let objects = || repo.git(&["count-objects", "-v"]);
    let stored = objects();
    let dry = weave(&repo, &["one", "three", "--onto", "main", "--dry-run"]);
    assert_eq!(dry.code, 0);
    assert!(dry.out.contains("nothing was written"), "{}", dry.out);
    let words = [
        "one",
        "two",
        "--onto",
        "main",
        "--as",
        "hedge",
        "--on-conflict",
        "fail",
    ];
    let refused = weave(&repo, &words);
    assert_eq!(refused.code, 1);
    assert!(
        refused.err.contains("--on-conflict fail"),
        "{}",
        refused.err
    );
    assert_eq!(repo.fingerprint(), before);
    assert_eq!(objects(), stored);
}

#[test]
fn a_branch_goes_ahead_and_never_loses_a_commit() {
    let repo = repo(&THREE);
    let woven = |words: &[&str]| {
        let words: Vec<&str> = [words, &["--as", "hedge"]].concat();
        weave(&repo, &words)
    };
    assert_eq!(woven(&["one", "--onto", "main"]).code, 0);
    let first = repo.git(&["rev-parse", "hedge"]);
    assert!(
        woven(&["one", "--onto", "main"])
            .out
            .contains(" (unchanged)")
    );
    assert_eq!(repo.git(&["rev-parse", "hedge"]), first);
    assert_eq!(woven(&["three", "--onto", "hedge"]).code, 0);
    let ahead = repo.git(&["rev-parse", "hedge"]);
    let refused = woven(&["two", "--onto", "main"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("already exists"), "{}", refused.err);
    assert_eq!(repo.git(&["rev-parse", "hedge"]), ahead);
    repo.git(&["switch", "--quiet", "hedge"]);
    let refused = woven(&["README.md", "--onto", "hedge"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    repo.git(&["branch", "--quiet", "four", "main"]);
    let refused = woven(&["two", "--onto", "two"]);
    assert!(refused.err.contains("checked out"), "{}", refused.err);
}

#[test]
fn what_is_wrong_is_said_before_anything_is_written() {
    let repo = repo(&THREE);
    let before = repo.fingerprint();
    for (words, word) in [
        (
            &["nope", "one", "--onto", "main", "--as", "x"][..],
            "\"nope\"",
        ),
        (&["one", "--onto", "nowhere", "--as", "x"], "nowhere"),
        (
            &["one", "--onto", "main", "--as", "a..b"],
            "not a valid branch name",
        ),
        (&["one", "--onto", "main", "--as", "one/more"], "folder"),
        (&["one", "--onto", "main"], "--as"),
        (&["--onto", "main", "--as", "x"], "BRANCH"),
    ] {
        let answer = weave(&repo, words);
        assert_eq!(answer.code, 2, "{words:?}: {}", answer.err);
        assert!(answer.err.contains(word), "{words:?}: {}", answer.err);
    }
    assert_eq!(repo.fingerprint(), before);
}

#[test]
fn branches_that_are_in_already_and_histories_of_their_own_are_told_apart() {
    let repo = repo(&THREE);
    repo.git(&["switch", "--quiet", "--orphan", "stranger"]);
    repo.write("alone.txt", "alone\n");
    repo.commit("alone");
    repo.git(&["switch", "--quiet", "main"]);
    let answer = weave(
        &repo,
        &["main", "stranger", "--onto", "main", "--as", "hedge"],
    );
    assert_eq!(answer.code, 1);
    assert!(
        answer.out.contains("main  already contained"),
        "{}",
        answer.out
    );
    assert!(
        answer.out.contains("histories are unrelated"),
        "{}",
        answer.out
    );
}

#[test]
fn repositories_with_long_ids_and_bare_ones_are_woven_too() {
    let repo = TestRepo::new();
    let long = repo.beside("long");
    let git = |args: &[&str]| repo.git_in(&long, args);
    std::fs::create_dir(&long).unwrap();
    git(&[
        "init",
        "--quiet",
        "--object-format=sha256",
        "--initial-branch=main",
    ]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "base"]);
    for (branch, text) in [("one", "1\n"), ("two", "2\n")] {
        git(&["switch", "--quiet", "--create", branch, "main"]);
        std::fs::write(long.join("shared.txt"), text).unwrap();
        std::fs::write(long.join(branch), text).unwrap();
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "-m", branch]);
    }
    let bare = repo.beside("bare");
    repo.git(&[
        "clone",
        "--quiet",
        "--bare",
        long.to_str().unwrap(),
        bare.to_str().unwrap(),
    ]);
    for folder in [&long, &bare] {
        let words = [
            "weave", "one", "two", "--onto", "main", "--as", "hedge", "--json",
        ];
        let told = json(&pleach(folder, &repo.beside("home"), &words));
        assert_eq!(told["tip"].as_str().unwrap().len(), 64, "{told}");
        assert_eq!(told["merged"], serde_json::json!(["one"]), "{told}");
        repo.git_in(folder, &["fsck", "--strict"]);
    }
}

#[test]
fn what_a_killed_weaving_left_behind_is_swept_by_the_next_one() {
    let repo = repo(&THREE);
    let temporary = repo.beside("tmp");
    let abandoned = temporary.join("pleach-weave-abandoned");
    std::fs::create_dir_all(&abandoned).unwrap();
    std::fs::write(abandoned.join("in-use"), "").unwrap();
    let words = ["weave", "one", "--onto", "main", "--as", "hedge"];
    let mut command = command(repo.path(), &repo.beside("home"), &words);
    assert!(
        command
            .env("TMPDIR", &temporary)
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn others_cannot_look_at_what_is_being_woven() {
    let repo = repo(&THREE);
    let temporary = repo.beside("tmp");
    std::fs::create_dir(&temporary).unwrap();
    // A merge driver of the user's runs while the weaving is under way; it writes to the checkout and nowhere else.
    let seen = repo.path().join("seen");
    repo.write(".gitattributes", "story.txt merge=look\n");
    repo.commit("attributes");
    let driver = format!(
        "stat -c %a {}/* > {}; exit 1",
        temporary.display(),
        seen.display()
    );
    repo.git(&["config", "merge.look.driver", &driver]);
    let words = ["weave", "one", "two", "--onto", "main", "--as", "hedge"];
    let mut command = command(repo.path(), &repo.beside("home"), &words);
    command.env("TMPDIR", &temporary).output().unwrap();
    assert_eq!(std::fs::read_to_string(seen).unwrap(), "700\n");
}

#[test]
fn a_branch_that_is_being_rebased_is_not_moved() {
    let repo = repo(&THREE);
    repo.git(&["switch", "--quiet", "two"]);
    assert!(!repo.git_succeeds(repo.path(), &["rebase", "one"]));
    let answer = weave(&repo, &["three", "--onto", "two", "--as", "two"]);
    assert_eq!(answer.code, 2, "{}", answer.out);
    assert!(answer.err.contains("checked out"), "{}", answer.err);
}

#[test]
fn a_branch_comes_before_a_tag_of_its_name() {
    let repo = repo(&THREE);
    repo.git(&["tag", "one", "main"]);
    let answer = weave(&repo, &["one", "--onto", "main", "--as", "hedge"]);
    assert!(answer.out.contains("✓ one"), "{}", answer.out);
}

#[test]
fn attributes_of_the_user_give_way_to_those_of_the_repository() {
    let repo = repo(&THREE);
    let everywhere = repo.beside("home/.config/git");
    std::fs::create_dir_all(&everywhere).unwrap();
    std::fs::write(everywhere.join("attributes"), "*.txt merge=union\n").unwrap();
    let words = ["one", "two", "--onto", "main", "--dry-run"];
    assert_eq!(
        weave(&repo, &words).code,
        0,
        "they count where nobody else has a say"
    );
    repo.write(".gitattributes", "*.txt merge=text\n");
    repo.commit("attributes");
    assert_eq!(weave(&repo, &words).code, 1);
}

#[test]
fn files_that_are_to_be_normalized_are_merged_as_git_does() {
    let repo = repo(&THREE);
    repo.write(".gitattributes", "* text=auto\n");
    repo.commit("attributes");
    repo.git(&["config", "merge.renormalize", "true"]);
    let answer = weave(&repo, &["one", "three", "--onto", "main", "--as", "hedge"]);
    assert_eq!(answer.code, 0, "{}", answer.out);
}

#[test]
fn a_merge_driver_of_the_repository_is_found_and_its_files_are_not_touched() {
    let repo = repo(&THREE);
    repo.write("tools/take.sh", "cat $3 > $2\n");
    repo.write(".gitattributes", "story.txt merge=take\n");
    repo.commit("a driver");
    repo.git(&["config", "merge.take.driver", "sh tools/take.sh %O %A %B"]);
    let before = repo.fingerprint();
    let answer = weave(&repo, &["one", "two", "--onto", "main", "--as", "hedge"]);
    assert_eq!(answer.code, 0, "{}", answer.out);
    assert_eq!(
        repo.git(&["show", "hedge:story.txt"]),
        "Once\nupon\na\ntime"
    );
    repo.git(&["branch", "-D", "hedge"]);
    assert_eq!(repo.fingerprint(), before);
}

#[test]
fn branches_that_the_tests_fail_with_are_left_out() {
    let repo = TestRepo::new();
    for name in ["a", "b", "c"] {
        repo.git(&["checkout", "-q", "-b", name, "main"]);
        repo.write(format!("file-{name}"), "x\n");
        repo.commit(name);
    }
    repo.git(&["checkout", "-q", "main"]);
    let weave = |tests: &str| {
        let words = [
            "weave",
            "a",
            "b",
            "c",
            "--onto",
            "main",
            "--as",
            "hedge",
            "--json",
            "--validate",
            tests,
        ];
        pleach(repo.path(), &repo.beside("home"), &words)
    };
    let red = weave("false").bad(1);
    assert!(red.contains("the tests already fail on the base"), "{red}");
    assert!(
        weave("no-such-program")
            .bad(3)
            .contains("could not be completed")
    );
    assert_eq!(
        repo.git(&["branch", "--list", "hedge"]),
        "",
        "nothing was written"
    );
    let answer = weave("[ ! -e file-b ]");
    assert_eq!(answer.code, 1, "{}", answer.err);
    let told: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(told["merged"], serde_json::json!(["a", "c"]));
    assert_eq!(told["invalid"], serde_json::json!(["b"]));
    assert_eq!(
        told["tree"],
        repo.git(&["rev-parse", "hedge^{tree}"]).trim()
    );
    let files = repo.git(&["ls-tree", "--name-only", "hedge"]);
    assert!(
        files.contains("file-a") && !files.contains("file-b"),
        "{files}"
    );
}
