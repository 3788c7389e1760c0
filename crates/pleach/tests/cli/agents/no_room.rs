//! Agents that fill the disk, really: a small file system of the test's own holds everything.

use std::io::Write as _;
use std::process::Command;

use crate::scene::{Scene, Story};
use crate::{Answer, command};

/// Runs the program where a folder is a file system of so many MiB, with some shell beside it; `None` where nobody
/// may mount one.
fn on_a_small_disk(scene: &Scene, mib: u32, meanwhile: &str, words: &[&str]) -> Option<Answer> {
    let disk = scene.repo.beside("disk");
    std::fs::create_dir_all(&disk).unwrap();
    let may = Command::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "none"])
        .arg(&disk)
        .output();
    if !may.is_ok_and(|output| output.status.success()) {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: no file system can be mounted here"
        );
        return None;
    }
    let words: Vec<&str> = ["run", "--yes"].iter().chain(words).copied().collect();
    let plain = command(scene.repo.path(), &scene.home(), &words);
    let shell = format!(
        "mount -t tmpfs -o size={mib}m none \"$PLEACH_HOME\"; \"$0\" \"$@\" > \"$OUT\" & RUN=$!
         {meanwhile}
         wait $RUN; code=$?; cat \"$OUT\"; exit $code"
    );
    let mut small = Command::new("unshare");
    small
        .args(["-rm", "sh", "-c", &shell])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(scene.repo.path())
        .env_clear();
    for (name, value) in plain.get_envs() {
        small.env(name, value.unwrap());
    }
    small
        .env("PLEACH_HOME", &disk)
        .env("OUT", scene.repo.beside("out"));
    Some(small.output().unwrap().into())
}

#[test]
fn an_agent_that_fills_the_disk_fails_alone_when_it_clears_up() {
    // It says more than what others may free meanwhile.
    let shell = "[ $PLEACH_TASK = 2 ] && { dd if=/dev/zero of=big bs=1M 2>&1; code=$?
        head -c 4000000 /dev/zero | tr '\\0' x; rm -f big; exit $code; }
        echo x > file-$PLEACH_TASK";
    let scene = Scene::of("1, 2, 3 1", "retries = 0\nmin_free_disk = 0", shell);
    let words = ["--json", "-j", "1"];
    let Some(answer) = on_a_small_disk(&scene, 40, ":", &words) else {
        return;
    };
    let story = Story::of(&answer);
    story.check(1, "1:merged 2:failed 3:merged");
    assert!(
        story.notes().contains("no space left to log"),
        "{}",
        story.notes()
    );
    assert_eq!(scene.new_files("pleach/batch-1"), "file-1 file-3");
}

/// As a person would who sees the note.
#[test]
fn an_agent_that_leaves_the_disk_full_holds_the_batch_up_until_there_is_room() {
    let shell = "[ $PLEACH_TASK = 2 ] && { dd if=/dev/zero of=big bs=64k 2>/dev/null; exit 0; }
        echo x > file-$PLEACH_TASK";
    let scene = Scene::of("1, 2 1, 3 1", "retries = 0\nmin_free_disk = 0", shell);
    let words = ["--json", "-j", "1"];
    let make_room = "until grep -q 'retrying' \"$OUT\" || ! kill -0 $RUN; do sleep 0.02; done
        rm -f \"$PLEACH_HOME\"/worktrees/*/batch-1/task-2/big";
    let Some(answer) = on_a_small_disk(&scene, 40, make_room, &words) else {
        return;
    };
    let story = Story::of(&answer);
    story.check(1, "1:merged 2:failed 3:merged");
    assert!(story.notes().contains("retrying"), "{}", story.notes());
    assert_eq!(scene.new_files("pleach/batch-1"), "file-1 file-3");
    scene.check_nobody_is_left();
}

#[test]
fn no_disk_is_told_before_anything_starts() {
    let scene = Scene::of("1", "min_free_disk = 0", "touch ran");
    // Everything is there already, and then there is no room for more.
    let fill = "wait $RUN; dd if=/dev/zero of=\"$PLEACH_HOME/ballast\" bs=512 2>/dev/null
        \"$0\" run --yes > \"$OUT\" & RUN=$!";
    let Some(answer) = on_a_small_disk(&scene, 4, fill, &[]) else {
        return;
    };
    let error = answer.bad(3);
    assert!(
        error.contains("error: ") && error.contains("hint: "),
        "{error}"
    );
    assert_eq!(scene.branches(), "pleach/batch-1", "of the run before");
}
