//! What a store is configured to do, and what agents can change about it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use pleach_git::git::StoreError;
use pleach_git::worktree::{Worktree, WorktreeSpec};
use pleach_testkit::TestRepo;

use crate::store::open;

fn set(repo: &TestRepo, file: &Path, key: &str) -> String {
    repo.git(&["config", "--file", file.to_str().unwrap(), "--get", key])
}

#[test]
fn a_store_and_what_agents_get_of_it_keep_objects_and_write_them_through() {
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
    for file in [
        store.git_dir().join("config"),
        store.home().join("agent.config"),
    ] {
        for (key, value) in wanted {
            assert_eq!(set(&repo, &file, key), value, "{key}");
        }
        let config = fs::read_to_string(file).unwrap();
        assert!(!config.contains("mirror"), "{config}");
    }
}

#[test]
fn settings_of_an_older_version_are_brought_up_to_date() {
    let repo = TestRepo::new();
    let store = open(&repo);
    let read = |name: &str| fs::read(store.home().join(name)).unwrap();
    let before = (read("store.git/config"), read("agent.config"));
    for name in ["init.config", "agent.config"] {
        fs::remove_file(store.home().join(name)).unwrap();
    }
    let old = "[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n";
    fs::write(store.home().join("store.git/config"), old).unwrap();
    open(&repo);
    assert_eq!((read("store.git/config"), read("agent.config")), before);
}

#[test]
fn a_store_that_agents_could_write_to_is_checked_before_it_is_used_again() {
    let repo = TestRepo::new();
    let store = open(&repo);
    let (home, git_dir) = (store.home().to_owned(), store.git_dir());
    let kept = store.resolve_base(None).unwrap();
    store.keep(&kept, "old/work").unwrap();
    // As an older version laid it out, with an object that somebody swapped.
    let vault = home.join("vault.git");
    fs::create_dir(&vault).unwrap();
    symlink("../store.git/refs", vault.join("refs")).unwrap();
    fs::create_dir(git_dir.join("packed")).unwrap();
    let packed = format!("# pack-refs with: sorted \n{kept} refs/pleach/keep/packed\n");
    fs::write(git_dir.join("packed/packed-refs"), packed).unwrap();
    symlink("packed/packed-refs", git_dir.join("packed-refs")).unwrap();
    let readme = repo.git(&["rev-parse", "HEAD:README.md"]);
    let object = git_dir
        .join("objects")
        .join(&readme[..2])
        .join(&readme[2..]);
    let other = fs::read_dir(git_dir.join("objects").join(&kept.as_str()[..2])).unwrap();
    let other = other.flatten().next().unwrap().path();
    fs::remove_file(&object).unwrap();
    fs::copy(other, &object).unwrap();
    let store = open(&repo);
    assert!(!vault.exists() && !git_dir.join("packed").exists());
    for name in ["refs/pleach/keep/old/work", "refs/pleach/keep/packed"] {
        assert_eq!(
            store.ref_commit(name).unwrap().as_ref(),
            Some(&kept),
            "{name}"
        );
    }
    repo.git_in(&git_dir, &["fsck", "--strict"]);
}

#[test]
fn links_pipes_and_rubbish_in_a_store_are_moved_away_and_told() {
    let repo = TestRepo::new();
    let store = open(&repo);
    let git_dir = store.git_dir();
    let outside = repo.beside("outside");
    fs::write(&outside, "mine\n").unwrap();
    assert_eq!(store.repair().unwrap(), None);
    let pipe = |name: &str| {
        let mode = rustix::fs::Mode::RWXU;
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, git_dir.join(name), kind, mode, 0).unwrap();
    };
    pipe("packed-refs");
    pipe("refs/heads/pipe");
    symlink(&outside, git_dir.join("refs/heads/link")).unwrap();
    fs::write(git_dir.join("refs/heads/rubbish"), "x\n").unwrap();
    let told = store.repair().unwrap().unwrap();
    let mut files: Vec<_> = told
        .files
        .iter()
        .map(|file| file.to_str().unwrap())
        .collect();
    files.sort_unstable();
    let expected = [
        "packed-refs",
        "refs/heads/link",
        "refs/heads/pipe",
        "refs/heads/rubbish",
    ];
    assert_eq!(files, expected);
    for file in expected {
        assert!(told.folder.join(file).symlink_metadata().is_ok(), "{file}");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine\n");
    // The next run does so by itself.
    fs::write(git_dir.join("packed-refs"), "x\n").unwrap();
    assert_eq!(
        open(&repo).resolve_base(None).unwrap().as_str(),
        repo.head()
    );
    assert_eq!(store.repair().unwrap(), None);
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
    let config = fs::read_to_string(store.home().join("agent.config")).unwrap();
    assert!(!config.contains("s3cret") && !config.contains("ann"));
    let worktree = |task: &str| {
        let spec = WorktreeSpec {
            path: repo.beside("worktrees").join(task),
            branch: format!("pleach/task-1/{task}"),
            basis: store.resolve_base(None).unwrap(),
        };
        Worktree::create(&store, &spec).unwrap()
    };
    let before = worktree("1");
    let origin = repo.git_in(before.path(), &["remote", "get-url", "origin"]);
    assert_eq!(origin, "https://git.example.com/a\"b.git");
    repo.git(&["remote", "set-url", "origin", address]);
    open(&repo);
    let worktree = worktree("2");
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
fn a_user_without_a_name_is_no_obstacle() {
    let repo = TestRepo::new();
    for key in ["user.name", "user.email"] {
        repo.git(&["config", "--unset", key]);
    }
    let store = open(&repo);
    assert_eq!(store.identity().name, "Pleach");
    assert_eq!(store.identity().email, "pleach@localhost");
    let base = store.resolve_base(None).unwrap();
    let work = pleach_git::capture::snapshot;
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
