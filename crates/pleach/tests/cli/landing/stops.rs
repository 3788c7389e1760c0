//! Landing ends when somebody wants it to, whatever hangs, and goes on later.

use std::process::Command;
use std::time::{Duration, Instant};

use pleach_testkit::{Failure, ForgeFault, ForgeStep};
use rustix::process::Signal;

use super::{Harbour, PROJECT, SHELL};
use crate::scene::{Gate, Running, WAIT};

/// Answers of the forge are waited for longer than this.
const AT_ONCE: Duration = Duration::from_secs(20);

/// Pleach with an ssh that reaches the server by its folder, and hangs where it is asked for something.
fn by_ssh(harbour: &Harbour, words: &[&str], hangs_at: &str) -> Command {
    let ssh = harbour.scene.repo.beside("own-ssh");
    let beside = harbour.scene.repo.beside("");
    let beside = beside.to_str().unwrap().trim_end_matches('/');
    let wait = WAIT.replace("BESIDE", beside);
    let script =
        format!("case \"$2\" in *{hangs_at}*) trap '' TERM; {wait};; esac\nexec sh -c \"$2\"\n");
    std::fs::write(&ssh, script).unwrap();
    let mut command = harbour.command(words);
    command
        .env("GIT_SSH_COMMAND", format!("sh '{}'", ssh.display()))
        .env("GIT_SSH_VARIANT", "simple");
    command
}

fn harbour() -> Harbour {
    let harbour = Harbour::github("1", "land = \"push\"\nvalidate = \"true\"", SHELL);
    let place = harbour.forge.repository(PROJECT);
    let url = format!("ssh://somewhere{}", place.display());
    harbour
        .scene
        .repo
        .git(&["remote", "set-url", "origin", &url]);
    harbour
}

/// A server that hangs there is left at once, and all is kept.
#[track_caller]
fn check_left(hangs_at: &str) {
    let harbour = harbour();
    let mut gate = Gate::at(&harbour.scene);
    let words = ["run", "--yes", "--json"];
    let run = Running::start(&mut by_ssh(&harbour, &words, hangs_at));
    gate.wait_for(1);
    run.signal(Signal::INT);
    let story = run.story();
    story.check(130, "1:merged");
    harbour.scene.check_nobody_is_left();
    assert_eq!(story.status(), "interrupted");
    let words = ["resume", "1", "--json"];
    let land = Running::start(&mut by_ssh(&harbour, &words, hangs_at));
    gate.wait_for(1);
    land.signal(Signal::TERM);
    land.signal(Signal::INT);
    let story = land.story();
    story.check(130, "1:merged");
    harbour.scene.check_nobody_is_left();
    let land = by_ssh(&harbour, &words, "nothing").output().unwrap();
    assert!(land.status.success(), "{land:?}");
    assert_eq!(harbour.branches_there(), "pleach/batch-1");
}

#[test]
fn a_server_that_hangs_while_it_is_fetched_from_is_left_at_once_and_all_is_kept() {
    check_left("upload-pack");
}

#[test]
fn a_server_that_hangs_while_it_is_pushed_to_is_left_at_once_and_all_is_kept() {
    check_left("receive-pack");
}

#[test]
fn a_cancel_from_elsewhere_stops_landing_as_well() {
    let harbour = harbour();
    let mut gate = Gate::at(&harbour.scene);
    let words = ["run", "--yes", "--json"];
    let run = Running::start(&mut by_ssh(&harbour, &words, "upload-pack"));
    gate.wait_for(1);
    harbour.pleach(&["cancel", "1"]).good();
    run.story().check(130, "1:merged");
    harbour.scene.check_nobody_is_left();
}

#[test]
fn a_forge_that_says_nothing_keeps_nobody_waiting() {
    let harbour = Harbour::github("1", "", SHELL);
    harbour
        .forge
        .fail(ForgeStep::Find, Failure::Before(ForgeFault::Silence));
    let words = ["run", "--yes", "--json"];
    let mut run = Running::start(&mut harbour.command(&words));
    run.wait_for("batch:pushed");
    let pushed = Instant::now();
    while harbour.forge.count(ForgeStep::Find) == 0 {
        assert!(pushed.elapsed() < Duration::from_mins(1), "it asks nobody");
        std::thread::yield_now();
    }
    let asked = Instant::now();
    run.signal(Signal::INT);
    let story = run.story();
    story.check(130, "1:merged");
    assert!(asked.elapsed() < AT_ONCE, "{:?}", asked.elapsed());
    let later = harbour.story(&["resume", "1"]);
    later.check(0, "1:merged");
    harbour.check_landed(&later);
}
