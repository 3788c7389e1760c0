//! What comes along from one task to the next, and what does not though it is named.

use std::fs;

use pleach_git::worktree::finish_removals;

use super::scene::{Scene, run};

/// The names and texts of what is in a folder of a worktree, on one line.
fn there(scene: &Scene, task: &str, folder: &str) -> String {
    let list = "cd \"$0\" 2>/dev/null || exit 0; find . -mindepth 1 | sort | tr '\\n' ' '";
    let output = std::process::Command::new("sh")
        .args(["-c", list])
        .arg(scene.path(task).join(folder))
        .output()
        .unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

const BUILD: &str = "mkdir -p target/deep web/modules .tools/cache out; echo x > target/deep/x; echo m > web/modules/m; \
                     echo t > .tools/cache/t; echo other > .tools/other; echo o > out/o; ln -s deep target/link";

#[test]
fn cached_paths_come_along_and_nothing_else() {
    let scene = Scene::new();
    let cache = [
        "target",
        "./web/modules/",
        ".tools/cache",
        "nowhere",
        "no/where",
    ];
    let worktree = scene.recycled(BUILD, &cache).unwrap();
    assert_eq!(there(&scene, "two", "target"), "./deep ./deep/x ./link");
    assert_eq!(
        there(&scene, "two", "web"),
        "./modules ./modules/m ./page.html"
    );
    assert_eq!(there(&scene, "two", ".tools"), "./cache ./cache/t");
    assert_eq!(there(&scene, "two", "out"), "");
    let cached = ["target", "web/modules", ".tools"];
    scene.check_like_fresh(&worktree, &cached, "a build");
}

#[test]
fn a_link_is_not_kept_and_what_it_leads_to_is_left_alone() {
    let scene = Scene::new();
    let outside = scene.repo.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), "theirs").unwrap();
    let deed = "ln -s \"$OUTSIDE\" target; ln -s \"$OUTSIDE\" web/modules; mkdir \"$OUTSIDE/a.log\"; rm -r deep; \
                ln -s \"$OUTSIDE\" deep; mkdir .tools; ln -s \"$OUTSIDE\" .tools/into";
    let cache = ["target", "web/modules", "deep/a.log", ".tools"];
    let worktree = scene.recycled(deed, &cache).unwrap();
    scene.check_like_fresh(&worktree, &[".tools"], "links");
    assert!(scene.path("two").join(".tools/into").is_symlink());
    drop(worktree.retire(&scene.store, "two").unwrap());
    finish_removals();
    assert_eq!(fs::read_to_string(outside.join("kept")).unwrap(), "theirs");
    assert!(outside.join("a.log").is_dir());
}

#[test]
fn what_git_knows_or_does_not_ignore_is_not_kept() {
    let mut scene = Scene::new();
    for (what, deed, change, cache) in [
        ("tracked before", "echo x > many/x.txt", ":", "many"),
        (
            "tracked next",
            BUILD,
            "mkdir target; echo t > target/t; git add -f target",
            "target",
        ),
        (
            "tracked next below a link",
            BUILD,
            "ln -s many target; git add -f target",
            "target/deep",
        ),
        (
            "tracked next as a file",
            BUILD,
            "echo t > target; git add -f target",
            "target/deep",
        ),
        ("not ignored", "mkdir build; echo x > build/x", ":", "build"),
        (
            "not ignored next",
            BUILD,
            "sed -i /target/d .gitignore",
            "target",
        ),
        (
            "not ignored, in a folder of its own",
            "mkdir -p b/c; echo x > b/c/x",
            ":",
            "b/c",
        ),
    ] {
        scene.turn();
        let begin = format!("git reset -q --hard {}; git clean -qfdx", scene.first);
        run(&scene.repo, scene.repo.path(), &begin);
        run(&scene.repo, scene.repo.path(), change);
        run(
            &scene.repo,
            scene.repo.path(),
            "git add .gitignore; git commit -q --allow-empty -m next",
        );
        scene.second = scene.store.resolve_base(None).unwrap();
        let worktree = scene.recycled(deed, &[cache]);
        let worktree = worktree.unwrap_or_else(|error| panic!("{what}: {error}"));
        scene.check_like_fresh(&worktree, &[], what);
    }
}
