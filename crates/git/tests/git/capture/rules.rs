//! What is ignored, by whose rules, and what a link may not smuggle in.

use std::fs;
use std::os::unix::fs::symlink;

use pleach_git::capture::Captured;
use pleach_testkit::TestRepo;

use crate::capture::scene::Scene;

#[test]
fn what_the_users_own_git_ignores_is_ignored_by_everybody() {
    let repo = TestRepo::new();
    let global = repo.beside("global-ignore");
    fs::write(&global, "*.swp\n*.both\n").unwrap();
    repo.git(&["config", "core.excludesFile", global.to_str().unwrap()]);
    fs::create_dir_all(repo.path().join(".git/info")).unwrap();
    fs::write(
        repo.path().join(".git/info/exclude"),
        "/private/\n!*.both\n",
    )
    .unwrap();
    repo.write("kept.swp", "committed long ago\n");
    repo.git(&["add", "--force", "kept.swp"]);
    repo.git(&["commit", "--quiet", "-m", "all the same"]);
    let scene = Scene::of(repo);
    scene.write("dir/editor.swp", "x");
    scene.write("private/notes", "x");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
    assert_eq!(
        scene.capture_with(&[]),
        Captured::Unchanged {
            left_out: vec![],
            unread: 0
        }
    );
    scene.write("kept.swp", "changed\n");
    scene.write("a.both", "the later rule wins");
    assert_eq!(scene.capture().files, ["a.both", "kept.swp"]);
}

#[test]
fn rules_that_the_agent_gives_its_own_git_do_not_hide_its_work() {
    let scene = Scene::new();
    let rules = scene.git(&["rev-parse", "--git-path", "info/exclude"]);
    fs::write(rules, "*\n").unwrap();
    let hidden = scene.repo.beside("agent-ignore");
    fs::write(&hidden, "*\n").unwrap();
    scene.git(&["config", "core.excludesFile", hidden.to_str().unwrap()]);
    scene.write("work.txt", "work");
    assert_eq!(scene.capture().files, ["work.txt"]);
}

#[test]
fn a_link_in_the_place_of_an_ignored_folder_is_ignored_as_well() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "node_modules/\n");
    repo.write("app/.gitignore", "/cache/\n");
    repo.commit("rules");
    let scene = Scene::of(repo);
    let outside = scene.repo.beside("outside");
    fs::create_dir(&outside).unwrap();
    for name in ["node_modules", "app/node_modules", "app/cache", "cache"] {
        symlink(&outside, scene.path(name)).unwrap();
    }
    assert_eq!(scene.capture().files, ["cache"]);
    // Stock git takes them in, so that an agent commits them without knowing.
    scene.git(&[
        "rm",
        "--quiet",
        "--cached",
        "--force",
        "--ignore-unmatch",
        "cache",
    ]);
    fs::remove_file(scene.path("cache")).unwrap();
    scene.write("work.txt", "work");
    let head = scene.commit("work and links");
    let tree = scene.git(&["ls-tree", "-r", &head]);
    assert!(tree.contains("node_modules"), "{tree}");
    let work = scene.capture();
    assert_eq!(work.files, ["work.txt"]);
    assert_eq!(work.agent_commits, 1);
}

#[test]
fn a_link_that_was_there_before_stays_whatever_the_rules_say() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "shared/\n");
    symlink("README.md", repo.path().join("shared")).unwrap();
    repo.commit("a link on purpose");
    let scene = Scene::of(repo);
    assert_eq!(
        scene.capture_with(&[]),
        Captured::Unchanged {
            left_out: vec![],
            unread: 0
        }
    );
    fs::remove_file(scene.path("shared")).unwrap();
    symlink(".gitignore", scene.path("shared")).unwrap();
    assert_eq!(scene.capture().files, ["shared"]);
}

#[test]
fn a_folder_full_of_ignored_files_is_not_walked_and_its_tracked_ones_are_seen() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "/build/\n");
    repo.write("build/keep.txt", "kept\n");
    repo.git(&["add", "--force", "build/keep.txt"]);
    repo.commit("a tracked file among ignored ones");
    let scene = Scene::of(repo);
    for n in 0..3000 {
        scene.write(&format!("build/{}/{n}.o", n % 30), "x");
        scene.write(&format!("src/{}/{n}.rs", n % 30), "x");
    }
    scene.write("build/keep.txt", "changed\n");
    scene.write("build/new.txt", "ignored\n");
    let files = scene.capture().files;
    assert_eq!(files.len(), 3001);
    assert_eq!(files[0], "build/keep.txt");
}
