//! What is pushed along with a result: the user's own commits that the server does not have.

use super::{Harbour, SHELL};

/// Put together here, so that this file holds no secret.
fn token() -> String {
    format!("ghp{}", "_kT4Vw9ZqLx2RbN7mYc1DfGh8JsPu5AoEi3Q6")
}

/// A repository that is ahead of its server by commits of the user, who has fetched it once.
fn ahead(files: &[(&str, &str)]) -> Harbour {
    let harbour = Harbour::github("1, 2", "validate = \"true\"", SHELL);
    let repo = &harbour.scene.repo;
    let main = repo.head();
    repo.git(&["update-ref", "refs/remotes/origin/main", &main]);
    for (file, text) in files {
        repo.write(file, text);
        repo.commit(&format!("my {file}"));
    }
    harbour
}

#[test]
fn a_secret_in_a_commit_of_the_user_that_the_server_does_not_have_stops_the_push() {
    let leak = format!("token = {}\n", token());
    let harbour = ahead(&[("settings.ini", &leak), ("other", "x\n")]);
    let story = harbour.run();
    story.check(1, "1:merged 2:merged");
    let told = story.told("batch:not_landed")[0];
    let reason = told["reason"].as_str().unwrap();
    assert!(reason.contains("settings.ini:1"), "{reason}");
    assert!(reason.contains("2 commits of yours"), "{reason}");
    assert_eq!(harbour.branches_there(), "");
    let hint = told["hint"].as_str().unwrap();
    let server = harbour.there("refs/heads/main");
    assert!(
        hint.contains(&format!("--soft {}", &server[..12])),
        "{hint}"
    );
    let anyway = harbour.story(&["land", "1", "--despite-findings"]);
    assert_eq!(anyway.code, 0, "{}", anyway.err);
    harbour.check_landed(&anyway);
}

#[test]
fn a_secret_that_the_server_has_on_another_branch_stops_nothing() {
    let leak = format!("token = {}\n", token());
    let harbour = ahead(&[("settings.ini", &leak)]);
    let place = harbour.forge.repository(super::PROJECT);
    let repo = &harbour.scene.repo;
    repo.git(&["push", "-q", place.to_str().unwrap(), "main:feature"]);
    let story = harbour.run();
    story.check(0, "1:merged 2:merged");
    harbour.check_landed(&story);
}

#[test]
fn commits_of_the_user_that_would_be_pushed_along_are_named_before() {
    let files = ["a", "b", "c", "d"].map(|file| (file, "x\n"));
    let harbour = ahead(&files);
    let shown = harbour.pleach(&["run", "all", "--dry-run", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.good()).unwrap();
    let unpushed = shown["landing"]["unpushed"].as_array().unwrap();
    let subjects: Vec<_> = unpushed.iter().map(|one| &one["subject"]).collect();
    assert_eq!(subjects, ["my d", "my c", "my b", "my a"]);
    let named = "4 commits of yours that origin/main does not have: ";
    let shown = harbour.pleach(&["run", "all", "--dry-run"]).good();
    assert!(shown.contains(named), "{shown}");
    assert!(shown.contains(" my b and 1 more"), "{shown}");
    let shown = harbour.pleach(&["run", "all", "--no-pr", "--dry-run"]);
    assert!(!shown.good().contains("of yours"));
    let shown = harbour.pleach(&["run", "all", "--yes"]);
    assert!(shown.err.contains(named), "{}", shown.err);
}
