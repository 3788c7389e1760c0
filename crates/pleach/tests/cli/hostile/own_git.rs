//! Pleach's own git, which works in folders that agents write to, against links and pipes that are planted there.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pleach_testkit::gate_or_night;
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, open, renameat_with};
use rustix::process::Signal;

use crate::scene::{Gate, Running, Scene, WAIT, make_pipe};

const KEY: &str = "a-key-that-no-agent-may-read";

/// Whether some bytes are anywhere in the private store: in an object, packed or not, or in what a git left behind.
fn is_in_store(scene: &Scene, text: &str) -> bool {
    let search = r#"
import os, subprocess, sys, zlib
home, text = sys.argv[1], sys.argv[2].encode()
packed = subprocess.run(["git", "cat-file", "--batch-all-objects", "--batch"], cwd=home + "/store.git", stdout=subprocess.PIPE)
found = text in packed.stdout
for folder, _, names in os.walk(home):
    for name in names:
        path = os.path.join(folder, name)
        if os.path.islink(path) or not os.path.isfile(path):
            continue
        raw = open(path, "rb").read()
        try:
            raw += zlib.decompressobj().decompress(raw)
        except zlib.error:
            pass
        found = found or text in raw
print(found)
"#;
    let store = scene.store();
    let home = store.parent().unwrap();
    let output = std::process::Command::new("python3")
        .args(["-c", search])
        .arg(home)
        .arg(text)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    match printed.trim() {
        "True" => true,
        "False" => false,
        _ => panic!("{}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// Puts a file and a link in each other's places, again and again, until it is told to stop.
fn swap(folder: &Path, is_over: &AtomicBool) {
    let (file, link) = (folder.join("r"), folder.join("s"));
    let began = Instant::now();
    while !is_over.load(Ordering::Relaxed) && began.elapsed() < Duration::from_mins(2) {
        // The worktree goes in the end.
        let _ = renameat_with(CWD, &file, CWD, &link, RenameFlags::EXCHANGE);
    }
}

#[test]
fn a_survivor_that_swaps_files_against_links_has_no_key_captured() {
    check_swapped_against("BESIDE/home/.ssh/id_rsa", KEY.len());
}

#[test]
fn a_survivor_that_swaps_files_against_links_has_no_token_of_the_environment_captured() {
    // It comes first there.
    check_swapped_against("/proc/self/environ", "A_TOKEN=".len() + KEY.len());
}

#[track_caller]
fn check_swapped_against(target: &str, length: usize) {
    for _ in 0..gate_or_night(4, 10) {
        // Git reads as much as the file has that it looked at.
        let shell = format!(
            "case $PLEACH_TASK in 1) printf %{length}d 1 > r; ln -s {target} s; \
             pwd > BESIDE/where; {WAIT};; 2) echo two > two;; esac"
        );
        let scene = Scene::of("1, 2", "retries = 0", &shell);
        fs::create_dir_all(scene.home().join(".ssh")).unwrap();
        fs::write(scene.home().join(".ssh/id_rsa"), KEY).unwrap();
        let mut gate = Gate::at(&scene);
        let words = ["run", "--yes", "--json"];
        let mut command = crate::command(scene.repo.path(), &scene.home(), &words);
        let running = Running::start(command.env("A_TOKEN", KEY));
        assert_eq!(gate.wait_for(1), "1");
        let folder = PathBuf::from(scene.trace("where"));
        let is_over = AtomicBool::new(false);
        let story = thread::scope(|scope| {
            scope.spawn(|| swap(&folder, &is_over));
            gate.let_go(1);
            let story = running.story();
            is_over.store(true, Ordering::Relaxed);
            story
        });
        // Whether files can be captured that change all the time is not the point; that the others can is.
        assert!(story.outcomes().contains("2:merged"), "{}", story.err);
        assert!(!is_in_store(&scene, KEY), "the key is in the store");
    }
}

#[test]
fn links_that_an_agent_plants_in_the_store_lead_our_git_nowhere() {
    // Nothing holds this agent, so it may plant what it likes; it is our git that has to stay inside.
    let scene = Scene::of(
        "1, 2 1",
        "retries = 0\nsandbox = \"none\"",
        "case $PLEACH_TASK in 1) echo one > one; G=$(git rev-parse --path-format=absolute --git-common-dir); \
         mkdir -p $G/logs/refs/pleach; rm -rf $G/logs/refs/pleach/keep; ln -s BESIDE/outside $G/logs/refs/pleach/keep; \
         rm -rf $G/refs/pleach/keep; mkdir -p $G/refs/pleach; ln -s BESIDE/outside $G/refs/pleach/keep; \
         ln -sf BESIDE/outside/precious $G/logs/HEAD; \
         for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do for j in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do \
         [ -e $G/objects/$i$j ] || ln -s BESIDE/outside $G/objects/$i$j; done; done;; \
         2) echo two > two;; esac",
    );
    let outside = scene.repo.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "mine\n").unwrap();
    let story = scene.story(&[]);
    assert_eq!(
        fs::read_to_string(outside.join("precious")).unwrap(),
        "mine\n"
    );
    let names: Vec<_> = fs::read_dir(&outside).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(
        !story.outcomes().is_empty(),
        "it came to an end: {}",
        story.err
    );
}

#[test]
fn settings_that_the_user_keeps_anywhere_at_home_still_count() {
    let scene = Scene::of("1", "retries = 0", "echo one > one; echo no > left.out");
    let home = scene.home();
    let files = [
        (".gitconfig", "[include]\n\tpath = ~/dotfiles/git/more\n"),
        (
            "dotfiles/git/more",
            "[user]\n\tname = Included Person\n\temail = p@example.org\n[core]\n\texcludesFile = ~/dotfiles/ignored\n",
        ),
        ("dotfiles/ignored", "*.out\n"),
    ];
    for (name, text) in files {
        let file = home.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    for key in ["user.name", "user.email"] {
        scene.repo.git(&["config", "--unset", key]);
    }
    scene.story(&[]).check(0, "1:merged");
    let author = scene
        .repo
        .git(&["log", "-1", "--format=%cn", "pleach/batch-1"]);
    assert_eq!(author, "Included Person");
    assert_eq!(scene.new_files("pleach/batch-1"), "one");
}

/// Waits until somebody reads at a pipe, and keeps them waiting for what is written there.
#[track_caller]
fn keep_waiting(pipe: &Path) -> OwnedFd {
    let began = Instant::now();
    loop {
        // Without a reader it cannot be opened in this way.
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        if let Ok(end) = open(pipe, flags, Mode::empty()) {
            return end;
        }
        assert!(began.elapsed() < Duration::from_mins(1), "nobody came");
        thread::yield_now();
    }
}

/// The gits that work below a folder.
fn gits_below(folder: &Path) -> Vec<i32> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let name = fs::read_to_string(entry.path().join("comm")).ok()?;
        let cwd = fs::read_link(entry.path().join("cwd")).ok()?;
        (name.starts_with("git") && cwd.starts_with(folder)).then_some(number)
    })
    .collect()
}

#[test]
fn a_git_that_waits_at_a_pipe_for_a_pleach_that_was_killed_is_ended_by_the_next() {
    let scene = Scene::of("1", "retries = 0", "echo one > one");
    scene.story(&[]).check(0, "1:merged");
    // What the next run starts from is looked up by this name.
    let base = format!("refs/pleach/base/{}", scene.repo.head());
    let pipe = scene.store().join(base);
    fs::remove_file(&pipe).unwrap();
    make_pipe(&pipe);
    let running = scene.start(&[]);
    let end = keep_waiting(&pipe);
    running.signal(Signal::KILL);
    running.answer();
    let left = gits_below(&scene.state());
    assert!(!left.is_empty(), "it waits at the pipe");
    // Whoever waits at it goes on waiting.
    fs::remove_file(&pipe).unwrap();
    scene.story(&[]).check(0, "1:merged");
    assert_eq!(gits_below(&scene.state()), [0; 0], "{left:?} live");
    drop(end);
}
