//! Stopping a run.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::Answer;
use crate::run::{Scene, make_pipe};

/// A run whose agent has written something and waits at a pipe; returns when it waits there.
pub(crate) fn waiting_run(scene: &Scene, shell_after: &str) -> (Child, std::fs::File) {
    let gate = scene.repo.beside("gate");
    make_pipe(&gate);
    let shell = format!(
        "echo half > half; read line < '{}'; {shell_after}",
        gate.display()
    );
    let command = serde_json::to_string(&["sh", "-c", &shell]).unwrap();
    scene.repo.write(
        "pleach.toml",
        format!("task_timeout = \"60s\"\n[agents.shell]\ncommand = {command}\n"),
    );
    let run = crate::command(
        scene.repo.path(),
        &scene.home(),
        &["run", "--yes", "-j", "1"],
    )
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    // Opening the pipe waits for the agent to open its end.
    let gate = OpenOptions::new().write(true).open(gate).unwrap();
    (run, gate)
}

#[test]
fn ctrl_c_stops_the_agent_keeps_its_work_and_leaves_the_batch_interrupted() {
    let scene = Scene::new("- [ ] 1.1 A\n- [ ] 1.2 B\n", "");
    let (run, gate) = waiting_run(&scene, "");
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    let answer = Answer::from(run.wait_with_output().unwrap());
    drop(gate);
    assert_eq!(answer.code, 130, "{}{}", answer.out, answer.err);
    for told in ["Batch 1 interrupted", "pleach resume 1", "pleach cancel 1"] {
        assert!(answer.out.contains(told), "{told}: {}", answer.out);
    }
    let store = format!("--git-dir={}", scene.store().display());
    let kept = scene
        .repo
        .git(&[&store, "for-each-ref", "refs/pleach/keep/"]);
    assert_eq!(kept.lines().count(), 1, "{kept}");
    assert_eq!(scene.plan(), "- [ ] 1.1 A\n- [ ] 1.2 B\n");
    scene.configure("", "echo x > file-$PLEACH_TASK");
    let pleach = |words: &[&str]| crate::pleach(scene.repo.path(), &scene.home(), words);
    let status = pleach(&["status", "1", "--json"]).json();
    assert_eq!(status["batches"][0]["interrupted"], true);
    pleach(&["cancel", "1"]).good();
    let over = pleach(&["resume", "1"]);
    assert_eq!(over.code, 2, "{}", over.err);
}

#[test]
fn a_terminal_that_is_closed_lets_the_run_go_on() {
    let scene = Scene::new("- [ ] 1.1 A\n", "");
    let (mut run, mut gate) = waiting_run(&scene, "");
    // Nobody reads any more what it prints.
    drop((run.stdout.take(), run.stderr.take()));
    kill_process(Pid::from_child(&run), Signal::HUP).unwrap();
    writeln!(gate, "go").unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(0));
    assert_eq!(scene.show("pleach/batch-1", "half"), "half");
    assert_eq!(scene.plan(), "- [x] 1.1 A\n");
}

#[test]
fn a_second_ctrl_c_ends_an_agent_that_ignores_the_first() {
    let scene = Scene::new("- [ ] 1.1 A\n", "");
    let gate = scene.repo.beside("gate");
    make_pipe(&gate);
    let shell = format!(
        "trap '' TERM; echo half > half; read line < '{0}'; read line < '{0}'",
        gate.display()
    );
    let command = serde_json::to_string(&["sh", "-c", &shell]).unwrap();
    scene.repo.write(
        "pleach.toml",
        format!("[agents.shell]\ncommand = {command}\n"),
    );
    let mut run = crate::command(scene.repo.path(), &scene.home(), &["run", "--yes"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let _gate = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&gate)
        .unwrap();
    let mut output = std::io::BufReader::new(run.stdout.take().unwrap());
    wait_for(&mut output, "started");
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    wait_for(&mut output, "stopping");
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    wait_for(&mut output, "interrupted");
    assert_eq!(run.wait().unwrap().code(), Some(130));
}

fn wait_for(output: &mut impl std::io::BufRead, word: &str) {
    let mut line = String::new();
    while !line.contains(word) {
        line.clear();
        assert!(
            output.read_line(&mut line).unwrap() > 0,
            "the run ended before it said {word}"
        );
    }
}
