//! Runs in a folder that is no repository, and were killed: they go on with what is there.

use std::fs;

use rustix::process::Signal;

use super::{ask, plain};
use crate::pleach;
use crate::scene::{Gate, WAIT};

const TWICE: &str = "echo $PLEACH_ATTEMPT >> tries; ";

#[test]
fn a_run_that_was_killed_in_mid_task_goes_on_with_what_is_there() {
    let shell = format!("{TWICE}{WAIT}; echo done > done-$PLEACH_TASK");
    let scene = plain("retries = 0", "- [ ] A\n- [ ] B\n", &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["--mode", "serial"]);
    gate.wait_for(1);
    run.signal(Signal::KILL);
    run.answer();
    let resumed = scene.start(&["--resume"]);
    assert_eq!(gate.wait_for(1), "1");
    gate.let_go(1);
    assert_eq!(gate.wait_for(1), "2");
    gate.let_go(1);
    resumed.story().check(0, "1:merged 2:merged");
    let tries = fs::read_to_string(scene.repo.path().join("tries"));
    assert_eq!(tries.unwrap(), "1\n2\n1\n");
    // What the first attempt had is kept, and part of what the task did.
    let kept = ask(&scene, &["recover", "--all"]).good();
    assert!(kept.contains("attempt 1"), "{kept}");
    let told = ask(&scene, &["diff", "1", "1"]).good();
    assert!(told.contains("tries") && told.contains("done-1"), "{told}");
    scene.check_nobody_is_left();
}

#[test]
fn what_was_interrupted_is_resumed() {
    let shell = format!("echo x > x; {WAIT}");
    let scene = plain("retries = 0", "- [ ] A\n", &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["--mode", "queue"]);
    gate.wait_for(1);
    run.signal(Signal::KILL);
    run.answer();
    let again = scene.start(&["--resume"]);
    gate.wait_for(1);
    gate.let_go(1);
    assert_eq!(again.answer().code, 0);
    assert_eq!(scene.plan(), "- [x] A\n");
}

#[test]
fn an_interrupted_batch_can_be_cancelled() {
    let shell = format!("echo half > half; {WAIT}");
    let scene = plain("retries = 0", "- [ ] A\n", &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["--mode", "queue"]);
    gate.wait_for(1);
    run.signal(Signal::KILL);
    run.answer();
    ask(&scene, &["cancel", "1"]).good();
    assert!(scene.repo.path().join("half").exists());
    let told = ask(&scene, &["diff", "1", "1"]).good();
    assert!(told.contains("+++ b/half"), "{told}");
    assert!(gate.is_empty());
}

#[test]
fn a_repository_within_does_not_take_up_what_was_interrupted_around_it() {
    let scene = plain("retries = 0", "- [ ] A\n", &format!("echo x > x; {WAIT}"));
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["--mode", "queue"]);
    gate.wait_for(1);
    run.signal(Signal::KILL);
    run.answer();
    let inner = scene.repo.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("TODO.md"), "- [ ] B\n").unwrap();
    fs::write(
        inner.join("pleach.toml"),
        "[agents.a]\ncommand = [\"touch\", \"made\"]\n",
    )
    .unwrap();
    let at = inner.to_str().unwrap();
    for words in [
        &["init", "-q", at][..],
        &["-C", at, "add", "-A"],
        &["-C", at, "commit", "-qm", "first"],
    ] {
        scene.repo.git(words);
    }
    let told = pleach(&inner, &scene.home(), &["run", "--yes", "--json"]).good();
    assert!(told.contains("\"batchId\":2"), "{told}");
    assert!(gate.is_empty());
}
