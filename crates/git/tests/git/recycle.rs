//! Worktrees that are used again: whatever the last agent did, the next one cannot tell.

mod cached;
mod portrait;
mod random;
mod scene;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use pleach_git::git::{Git, Store};
use pleach_git::worktree::{TreeState, Worktree, WorktreeError, finish_removals, list};

use scene::Scene;

/// What agents leave behind, by what it is.
const DEEDS: [(&str, &str); 38] = [
    ("nothing", ":"),
    ("an edit", "echo more >> a.txt"),
    (
        "an edit of a file that the next basis changes too",
        "echo x >> many/1/1.txt",
    ),
    (
        "an edit of a file that the next basis lacks",
        "echo x >> gone.txt",
    ),
    (
        "a file of the next basis",
        "mkdir new; echo other > new/n.txt",
    ),
    (
        "an edit that keeps size and time",
        "cp -p many/1/8.txt ../ref; printf 'X\\n' > many/1/8.txt; touch -r ../ref many/1/8.txt",
    ),
    ("a deletion", "rm many/2/2.txt; rm -r deep"),
    (
        "an untracked file",
        "echo x > x.txt; echo y > deep/er/y.txt",
    ),
    (
        "an ignored file",
        "echo x > x.log; mkdir out; echo y > out/y; echo z > deep/er/z.log",
    ),
    ("an empty folder", "mkdir -p empty/er deep/empty"),
    (
        "a folder in the place of a file",
        "rm a.txt; mkdir a.txt; echo x > a.txt/x",
    ),
    (
        "a file in the place of a folder",
        "rm -r deep; echo x > deep",
    ),
    (
        "a link in the place of a file",
        "rm a.txt; ln -s run.sh a.txt",
    ),
    (
        "a link in the place of a folder",
        "mv deep out-deep; ln -s out-deep deep",
    ),
    (
        "a link to a folder elsewhere in the place of one",
        "rm -r deep; ln -s \"$OUTSIDE\" deep",
    ),
    (
        "links to elsewhere",
        "ln -s \"$OUTSIDE\" elsewhere; ln -s \"$OUTSIDE\" many/elsewhere",
    ),
    ("a pipe", "rm a.txt; mkfifo a.txt; mkfifo many/pipe"),
    (
        "other modes of files",
        "chmod 600 a.txt; chmod -x run.sh; chmod 4755 many/1/1.txt",
    ),
    (
        "other modes of folders",
        "chmod 700 many/1; chmod 2775 deep; chmod 1777 deep/er; chmod 700 .",
    ),
    (
        "folders that nobody may read",
        "chmod 000 many/1; chmod 500 many/2; chmod 300 deep",
    ),
    (
        "read-only folders",
        "mkdir -p ro/in; echo x > ro/in/x; chmod 400 ro/in/x; chmod 500 ro/in; chmod 500 ro",
    ),
    ("a hard link to elsewhere", "ln a.txt \"$OUTSIDE/linked\""),
    (
        "a hard link from elsewhere",
        "ln -f \"$OUTSIDE/kept\" a.txt",
    ),
    (
        "a repository within",
        "git init -q nested; echo x > nested/x; git init -q many/1",
    ),
    (
        "a repository in the place of its own",
        "rm .git; git init -q; git add a.txt",
    ),
    (
        "a folder for git's file",
        "mv .git ../moved; mkdir .git; echo x > .git/x; rm -r .git; mv ../moved .git",
    ),
    ("no file for git", "rm .git"),
    ("files in a submodule", "echo x > sub/x; mkdir sub/y"),
    (
        "a repository in a submodule",
        "git init -q sub; echo x > sub/x",
    ),
    ("no folder of a submodule", "rmdir sub"),
    (
        "commits",
        "echo x > x.txt; git add x.txt; git commit -qm x; git tag -d nothing || true",
    ),
    (
        "another branch",
        "git checkout -q --detach; git commit -q --allow-empty -m x",
    ),
    (
        "a merge that stopped",
        "git commit -q --allow-empty -m x; cp \"$(git rev-parse --git-dir)/ORIG_HEAD\" /dev/null 2>&1 || git rev-parse HEAD > \"$(git rev-parse --git-dir)/MERGE_HEAD\"",
    ),
    (
        "what git notes of a worktree",
        "d=$(git rev-parse --git-dir); for f in ORIG_HEAD FETCH_HEAD CHERRY_PICK_HEAD; do git rev-parse HEAD > $d/$f; done; \
         mkdir -p $d/rebase-merge $d/info $d/hooks $d/modules/sub; echo x > $d/config.worktree; \
         echo a.txt > $d/info/sparse-checkout; echo '*' > $d/info/exclude; echo x > $d/hooks/post-checkout",
    ),
    (
        "flags in the index",
        "git update-index --assume-unchanged a.txt; git update-index --skip-worktree run.sh; echo x >> a.txt",
    ),
    (
        "a split index",
        "git update-index --split-index; git update-index --untracked-cache || true",
    ),
    (
        "a staged change",
        "echo x >> a.txt; git add a.txt; git rm -q --cached run.sh; echo i > i; git add -N i",
    ),
    (
        "a lock of git",
        "echo > \"$(git rev-parse --git-dir)/index.lock\"",
    ),
];

#[test]
fn whatever_an_agent_left_the_next_one_finds_a_fresh_worktree() {
    let scene = Scene::new();
    fs::create_dir(scene.repo.beside("outside")).unwrap();
    let kept = scene.repo.beside("outside/kept");
    fs::write(&kept, "theirs").unwrap();
    for (what, deed) in DEEDS {
        scene.turn();
        let worktree = scene.recycled(deed, &[]);
        let worktree = worktree.unwrap_or_else(|error| panic!("after {what}: {error}"));
        scene.check_like_fresh(&worktree, &[], what);
        finish_removals();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "theirs", "after {what}");
    }
}

#[test]
fn only_what_differs_is_written() {
    let scene = Scene::new();
    let worktree = scene.worked("echo x >> many/2/2.txt");
    let inode = |worktree: &Worktree, path: &str| {
        let meta = fs::metadata(worktree.path().join(path)).unwrap();
        (meta.ino(), meta.ctime(), meta.ctime_nsec())
    };
    let before = ["many/3/3.txt", "many/2/2.txt"].map(|path| inode(&worktree, path));
    let kept = pleach_git::capture::keep_last_state(&scene.store, &worktree, "one").unwrap();
    let spare = worktree.release(&scene.store, &kept, &[]).unwrap().unwrap();
    let again = Worktree::recycle(&scene.store, &scene.spec("two", &scene.second), spare).unwrap();
    assert_eq!(inode(&again, "many/3/3.txt"), before[0]);
    assert_ne!(inode(&again, "many/2/2.txt"), before[1]);
    let text = fs::read_to_string(again.path().join("many/2/2.txt")).unwrap();
    assert_eq!(text, "2\n");
}

#[test]
fn a_used_worktree_can_be_worked_in_kept_and_used_again() {
    let scene = Scene::new();
    let second = scene.recycled("echo x > one.txt", &[]).unwrap();
    scene::run(
        &scene.repo,
        second.path(),
        "echo y > two.txt; rm a.txt; git add -A; git commit -qm two",
    );
    let kept = pleach_git::capture::keep_last_state(&scene.store, &second, "two").unwrap();
    let files = scene.repo.git_in(
        &scene.store.git_dir(),
        &[
            "diff",
            "--name-only",
            scene.second.as_str(),
            kept.commit().unwrap().as_str(),
        ],
    );
    assert_eq!(files, "a.txt\ntwo.txt");
    let spare = second.release(&scene.store, &kept, &[]).unwrap().unwrap();
    let third = Worktree::recycle(&scene.store, &scene.spec("three", &scene.first), spare).unwrap();
    scene.check_like_fresh(&third, &[], "two tasks");
}

#[test]
fn a_folder_that_may_not_be_as_a_fresh_one_is_given_up_and_leaves_nothing() {
    for (what, deed) in [
        (
            "most files changed",
            "for f in many/*/*; do echo x >> $f; done",
        ),
        (
            "another folder in its place",
            "cp -r ../task-one ../copy; rm -r ../task-one; mv ../copy ../task-one",
        ),
    ] {
        let scene = Scene::new();
        let refused = scene.recycled(deed, &[]).unwrap_err();
        assert!(
            matches!(*refused, WorktreeError::Unfit { .. }),
            "{what}: {refused}"
        );
        finish_removals();
        assert_eq!(
            fs::read_dir(scene.repo.beside("worktrees/turn-0"))
                .unwrap()
                .count(),
            0,
            "{what}"
        );
        let fresh = Worktree::create(&scene.store, &scene.spec("two", &scene.second)).unwrap();
        scene.check_like_fresh(&fresh, &[], what);
    }
}

#[test]
fn a_folder_with_attributes_of_its_own_is_given_up() {
    let scene = Scene::new();
    let worktree = scene.worked(":");
    let folder = worktree.path().join("many/1");
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(&folder, "user.mark", b"x", flags).is_err() {
        // There are none on this file system.
        return;
    }
    let kept = pleach_git::capture::keep_last_state(&scene.store, &worktree, "one").unwrap();
    let spare = worktree.release(&scene.store, &kept, &[]).unwrap().unwrap();
    let spec = scene.spec("two", &scene.second);
    let refused = Worktree::recycle(&scene.store, &spec, spare).unwrap_err();
    assert!(
        refused.to_string().ends_with("it has extended attributes"),
        "{refused}"
    );
}

/// A git that does something else where it is to bring a folder to another commit; `$git` is the real one.
fn other_git(scene: &Scene, does: &str) -> Git {
    let program = scene.repo.beside("other-git");
    let text = format!(
        "#!/bin/sh\ngit=$(command -v git)\ncase \"$*\" in *read-tree\\ --reset*) {does}; exit;; esac\nexec \"$git\" \"$@\"\n"
    );
    // Written by another process: a child of another test could still have it open for writing.
    let script = "printf %s \"$1\" > \"$0\"; chmod +x \"$0\"";
    let written = Command::new("sh")
        .args(["-c", script])
        .arg(&program)
        .arg(text)
        .status();
    assert!(written.unwrap().success());
    Git::at(program).unwrap()
}

#[test]
fn what_git_did_not_write_is_noticed_wherever_it_had_to() {
    let loses = |path: &str| format!("\"$git\" \"$@\" && rm \"$GIT_WORK_TREE/{path}\"");
    for (what, does) in [
        ("a new file", loses("new/n.txt")),
        ("a changed file", loses("a.txt")),
        ("a file that the agent took away", loses("many/3/3.txt")),
        ("all of it", "exit 0".to_owned()),
    ] {
        let mut scene = Scene::new();
        if what == "all of it" {
            scene.second = scene.first.clone();
        }
        let git = other_git(&scene, &does);
        scene.store = Store::open(git, &scene.repo.beside("stores"), scene.repo.path()).unwrap();
        let refused = scene.recycled("rm many/3/3.txt", &[]).unwrap_err();
        let refused = refused.to_string();
        assert!(
            refused.ends_with("some of its files are missing"),
            "{what}: {refused}"
        );
    }
}

#[test]
fn files_that_are_to_be_written_in_another_way_are_written_anew() {
    let mut scene = Scene::new();
    scene.repo.write(".gitattributes", "*.txt eol=crlf\n");
    scene.second = scene.repo.commit("other line ends").parse().unwrap();
    scene.store = {
        let stores = scene.repo.beside("stores");
        let git = Git::find().unwrap();
        Store::open(git, &stores, scene.repo.path()).unwrap()
    };
    scene.second = scene.store.resolve_base(None).unwrap();
    let refused = scene.recycled(":", &[]).unwrap_err();
    assert!(
        refused.to_string().ends_with("need other attributes"),
        "{refused}"
    );
}

#[test]
fn a_few_files_are_not_worth_it() {
    let mut scene = Scene::new();
    scene.repo.git(&["rm", "-r", "--quiet", "many"]);
    scene.repo.commit("few");
    scene.first = scene.store.resolve_base(None).unwrap();
    assert!(
        scene
            .spare("mkdir target; echo x > target/x", &[])
            .is_none()
    );
    assert!(
        scene
            .spare("mkdir target; echo x > target/x", &["other"])
            .is_none()
    );
    assert!(
        scene
            .spare("mkdir target; echo x > target/x", &["target"])
            .is_some()
    );
    finish_removals();
    assert_eq!(
        fs::read_dir(scene.repo.beside("worktrees/turn-0"))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn what_waits_is_no_worktree_and_goes_when_it_is_not_wanted() {
    let scene = Scene::new();
    let spare = scene.spare("echo x > x.txt", &[]).unwrap();
    assert!(list(&scene.store).unwrap().is_empty());
    let listed = scene
        .repo
        .git_in(&scene.store.git_dir(), &["worktree", "list"]);
    assert_eq!(listed.lines().count(), 1, "{listed}");
    let index = scene.store.home().join("index");
    assert_eq!(fs::read_dir(&index).unwrap().count(), 1);
    drop(spare);
    finish_removals();
    for folder in [
        scene.repo.beside("worktrees/turn-0"),
        index,
        scene.store.home().join("trash"),
    ] {
        assert_eq!(
            fs::read_dir(&folder).unwrap().count(),
            0,
            "{}",
            folder.display()
        );
    }
}

#[test]
fn a_worktree_that_is_not_kept_is_not_used_again() {
    let scene = Scene::new();
    let worktree = scene.worked("echo x > work.txt");
    let other = Worktree::create(&scene.store, &scene.spec("two", &scene.first)).unwrap();
    let kept = pleach_git::capture::keep_last_state(&scene.store, &other, "two").unwrap();
    let refused = worktree.release(&scene.store, &kept, &[]).unwrap_err();
    assert!(
        matches!(refused, WorktreeError::NotKept { .. }),
        "{refused}"
    );
    assert!(scene.path("one").join("work.txt").exists());
    let states = list(&scene.store).unwrap();
    assert!(states.iter().all(|tree| tree.state == TreeState::InUse));
}
