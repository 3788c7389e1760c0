//! Worktrees: made whole or not at all, many at once, removed without a trace.

mod crowd;
mod killed;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::thread;

use pleach_git::capture::keep_last_state;
use pleach_git::git::{CommitId, Git, Store};
use pleach_git::worktree::{
    TreeState, Worktree, WorktreeError, WorktreeSpec, finish_removals, list,
};
use pleach_testkit::TestRepo;

fn open(repo: &TestRepo) -> (Store, CommitId) {
    let stores = repo.beside("stores");
    let store = Store::open(Git::find().unwrap(), &stores, repo.path()).unwrap();
    let basis = store.resolve_base(None).unwrap();
    (store, basis)
}

fn spec(repo: &TestRepo, task: &str, basis: &CommitId) -> WorktreeSpec {
    WorktreeSpec {
        path: repo.beside("worktrees").join(format!("task-{task}")),
        branch: format!("pleach/task-1/{task}"),
        basis: basis.clone(),
    }
}

fn leftovers(repo: &TestRepo) -> Vec<PathBuf> {
    let entries = fs::read_dir(repo.beside("worktrees")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_worktree_is_clean_on_its_branch_and_stock_git_understands_it() {
    let repo = TestRepo::new();
    repo.write("run.sh", "#!/bin/sh\n");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(repo.path().join("run.sh"), executable).unwrap();
    repo.commit("script");
    let (store, basis) = open(&repo);
    let before = repo.fingerprint();
    let worktree = Worktree::create(&store, &spec(&repo, "63", &basis)).unwrap();
    let git = |args: &[&str]| repo.git_in(worktree.path(), args);
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert_eq!(git(&["branch", "--show-current"]), "pleach/task-1/63");
    assert_eq!(git(&["rev-parse", "HEAD"]), basis.as_str());
    git(&["commit", "--quiet", "--allow-empty", "-m", "works"]);
    git(&["fsck", "--no-dangling"]);
    assert_eq!(git(&["rev-parse", "local/main"]), basis.as_str());
    let tip = store.ref_commit("refs/heads/pleach/task-1/63").unwrap();
    assert_eq!(tip.as_ref(), Some(&basis), "the store has nothing of it");
    assert_eq!(repo.fingerprint(), before);
}

#[test]
fn twenty_four_worktrees_can_be_made_at_once() {
    let repo = TestRepo::new();
    for n in 0..40 {
        repo.write(format!("src/{n}.txt"), format!("{n}\n"));
    }
    repo.commit("files");
    let (store, basis) = open(&repo);
    let before = repo.fingerprint();
    thread::scope(|scope| {
        for n in 0..24 {
            let (store, repo, basis) = (&store, &repo, &basis);
            scope.spawn(move || {
                let spec = spec(repo, &n.to_string(), basis);
                let worktree = Worktree::create(store, &spec).unwrap();
                let status = repo.git_in(worktree.path(), &["status", "--porcelain"]);
                assert_eq!(status, "");
            });
        }
    });
    assert_eq!(leftovers(&repo).len(), 24);
    assert_eq!(repo.fingerprint(), before);
}

#[test]
fn removing_leaves_neither_files_nor_registration() {
    let repo = TestRepo::new();
    let (store, basis) = open(&repo);
    let spec = spec(&repo, "1", &basis);
    let worktree = Worktree::create(&store, &spec).unwrap();
    let sealed = worktree.path().join("sealed/inner");
    fs::create_dir_all(&sealed).unwrap();
    fs::write(sealed.join("file"), "x").unwrap();
    fs::set_permissions(&sealed, fs::Permissions::from_mode(0o500)).unwrap();
    assert!(Worktree::existing(&store, &spec).unwrap().is_some());
    worktree.retire(&store, "1").unwrap();
    assert!(Worktree::existing(&store, &spec).unwrap().is_none());
    finish_removals();
    assert!(leftovers(&repo).is_empty());
    let listed = repo.git_in(&store.git_dir(), &["worktree", "list"]);
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[test]
fn removing_what_an_agent_destroyed_already_is_no_error() {
    let repo = TestRepo::new();
    let (store, basis) = open(&repo);
    let worktree = Worktree::create(&store, &spec(&repo, "1", &basis)).unwrap();
    let git = |args: &[&str]| repo.git_in(worktree.path(), args);
    git(&["switch", "--quiet", "--detach"]);
    git(&[
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "committed before",
    ]);
    let head = git(&["rev-parse", "HEAD"]);
    fs::remove_dir_all(worktree.path()).unwrap();
    let kept = worktree.retire(&store, "1").unwrap();
    assert_eq!(kept.unwrap().as_str(), head);
    let refs = repo.git_in(&store.git_dir(), &["for-each-ref", "refs/pleach/keep"]);
    assert!(refs.contains(&head), "{refs}");
    assert!(leftovers(&repo).is_empty());
}

#[test]
fn a_folder_that_is_there_already_is_not_touched() {
    let repo = TestRepo::new();
    let (store, basis) = open(&repo);
    let spec = spec(&repo, "1", &basis);
    fs::create_dir_all(&spec.path).unwrap();
    fs::write(spec.path.join("precious"), "x").unwrap();
    let error = Worktree::create(&store, &spec).unwrap_err();
    assert!(matches!(error, WorktreeError::Exists { .. }), "{error}");
    assert!(spec.path.join("precious").exists());
    assert_eq!(
        store.ref_commit("refs/heads/pleach/task-1/1").unwrap(),
        None
    );
}

#[test]
fn a_second_attempt_starts_clean_and_the_first_ones_branch_is_kept() {
    let repo = TestRepo::new();
    let (store, basis) = open(&repo);
    let spec = spec(&repo, "1", &basis);
    let first = Worktree::create(&store, &spec).unwrap();
    let git = |args: &[&str]| repo.git_in(first.path(), args);
    git(&["commit", "--quiet", "--allow-empty", "-m", "attempt"]);
    let attempt = git(&["rev-parse", "HEAD"]);
    first.retire(&store, "elsewhere").unwrap();
    let second = Worktree::create(&store, &spec).unwrap();
    let head = repo.git_in(second.path(), &["rev-parse", "HEAD"]);
    assert_eq!(head, basis.as_str());
    let kept = repo.git_in(&store.git_dir(), &["for-each-ref", "refs/pleach/keep"]);
    assert!(kept.contains(&attempt), "{kept}");
}

#[test]
fn a_filter_that_an_agent_configured_does_not_run_at_the_next_checkout() {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "* filter=evil\n");
    repo.commit("attributes");
    let (store, basis) = open(&repo);
    let canary = repo.beside("canary");
    let smudge = format!("touch {}; cat", canary.display());
    let first = Worktree::create(&store, &spec(&repo, "2", &basis)).unwrap();
    repo.git_in(first.path(), &["config", "filter.evil.smudge", &smudge]);
    let worktree = Worktree::create(&store, &spec(&repo, "1", &basis)).unwrap();
    assert!(worktree.path().join("README.md").exists());
    assert!(!canary.exists());
}

#[test]
fn worktrees_are_listed_with_what_is_there_of_them() {
    let repo = TestRepo::new();
    let (store, basis) = open(&repo);
    assert_eq!(list(&store).unwrap(), []);
    let [whole, gone, unknown] = ["1", "2", "3"].map(|task| {
        let worktree = Worktree::create(&store, &spec(&repo, task, &basis)).unwrap();
        worktree.path().to_owned()
    });
    repo.git_in(
        &whole,
        &["commit", "--quiet", "--allow-empty", "-m", "work"],
    );
    let head = repo.git_in(&whole, &["rev-parse", "HEAD"]);
    fs::remove_dir_all(&gone).unwrap();
    // An agent that is asked to look would run what is configured there.
    fs::write(whole.join(".git"), "gitdir: /nowhere\n").unwrap();
    let id = fs::read(unknown.join(".git")).unwrap();
    let admin = String::from_utf8(id).unwrap();
    fs::remove_dir_all(admin.trim().strip_prefix("gitdir: ").unwrap()).unwrap();
    let listed = list(&store).unwrap();
    let states: Vec<_> = listed.iter().map(|tree| (&tree.path, tree.state)).collect();
    let expected = [
        (&whole, TreeState::InUse),
        (&gone, TreeState::FolderGone),
        (&unknown, TreeState::Unregistered),
    ];
    assert_eq!(states, expected);
    assert_eq!(listed[0].branch.as_deref(), Some("pleach/task-1/1"));
    assert_eq!(listed[0].head.as_ref().unwrap().as_str(), head);
    assert_eq!(listed[0].basis.as_ref(), Some(&basis));
    assert!(listed[0].age.unwrap().as_secs() < 3600);
    // What is left of each can be begun anew, but for the one that may hold work.
    Worktree::create(&store, &spec(&repo, "2", &basis)).unwrap();
    let error = Worktree::create(&store, &spec(&repo, "3", &basis)).unwrap_err();
    assert!(matches!(error, WorktreeError::Exists { .. }), "{error}");
    let left = Worktree::existing(&store, &spec(&repo, "3", &basis)).unwrap();
    left.unwrap().retire(&store, "3").unwrap();
    Worktree::create(&store, &spec(&repo, "3", &basis)).unwrap();
}

#[test]
fn a_worktree_goes_only_for_proof_of_its_own() {
    let repo = TestRepo::new();
    let (store, basis) = open(&repo);
    let one = Worktree::create(&store, &spec(&repo, "1", &basis)).unwrap();
    let other = Worktree::create(&store, &spec(&repo, "2", &basis)).unwrap();
    fs::write(one.path().join("work.txt"), "work").unwrap();
    let kept = keep_last_state(&store, &other, "2").unwrap();
    let path = one.path().to_owned();
    let error = one.remove(&store, &kept).unwrap_err();
    assert!(matches!(error, WorktreeError::NotKept { .. }), "{error}");
    assert!(path.join("work.txt").exists());
    other.remove(&store, &kept).unwrap();
}

#[test]
fn a_submodule_is_an_empty_folder() {
    let repo = TestRepo::new();
    let entry = format!("160000,{},lib/sub", "1".repeat(40));
    repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
    repo.git(&["commit", "--quiet", "-m", "submodule"]);
    let (store, basis) = open(&repo);
    let worktree = Worktree::create(&store, &spec(&repo, "1", &basis)).unwrap();
    let folder = worktree.path().join("lib/sub");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}
