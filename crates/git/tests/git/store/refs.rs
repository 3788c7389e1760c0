//! Refs of the store that nobody but their owner may move.

use pleach_git::git::Store;
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
