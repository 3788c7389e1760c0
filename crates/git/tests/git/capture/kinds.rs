//! Repositories of every kind: attributes, filters, submodules, hooks, signing, odd settings.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use pleach_git::capture::{CaptureOptions, Captured, capture, keep_last_state};
use pleach_git::git::{Git, Store};
use pleach_testkit::TestRepo;

use crate::capture::scene::Scene;

#[track_caller]
fn check_unchanged(scene: &Scene) {
    let unchanged = Captured::Unchanged {
        left_out: vec![],
        unread: 0,
    };
    assert_eq!(scene.capture_with(&[]), unchanged);
}

#[test]
fn line_ending_settings_of_the_user_make_no_phantom_changes() {
    let repo = TestRepo::new();
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write("unix.txt", "one\ntwo\n");
    repo.write("dos.bat", "one\r\ntwo\r\n");
    repo.git(&["-c", "core.autocrlf=false", "add", "--all"]);
    repo.git(&["commit", "--quiet", "-m", "both endings"]);
    let scene = Scene::of(repo);
    check_unchanged(&scene);
    assert_eq!(fs::read(scene.path("unix.txt")).unwrap(), b"one\ntwo\n");
    scene.write("dos.bat", "one\r\n2\r\n");
    let work = scene.capture();
    assert_eq!(scene.read(&work.commit, "dos.bat").unwrap(), "one\r\n2\r\n");
}

#[test]
fn attributes_that_rewrite_files_make_no_phantom_changes() {
    let repo = TestRepo::new();
    repo.write("crlf.txt", "one\ntwo\n");
    repo.write("auto.txt", "with\r\ncarriage\r\n");
    repo.write("ident.c", "$Id$\n");
    repo.write("wide.txt", "text\n");
    repo.commit("files");
    let rules = "crlf.txt text eol=crlf\nauto.txt text=auto\nident.c ident\n\
                 wide.txt working-tree-encoding=UTF-16LE\nsecret.txt export-ignore\n";
    repo.write(".gitattributes", rules);
    repo.git(&["add", ".gitattributes"]);
    repo.git(&["commit", "--quiet", "-m", "attributes"]);
    let scene = Scene::of(repo);
    check_unchanged(&scene);
    let crlf = fs::read(scene.path("crlf.txt")).unwrap();
    assert_eq!(crlf, b"one\r\ntwo\r\n");
    // A file that always had carriage returns keeps them.
    scene.write("auto.txt", "with\r\nmore\r\n");
    scene.write("crlf.txt", "one\r\n2\r\n");
    scene.write("secret.txt", "secret\n");
    let work = scene.capture();
    assert_eq!(work.files, ["auto.txt", "crlf.txt", "secret.txt"]);
    let read = |path| scene.read(&work.commit, path).unwrap();
    assert_eq!(read("auto.txt"), "with\r\nmore\r\n");
    assert_eq!(read("crlf.txt"), "one\n2\n");
}

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\n\
                       oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";

#[test]
fn pointers_of_large_files_stay_pointers_though_their_filter_is_required() {
    let repo = TestRepo::new();
    repo.write(
        ".gitattributes",
        "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    );
    repo.write("model.bin", POINTER);
    repo.commit("a pointer");
    for (name, value) in [
        ("filter.lfs.clean", "cat"),
        ("filter.lfs.smudge", "false"),
        ("filter.lfs.required", "true"),
    ] {
        repo.git(&["config", name, value]);
    }
    let scene = Scene::of(repo);
    assert_eq!(
        fs::read_to_string(scene.path("model.bin")).unwrap(),
        POINTER
    );
    check_unchanged(&scene);
    scene.write("code.rs", "work");
    scene.write("other.bin", POINTER.replace("12345", "54321"));
    assert_eq!(scene.capture().files, ["code.rs", "other.bin"]);
    // Content needs Git LFS; it is kept as it is, and refused as the work of a task.
    scene.write("model.bin", "content");
    let options = CaptureOptions {
        message: "work\n".into(),
        leave_out: Vec::new(),
    };
    let error = capture(&scene.store, &scene.worktree, &options).unwrap_err();
    assert!(error.to_string().contains("model.bin"), "{error}");
    let kept = keep_last_state(&scene.store, &scene.worktree, "1").unwrap();
    let content = scene.read(kept.commit().unwrap(), "model.bin");
    assert_eq!(content.unwrap(), "content");
}

#[test]
fn a_sparse_checkout_of_the_user_is_a_whole_worktree() {
    let repo = TestRepo::new();
    repo.write("in/a.txt", "a\n");
    repo.write("out/b.txt", "b\n");
    repo.commit("folders");
    repo.git(&["sparse-checkout", "set", "in"]);
    assert!(!repo.path().join("out").exists());
    let scene = Scene::of(repo);
    assert!(scene.path("out/b.txt").exists());
    check_unchanged(&scene);
}

#[test]
fn a_sparse_checkout_of_the_agent_deletes_nothing() {
    for how in [
        &["--no-cone", "/a.txt"][..],
        &["--cone", "--sparse-index", "other"],
    ] {
        let scene = Scene::new();
        scene.git(&[&["sparse-checkout", "set"], how].concat());
        assert!(!scene.path("dir/b.txt").exists());
        scene.write("a.txt", "work\n");
        assert_eq!(scene.capture().files, ["a.txt"], "{how:?}");
        scene.git(&[
            "commit",
            "--quiet",
            "--allow-empty",
            "--all",
            "-m",
            "what is left",
        ]);
        assert_eq!(scene.capture().files, ["a.txt"], "{how:?}");
    }
}

#[test]
fn hooks_of_the_user_and_signing_never_run() {
    let repo = TestRepo::new();
    let canary = repo.beside("canary");
    let hooks = repo.path().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "post-checkout",
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
    ] {
        let script = format!("#!/bin/sh\ntouch {}\nexit 1\n", canary.display());
        fs::write(hooks.join(hook), script).unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(hooks.join(hook), executable).unwrap();
    }
    repo.git(&["config", "commit.gpgSign", "true"]);
    repo.git(&["config", "gpg.program", "/bin/false"]);
    let scene = Scene::of(repo);
    scene.write("a.txt", "work\n");
    let work = scene.capture();
    let raw = scene.look(&["cat-file", "commit", work.commit.as_str()]);
    assert!(!raw.contains("gpgsig"), "{raw}");
    assert!(!canary.exists());
}

#[test]
fn where_the_user_has_no_name_the_work_is_committed_all_the_same() {
    let repo = TestRepo::new();
    repo.git(&["config", "--unset", "user.name"]);
    repo.git(&["config", "--unset", "user.email"]);
    let scene = Scene::of(repo);
    scene.write("a.txt", "work\n");
    let work = scene.capture();
    let show = [
        "show",
        "--no-patch",
        "--format=%an <%ae>",
        work.commit.as_str(),
    ];
    assert_eq!(scene.look(&show), "Pleach <pleach@localhost>");
}

#[test]
fn a_submodule_is_neither_fetched_nor_changed() {
    let repo = TestRepo::new();
    let link = format!("160000,{},lib/sub", "1".repeat(40));
    repo.git(&["update-index", "--add", "--cacheinfo", &link]);
    let modules = "[submodule \"lib/sub\"]\n\tpath = lib/sub\n\turl = /nowhere\n";
    repo.write(".gitmodules", modules);
    repo.git(&["add", ".gitmodules"]);
    repo.git(&["commit", "--quiet", "-m", "submodule"]);
    let scene = Scene::of(repo);
    assert_eq!(fs::read_dir(scene.path("lib/sub")).unwrap().count(), 0);
    check_unchanged(&scene);
    scene.git(&["rm", "--quiet", "--cached", "lib/sub"]);
    scene.git(&["commit", "--quiet", "-m", "takes it out"]);
    check_unchanged(&scene);
}

#[test]
fn a_sha256_repository_is_captured() {
    let folder = tempfile::tempdir().unwrap();
    let repo = TestRepo::new();
    let path = folder.path().join("project");
    let words = [
        "init",
        "--quiet",
        "--object-format=sha256",
        path.to_str().unwrap(),
    ];
    repo.git(&words);
    fs::write(path.join("a.txt"), "a\n").unwrap();
    repo.git_in(&path, &["add", "--all"]);
    repo.git_in(&path, &["commit", "--quiet", "-m", "first"]);
    let store = Store::open(Git::find().unwrap(), &folder.path().join("stores"), &path).unwrap();
    let spec = pleach_git::worktree::WorktreeSpec {
        path: folder.path().join("worktrees/1"),
        branch: "pleach/task-1/1".into(),
        basis: store.resolve_base(None).unwrap(),
    };
    let worktree = pleach_git::worktree::Worktree::create(&store, &spec).unwrap();
    let options = CaptureOptions {
        message: "work\n".into(),
        leave_out: Vec::new(),
    };
    let take = || capture(&store, &worktree, &options).unwrap();
    assert_eq!(
        take(),
        Captured::Unchanged {
            left_out: vec![],
            unread: 0
        }
    );
    fs::write(worktree.path().join("a.txt"), "b\n").unwrap();
    assert!(matches!(take(), Captured::Changed { .. }));
}
