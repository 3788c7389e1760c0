//! The scan before a push: what is new counts, what was there does not.

use std::fs;
use std::os::unix::fs::symlink;

use pleach_loop::landing::scan::scan;
use pleach_system::secrets::{Hider, Secrets};
use pleach_testkit::TestRepo;

use crate::landing::{id, open};

/// Put together here, so that this file holds no secret.
fn token() -> String {
    format!("ghp{}", "_kT4Vw9ZqLx2RbN7mYc1DfGh8JsPu5AoEi3Q6")
}

fn other_token() -> String {
    format!("npm{}", "_R8nX2cV5bQ1wE7rT9yU3iO6pA4sD0fGhJkLz")
}

/// What is found between the first commit of a repository and its last one.
#[track_caller]
fn found(repo: &TestRepo) -> Vec<String> {
    let base = repo.git(&["rev-list", "--max-parents=0", "HEAD"]);
    between(repo, &base, &repo.head())
}

#[track_caller]
fn between(repo: &TestRepo, base: &str, tip: &str) -> Vec<String> {
    let findings = scan(&open(repo), &[id(base)], &id(tip), &Hider::default()).unwrap();
    let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
    for secret in [token(), other_token()] {
        let repeated = told.iter().any(|line| line.contains(&secret[..5]));
        assert!(!repeated, "{told:?}");
    }
    told
}

/// A repository whose first commit holds some files.
fn with(files: &[(&str, &str)]) -> TestRepo {
    let repo = TestRepo::empty();
    repo.write("README.md", "a test\n");
    for (file, content) in files {
        repo.write(file, content);
    }
    repo.commit("base");
    repo
}

#[test]
fn a_new_secret_is_named_by_file_and_line_and_never_repeated() {
    let repo = with(&[("src/a.rs", "one\ntwo\n")]);
    repo.write("src/a.rs", format!("one\ntwo\nlet t = \"{}\";\n", token()));
    repo.write("b.json", format!("{{\"t\": \"{}\"}}", other_token()));
    repo.write("c.bin", format!("\0\0\n\n{}", token().replace('k', "K")));
    repo.commit("leak");
    let expected = [
        "b.json:1: npm token (npm_…)",
        "c.bin: GitHub token (ghp_…)",
        "src/a.rs:3: GitHub token (ghp_…)",
    ];
    assert_eq!(found(&repo), expected);
}

#[test]
fn a_known_value_is_found_in_commits_names_and_links_unless_the_base_has_it() {
    let mut secrets = Secrets::default();
    secrets.add("DB", "hunter2-hunter2");
    secrets.add("TITLE", "My Great Site 7");
    let repo = with(&[("old", "My Great Site 7\n")]);
    let base = repo.head();
    repo.write("new", "My Great Site 7\nx=hunter2-hunter2\n");
    repo.write("by hunter2-hunter2", "x\n");
    symlink("hunter2-hunter2", repo.path().join("link")).unwrap();
    repo.commit("one");
    let one = repo.head();
    repo.git(&["rm", "-q", "new", "by hunter2-hunter2", "link"]);
    repo.commit("two");
    let all = |from: &str, to: &str| -> Vec<String> {
        let hider = secrets.hider();
        let found = scan(&open(&repo), &[id(from)], &id(to), &hider).unwrap();
        found.iter().map(ToString::to_string).collect()
    };
    let found = all(&base, &one);
    // Each way to write it is told once.
    assert_eq!(found, ["by [hidden:DB]: the value of DB in a file name"]);
    let earlier = format!(
        "by [hidden:DB]: the value of DB in a file name (in commit {one:.10}, removed later)"
    );
    assert_eq!(all(&base, &repo.head()), [earlier]);
    assert_eq!(all(&one, &repo.head()), [""; 0], "the base has it");
    repo.git(&["checkout", "-q", "-b", "other", &base]);
    repo.git(&[
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "x",
        "-m",
        "for hunter2-hunter2",
    ]);
    let message = format!(
        "commit {:.10}: the value of DB in the commit message",
        repo.head()
    );
    assert_eq!(all(&base, &repo.head()), [message]);
}

#[test]
fn what_was_there_before_is_no_news() {
    let old = format!("first\n{}\nlast\n", token());
    let repo = with(&[("a", &old), ("b", &old), ("c", &old), (".env", "A=1\n")]);
    repo.write("a", format!("first\nnew\nlast\nx {} y\n", token()));
    repo.git(&["mv", "b", "moved"]);
    repo.git(&["mv", ".env", "deep.env"]);
    repo.git(&["mv", "deep.env", ".env.local"]);
    repo.git(&["rm", "--quiet", "c"]);
    repo.commit("moves");
    assert_eq!(found(&repo), [""; 0]);
    repo.write("a", format!("{}\n{}\n", token(), other_token()));
    repo.git(&["mv", "moved", "edited"]);
    repo.write("edited", format!("{old}and more\n"));
    repo.commit("one more");
    assert_eq!(found(&repo), ["a:2: npm token (npm_…)"]);
}

#[test]
fn a_file_that_was_edited_and_put_back_is_no_news() {
    let old = format!("first\n{}\nlast\n", token());
    let repo = with(&[("a", &old)]);
    repo.write("a", format!("{old}and more\n"));
    repo.commit("edited");
    repo.git(&["mv", "a", "b"]);
    repo.commit("moved");
    repo.git(&["mv", "b", "a"]);
    repo.write("a", &old);
    repo.write("other", "x");
    repo.commit("put back");
    assert_eq!(found(&repo), [""; 0]);
}

#[test]
fn a_secret_that_a_later_commit_took_away_is_pushed_all_the_same() {
    let repo = with(&[("a", "nothing\n")]);
    repo.write("a", format!("{}\n", token()));
    repo.write(".env", "A=1\n");
    let leak = repo.commit("leak");
    repo.write("a", "nothing again\n");
    fs::remove_file(repo.path().join(".env")).unwrap();
    repo.commit("oh");
    let where_ = format!(" (in commit {}, removed later)", &leak[..10]);
    let expected = [
        format!(".env: a new file of a kind that usually holds secrets{where_}"),
        format!("a:1: GitHub token (ghp_…){where_}"),
    ];
    assert_eq!(found(&repo), expected);
    let base = repo.git(&["rev-parse", "HEAD~2"]);
    repo.git(&["reset", "--quiet", "--soft", &base]);
    let squashed = repo.commit("only the result");
    assert_eq!(between(&repo, &base, &squashed), [""; 0]);
}

#[test]
fn what_a_merge_brings_from_the_base_is_no_news() {
    let repo = with(&[]);
    repo.branch("task");
    repo.write("task", "work\n");
    repo.commit("work");
    repo.git(&["switch", "--quiet", "main"]);
    repo.write("theirs", format!("{}\n", token()));
    let base = repo.commit("a secret of somebody else");
    repo.git(&["switch", "--quiet", "task"]);
    repo.git(&["merge", "--quiet", "--no-edit", "main"]);
    repo.write("task", "more work\n");
    let tip = repo.commit("more");
    assert_eq!(between(&repo, &base, &tip), [""; 0]);
    repo.git(&["rm", "--quiet", "theirs"]);
    repo.commit("without");
    repo.git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(between(&repo, &base, &repo.head()), [""; 0]);
    repo.write("task", other_token());
    repo.commit("a new one");
    let told = between(&repo, &base, &repo.head());
    assert_eq!(told, ["task:1: npm token (npm_…)"]);
}

#[test]
fn files_of_settings_count_when_they_are_new_and_no_examples() {
    let repo = with(&[(".env", "A=1\n")]);
    for file in [
        ".env",
        ".env.example",
        ".env.local.sample",
        "a/.env.template",
        "a/.env.production",
        "a/b/.ENV",
        ".envrc",
        "x.env",
    ] {
        repo.write(file, format!("B={file}\n"));
    }
    repo.commit("settings");
    let told = ": a new file of a kind that usually holds secrets";
    let expected = ["a/.env.production", "a/b/.ENV"].map(|file| format!("{file}{told}"));
    assert_eq!(found(&repo), expected);
}

#[test]
fn a_file_counts_when_it_is_large_and_was_not() {
    let repo = with(&[
        ("grows", "x"),
        ("was", &"y".repeat(5_000_001)),
        ("big", "z"),
        ("past", &"p".repeat(5_000_001)),
        ("was longer", &"l".repeat(16_000_001)),
    ]);
    repo.write("grows", "x".repeat(5_200_000));
    repo.write("was", "y".repeat(6_000_000));
    repo.write("big", "z".repeat(5_000_000));
    repo.write("new", "n".repeat(17_340_000));
    repo.write("past", "p".repeat(16_100_000));
    repo.write("was longer", "l".repeat(16_100_000));
    repo.commit("large");
    let expected = [
        "grows: a file of 5.2 MB",
        "new: a file of 17.3 MB",
        // It was searched before, and cannot be any more.
        "past: a file of 16.1 MB",
    ];
    assert_eq!(found(&repo), expected);
    let files = ["grows", "was", "big", "new", "past", "was longer"];
    repo.git(&[&["rm", "--quiet"], &files[..]].concat());
    repo.git(&["commit", "--quiet", "--amend", "-m", "small"]);
    assert_eq!(found(&repo), [""; 0]);
}

#[test]
fn links_count_when_they_lead_out() {
    let repo = with(&[("a/b/file", "x")]);
    symlink("/etc/old", repo.path().join("old")).unwrap();
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "--quiet", "--amend", "-m", "base"]);
    for (link, target) in [
        ("in", "a/b/file"),
        ("a/b/up", "../../README.md"),
        ("a/twice", "b/../../README.md"),
        ("absolute", "/etc/passwd"),
        ("a/out", "../../secret"),
        ("a/b/through", "x/../../../.."),
        ("hooks", ".git/hooks"),
    ] {
        symlink(target, repo.path().join(link)).unwrap();
    }
    repo.commit("links");
    let expected = [
        "a/b/through: a link out of the repository, to x/../../../..",
        "a/out: a link out of the repository, to ../../secret",
        "absolute: a link out of the repository, to /etc/passwd",
        "hooks: a link out of the repository, to .git/hooks",
    ];
    assert_eq!(found(&repo), expected);
}

#[test]
fn a_submodule_counts_when_it_is_new() {
    let repo = with(&[]);
    let commit = repo.head();
    let add = |path: &str, commit: &str| {
        let entry = format!("160000,{commit},{path}");
        repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
    };
    add("known", &commit);
    repo.git(&["commit", "--quiet", "--amend", "-m", "base"]);
    let base = repo.head();
    add("known", &base);
    add("new/one", &base);
    repo.git(&["commit", "--quiet", "-m", "submodules"]);
    let told = between(&repo, &base, &repo.head());
    assert_eq!(told, ["new/one: a new submodule"]);
}

#[test]
fn everything_counts_that_no_branch_of_the_server_has() {
    let repo = with(&[]);
    let server = repo.head();
    repo.branch("feature");
    repo.write("feature", format!("{}\n", token()));
    let feature = repo.commit("a secret that the server has");
    repo.git(&["switch", "--quiet", "main"]);
    repo.write("mine", format!("{}\n", other_token()));
    repo.commit("a secret of the user");
    repo.git(&["merge", "--quiet", "--no-edit", "feature"]);
    let base = repo.head();
    repo.write("task", "work\n");
    let tip = repo.commit("a task");
    let nowhere = id("0123456789012345678901234567890123456789");
    let all = |there: &[&str]| -> Vec<String> {
        let there = there
            .iter()
            .map(|commit| id(commit))
            .chain([nowhere.clone()]);
        let there: Vec<_> = there.collect();
        let found = scan(&open(&repo), &there, &id(&tip), &Hider::default()).unwrap();
        found.iter().map(ToString::to_string).collect()
    };
    let (mine, theirs) = (
        "mine:1: npm token (npm_…)",
        "feature:1: GitHub token (ghp_…)",
    );
    assert_eq!(all(&[&server, &feature]), [mine]);
    assert_eq!(all(&[&server]), [theirs, mine]);
    assert_eq!(all(&[]), [theirs, mine], "to a server without anything");
    assert_eq!(all(&[&base]), [""; 0]);
    assert_eq!(all(&[&tip]), [""; 0]);
}
