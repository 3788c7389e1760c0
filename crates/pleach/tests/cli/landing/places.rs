//! Where results go: other names of remotes, and branches of this machine that stay here.

use super::{Harbour, PROJECT, SHELL};

#[test]
fn a_remote_of_any_name_is_pushed_to_and_compared_with() {
    let harbour = Harbour::github("1", "validate = \"true\"", SHELL);
    let repo = &harbour.scene.repo;
    repo.git(&["remote", "rename", "origin", "hub"]);
    repo.git(&["checkout", "-q", "-b", "mine"]);
    repo.git(&["config", "branch.mine.remote", "hub"]);
    repo.git(&["config", "branch.mine.merge", "refs/heads/main"]);
    let story = harbour.run();
    story.check(0, "1:merged");
    harbour.check_landed(&story);
}

#[test]
fn another_place_to_push_to_is_the_one_that_is_compared_with() {
    let harbour = Harbour::github("1", "validate = \"true\"", SHELL);
    let repo = &harbour.scene.repo;
    let url = harbour.forge.url(PROJECT);
    repo.git(&["remote", "set-url", "origin", "../nowhere.git"]);
    repo.git(&["remote", "set-url", "--push", "origin", &url]);
    let story = harbour.run();
    story.check(0, "1:merged");
    harbour.check_landed(&story);
    harbour.move_base_now("other", "theirs\n");
    let again = harbour.story(&["land", "1"]);
    again.check(0, "1:merged");
    harbour.check_landed(&again);
    assert_eq!(again.told("batch:rewoven").len(), 1);
}

#[test]
fn commits_of_a_local_branch_that_should_get_the_result_stay_on_this_machine() {
    let harbour = Harbour::github("1", "land = \"none\"\nvalidate = \"true\"", SHELL);
    harbour.run().check(0, "1:merged");
    let repo = &harbour.scene.repo;
    repo.git(&["checkout", "-q", "-b", "private"]);
    repo.write("diary", "dear diary\n");
    repo.commit("private");
    let private = repo.git(&["rev-parse", "private"]);
    repo.git(&["checkout", "-q", "main"]);
    let into = harbour.story(&["land", "1", "--into", "private"]);
    assert_eq!(into.code, 1, "it has commits of its own: {}", into.err);
    let landed = harbour.story(&["land", "1", "--yes"]);
    landed.check(0, "1:merged");
    harbour.check_landed(&landed);
    let pushed = harbour.git_there(&["rev-list", "pleach/batch-1"]);
    assert!(!pushed.contains(private.trim()), "{pushed}");
    let files = harbour.git_there(&["ls-tree", "--name-only", "pleach/batch-1"]);
    assert!(
        files.contains("file-1") && !files.contains("diary"),
        "{files}"
    );
}
