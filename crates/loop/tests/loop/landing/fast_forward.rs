//! A branch of the user that moves ahead: what moves along, what is in the way, and what is never touched.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pleach_git::git::{CommitId, FastForwardError, FastForwarded, Store};
use pleach_testkit::TestRepo;

use crate::landing::{id, open};

/// A repository at its second commit, and a store that has a third one on top, which the repository lacks.
pub(crate) struct Scene {
    pub(crate) repo: TestRepo,
    store: Store,
    pub(crate) second: CommitId,
    pub(crate) third: CommitId,
}

/// The third commit edits `edited`, adds `new/file`, removes `gone` and leaves `other` and `README.md` alone.
pub(crate) fn scene() -> Scene {
    let repo = TestRepo::new();
    for file in ["edited", "gone", "other"] {
        repo.write(file, "old\n");
    }
    let second = id(&repo.commit("second"));
    repo.branch("result");
    repo.write("edited", "new\n");
    repo.write("new/file", "new\n");
    fs::remove_file(repo.path().join("gone")).unwrap();
    let third = id(&repo.commit("third"));
    let store = open(&repo);
    repo.git(&["switch", "--quiet", "main"]);
    repo.git(&["branch", "--quiet", "-D", "result"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["prune", "--expire=now"]);
    assert!(!repo.git_succeeds(repo.path(), &["cat-file", "-e", third.as_str()]));
    Scene {
        repo,
        store,
        second,
        third,
    }
}

impl Scene {
    pub(crate) fn land(&self, branch: &str) -> Result<FastForwarded, FastForwardError> {
        self.store.fast_forward(branch, &self.third)
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.repo.path().join(file)).ok()
    }

    /// Lands on `main`, which must be refused and change nothing at all.
    #[track_caller]
    fn refused(&self) -> FastForwardError {
        let before = self.repo.fingerprint();
        let error = self.land("main").unwrap_err();
        assert_eq!(self.repo.fingerprint().differences(&before), [""; 0]);
        error
    }

    #[track_caller]
    fn in_the_way(&self) -> Vec<String> {
        match self.refused() {
            FastForwardError::InTheWay { files, folder } => {
                assert_eq!(folder, self.repo.path());
                files
            }
            error => panic!("{error}"),
        }
    }

    /// The names of what differs from a moment before.
    fn changed_since(&self, before: &pleach_testkit::Fingerprint) -> Vec<String> {
        let lines = before.differences(&self.repo.fingerprint());
        let second = |line: String| line.split(' ').nth(2).unwrap_or_default().to_owned();
        let mut names: Vec<String> = lines.into_iter().map(second).collect();
        names.sort();
        names.dedup();
        names
    }
}

#[test]
fn a_branch_that_is_nowhere_checked_out_moves_and_nothing_else() {
    let scene = scene();
    scene.repo.git(&["branch", "topic"]);
    scene.repo.write("edited", "dirty\n");
    let before = scene.repo.fingerprint();
    let expected = FastForwarded::Advanced {
        from: scene.second.clone(),
        checkout: None,
    };
    assert_eq!(scene.land("topic").unwrap(), expected);
    let moved = [
        ".git/logs/refs/heads/topic",
        ".git/refs/heads/topic",
        "refs/heads/topic",
    ];
    assert_eq!(scene.changed_since(&before), moved);
    assert_eq!(id(&scene.repo.git(&["rev-parse", "topic"])), scene.third);
    let log = scene.repo.git(&["reflog", "--format=%gs", "topic"]);
    assert_eq!(log.lines().next(), Some("pleach land: Fast-forward"));
    let again = scene.land("topic").unwrap();
    let tip = scene.third.clone();
    assert_eq!(again, FastForwarded::AlreadyIn { tip });
}

#[test]
fn files_and_index_move_along_and_what_else_is_dirty_stays() {
    let scene = scene();
    scene.repo.write("other", "mine\n");
    scene.repo.write("README.md", "staged\n");
    scene.repo.git(&["add", "README.md"]);
    scene.repo.write("new/untracked", "mine\n");
    let before = scene.repo.fingerprint();
    let expected = FastForwarded::Advanced {
        from: scene.second.clone(),
        checkout: Some(scene.repo.path().to_owned()),
    };
    assert_eq!(scene.land("main").unwrap(), expected);
    assert_eq!(scene.read("edited").unwrap(), "new\n");
    assert_eq!(scene.read("new/file").unwrap(), "new\n");
    assert_eq!(scene.read("gone"), None);
    let status = scene.repo.git(&["status", "--porcelain"]);
    assert_eq!(status, "M  README.md\n M other\n?? new/untracked");
    let moved = scene.changed_since(&before);
    let expected = [
        "#",
        ".git/ORIG_HEAD",
        ".git/index",
        ".git/logs/HEAD",
        ".git/logs/refs/heads/main",
        ".git/refs/heads/main",
        "1",
        "?",
        "HEAD",
        "edited",
        "gone",
        "new/file",
        "refs/heads/main",
    ];
    let unexpected: Vec<_> = moved
        .iter()
        .filter(|name| !expected.contains(&&***name))
        .collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    let log = scene.repo.git(&["reflog", "--format=%gs", "HEAD"]);
    assert_eq!(log.lines().next(), Some("pleach land: Fast-forward"));
}

#[test]
fn a_linked_worktree_that_has_the_branch_moves_and_the_others_do_not() {
    let scene = scene();
    let linked = scene.repo.beside("linked");
    let name = linked.to_str().unwrap();
    scene
        .repo
        .git(&["worktree", "add", "--quiet", "-b", "topic", name]);
    fs::write(linked.join("other"), "mine\n").unwrap();
    scene.repo.write("edited", "dirty\n");
    let landed = scene.land("topic").unwrap();
    let FastForwarded::Advanced { checkout, .. } = landed else {
        panic!("{landed:?}");
    };
    assert_eq!(checkout, Some(linked.clone()));
    assert_eq!(fs::read_to_string(linked.join("edited")).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(linked.join("other")).unwrap(), "mine\n");
    assert_eq!(scene.read("edited").unwrap(), "dirty\n");
    assert_eq!(scene.read("new/file"), None);
    assert_eq!(id(&scene.repo.head()), scene.second);
    fs::remove_dir_all(&linked).unwrap();
    scene
        .repo
        .git(&["update-ref", "refs/heads/topic", scene.second.as_str()]);
    let gone = scene.land("topic").unwrap_err();
    assert!(matches!(&gone, FastForwardError::CheckoutGone { folder, .. } if *folder == linked));
}

#[test]
fn changes_that_would_be_lost_are_named_and_nothing_happens() {
    let scene = scene();
    let put = |file: &str| scene.repo.write(file, "mine\n");
    put("edited");
    assert_eq!(scene.in_the_way(), ["edited"]);
    scene.repo.git(&["add", "edited"]);
    put("gone");
    assert_eq!(scene.in_the_way(), ["edited", "gone"]);
    scene.repo.git(&["reset", "--quiet", "--hard"]);
    put("new/file");
    assert_eq!(scene.in_the_way(), ["new/file"]);
    fs::remove_dir_all(scene.repo.path().join("new")).unwrap();
    put("new");
    assert_eq!(scene.in_the_way(), ["new"]);
    fs::remove_file(scene.repo.path().join("new")).unwrap();
    put("new/file/deep");
    assert_eq!(scene.in_the_way(), ["new/file/deep"]);
    fs::remove_dir_all(scene.repo.path().join("new")).unwrap();
    fs::remove_file(scene.repo.path().join("edited")).unwrap();
    put("edited/inside");
    assert_eq!(scene.in_the_way(), ["edited"]);
}

#[test]
fn an_ignored_file_is_not_overwritten_either() {
    let scene = scene();
    scene.repo.write(".git/info/exclude", "new/\n");
    scene.repo.write("new/file", "a secret of mine\n");
    assert_eq!(scene.in_the_way(), ["new/file"]);
    assert_eq!(scene.read("new/file").unwrap(), "a secret of mine\n");
}

#[test]
fn what_git_would_let_pass_is_let_pass() {
    let scene = scene();
    // What comes was staged by hand, one file is missing, and one is only touched.
    scene.repo.write("new/file", "new\n");
    scene.repo.git(&["add", "new/file"]);
    scene.repo.git(&["rm", "--quiet", "gone"]);
    fs::remove_file(scene.repo.path().join("edited")).unwrap();
    scene.repo.write("README.md", "a test\n");
    scene.land("main").unwrap();
    assert_eq!(scene.repo.git(&["status", "--porcelain"]), "");
    assert_eq!(scene.read("edited").unwrap(), "new\n");
}

#[test]
fn at_most_ten_files_are_named() {
    let files: Vec<String> = (10..23).map(|n| format!("f{n}")).collect();
    let folder = PathBuf::from("/x");
    let error = FastForwardError::InTheWay { files, folder };
    let told = "13 files in /x would be overwritten: f10, f11, f12, f13, f14, f15, f16, f17, f18, f19 and 3 more";
    assert_eq!(error.to_string(), told);
    assert!(error.hint().unwrap().contains("stash"));
}

#[test]
fn a_branch_that_went_elsewhere_tells_where_it_is() {
    let scene = scene();
    scene.repo.commit("mine");
    let tip = id(&scene.repo.commit("mine too"));
    let error = scene.refused();
    let told = "branch \"main\" has 2 commits that the result does not have";
    assert_eq!(error.to_string(), told);
    let FastForwardError::NotAFastForward { branch_tip, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(branch_tip, tip);
}

#[test]
fn only_names_of_local_branches_are_taken() {
    let scene = scene();
    scene.repo.git(&["tag", "v1"]);
    for name in [
        "none",
        "v1",
        "main~1",
        "refs/heads/main",
        "HEAD",
        "",
        "-D",
        "a..b",
    ] {
        let before = scene.repo.fingerprint();
        let error = scene.land(name).unwrap_err();
        assert!(
            matches!(error, FastForwardError::NoSuchBranch { .. }),
            "{name}: {error}"
        );
        assert_eq!(scene.repo.fingerprint(), before);
    }
}

#[test]
fn a_branch_under_another_name_moves_as_itself() {
    let scene = scene();
    scene
        .repo
        .git(&["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    scene.land("alias").unwrap();
    assert_eq!(
        scene.repo.git(&["symbolic-ref", "refs/heads/alias"]),
        "refs/heads/main"
    );
    assert_eq!(id(&scene.repo.head()), scene.third);
    assert_eq!(scene.repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn what_is_under_way_is_not_disturbed() {
    let scene = scene();
    scene
        .repo
        .git(&["switch", "--quiet", "--create", "side", "HEAD~1"]);
    scene.repo.write("other", "another\n");
    scene.repo.commit("side");
    scene.repo.git(&["switch", "--quiet", "main"]);
    let what = |scene: &Scene| match scene.refused() {
        FastForwardError::InProgress { what, .. } => what,
        error => panic!("{error}"),
    };
    let fails = |args: &[&str]| scene.repo.git_fails(scene.repo.path(), args);
    fails(&["merge", "side"]);
    assert_eq!(what(&scene), "a merge");
    scene.repo.git(&["merge", "--abort"]);
    fails(&["cherry-pick", "side"]);
    assert_eq!(what(&scene), "a cherry-pick");
    scene.repo.git(&["cherry-pick", "--abort"]);
    fails(&["rebase", "side"]);
    assert_eq!(what(&scene), "a rebase or a bisect");
    scene.repo.git(&["rebase", "--abort"]);
    scene.repo.git(&["bisect", "start", "HEAD", "HEAD~1"]);
    assert_eq!(what(&scene), "a rebase or a bisect");
    scene.repo.git(&["bisect", "reset"]);
    scene.land("main").unwrap();
}

#[test]
fn a_lock_of_another_git_is_named_and_left() {
    let scene = scene();
    let lock = scene.repo.path().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let error = scene.refused();
    assert!(matches!(&error, FastForwardError::Locked { lock: there } if *there == lock));
    assert!(error.hint().unwrap().contains(lock.to_str().unwrap()));
}

#[test]
fn a_branch_that_is_checked_out_twice_does_not_move() {
    let scene = scene();
    let linked = scene.repo.beside("linked");
    let name = linked.to_str().unwrap();
    scene
        .repo
        .git(&["worktree", "add", "--quiet", "--force", name, "main"]);
    let error = scene.refused();
    assert!(
        matches!(&error, FastForwardError::CheckedOutTwice { folders, .. } if folders.len() == 2)
    );
}

#[test]
fn no_hook_runs_and_settings_of_the_user_change_nothing() {
    let scene = scene();
    let canary = scene.repo.beside("canary");
    for hook in [
        "post-merge",
        "post-checkout",
        "reference-transaction",
        "pre-merge-commit",
    ] {
        let file = format!(".git/hooks/{hook}");
        scene
            .repo
            .write(&file, format!("#!/bin/sh\ntouch {}\n", canary.display()));
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(scene.repo.path().join(file), executable).unwrap();
    }
    for (key, value) in [
        ("merge.ff", "false"),
        ("branch.main.mergeOptions", "--no-ff --squash --no-commit"),
        ("merge.autoStash", "true"),
        ("submodule.recurse", "true"),
        ("status.showUntrackedFiles", "all"),
        ("status.relativePaths", "false"),
        ("core.quotePath", "false"),
    ] {
        scene.repo.git(&["config", key, value]);
    }
    let _ = fs::remove_file(&canary);
    scene.repo.write("other", "mine\n");
    scene.land("main").unwrap();
    assert!(!canary.exists());
    assert_eq!(id(&scene.repo.head()), scene.third);
    assert_eq!(scene.repo.git(&["status", "--porcelain"]), " M other");
}

#[test]
fn a_bare_repository_moves_its_branch() {
    let scene = scene();
    let bare = scene.repo.beside("bare.git");
    let (from, name) = (scene.repo.path().to_str().unwrap(), bare.to_str().unwrap());
    scene
        .repo
        .git(&["clone", "--quiet", "--bare", "--no-local", from, name]);
    let git = pleach_git::git::Git::find().unwrap();
    let store = Store::open(git, &scene.repo.beside("stores"), &bare).unwrap();
    let first = scene.repo.git(&["rev-parse", "HEAD~1"]);
    scene
        .repo
        .git_in(&bare, &["update-ref", "refs/heads/main", &first]);
    store.fast_forward("main", &scene.second).unwrap();
    let tip = scene.repo.git_in(&bare, &["rev-parse", "main"]);
    assert_eq!(id(&tip), scene.second);
}

#[test]
fn a_subfolder_and_names_of_any_kind_are_no_trouble() {
    let repo = TestRepo::new();
    let odd = ["ä b/c\nd", "-x", "deep/down/file", "\"q\""];
    for file in odd {
        repo.write(file, "old\n");
    }
    repo.commit("odd");
    repo.branch("result");
    for file in odd {
        repo.write(file, "new\n");
    }
    let tip = id(&repo.commit("new"));
    repo.git(&["switch", "--quiet", "main"]);
    let folder: &Path = &repo.path().join("deep/down");
    let git = pleach_git::git::Git::find().unwrap();
    let store = Store::open(git, &repo.beside("stores"), folder).unwrap();
    repo.write(odd[0], "mine\n");
    let error = store.fast_forward("main", &tip).unwrap_err();
    assert!(matches!(&error, FastForwardError::InTheWay { files, .. } if files == &odd[..1]));
    repo.git(&["checkout", "--quiet", "--", odd[0]]);
    store.fast_forward("main", &tip).unwrap();
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(id(&repo.head()), tip);
}
