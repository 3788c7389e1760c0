//! Worktrees that one task of a batch takes over from another.

use std::os::unix::process::ExitStatusExt as _;

use pleach_system::crash_point::{CrashPoint, DIE_AT};
use pleach_testkit::gate_or_night;

use crate::scene::{Scene, Story};

/// The steps of using a worktree again, at each of which a run is killed.
pub(crate) const STEPS: [CrashPoint; 4] = [
    CrashPoint::FilesSetAside,
    CrashPoint::SpareTidied,
    CrashPoint::SpareFilled,
    CrashPoint::SpareMoved,
];

/// An agent that notes all it finds, when an old file was written, and leaves all kinds of things.
const SHELL: &str = "find . -mindepth 1 -name many -prune -o -path ./.git -prune -o -print | sort | tr '\\n' ' ' > \
     BESIDE/seen-$PLEACH_TASK; stat -c %y many/1 > BESIDE/date-$PLEACH_TASK; echo w > file-$PLEACH_TASK; \
     mkdir -p target out/empty odd; echo t > target/of-$PLEACH_TASK; echo o > out/o; echo x >> many/1; \
     git init -q odd/nested; git checkout -q many/1; touch -d @1 many/1";

const FILES: &str = "./.gitignore ./README.md ./TODO.md ./pleach.toml";

/// A project in which a worktree is worth using again.
fn scene(tasks: &str, settings: &str) -> Scene {
    let scene = Scene::of(tasks, &format!("max_parallel = 1\n{settings}"), SHELL);
    scene
        .repo
        .write(".gitignore", "/target/\n/out/\n/plan.json\n");
    for n in 0..220 {
        scene.repo.write(format!("many/{n}"), format!("{n}\n"));
    }
    scene.repo.commit("many files");
    scene
}

#[test]
fn the_next_task_finds_what_is_cached_and_nothing_else_of_the_last() {
    let scene = scene("1, 2 1, 3 2", "cache = [\"target\"]");
    scene.story(&[]).check(0, "1:merged 2:merged 3:merged");
    let seen = ["1", "2", "3"].map(|task| scene.trace(&format!("seen-{task}")));
    assert_eq!(seen[0], FILES);
    let found = |files: &str, cached: &str| {
        FILES.replace("./pleach.toml", &format!("{files} ./pleach.toml {cached}"))
    };
    assert_eq!(seen[1], found("./file-1", "./target ./target/of-1"));
    assert_eq!(
        seen[2],
        found("./file-1 ./file-2", "./target ./target/of-1 ./target/of-2")
    );
    assert_eq!(scene.new_files("pleach/batch-1"), "file-1 file-2 file-3");
    scene.check_no_worktree_is_left();
}

#[test]
fn by_default_the_folder_is_used_again_and_nothing_comes_along() {
    let scene = scene("1, 2", "");
    scene.repo.write("other", "an old file\n");
    scene.repo.commit("one that no agent touches");
    let shell = SHELL.replace("stat -c %y many/1", "stat -c %z other");
    scene.configure("plan = \"plan.json\"\nmax_parallel = 1", &shell);
    scene.repo.commit("the agent");
    scene.story(&[]).check(0, "1:merged 2:merged");
    assert_eq!(scene.trace("seen-1"), scene.trace("seen-2"));
    assert_eq!(
        scene.trace("date-1"),
        scene.trace("date-2"),
        "it is used again"
    );
    scene.check_no_worktree_is_left();
}

#[test]
fn what_an_agent_broke_off_is_not_cached() {
    let scene = scene(
        "1",
        "cache = [\"target\"]\nretries = 1\nretry_pause = \"10ms\"",
    );
    let shell = format!("{SHELL}; mkdir BESIDE/failed 2>&- && exit 1; true");
    let settings =
        "plan = \"plan.json\"\ncache = [\"target\"]\nretries = 1\nretry_pause = \"10ms\"";
    scene.configure(settings, &shell);
    scene.repo.commit("the agent");
    scene.story(&[]).check(0, "1:merged");
    assert!(scene.repo.beside("failed").exists());
    assert_eq!(scene.trace("seen-1"), FILES);
    scene.check_no_worktree_is_left();
}

#[test]
fn batches_share_nothing() {
    let scene = scene("1, 2", "cache = [\"target\"]");
    scene.story(&["1"]).check(0, "1:merged");
    scene.story(&["2"]).check(0, "2:merged");
    assert_eq!(scene.trace("seen-2"), FILES);
    scene.check_no_worktree_is_left();
}

#[test]
fn a_run_that_dies_while_a_worktree_is_used_again_goes_on_and_leaves_nothing() {
    std::thread::scope(|scope| {
        for step in STEPS {
            let name = std::thread::Builder::new().name(format!("{step:?}"));
            name.spawn_scoped(scope, move || check_death(step)).unwrap();
        }
    });
}

fn check_death(step: CrashPoint) {
    let scene = scene("1, 2 1, 3 2", "cache = [\"target\"]");
    let run = |words: &[&str], point: Option<&str>| {
        let mut command = crate::command(scene.repo.path(), &scene.home(), words);
        command.envs(point.map(|point| (DIE_AT, point)));
        command.output().unwrap()
    };
    let point = format!("{step:?}");
    let resume = ["run", "--resume", "1", "--json"];
    let mut output = run(&["run", "--yes", "--json"], Some(&point));
    let mut deaths = 0;
    while output.status.signal() == Some(9) {
        deaths += 1;
        let again = (deaths < gate_or_night(1, 4)).then_some(point.as_str());
        output = run(&resume, again);
    }
    assert!(deaths > 0, "{point} is never reached: {output:?}");
    let story = Story::of(&output.into());
    story.check(0, "1:merged 2:merged 3:merged");
    assert_eq!(scene.new_files("pleach/batch-1"), "file-1 file-2 file-3");
    let shows = |task: &str| scene.show("pleach/batch-1", &format!("file-{task}"));
    assert_eq!(["1", "2", "3"].map(shows), ["w", "w", "w"]);
    scene.check_no_worktree_is_left();
    scene.check_nobody_is_left();
    let home = scene.store();
    let home = home.parent().unwrap();
    for folder in ["trees", "index", "trash", "store.git/worktrees"] {
        let left = std::fs::read_dir(home.join(folder)).into_iter().flatten();
        let left: Vec<_> = left.flatten().map(|entry| entry.path()).collect();
        assert!(left.is_empty(), "{point}: {left:?}");
    }
}
