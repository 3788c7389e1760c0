//! Refs of the store that nobody but their owner may move.

use std::fs;

use pleach_engine::git::{Moved, Store};
use pleach_testkit::TestRepo;

use crate::store::{id, open};

fn refs(repo: &TestRepo, store: &Store) -> String {
    let format = "--format=%(objectname) %(refname) %(symref)";
    let list = ["for-each-ref", format, "refs/heads", "refs/pleach"];
    repo.git_in(&store.git_dir(), &list)
}

#[test]
fn fetching_touches_no_branch_and_nothing_that_is_kept() {
    let repo = TestRepo::new();
    let first = id(&repo.head());
    repo.git(&["branch", "gone"]);
    let store = open(&repo);
    store.resolve_base(None).unwrap();
    store.keep(&first, "1/63").unwrap();
    let git = |args: &[&str]| repo.git_in(&store.git_dir(), args);
    for branch in ["gone", "main", "pleach/task-1/63"] {
        git(&["branch", branch, first.as_str()]);
    }
    // Would make a fetch write to the branch that they lead to.
    let branch = "refs/heads/pleach/task-1/63";
    git(&["symbolic-ref", "refs/remotes/local/main", branch]);
    git(&["symbolic-ref", "refs/remotes/local/planted", branch]);
    let before = refs(&repo, &store);
    let second = repo.commit("second");
    repo.git(&["branch", "-D", "gone"]);
    for name in [
        "HEAD",
        "planted",
        "pleach/task-1/63",
        "pleach/keep/1/63",
        "refs/heads/pleach/task-1/63",
        "origin/HEAD",
    ] {
        repo.git(&["update-ref", &format!("refs/heads/{name}"), &second]);
    }
    let store = open(&repo);
    assert_eq!(refs(&repo, &store), before);
    let local = store.ref_commit("refs/remotes/local/main").unwrap();
    assert_eq!(local, Some(id(&second)));
    assert_eq!(store.ref_commit("refs/remotes/local/gone").unwrap(), None);
    let own = "refs/remotes/local/pleach/task-1/63";
    assert_eq!(store.ref_commit(own).unwrap(), None);
}

#[test]
fn refs_that_were_moved_are_put_back_and_what_was_there_is_kept() {
    let repo = TestRepo::new();
    let first = id(&repo.head());
    let second = id(&repo.commit("second"));
    let store = open(&repo);
    let git = |args: &[&str]| repo.git_in(&store.git_dir(), args);
    store.keep(&first, "1/63").unwrap();
    for branch in ["moved", "deleted", "linked", "pleach/task-1/1"] {
        git(&["branch", branch, first.as_str()]);
    }
    let before = store.refs_snapshot(&["refs/heads/pleach/"]).unwrap();
    let refs_before = refs(&repo, &store);
    assert_eq!(store.restore_refs(&before).unwrap(), []);

    git(&["update-ref", "refs/heads/moved", second.as_str()]);
    git(&["update-ref", "-d", "refs/heads/deleted"]);
    git(&["update-ref", "-d", "refs/heads/linked"]);
    git(&["symbolic-ref", "refs/heads/linked", "refs/heads/moved"]);
    git(&["tag", "appeared", second.as_str()]);
    git(&["update-ref", "-d", "refs/pleach/keep/1/63"]);
    let moved = store.restore_refs(&before).unwrap();
    let mut told: Vec<_> = moved.iter().map(|m| (m.name.as_str(), m.how)).collect();
    told.sort_unstable_by_key(|(name, _)| *name);
    let expected = [
        ("refs/heads/deleted", Moved::Disappeared),
        ("refs/heads/linked", Moved::Changed),
        ("refs/heads/moved", Moved::Changed),
        ("refs/pleach/keep/1/63", Moved::Disappeared),
        ("refs/tags/appeared", Moved::Appeared),
    ];
    assert_eq!(told, expected);
    assert!(moved.iter().all(|moved| moved.is_restored), "{moved:?}");
    assert_eq!(git(&["tag"]), "");
    let kept = git(&[
        "for-each-ref",
        "--contains",
        second.as_str(),
        "refs/pleach/keep",
    ]);
    assert!(!kept.is_empty(), "the commit that was put there is kept");
    let foreign = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.contains("keep/moved/"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(foreign(&refs(&repo, &store)), foreign(&refs_before));
    assert_eq!(store.restore_refs(&before).unwrap(), []);
}

#[test]
fn what_moves_rightly_is_left_alone() {
    let repo = TestRepo::new();
    let first = id(&repo.head());
    let second = id(&repo.commit("second"));
    let store = open(&repo);
    let before = store.refs_snapshot(&["refs/heads/pleach/"]).unwrap();
    let git = |args: &[&str]| repo.git_in(&store.git_dir(), args);
    git(&["branch", "pleach/task-1/1", second.as_str()]);
    store.keep(&first, "1/64").unwrap();
    store.resolve_base(None).unwrap();
    let now = refs(&repo, &store);
    assert_eq!(store.restore_refs(&before).unwrap(), []);
    assert_eq!(refs(&repo, &store), now);
}

#[test]
fn a_ref_that_cannot_be_put_back_is_told_as_such() {
    let repo = TestRepo::new();
    let first = id(&repo.head());
    let store = open(&repo);
    let git = |args: &[&str]| repo.git_in(&store.git_dir(), args);
    git(&["branch", "deleted", first.as_str()]);
    let before = store.refs_snapshot(&[]).unwrap();
    git(&["update-ref", "-d", "refs/heads/deleted"]);
    fs::write(store.git_dir().join("refs/heads/deleted.lock"), "").unwrap();
    let moved = store.restore_refs(&before).unwrap();
    assert!(!moved[0].is_restored);
    assert!(moved[0].to_string().contains("could not be put back"));
}
