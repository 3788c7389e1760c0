//! Capturing: whatever an agent did ends up in one commit, and nothing of the agent's runs.

mod hazards;
mod hostile;
mod included;
mod kinds;
mod rules;
mod scene;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pleach_git::capture::{Captured, snapshot};
use pleach_git::worktree::AgentHistory;
use pleach_testkit::TestRepo;

use scene::Scene;

#[test]
fn doing_nothing_is_unchanged() {
    let scene = Scene::new();
    scene.write("debug.log", "ignored");
    scene.write("out/binary", "ignored");
    let unchanged = Captured::Unchanged {
        left_out: vec![],
        unread: 0,
    };
    assert_eq!(scene.capture_with(&[]), unchanged);
    assert_eq!(snapshot(&scene.store, &scene.worktree).unwrap(), None);
    scene.commit("empty");
    assert_eq!(scene.capture_with(&[]), unchanged);
}

#[test]
fn work_that_was_not_committed_is_committed_in_the_users_name() {
    let scene = Scene::new();
    scene.write("a.txt", "changed\n");
    scene.write("new/file.txt", "new\n");
    fs::remove_file(scene.path("dir/b.txt")).unwrap();
    scene.write("noise.log", "ignored");
    let work = scene.capture();
    assert_eq!(work.files, ["a.txt", "dir/b.txt", "new/file.txt"]);
    assert_eq!(work.agent_commits, 0);
    assert_eq!(scene.read(&work.commit, "dir/b.txt"), None);
    let show = [
        "show",
        "--no-patch",
        "--format=%an|%cn|%s|%P",
        work.commit.as_str(),
    ];
    let expected = format!(
        "Tess Tester|Tess Tester|Task 1: do it|{}",
        scene.worktree.basis()
    );
    assert_eq!(scene.look(&show), expected);
}

#[test]
fn work_that_was_committed_cleanly_is_taken_as_it_is() {
    let scene = Scene::new();
    scene.write("a.txt", "one\n");
    scene.commit("one");
    scene.write("a.txt", "two\n");
    let head = scene.commit("two");
    let work = scene.capture();
    assert_eq!(work.commit.as_str(), head);
    assert_eq!(work.agent_commits, 2);
}

#[test]
fn leftovers_go_on_top_of_the_agents_commits() {
    let scene = Scene::new();
    scene.write("a.txt", "one\n");
    let head = scene.commit("one");
    scene.write("staged.txt", "staged\n");
    scene.git(&["add", "staged.txt"]);
    scene.write("loose.txt", "loose\n");
    let work = scene.capture();
    assert_eq!(work.files, ["a.txt", "loose.txt", "staged.txt"]);
    assert_eq!(work.agent_commits, 1);
    let parent = scene.look(&["rev-parse", &format!("{}^", work.commit)]);
    assert_eq!(parent, head);
}

#[test]
fn another_branch_and_a_detached_head_are_followed() {
    for step in [
        ["switch", "--create", "mine"],
        ["switch", "--detach", "HEAD"],
    ] {
        let scene = Scene::new();
        scene.git(&step);
        scene.write("a.txt", "elsewhere\n");
        let head = scene.commit("elsewhere");
        let work = scene.capture();
        assert_eq!(work.commit.as_str(), head, "{step:?}");
    }
}

#[test]
fn a_rewritten_history_is_kept_but_only_its_files_are_taken() {
    let scene = Scene::new();
    scene.git(&["switch", "--quiet", "--orphan", "fresh"]);
    scene.write("only.txt", "only\n");
    let orphan = scene.commit("fresh start");
    let work = scene.capture();
    assert_eq!(work.agent_commits, 0);
    assert_eq!(scene.read(&work.commit, "only.txt").unwrap(), "only\n");
    assert_eq!(scene.read(&work.commit, "a.txt"), None);
    let kept = scene.look(&["for-each-ref", "refs/pleach/keep"]);
    assert!(kept.contains(&orphan), "{kept}");
}

#[test]
fn a_branch_that_the_agent_moved_away_is_kept_before_it_is_moved_back() {
    let scene = Scene::new();
    scene.write("a.txt", "given up\n");
    let given_up = scene.commit("given up");
    scene.git(&["switch", "--quiet", "--detach", "HEAD~1"]);
    scene.write("a.txt", "better\n");
    let work = scene.capture();
    assert_eq!(scene.read(&work.commit, "a.txt").unwrap(), "better\n");
    let kept = scene.look(&["for-each-ref", "refs/pleach/keep"]);
    assert!(kept.contains(&given_up), "{kept}");
}

#[test]
fn a_merge_that_is_half_done_is_captured_as_it_stands() {
    let scene = Scene::new();
    scene.git(&["switch", "--quiet", "--create", "side"]);
    scene.write("a.txt", "side\n");
    scene.commit("side");
    scene.git(&["switch", "--quiet", "pleach/task-1/1"]);
    scene.write("a.txt", "main\n");
    let head = scene.commit("main");
    let path = scene.worktree.path();
    assert!(!scene.repo.git_succeeds(path, &["merge", "side"]));
    let work = scene.capture();
    let content = scene.read(&work.commit, "a.txt").unwrap();
    assert!(content.contains("<<<<<<<"), "{content}");
    let parents = scene.look(&["rev-parse", &format!("{}^@", work.commit)]);
    assert_eq!(parents, head);
}

#[test]
fn ignored_files_count_only_when_the_agent_put_them_in() {
    let scene = Scene::new();
    scene.write("loose.log", "ignored");
    scene.write("committed.log", "wanted");
    scene.git(&["add", "--force", "committed.log"]);
    scene.git(&["commit", "--quiet", "-m", "log"]);
    scene.write("staged.log", "wanted too");
    scene.git(&["add", "--force", "staged.log"]);
    assert_eq!(scene.capture().files, ["committed.log", "staged.log"]);
}

#[test]
fn a_gitignore_that_the_agent_wrote_is_followed() {
    let scene = Scene::new();
    scene.write("node_modules/x/index.js", "x");
    scene.write(".gitignore", "*.log\n/out/\nnode_modules/\n");
    assert_eq!(scene.capture().files, [".gitignore"]);
}

#[test]
fn changes_of_the_plan_file_are_left_out_and_reported() {
    let scene = Scene::new();
    scene.write("PLAN.md", "- [x] task\n");
    let plan = vec![PathBuf::from("PLAN.md")];
    let left_out = plan.clone();
    assert_eq!(
        scene.capture_with(&["PLAN.md"]),
        Captured::Unchanged {
            left_out,
            unread: 0
        }
    );
    scene.commit("the agent commits its edit of the plan");
    scene.write("a.txt", "work\n");
    let Captured::Changed {
        commit,
        files,
        left_out,
        agent_commits,
        ..
    } = scene.capture_with(&["PLAN.md", "absent.md"])
    else {
        panic!("the work is lost");
    };
    assert_eq!(
        (files, left_out, agent_commits),
        (vec!["a.txt".to_owned()], plan, 1)
    );
    assert_eq!(scene.read(&commit, "PLAN.md").unwrap(), "- [ ] task\n");
}

#[test]
fn a_plan_file_that_became_a_folder_or_appeared_is_put_back_too() {
    let scene = Scene::new();
    fs::remove_file(scene.path("PLAN.md")).unwrap();
    scene.write("PLAN.md/inner", "x");
    scene.write("other-plan.md", "x");
    let names = ["PLAN.md", "other-plan.md"];
    let left_out = names.iter().map(PathBuf::from).collect();
    assert_eq!(
        scene.capture_with(&names),
        Captured::Unchanged {
            left_out,
            unread: 0
        }
    );
}

#[test]
fn odd_names_and_contents_survive() {
    let scene = Scene::new();
    let names = [
        " space ",
        "-rf",
        ":(top)x",
        "line\nbreak",
        "tab\t\"quote\"",
        "ünïcödé",
        "*?[a]",
    ];
    let binary: Vec<u8> = (0..=255).chain([0, 0, 13, 10]).collect();
    for name in names {
        scene.write(name, &binary);
    }
    scene.write("tool.sh", "#!/bin/sh\n");
    fs::set_permissions(scene.path("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/nowhere/outside", scene.path("link")).unwrap();
    let work = scene.capture();
    for name in names {
        assert!(work.files.iter().any(|file| file == name), "{name:?}");
        let content = scene.store.read_file_at(&work.commit, name).unwrap();
        assert_eq!(content.unwrap(), binary, "{name:?}");
    }
    let modes = scene.look(&["ls-tree", work.commit.as_str(), "link", "tool.sh"]);
    let modes: Vec<&str> = modes.lines().map(|line| &line[..6]).collect();
    assert_eq!(modes, ["120000", "100755"]);
}

#[test]
fn files_and_folders_may_change_places() {
    let scene = Scene::new();
    fs::remove_file(scene.path("a.txt")).unwrap();
    scene.write("a.txt/inner", "now a folder");
    fs::remove_dir_all(scene.path("dir")).unwrap();
    scene.write("dir", "now a file");
    let files = scene.capture().files;
    assert_eq!(files, ["a.txt", "a.txt/inner", "dir", "dir/b.txt"]);
}

#[test]
fn line_endings_that_attributes_would_change_are_no_work_of_the_agent() {
    let repo = TestRepo::new();
    repo.write("dos.txt", "one\r\ntwo\r\n");
    repo.commit("with carriage returns");
    repo.write(".gitattributes", "*.txt text\n");
    repo.git(&["add", ".gitattributes"]);
    repo.git(&["commit", "--quiet", "-m", "attributes"]);
    let scene = Scene::of(repo);
    scene.write("other", "work");
    assert_eq!(scene.capture().files, ["other"]);
}

#[test]
fn a_snapshot_holds_the_last_state_whatever_the_head_is() {
    let scene = Scene::new();
    scene.git(&["switch", "--quiet", "--orphan", "fresh"]);
    scene.write("a.txt", "rewritten\n");
    let head = scene.commit("fresh");
    let clean = snapshot(&scene.store, &scene.worktree).unwrap().unwrap();
    assert_eq!(clean.as_str(), head);
    scene.write("untracked.txt", "untracked\n");
    let commit = snapshot(&scene.store, &scene.worktree).unwrap().unwrap();
    assert_eq!(scene.look(&["rev-parse", &format!("{commit}^")]), head);
    assert_eq!(scene.read(&commit, "untracked.txt").unwrap(), "untracked\n");
    let branch = scene
        .store
        .ref_commit("refs/heads/pleach/task-1/1")
        .unwrap();
    assert_eq!(branch.as_ref(), Some(scene.worktree.basis()));
}

#[test]
fn capturing_twice_gives_the_same_commit() {
    let scene = Scene::new();
    scene.write("a.txt", "changed\n");
    let first = scene.capture().commit;
    assert_eq!(scene.capture().commit, first);
}

#[test]
fn an_edit_in_the_second_of_the_checkout_is_seen_though_size_and_date_stay() {
    let scene = Scene::new();
    let path = scene.path("a.txt");
    let date = path.metadata().unwrap().modified().unwrap();
    fs::write(&path, "A\n").unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(date).unwrap();
    assert_eq!(scene.git(&["status", "--porcelain"]), " M a.txt");
    assert_eq!(scene.capture().files, ["a.txt"]);
}

#[test]
fn such_an_edit_is_seen_later_as_well() {
    let scene = Scene::new();
    let path = scene.path("a.txt");
    let date = path.metadata().unwrap().modified().unwrap();
    fs::write(&path, "A\n").unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(date).unwrap();
    // Git goes by whole seconds, and takes what is older than its index for unchanged.
    let second = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap().as_secs();
    while second(SystemTime::now()) <= second(date) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(scene.capture().files, ["a.txt"]);
}

#[test]
fn a_link_that_is_pointed_elsewhere_is_work_and_nothing_behind_it_is_read() {
    let repo = pleach_testkit::TestRepo::new();
    repo.write("dir/b.txt", "b\n");
    for name in ["to-folder", "to-nowhere", "to-everything"] {
        symlink("dir", repo.path().join(name)).unwrap();
    }
    repo.commit("links");
    let scene = Scene::of(repo);
    for (name, target) in [
        ("to-folder", "."),
        ("to-nowhere", "gone"),
        ("to-everything", "/dev/zero"),
    ] {
        fs::remove_file(scene.path(name)).unwrap();
        symlink(target, scene.path(name)).unwrap();
    }
    let work = scene.capture();
    assert_eq!(work.files, ["to-everything", "to-folder", "to-nowhere"]);
    assert_eq!(
        scene.read(&work.commit, "to-everything").unwrap(),
        "/dev/zero"
    );
}

#[test]
fn a_folder_that_became_a_link_is_captured() {
    let scene = Scene::new();
    fs::rename(scene.path("dir"), scene.path("moved")).unwrap();
    symlink("moved", scene.path("dir")).unwrap();
    let work = scene.capture();
    assert_eq!(scene.read(&work.commit, "dir").unwrap(), "moved");
    assert_eq!(scene.read(&work.commit, "moved/b.txt").unwrap(), "b\n");
}

#[test]
fn a_history_that_was_left_is_told() {
    let scene = Scene::new();
    scene.write("a.txt", "changed\n");
    let Captured::Changed { history, .. } = scene.capture_with(&[]) else {
        panic!("the work is lost");
    };
    assert_eq!(history, AgentHistory::Continued);
    scene.git(&["checkout", "--quiet", "--orphan", "elsewhere"]);
    scene.commit("another history");
    let Captured::Changed { history, .. } = scene.capture_with(&[]) else {
        panic!("the work is lost");
    };
    assert_eq!(history, AgentHistory::Abandoned);
}
