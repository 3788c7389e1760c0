//! Ignored files that come along into worktrees, and stay out of the work.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use pleach_git::capture::Captured;
use pleach_git::git::CommitId;
use pleach_git::worktree::{Included, NotCopied, NotCopiedReason, Worktree, WorktreeSpec};
use pleach_testkit::TestRepo;

use crate::capture::scene::Scene;

/// A repository that ignores `.env`, `*.key` and `local/`, and takes along what `rules` say.
fn repo(rules: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitignore", "/.env\n*.key\nlocal/\n");
    repo.write(".worktreeinclude", rules);
    repo.commit("rules");
    repo
}

fn listed(scene: &Scene) -> Included {
    Included::list(&scene.store, scene.worktree.basis()).unwrap()
}

fn paths(included: &Included) -> Vec<&Path> {
    included.paths().collect()
}

/// Copies into the scene's worktree, where everything must fit.
#[track_caller]
fn copied(scene: &Scene) -> Included {
    let included = listed(scene);
    let notes = included.copy_into(&scene.store, &scene.worktree).unwrap();
    assert_eq!(notes, []);
    included
}

/// A second worktree, of another commit than the one that is checked out.
fn worktree_of(scene: &Scene, commit: &str) -> Worktree {
    let spec = WorktreeSpec {
        path: scene.repo.beside("worktrees/task-2"),
        branch: "pleach/task-1/2".into(),
        basis: commit.parse::<CommitId>().unwrap(),
    };
    Worktree::create(&scene.store, &spec).unwrap()
}

fn told(path: &str, why: NotCopiedReason) -> NotCopied {
    let path = PathBuf::from(path);
    NotCopied { path, why }
}

#[test]
fn named_files_come_along_and_stay_out_of_the_work() {
    let repo = repo(".env\nlocal/*\n!local/big\n");
    repo.write("local/big", "x");
    repo.write(".env", "SECRET=1\n");
    repo.write("local/deep/tool", "#!/bin/sh\n");
    repo.write("local/other", "x");
    repo.write("not-named.key", "x");
    let mode = |path: PathBuf, mode| fs::set_permissions(path, Permissions::from_mode(mode));
    mode(repo.path().join(".env"), 0o400).unwrap();
    mode(repo.path().join("local/deep/tool"), 0o755).unwrap();
    mode(repo.path().join("local/deep"), 0o700).unwrap();
    symlink("deep/tool", repo.path().join("local/link")).unwrap();
    let scene = Scene::of(repo);
    copied(&scene);
    let content = |name: &str| fs::read_to_string(scene.path(name)).unwrap();
    assert_eq!(content(".env"), "SECRET=1\n");
    assert_eq!(content("local/other"), "x");
    let mode = |name: &str| scene.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(
        [".env", "local/deep/tool", "local/deep"].map(mode),
        [0o400, 0o755, 0o700]
    );
    let link = fs::read_link(scene.path("local/link")).unwrap();
    assert_eq!(link, Path::new("deep/tool"));
    for name in ["not-named.key", "local/big"] {
        assert!(!scene.path(name).exists(), "{name}");
    }
    assert_eq!(
        scene.capture_with(&[]),
        Captured::Unchanged {
            left_out: vec![],
            unread: 0
        }
    );
    scene.write("work.txt", "work\n");
    let work = scene.capture();
    assert_eq!(work.files, ["work.txt"]);
    assert_eq!(scene.read(&work.commit, ".env"), None);
}

#[test]
fn a_worktree_without_rules_gets_nothing_and_uncommitted_rules_do_not_count() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "/.env\n");
    repo.commit("rules");
    repo.write(".env", "x");
    repo.write(".worktreeinclude", ".env\n");
    let scene = Scene::of(repo);
    assert_eq!(paths(&copied(&scene)), Vec::<&Path>::new());
    assert!(!scene.path(".env").exists());
}

#[test]
fn only_what_is_ignored_and_not_under_version_control_comes_along() {
    let repo = repo("*\n");
    repo.write("tracked.key", "committed\n");
    repo.git(&["add", "--force", "tracked.key"]);
    repo.git(&["commit", "--quiet", "-m", "a key on purpose"]);
    repo.write("tracked.key", "changed\n");
    repo.write("README.md", "changed\n");
    repo.write("untracked.txt", "neither ignored nor committed\n");
    repo.write("deep/down/mine.key", "x");
    let scene = Scene::of(repo);
    let included = copied(&scene);
    assert_eq!(paths(&included), [Path::new("deep/down/mine.key")]);
    assert_eq!(
        fs::read_to_string(scene.path("tracked.key")).unwrap(),
        "committed\n"
    );
    assert!(!scene.path("untracked.txt").exists());
}

#[test]
fn links_that_lead_out_of_the_repository_are_left_out_and_told() {
    let repo = repo("*.key\n");
    let outside = repo.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "x").unwrap();
    repo.write("sub/inside", "x");
    symlink(&outside, repo.path().join("sub/away")).unwrap();
    repo.commit("a folder that is elsewhere");
    let link = |target: &Path, name: &str| symlink(target, repo.path().join(name)).unwrap();
    link(&outside.join("file"), "absolute.key");
    link(&repo.path().join("README.md"), "absolute-inside.key");
    link(Path::new("../outside/file"), "up.key");
    link(Path::new("../../outside/file"), "sub/up.key");
    link(Path::new("sub/../../outside/file"), "round.key");
    link(Path::new("sub/away/file"), "through.key");
    link(Path::new(".git/config"), "git.key");
    link(Path::new("../README.md"), "sub/fine.key");
    link(Path::new("nowhere"), "dangling.key");
    let scene = Scene::of(repo);
    let included = copied(&scene);
    let mut left_out: Vec<&Path> = included.left_out().iter().map(|n| &*n.path).collect();
    left_out.sort();
    let expected = [
        "absolute-inside.key",
        "absolute.key",
        "git.key",
        "round.key",
        "sub/up.key",
        "through.key",
        "up.key",
    ];
    assert_eq!(left_out, expected.map(Path::new));
    assert_eq!(
        included.left_out()[0].to_string(),
        "absolute-inside.key is not copied: it is a link to outside the repository"
    );
    for name in expected {
        assert!(scene.path(name).symlink_metadata().is_err(), "{name}");
    }
    let fine = fs::read_link(scene.path("sub/fine.key")).unwrap();
    assert_eq!(fine, Path::new("../README.md"));
    assert!(scene.path("dangling.key").symlink_metadata().is_ok());
}

#[test]
fn nothing_is_written_through_a_folder_that_is_a_link_there() {
    let repo = repo("*.key\n");
    let outside = repo.beside("outside");
    fs::create_dir(&outside).unwrap();
    repo.branch("trap");
    symlink(&outside, repo.path().join("config")).unwrap();
    repo.write("file", "not a folder\n");
    let trap = repo.commit("a link in the place of a folder");
    repo.git(&["switch", "--quiet", "main"]);
    repo.write("config/deep/a.key", "x");
    repo.write("config/b.key", "x");
    repo.write("file/c.key", "x");
    repo.write("free/d.key", "x");
    let scene = Scene::of(repo);
    let worktree = worktree_of(&scene, &trap);
    let notes = listed(&scene).copy_into(&scene.store, &worktree).unwrap();
    let in_the_way = |path| told(path, NotCopiedReason::InTheWay);
    assert_eq!(
        notes,
        ["config/b.key", "config/deep/a.key", "file/c.key"].map(in_the_way)
    );
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert!(worktree.path().join("free/d.key").exists());
}

#[test]
fn what_is_checked_out_there_is_not_replaced() {
    let repo = repo("*.key\n");
    repo.branch("other");
    repo.write("a.key", "committed\n");
    repo.git(&["add", "--force", "a.key"]);
    symlink("README.md", repo.path().join("b.key")).unwrap();
    repo.git(&["add", "--force", "b.key"]);
    let other = repo.commit("keys on purpose");
    repo.git(&["switch", "--quiet", "main"]);
    repo.write("a.key", "mine\n");
    repo.write("b.key", "mine\n");
    let scene = Scene::of(repo);
    let worktree = worktree_of(&scene, &other);
    let notes = listed(&scene).copy_into(&scene.store, &worktree).unwrap();
    assert_eq!(notes, []);
    let read = |name: &str| fs::read_to_string(worktree.path().join(name)).unwrap();
    assert_eq!(
        (read("a.key"), read("b.key")),
        ("committed\n".into(), "a test\n".into())
    );
}

#[test]
fn a_file_that_is_not_ignored_there_stays_behind() {
    let repo = repo("*.key\nlocal/\n");
    repo.branch("open");
    repo.write(".gitignore", "local/\n");
    let open = repo.commit("keys are no longer ignored");
    repo.git(&["switch", "--quiet", "main"]);
    repo.write("a.key", "x");
    repo.write("local/b", "x");
    let scene = Scene::of(repo);
    let worktree = worktree_of(&scene, &open);
    let notes = listed(&scene).copy_into(&scene.store, &worktree).unwrap();
    assert_eq!(notes, [told("a.key", NotCopiedReason::NotIgnored)]);
    assert!(!worktree.path().join("a.key").exists());
    assert!(worktree.path().join("local/b").exists());
}

#[test]
fn an_agent_that_stops_ignoring_a_copied_file_does_not_bring_it_in() {
    let repo = repo(".env\n");
    repo.write(".env", "SECRET=1\n");
    let scene = Scene::of(repo);
    let included = copied(&scene);
    scene.write(".gitignore", "");
    let leave_out: Vec<&str> = included
        .paths()
        .map(|path| path.to_str().unwrap())
        .collect();
    let Captured::Changed {
        files, left_out, ..
    } = scene.capture_with(&leave_out)
    else {
        panic!("the work is lost");
    };
    assert_eq!(files, [".gitignore"]);
    assert_eq!(left_out, [PathBuf::from(".env")]);
}

#[test]
fn a_repository_within_is_left_out_and_told() {
    let repo = repo("local/\n");
    let inner = repo.path().join("local/inner");
    fs::create_dir_all(&inner).unwrap();
    repo.git_in(&inner, &["init", "--quiet"]);
    repo.write("local/inner/file", "x");
    repo.write("local/file", "x");
    let scene = Scene::of(repo);
    let included = copied(&scene);
    assert_eq!(
        included.left_out(),
        [told("local/inner", NotCopiedReason::Repository)]
    );
    assert!(scene.path("local/file").exists());
    assert!(!scene.path("local/inner").exists());
}

#[test]
fn odd_names_come_along() {
    let repo = repo("*.key\n");
    let names: [&[u8]; 6] = [
        b" space .key",
        b"-rf.key",
        b":(top)x.key",
        b"line\nbreak.key",
        b"caf\xe9.key",
        b"*?[a].key",
    ];
    for name in names {
        repo.write(OsStr::from_bytes(name), "x");
    }
    let scene = Scene::of(repo);
    copied(&scene);
    for name in names {
        assert!(scene.path(OsStr::from_bytes(name)).exists(), "{name:?}");
    }
}

#[test]
fn a_file_that_is_gone_by_then_is_told() {
    let repo = repo("*.key\n");
    repo.write("a.key", "x");
    repo.write("b.key", "x");
    let scene = Scene::of(repo);
    let included = listed(&scene);
    fs::remove_file(scene.repo.path().join("a.key")).unwrap();
    fs::remove_file(scene.repo.path().join("b.key")).unwrap();
    symlink("/etc/hostname", scene.repo.path().join("b.key")).unwrap();
    let notes = included.copy_into(&scene.store, &scene.worktree).unwrap();
    assert_eq!(notes.len(), 2);
    for note in notes {
        assert!(matches!(note.why, NotCopiedReason::Unreadable(_)), "{note}");
        assert!(scene.path(&note.path).symlink_metadata().is_err());
    }
}
