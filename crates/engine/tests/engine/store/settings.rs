//! What a store is configured to do, and what agents can change about it.

use std::fs;
use std::path::Path;

use pleach_engine::git::{Mended, StoreError};
use pleach_engine::worktree::{Worktree, WorktreeSpec};
use pleach_testkit::TestRepo;

use crate::store::open;

fn set(repo: &TestRepo, folder: &Path, key: &str) -> String {
    let file = folder.join("config");
    repo.git(&["config", "--file", file.to_str().unwrap(), "--get", key])
}

#[test]
fn both_folders_of_a_store_keep_objects_and_write_them_through() {
    let repo = TestRepo::new();
    let store = open(&repo);
    let wanted = [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.preciousObjects", "true"),
        ("gc.auto", "0"),
        ("maintenance.auto", "false"),
        ("core.fsync", "committed"),
        ("core.logAllRefUpdates", "always"),
        ("fetch.fsckObjects", "true"),
        ("transfer.fsckObjects", "true"),
        ("receive.denyNonFastForwards", "true"),
    ];
    for folder in [store.git_dir(), store.home().join("vault.git")] {
        for (key, value) in wanted {
            assert_eq!(set(&repo, &folder, key), value, "{key}");
        }
        let config = fs::read_to_string(folder.join("config")).unwrap();
        assert!(!config.contains("mirror"), "{config}");
    }
}

#[test]
fn a_store_of_an_older_version_is_brought_up_to_date() {
    let repo = TestRepo::new();
    let store = open(&repo);
    let read = |name: &str| fs::read(store.home().join(name)).unwrap();
    let before = (read("store.git/config"), read("vault.git/config"));
    for name in ["init.config", "store.config"] {
        fs::remove_file(store.home().join(name)).unwrap();
    }
    for name in ["store.git/config", "vault.git/config"] {
        let old = "[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n";
        fs::write(store.home().join(name), old).unwrap();
    }
    open(&repo);
    assert_eq!((read("store.git/config"), read("vault.git/config")), before);
}

#[test]
fn agents_know_where_the_project_comes_from_and_cannot_push_anywhere() {
    let repo = TestRepo::new();
    let upstream = repo.beside("upstream.git");
    let address = upstream.to_str().unwrap();
    repo.git(&["init", "--quiet", "--bare", address]);
    let login = "https://ann:s3cret@git.example.com/a\"b.git";
    repo.git(&["remote", "add", "origin", login]);
    let store = open(&repo);
    let config = fs::read_to_string(store.git_dir().join("config")).unwrap();
    assert!(!config.contains("s3cret") && !config.contains("ann"));
    let spec = WorktreeSpec {
        path: repo.beside("worktrees").join("task"),
        branch: "pleach/task-1/1".into(),
        basis: store.resolve_base(None).unwrap(),
    };
    let worktree = Worktree::create(&store, &spec).unwrap();
    let origin = repo.git_in(worktree.path(), &["remote", "get-url", "origin"]);
    assert_eq!(origin, "https://git.example.com/a\"b.git");
    repo.git(&["remote", "set-url", "origin", address]);
    open(&repo);
    let origin = repo.git_in(worktree.path(), &["remote", "get-url", "origin"]);
    assert_eq!(origin, address, "the store follows the user's remote");
    let users = repo.path().to_str().unwrap();
    for to in ["origin", address, users] {
        let push = ["push", "--quiet", to, "HEAD:refs/heads/agent"];
        let told = repo.git_fails(worktree.path(), &push);
        assert!(told.contains("pleach-agents-do-not-push"), "{told}");
    }
    repo.git_in(worktree.path(), &["fetch", "--quiet", users]);
    assert_eq!(repo.git_in(&upstream, &["for-each-ref"]), "");
}

#[test]
fn a_configuration_that_an_agent_changed_is_put_back_and_told() {
    let repo = TestRepo::new();
    let store = open(&repo);
    assert_eq!(store.mend().unwrap(), []);
    let config = store.git_dir().join("config");
    let before = fs::read(&config).unwrap();
    repo.git_in(&store.git_dir(), &["config", "core.hooksPath", "/tmp"]);
    assert_ne!(fs::read(&config).unwrap(), before);
    assert_eq!(store.mend().unwrap(), [Mended::Config]);
    assert_eq!(fs::read(&config).unwrap(), before);
    fs::remove_file(&config).unwrap();
    assert_eq!(store.mend().unwrap(), [Mended::Config]);
    assert_eq!(fs::read(&config).unwrap(), before);
    assert_eq!(store.mend().unwrap(), []);
}

#[test]
fn the_guard_is_put_back_and_follows_the_program() {
    let repo = TestRepo::new();
    let store = open(&repo);
    let hook = store.git_dir().join("hooks/reference-transaction");
    let (first, second) = (Path::new("/bin/true"), Path::new("/bin/false"));
    store.install_guard(first).unwrap();
    assert_eq!(fs::read_link(&hook).unwrap(), first);
    store.install_guard(second).unwrap();
    assert_eq!(fs::read_link(&hook).unwrap(), second);
    fs::remove_file(&hook).unwrap();
    fs::write(&hook, "#!/bin/sh\n").unwrap();
    assert_eq!(store.mend().unwrap(), [Mended::Guard]);
    assert_eq!(fs::read_link(&hook).unwrap(), second);
    assert_eq!(store.mend().unwrap(), []);
    let error = store.install_guard(Path::new("/nowhere/pleach"));
    assert!(error.unwrap_err().to_string().contains("/nowhere/pleach"));
}

#[test]
fn a_user_without_a_name_is_no_obstacle() {
    let repo = TestRepo::new();
    for key in ["user.name", "user.email"] {
        repo.git(&["config", "--unset", key]);
    }
    let store = open(&repo);
    assert_eq!(store.identity().name, "Pleach");
    assert_eq!(store.identity().email, "pleach@localhost");
    let base = store.resolve_base(None).unwrap();
    let work = pleach_engine::capture::snapshot;
    let spec = WorktreeSpec {
        path: repo.beside("worktrees").join("task"),
        branch: "pleach/task-1/1".into(),
        basis: base,
    };
    let worktree = Worktree::create(&store, &spec).unwrap();
    fs::write(worktree.path().join("new"), "x").unwrap();
    assert!(work(&store, &worktree).unwrap().is_some());
}

#[test]
fn a_branch_without_commits_needs_a_base_that_has_some() {
    let repo = TestRepo::new();
    let head = repo.head();
    repo.git(&["checkout", "--quiet", "--orphan", "unborn"]);
    let store = open(&repo);
    let error = store.resolve_base(None).unwrap_err();
    assert!(matches!(error, StoreError::NoCommits { .. }), "{error}");
    assert!(error.hint().unwrap().contains("commit something"));
    assert_eq!(store.resolve_base(Some("main")).unwrap().as_str(), head);
}

#[test]
fn a_folder_of_logs_that_somebody_deleted_comes_back() {
    let repo = TestRepo::new();
    let store = open(&repo);
    fs::remove_dir_all(store.git_dir().join("logs")).unwrap();
    repo.write("more.txt", "more\n");
    repo.commit("more");
    let base = open(&repo).resolve_base(None).unwrap();
    assert_eq!(base.as_str(), repo.head());
}
