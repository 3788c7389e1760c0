//! The store: opening, choosing a base, keeping, publishing, reading.

mod filling;
mod origin;
mod refs;
mod settings;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use pleach_git::git::{BlobId, CallPlace, CommitId, Git, GitError, Identity, Store, StoreError};
use pleach_testkit::TestRepo;

fn open_at(repo: &TestRepo, folder: &Path) -> Result<Store, StoreError> {
    Store::open(Git::find().unwrap(), &repo.beside("stores"), folder)
}

fn open(repo: &TestRepo) -> Store {
    open_at(repo, repo.path()).unwrap()
}

fn id(text: &str) -> CommitId {
    text.parse().unwrap()
}

/// A git program of a certain version that does nothing else.
fn pretend_git(folder: &Path, version: &str) -> PathBuf {
    let program = folder.join("git");
    // Written by another process: a file that this one had open for writing could still be open in
    // a child of another test, and then cannot be executed.
    let script = "printf '#!/bin/sh\necho git version %s\n' \"$1\" > \"$0\"; chmod +x \"$0\"";
    let status = Command::new("sh")
        .args(["-c", script])
        .arg(&program)
        .arg(version)
        .status();
    assert!(status.unwrap().success());
    program
}

#[test]
fn a_git_that_is_too_old_is_refused_with_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    let error = Git::at(pretend_git(folder.path(), "2.39.5")).unwrap_err();
    assert!(matches!(&error, GitError::TooOld { .. }));
    let message = error.to_string();
    assert!(
        message.contains("2.39.5") && message.contains("2.41"),
        "{message}"
    );
    assert!(Git::at(pretend_git(folder.path(), "3.0.0")).is_ok());
}

#[test]
fn a_call_that_takes_too_long_is_stopped() {
    let repo = TestRepo::new();
    let git = Git::find().unwrap();
    let call = git
        .call(CallPlace::Users(repo.path()))
        .deadline(Duration::from_millis(50))
        .args(["-c", "alias.hang=!sleep 1000", "hang"]);
    let error = call.output().unwrap_err();
    assert!(matches!(error, GitError::TimedOut { .. }), "{error}");
}

#[test]
fn a_call_has_the_input_it_was_given_and_says_how_it_failed() {
    let repo = TestRepo::new();
    let git = Git::find().unwrap();
    let call = || git.call(CallPlace::Users(repo.path()));
    let much = vec![b'x'; 1 << 20];
    let echo = ["-c", "alias.echo=!cat", "echo"];
    let output = call().args(echo).stdin(much.clone()).output().unwrap();
    assert_eq!(output, much);
    assert_eq!(call().args(echo).output().unwrap(), b"");
    let error = call().args(["rev-parse", "--verify", "nothing"]).output();
    let message = error.unwrap_err().to_string();
    assert!(message.starts_with("git rev-parse --verify nothing failed with code 128"));
}

#[test]
fn no_error_repeats_a_login_in_an_address() {
    let repo = TestRepo::new();
    let git = Git::find().unwrap();
    let address = "http://ann:s3cret@127.0.0.1:1/x.git";
    let call = git.call(CallPlace::Users(repo.path()));
    let call = call.args(["ls-remote", address]);
    let told = format!("{call:?} ");
    let told = told + &call.output().unwrap_err().to_string();
    assert!(told.contains("http://127.0.0.1:1/x.git"), "{told}");
    assert!(!told.contains("s3cret") && !told.contains("ann"), "{told}");
}

#[test]
fn git_asks_nobody_and_speaks_one_language() {
    let repo = TestRepo::new();
    let git = Git::find().unwrap();
    let call = git.call(CallPlace::Users(repo.path()));
    let printed = call.args(["-c", "alias.env=!env", "env"]).output().unwrap();
    let printed = String::from_utf8(printed).unwrap();
    for line in [
        "LC_ALL=C",
        "GIT_TERMINAL_PROMPT=0",
        "GIT_ASKPASS=/bin/false",
        "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oControlMaster=no",
        "SSH_ASKPASS_REQUIRE=never",
        "GIT_OPTIONAL_LOCKS=0",
        "GIT_EDITOR=:",
    ] {
        assert!(printed.lines().any(|there| there == line), "{line}");
    }
}

/// Runs another test of this file in a process whose environment points git elsewhere.
#[test]
fn what_the_environment_says_about_git_does_not_matter() {
    let repo = TestRepo::new();
    let elsewhere = repo.path().join(".git");
    let status = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "store::opening_leaves_the_users_repository_as_it_was",
        ])
        .env("GIT_DIR", &elsewhere)
        .env("GIT_WORK_TREE", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere")
        .env("GIT_OBJECT_DIRECTORY", "/nowhere")
        .env("GIT_CONFIG_COUNT", "nonsense")
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn a_subfolder_and_a_linked_worktree_share_the_store_of_their_repository() {
    let repo = TestRepo::new();
    repo.write("deep/down/file", "x");
    repo.commit("deep");
    let linked = repo.beside("linked");
    let linked_name = linked.to_str().unwrap();
    repo.git(&["worktree", "add", "--quiet", "-b", "other", linked_name]);
    let top = open(&repo);
    let deep = open_at(&repo, &repo.path().join("deep/down")).unwrap();
    let other = open_at(&repo, &linked).unwrap();
    assert_eq!(top.home(), deep.home());
    assert_eq!(top.home(), other.home());
    let mode = top.home().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn opening_leaves_the_users_repository_as_it_was() {
    let repo = TestRepo::new();
    repo.write("README.md", "dirty\n");
    repo.write("untracked", "x");
    let before = repo.fingerprint();
    let store = open(&repo);
    store.resolve_base(None).unwrap();
    drop(store);
    open(&repo);
    assert_eq!(repo.fingerprint(), before);
}

#[test]
fn many_can_open_one_store_at_the_same_time() {
    let repo = TestRepo::new();
    let head = id(&repo.head());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(open(&repo).resolve_base(None).unwrap(), head));
        }
    });
}

/// Each process is this test again, which then opens the store and nothing more.
#[test]
fn many_processes_can_open_one_store_at_the_same_time() {
    if let Some(folder) = std::env::var_os("OPEN_THIS") {
        let folder = PathBuf::from(folder);
        let stores = folder.parent().unwrap().join("stores");
        let store = Store::open(Git::find().unwrap(), &stores, &folder).unwrap();
        store.resolve_base(None).unwrap();
        return;
    }
    let repo = TestRepo::new();
    let name = "store::many_processes_can_open_one_store_at_the_same_time";
    let children: Vec<_> = (0..6)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", name])
                .env("OPEN_THIS", repo.path())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(fs::read_dir(repo.beside("stores")).unwrap().count(), 1);
}

#[test]
fn what_is_no_usable_repository_is_refused_with_its_reason() {
    let repo = TestRepo::new();
    let plain = repo.beside("plain");
    fs::create_dir(&plain).unwrap();
    let error = open_at(&repo, &plain).unwrap_err();
    assert!(
        matches!(error, StoreError::NotARepository { .. }),
        "{error}"
    );
    let error = open_at(&repo, &repo.beside("nowhere")).unwrap_err();
    assert!(
        matches!(error, StoreError::NotARepository { .. }),
        "{error}"
    );

    let empty = TestRepo::empty();
    let error = open_at(&empty, empty.path()).unwrap_err();
    assert!(matches!(error, StoreError::NoCommits { .. }), "{error}");
    let bare = repo.beside("bare.git");
    repo.git(&["init", "--quiet", "--bare", bare.to_str().unwrap()]);
    let error = open_at(&repo, &bare).unwrap_err();
    assert!(matches!(error, StoreError::NoCommits { .. }), "{error}");
}

#[test]
fn a_shallow_repository_is_refused_with_the_fix() {
    let repo = TestRepo::new();
    repo.commit("second");
    let url = format!("file://{}", repo.path().display());
    let shallow = repo.beside("shallow");
    let name = shallow.to_str().unwrap();
    repo.git(&["clone", "--quiet", "--depth=1", &url, name]);
    let error = open_at(&repo, &shallow).unwrap_err();
    assert!(matches!(error, StoreError::Shallow { .. }), "{error}");
    assert!(error.hint().unwrap().contains("git fetch --unshallow"));
}

#[test]
fn a_partial_clone_is_refused_with_the_fix() {
    let repo = TestRepo::new();
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", repo.path().display());
    let partial = repo.beside("partial");
    let name = partial.to_str().unwrap();
    repo.git(&["clone", "--quiet", "--filter=blob:none", &url, name]);
    let error = open_at(&repo, &partial).unwrap_err();
    assert!(matches!(error, StoreError::Partial { .. }), "{error}");
    assert!(error.hint().unwrap().contains("without --filter"));
}

#[test]
fn a_repository_of_another_user_is_told_apart_from_none() {
    let repo = TestRepo::new();
    // Only root can give files away; elsewhere there is nothing to try.
    if chown(repo.path(), Some(12345), None).is_err() {
        return;
    }
    chown(repo.path().join(".git"), Some(12345), None).unwrap();
    let error = open_at(&repo, repo.path()).unwrap_err();
    assert!(
        matches!(error, StoreError::DubiousOwnership { .. }),
        "{error}"
    );
    let fix = format!("safe.directory {}", repo.path().display());
    assert!(error.hint().unwrap().contains(&fix));
}

#[test]
fn the_default_base_is_the_branch_unless_it_lags_behind_its_upstream() {
    let repo = TestRepo::new();
    let first = repo.head();
    let second = repo.commit("second");
    let base = |repo: &TestRepo| open(repo).resolve_base(None).unwrap().to_string();
    assert_eq!(base(&repo), second, "no upstream");
    repo.git(&["update-ref", "refs/remotes/origin/main", &first]);
    repo.git(&["config", "remote.origin.url", "/nowhere"]);
    repo.git(&[
        "config",
        "remote.origin.fetch",
        "+refs/heads/*:refs/remotes/origin/*",
    ]);
    repo.git(&["branch", "--quiet", "--set-upstream-to=origin/main"]);
    assert_eq!(base(&repo), second, "ahead");
    repo.git(&["update-ref", "refs/remotes/origin/main", &second]);
    repo.git(&["reset", "--quiet", "--hard", &first]);
    assert_eq!(base(&repo), second, "behind");
    let diverged = repo.commit("diverged");
    assert_eq!(base(&repo), second, "diverged");
    repo.git(&["checkout", "--quiet", "--detach", &diverged]);
    assert_eq!(base(&repo), diverged, "detached");
}

#[test]
fn a_named_base_means_what_the_user_means_by_it() {
    let repo = TestRepo::new();
    let first = repo.head();
    repo.branch("gone");
    let tagged = repo.commit("tagged");
    repo.git(&["tag", "--annotate", "-m", "release", "v1"]);
    repo.git(&["switch", "--quiet", "main"]);
    repo.git(&["branch", "--quiet", "-D", "gone"]);
    let store = open(&repo);
    let base = |name: &str| store.resolve_base(Some(name)).map(|id| id.to_string());
    assert_eq!(base("v1").unwrap(), tagged);
    assert_eq!(base("v1~1").unwrap(), first);
    assert_eq!(base(&first[..10]).unwrap(), first);
    assert_eq!(base(":/tagged").unwrap(), tagged);
    for wrong in ["nothing", "--all", "", "HEAD:README.md"] {
        let error = base(wrong).unwrap_err();
        assert!(
            matches!(error, StoreError::BaseNotFound { .. }),
            "{wrong}: {error}"
        );
        assert!(error.hint().unwrap().contains("branch, tag or commit"));
    }
    assert!(store.is_ancestor(&id(&first), &id(&tagged)).unwrap());
    assert!(!store.is_ancestor(&id(&tagged), &id(&first)).unwrap());
}

#[test]
fn a_store_follows_branches_that_moved_or_went() {
    let repo = TestRepo::new();
    repo.git(&["branch", "topic"]);
    let store = open(&repo);
    repo.git_in(&store.git_dir(), &["pack-refs", "--all"]);
    repo.git(&["branch", "-D", "topic"]);
    repo.git(&["branch", "topic/deeper"]);
    repo.git(&[
        "commit",
        "--quiet",
        "--amend",
        "--allow-empty",
        "-m",
        "rewritten",
    ]);
    let store = open(&repo);
    let local = |name: &str| {
        store
            .ref_commit(&format!("refs/remotes/local/{name}"))
            .unwrap()
    };
    assert_eq!(local("main"), Some(id(&repo.head())));
    assert_eq!(local("topic"), None);
    assert!(local("topic/deeper").is_some());
}

#[test]
fn files_of_a_commit_can_be_read_and_listed() {
    let repo = TestRepo::new();
    repo.write("src/a b\n.rs", "content");
    repo.write(":(glob)odd", "odd");
    let second = id(&repo.commit("second"));
    let store = open(&repo);
    let read = |path: &str| store.read_file_at(&second, path).unwrap();
    assert_eq!(read("src/a b\n.rs").unwrap(), b"content");
    assert_eq!(read(":(glob)odd").unwrap(), b"odd");
    assert_eq!(read("src"), None);
    assert_eq!(read("missing"), None);
    let blob: BlobId = repo.git(&["rev-parse", "HEAD:README.md"]).parse().unwrap();
    let listed = store.list_files_at(&second).unwrap();
    assert_eq!(listed.len(), 3);
    assert!(listed.contains(&("README.md".to_owned(), blob)));
}

#[test]
fn kept_work_is_never_overwritten() {
    let repo = TestRepo::new();
    let (first, second) = (id(&repo.head()), id(&repo.commit("second")));
    let store = open(&repo);
    assert_eq!(store.keep(&first, "1/63").unwrap(), "refs/pleach/keep/1/63");
    assert_eq!(
        store.keep(&second, "1/63").unwrap(),
        "refs/pleach/keep/1/63-2"
    );
    assert_eq!(store.keep(&first, "1/63").unwrap(), "refs/pleach/keep/1/63");
    let kept = store.ref_commit("refs/pleach/keep/1/63").unwrap();
    assert_eq!(kept, Some(first));
}

#[test]
fn publishing_adds_a_branch_and_nothing_else() {
    let repo = TestRepo::new();
    repo.git(&["config", "core.hooksPath", "hooks"]);
    let canary = repo.beside("canary");
    let hook = format!("#!/bin/sh\ntouch {}\n", canary.display());
    repo.write("hooks/reference-transaction", hook);
    let executable = fs::Permissions::from_mode(0o755);
    let hook = repo.path().join("hooks/reference-transaction");
    fs::set_permissions(hook, executable).unwrap();
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let before = repo.fingerprint();
    let _ = fs::remove_file(&canary);
    let name = store.publish(&base, "pleach/batch-1", None).unwrap();
    assert_eq!(name, "pleach/batch-1");
    assert!(!canary.exists(), "a hook of the user ran");
    assert_eq!(repo.fingerprint(), before);
    assert_eq!(id(&repo.git(&["rev-parse", "pleach/batch-1"])), base);
}

#[test]
fn a_published_branch_is_never_moved() {
    let repo = TestRepo::new();
    let (first, second) = (id(&repo.head()), id(&repo.commit("second")));
    let store = open(&repo);
    let publish = |commit| store.publish(commit, "pleach/batch-1", None).unwrap();
    assert_eq!(publish(&first), "pleach/batch-1");
    assert_eq!(publish(&first), "pleach/batch-1");
    repo.git(&["switch", "--quiet", "pleach/batch-1"]);
    let before = repo.fingerprint();
    assert_eq!(publish(&second), "pleach/batch-1-2");
    assert_eq!(repo.fingerprint(), before);
    repo.git(&["branch", "pleach/batch-1-3/below"]);
    let third = id(&repo.commit("third"));
    store.resolve_base(None).unwrap();
    assert_eq!(publish(&third), "pleach/batch-1");
    let fourth = id(&repo.commit("fourth"));
    store.resolve_base(None).unwrap();
    let beside_folder = store.publish(&fourth, "pleach/batch-1-3", None).unwrap();
    assert_eq!(beside_folder, "pleach/batch-1-3-2");
}

#[test]
fn a_branch_that_got_a_number_moves_on_under_it_until_somebody_else_moves_it() {
    let repo = TestRepo::new();
    let (first, second) = (id(&repo.head()), id(&repo.commit("second")));
    repo.git(&["branch", "pleach/batch-1", second.as_str()]);
    let store = open(&repo);
    let wanted = "pleach/batch-1";
    let numbered = store.publish(&first, wanted, None).unwrap();
    assert_eq!(numbered, "pleach/batch-1-2");
    let moved = store.publish(&second, wanted, Some((&numbered, &first)));
    assert_eq!(moved.unwrap(), numbered);
    let third = id(&repo.commit("third"));
    let theirs = store.publish(&third, wanted, Some((&numbered, &first)));
    assert_eq!(theirs.unwrap(), "pleach/batch-1-3");
    assert_eq!(id(&repo.git(&["rev-parse", &numbered])), second);
}

#[test]
fn a_branch_that_is_checked_out_but_not_born_is_left_alone() {
    let repo = TestRepo::new();
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/pleach/batch-1"]);
    let name = store.publish(&base, "pleach/batch-1", None).unwrap();
    assert_eq!(name, "pleach/batch-1-2");
}

#[test]
fn a_branch_named_like_the_prefix_is_an_error_that_names_it() {
    let repo = TestRepo::new();
    repo.git(&["branch", "pleach"]);
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let error = store.publish(&base, "pleach/batch-1", None).unwrap_err();
    assert!(matches!(&error, StoreError::PrefixTaken { branch, .. } if branch == "pleach"));
    assert!(error.hint().unwrap().contains("branch_prefix"));
}

#[test]
fn pleach_signs_only_where_the_user_has_no_name() {
    let someone = Identity::from_settings(Some("Ann".into()), Some("a@b".into()));
    assert_eq!((&*someone.name, &*someone.email), ("Ann", "a@b"));
    let nobody = Identity::from_settings(Some(" .".into()), None);
    assert_eq!(
        (&*nobody.name, &*nobody.email),
        ("Pleach", "pleach@localhost")
    );
    assert_eq!(open(&TestRepo::new()).identity().name, "Tess Tester");
}

#[test]
fn a_sha256_repository_has_a_sha256_store() {
    let repo = TestRepo::new();
    let other = repo.beside("other");
    let name = other.to_str().unwrap();
    repo.git(&["init", "--quiet", "--object-format=sha256", name]);
    repo.git_in(&other, &["commit", "--quiet", "--allow-empty", "-m", "x"]);
    let store = open_at(&repo, &other).unwrap();
    let base = store.resolve_base(None).unwrap();
    assert_eq!(base.as_str().len(), 64);
    assert_eq!(store.publish(&base, "pleach/x", None).unwrap(), "pleach/x");
}
