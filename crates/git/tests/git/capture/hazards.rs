//! Agents that leave things half done, mislead their own git, or make files that git cannot hold.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use pleach_git::capture::{CaptureOptions, Captured, capture, keep_last_state};
use pleach_testkit::TestRepo;

use crate::capture::scene::Scene;

/// A scene on whose branch `side` is a commit that conflicts with the branch of the task.
fn with_conflict() -> Scene {
    let scene = Scene::new();
    scene.git(&["switch", "--quiet", "--create", "side"]);
    scene.write("a.txt", "side\n");
    scene.commit("side");
    scene.git(&["switch", "--quiet", "pleach/task-1/1"]);
    scene.write("a.txt", "task\n");
    scene.commit("task");
    scene
}

#[track_caller]
fn refused(scene: &Scene) -> String {
    let options = CaptureOptions {
        message: "Task 1\n".into(),
        leave_out: Vec::new(),
    };
    let error = capture(&scene.store, &scene.worktree, &options);
    error.unwrap_err().to_string()
}

#[test]
fn a_rebase_a_cherry_pick_and_a_revert_that_are_half_done_are_captured_as_they_stand() {
    for step in [
        ["rebase", "side"],
        ["cherry-pick", "side"],
        ["merge", "side"],
    ] {
        let scene = with_conflict();
        let path = scene.worktree.path();
        assert!(!scene.repo.git_succeeds(path, &step), "{step:?}");
        let work = scene.capture();
        let content = scene.read(&work.commit, "a.txt").unwrap();
        assert!(content.contains("<<<<<<<"), "{step:?}: {content}");
    }
}

#[test]
fn a_bisection_that_is_half_done_is_captured_as_it_stands() {
    let scene = Scene::new();
    for number in 0..4 {
        scene.write("a.txt", format!("{number}\n"));
        scene.commit("step");
    }
    let basis = scene.worktree.basis().to_string();
    scene.git(&["bisect", "start", "HEAD", &basis]);
    let head = scene.git(&["rev-parse", "HEAD"]);
    scene.write("found.txt", "work\n");
    let work = scene.capture();
    assert!(work.files.contains(&"found.txt".to_owned()));
    assert_eq!(
        scene.look(&["rev-parse", &format!("{}^", work.commit)]),
        head
    );
    let kept = scene.look(&["for-each-ref", "refs/pleach/keep"]);
    assert!(!kept.is_empty(), "the later commits are lost");
}

#[test]
fn bits_that_hide_changes_from_the_agents_git_do_not_hide_them_from_us() {
    let scene = Scene::new();
    scene.git(&["update-index", "--assume-unchanged", "a.txt"]);
    scene.git(&["update-index", "--skip-worktree", "dir/b.txt"]);
    scene.write("a.txt", "hidden\n");
    scene.write("dir/b.txt", "hidden too\n");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
    assert_eq!(scene.capture().files, ["a.txt", "dir/b.txt"]);
}

#[test]
fn settings_that_mislead_the_agents_git_do_not_mislead_us() {
    for (name, value) in [
        ("core.worktree", "/"),
        ("core.bare", "true"),
        ("core.ignoreCase", "true"),
        ("core.fileMode", "false"),
        ("core.symlinks", "false"),
        ("core.autocrlf", "true"),
        ("core.sparseCheckout", "true"),
        ("extensions.worktreeConfig", "true"),
        ("index.version", "4"),
        ("core.splitIndex", "true"),
    ] {
        let scene = Scene::new();
        scene.git(&["config", name, value]);
        scene.write("A.txt", "another name\r\n");
        scene.write("noise.log", "put in by force");
        let path = scene.worktree.path();
        scene
            .repo
            .git_succeeds(path, &["add", "--force", "noise.log"]);
        scene
            .repo
            .git_succeeds(path, &["rm", "--cached", "--quiet", "noise.log"]);
        let work = scene.capture();
        assert_eq!(work.files, ["A.txt"], "{name}");
        let content = scene.read(&work.commit, "A.txt").unwrap();
        assert_eq!(content, "another name\r\n", "{name}");
    }
}

#[test]
fn an_index_of_another_format_still_tells_what_was_put_in_by_force() {
    for (name, value) in [("index.version", "4"), ("core.splitIndex", "true")] {
        let scene = Scene::new();
        scene.git(&["config", name, value]);
        scene.write("wanted.log", "put in by force");
        scene.git(&["add", "--force", "wanted.log"]);
        assert_eq!(scene.capture().files, ["wanted.log"], "{name}");
    }
}

#[test]
fn an_index_that_is_spoilt_or_forged_costs_nothing() {
    let scene = Scene::new();
    scene.write("a.txt", "work\n");
    scene.write("evil.log", "x");
    scene.git(&["add", "--force", "evil.log"]);
    let index = scene.git(&["rev-parse", "--path-format=absolute", "--git-path", "index"]);
    let good = fs::read(&index).unwrap();
    let outside = scene.repo.beside("evil.log");
    fs::write(&outside, "secret").unwrap();
    // The same length, and a way out.
    let place = good
        .windows(8)
        .position(|name| name == b"evil.log")
        .unwrap();
    for name in [b"../1.log", b".git/HEA", b"/etc/xyz", b"a.txt//x"] {
        let mut forged = good.clone();
        forged[place..place + 8].copy_from_slice(name);
        fs::write(&index, forged).unwrap();
        assert_eq!(scene.capture().files, ["a.txt"]);
    }
    for length in [0, 5, 12, 40, 100] {
        fs::write(&index, &good[..length]).unwrap();
        assert_eq!(scene.capture().files, ["a.txt"], "{length}");
    }
}

#[test]
fn replaced_objects_grafts_and_borrowed_ones_change_nothing() {
    let scene = Scene::new();
    let basis = scene.worktree.basis().to_string();
    scene.write("a.txt", "work\n");
    let empty = scene.git(&[
        "commit-tree",
        "-m",
        "empty",
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    ]);
    scene.git(&["replace", &basis, &empty]);
    let info = scene.store.git_dir().join("info");
    fs::create_dir_all(&info).unwrap();
    fs::write(info.join("grafts"), format!("{basis}\n")).unwrap();
    let borrowed = scene.store.git_dir().join("objects/info/alternates");
    fs::create_dir_all(borrowed.parent().unwrap()).unwrap();
    fs::write(borrowed, "/nowhere/objects\n").unwrap();
    let work = scene.capture();
    assert_eq!(work.files, ["a.txt"]);
    let parent = [
        "--no-replace-objects",
        "rev-parse",
        &format!("{}^", work.commit),
    ];
    assert_eq!(scene.look(&parent), basis);
}

#[test]
fn an_encoding_that_a_file_does_not_have_is_refused_by_name() {
    let scene = Scene::new();
    scene.write(".gitattributes", "wide.txt working-tree-encoding=UTF-16\n");
    scene.write("wide.txt", "not so wide");
    let error = refused(&scene);
    assert!(error.contains("wide.txt"), "{error}");
    assert!(scene.path("wide.txt").exists());
}

#[test]
fn names_like_gits_own_folder_are_refused_by_name_and_ignored_ones_are_not_looked_at() {
    for name in [".GIT", "git~1", ".Git", "dir/.gIt"] {
        let scene = Scene::new();
        scene.write("a.txt", "work\n");
        scene.write(&format!("{name}/config"), "[core]\n");
        let error = refused(&scene);
        assert!(error.contains(name), "{name}: {error}");
        assert!(scene.path("a.txt").exists());
        scene.write(".gitignore", "*.log\n/out/\n.GIT\n.Git\n.gIt\ngit~1\n");
        assert_eq!(scene.capture().files, [".gitignore", "a.txt"], "{name}");
    }
}

#[test]
fn sockets_pipes_and_devices_are_passed_over() {
    let scene = Scene::new();
    let _socket = UnixListener::bind(scene.path("socket")).unwrap();
    let (pipe, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, scene.path("pipe"), pipe, mode, 0).unwrap();
    fs::create_dir(scene.path("nested")).unwrap();
    scene
        .repo
        .git_in(&scene.path("nested"), &["init", "--quiet"]);
    fs::remove_file(scene.path("nested/.git/HEAD")).unwrap();
    let head = scene.path("nested/.git/HEAD");
    rustix::fs::mknodat(rustix::fs::CWD, head, pipe, mode, 0).unwrap();
    scene.write("nested/file.txt", "work");
    assert_eq!(scene.capture().files, ["nested/file.txt"]);
}

#[test]
fn a_pipe_in_the_place_of_a_file_fails_the_task_and_the_rest_is_kept() {
    let scene = Scene::new();
    fs::remove_file(scene.path("a.txt")).unwrap();
    let (pipe, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, scene.path("a.txt"), pipe, mode, 0).unwrap();
    scene.write("dir/b.txt", "work\n");
    assert!(refused(&scene).contains("a.txt"));
    let kept = keep_last_state(&scene.store, &scene.worktree, "1").unwrap();
    let content = scene.read(kept.commit().unwrap(), "dir/b.txt");
    assert_eq!(content.unwrap(), "work\n");
}

#[test]
fn names_that_are_no_text_and_large_files_survive() {
    let scene = Scene::new();
    let name = OsStr::from_bytes(b"caf\xe9 \xff\n.txt");
    let large = vec![7_u8; 30_000_000];
    fs::write(scene.path(name), &large).unwrap();
    fs::write(scene.path("line\nbreak\r"), "x").unwrap();
    let work = scene.capture();
    assert_eq!(work.files.len(), 2);
    let tree = scene.look(&["ls-tree", "-r", "--long", work.commit.as_str()]);
    assert!(tree.contains("30000000"), "{tree}");
    // Once more, now that git knows them.
    fs::write(scene.path(name), "small").unwrap();
    assert_eq!(scene.capture().files.len(), 2);
    let tree = scene.look(&["ls-tree", "-r", "--long", "refs/heads/pleach/task-1/1"]);
    assert!(!tree.contains("30000000"), "{tree}");
}

#[test]
fn what_its_owner_may_not_read_is_captured_all_the_same() {
    let scene = Scene::new();
    scene.write("closed/file.txt", "work\n");
    scene.write("a.txt", "work\n");
    let close = |name: &str, mode| {
        fs::set_permissions(scene.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    close("closed/file.txt", 0o000);
    close("closed", 0o000);
    close("a.txt", 0o010);
    close("dir", 0o400);
    let work = scene.capture();
    assert_eq!(work.files, ["a.txt", "closed/file.txt"]);
}

#[test]
fn an_agent_that_did_nothing_in_a_repository_without_files_changed_nothing() {
    let repo = TestRepo::empty();
    repo.commit("empty");
    let scene = Scene::of(repo);
    let unchanged = Captured::Unchanged {
        left_out: vec![],
        unread: 0,
    };
    assert_eq!(scene.capture_with(&[]), unchanged);
    scene.write("first.txt", "x");
    assert_eq!(scene.capture().files, ["first.txt"]);
}
