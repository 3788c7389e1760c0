//! Agents that break their worktree, nest repositories in it or set traps.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use pleach_domain::choice::Strategy;
use pleach_git::capture::{CaptureOptions, capture, snapshot};
use pleach_git::git::CommitId;
use pleach_git::weave::{Strand, StrandOutcome, WeaveFolder, weave};
use pleach_git::worktree::CaptureError;
use pleach_testkit::TestRepo;

use crate::capture::scene::Scene;

#[test]
fn nested_repositories_are_taken_in_as_plain_files() {
    let scene = Scene::new();
    for name in ["born", "unborn", "committed", ":odd name"] {
        scene.write(&format!("{name}/deep/file.txt"), name);
        scene.write(&format!("{name}/noise.log"), "ignored");
        let path = scene.path(name);
        scene.repo.git_in(&path, &["init", "--quiet"]);
        if name != "unborn" {
            scene.repo.git_in(&path, &["add", "--all"]);
            scene.repo.git_in(&path, &["commit", "--quiet", "-m", "x"]);
        }
    }
    scene.repo.git_in(&scene.path("dir"), &["init", "--quiet"]);
    scene.write("dir/b.txt", "changed inside\n");
    scene.git(&["add", "committed"]);
    scene.git(&["commit", "--quiet", "-m", "as a gitlink"]);
    let work = scene.capture();
    let expected = [
        ":odd name/deep/file.txt",
        "born/deep/file.txt",
        "committed/deep/file.txt",
        "dir/b.txt",
        "unborn/deep/file.txt",
    ];
    assert_eq!(work.files, expected);
}

#[test]
fn a_submodule_survives_whatever_happened_to_its_folder() {
    let repo = TestRepo::new();
    let entry = format!("160000,{},sub", "1".repeat(40));
    repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
    repo.git(&["commit", "--quiet", "-m", "submodule"]);
    let scene = Scene::of(repo);
    let gitlink = |commit: &CommitId| scene.look(&["ls-tree", commit.as_str(), "sub"]);
    let before = gitlink(scene.worktree.basis());
    fs::remove_dir(scene.path("sub")).unwrap();
    scene.write("a.txt", "work\n");
    assert_eq!(gitlink(&scene.capture().commit), before);
    scene.write("sub/inner.txt", "a checkout of it\n");
    scene.repo.git_in(&scene.path("sub"), &["init", "--quiet"]);
    scene.repo.git_in(&scene.path("sub"), &["add", "--all"]);
    scene
        .repo
        .git_in(&scene.path("sub"), &["commit", "--quiet", "-m", "x"]);
    scene.commit("moves the submodule");
    assert_eq!(gitlink(&scene.capture().commit), before);
    fs::remove_dir_all(scene.path("sub/.git")).unwrap();
    let work = scene.capture();
    assert_eq!(
        scene.read(&work.commit, "sub/inner.txt").unwrap(),
        "a checkout of it\n"
    );
}

/// Weaves work onto a base that it conflicts with.
fn weave_against_another(scene: &Scene, work: &CommitId) {
    scene.repo.branch("other");
    scene.repo.write("a.txt", "changed otherwise\n");
    scene.repo.write(".gitattributes", "* merge=evil\n");
    scene.repo.commit("other");
    let other = scene.store.resolve_base(None).unwrap();
    snapshot(&scene.store, &scene.worktree).unwrap();
    let strand = Strand {
        subject: "task 1".to_owned(),
        commit: work.clone(),
        basis: None,
    };
    let weave_folder = WeaveFolder::of_store(&scene.store).unwrap();
    let woven = weave(&weave_folder, &other, &[strand], Strategy::Merge).unwrap();
    assert!(
        matches!(woven.outcomes[..], [StrandOutcome::Conflict(_)]),
        "{woven:?}"
    );
}

#[test]
fn nothing_that_the_agent_configured_is_executed() {
    let scene = Scene::new();
    let canary = scene.repo.beside("canary");
    let script = scene.repo.beside("evil.sh");
    fs::write(
        &script,
        format!("#!/bin/sh\ntouch {}\ncat\n", canary.display()),
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.to_str().unwrap();
    let hooks = scene.store.git_dir().join("hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "reference-transaction",
        "post-index-change",
        "pre-commit",
        "post-checkout",
    ] {
        fs::copy(script, hooks.join(hook)).unwrap();
    }
    scene.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
    scene.write("a.txt", "changed\n");
    let sub = scene.path("nested");
    scene.write("nested/file", "x");
    scene.repo.git_in(&sub, &["init", "--quiet"]);
    let settings = [
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.external",
        "diff.evil.textconv",
        "merge.evil.driver",
        "core.pager",
        "core.editor",
        "gpg.program",
        "core.sshCommand",
        "uploadpack.packObjectsHook",
    ];
    for setting in settings {
        scene.git(&["config", setting, script]);
        scene.repo.git_in(&sub, &["config", setting, script]);
    }
    scene.git(&["config", "commit.gpgSign", "true"]);
    let path = scene.worktree.path();
    scene.repo.git_succeeds(path, &["status"]);
    fs::remove_file(&canary).expect("the trap is armed");
    let work = scene.capture();
    weave_against_another(&scene, &work.commit);
    scene
        .store
        .publish(&work.commit, "pleach/batch-1", None)
        .unwrap();
    scene.store.keep(&work.commit, "x").unwrap();
    assert!(!canary.exists());
    assert_eq!(work.files, [".gitattributes", "a.txt", "nested/file"]);
}

#[test]
fn a_worktree_that_is_gone_or_swapped_for_a_link_is_an_error() {
    let scene = Scene::new();
    let folder = scene.worktree.path();
    fs::remove_dir_all(folder).unwrap();
    let gone = snapshot(&scene.store, &scene.worktree).unwrap_err();
    assert!(matches!(gone, CaptureError::Gone { .. }), "{gone}");
    symlink(scene.repo.path(), folder).unwrap();
    let gone = snapshot(&scene.store, &scene.worktree).unwrap_err();
    assert!(matches!(gone, CaptureError::Gone { .. }), "{gone}");
}

#[test]
fn a_worktree_without_its_git_file_is_captured_all_the_same() {
    let scene = Scene::new();
    fs::remove_file(scene.path(".git")).unwrap();
    scene.write("a.txt", "changed\n");
    assert_eq!(scene.capture().files, ["a.txt"]);
    scene.git(&["init", "--quiet"]);
    scene.git(&["config", "core.fsmonitor", "/bin/false"]);
    scene.write("later.txt", "later\n");
    scene.commit("in a repository of its own");
    assert_eq!(scene.capture().files, ["a.txt", "later.txt"]);
}

#[test]
fn pipes_in_the_place_of_git_files_hold_nobody_up() {
    let scene = Scene::new();
    let admin = scene.store.home().join("agents");
    let admin = fs::read_dir(admin).unwrap().next().unwrap().unwrap().path();
    for name in ["HEAD", "index"] {
        let path = admin.join(name);
        fs::remove_file(&path).unwrap();
        let kind = rustix::fs::FileType::Fifo;
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
    }
    scene.write("a.txt", "changed\n");
    assert_eq!(scene.capture().files, ["a.txt"]);
}

#[test]
fn a_file_that_became_a_pipe_holds_nobody_up() {
    let scene = Scene::new();
    fs::remove_file(scene.path("a.txt")).unwrap();
    let pipe = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mknodat(rustix::fs::CWD, scene.path("a.txt"), pipe, mode, 0).unwrap();
    scene.write("dir/b.txt", "work\n");
    let options = CaptureOptions {
        message: "Task 1\n".into(),
        leave_out: Vec::new(),
    };
    // Git cannot store a pipe: an answer that names it, not a wait for somebody to write into it.
    let error = capture(&scene.store, &scene.worktree, &options).unwrap_err();
    assert!(error.to_string().contains("a.txt"), "{error}");
    assert!(
        scene.path("dir/b.txt").exists(),
        "the worktree stays as it was"
    );
}
