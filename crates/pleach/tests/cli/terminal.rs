//! A run at a terminal: the list to tick, the question, the live view, and a terminal that is as it was.

use std::time::Duration;

use pleach_testkit::Terminal;
use rustix::process::Signal;

use crate::command;
use crate::scene::{Gate, Scene, WAIT};

const PLAN: &str = "\
- [ ] 1.1 Write a watering plan
- [ ] 1.2 Plant a third bed
- [ ] 2.1 Water the bed (depends: 1.2)
";

const EDIT: &str = "echo \"$PLEACH_TASK\" > \"file-$PLEACH_TASK\"";

/// The program at a terminal that knows colours.
fn at_terminal(scene: &Scene, columns: u16, rows: u16, words: &[&str]) -> Terminal {
    let mut command = command(scene.repo.path(), &scene.home(), words);
    command.env("TERM", "xterm-256color");
    Terminal::spawn(&command, columns, rows)
}

#[track_caller]
fn check_end(terminal: &mut Terminal, code: i32) {
    let found = terminal.end();
    assert_eq!(found, code, "{}", terminal.screen());
    assert!(terminal.is_as_found(), "the terminal is as it was");
}

#[test]
fn what_is_ticked_is_shown_asked_for_and_run() {
    let scene = Scene::new(PLAN, EDIT);
    let mut terminal = at_terminal(&scene, 80, 40, &["run"]);
    terminal.wait_for("0 of 3 selected");
    // The last task brings the one that it needs.
    terminal.type_in("G ");
    terminal.wait_for("2.1 needs 1.2: also selected");
    terminal.type_in("\r");
    terminal.wait_for("Consent and run? [y/N]");
    let shown = terminal.screen();
    assert!(
        !shown.contains("of 3 selected"),
        "the list is gone:\n{shown}"
    );
    assert!(shown.contains("2 tasks to do"), "{shown}");
    terminal.type_in("y\r");
    check_end(&mut terminal, 0);
    let end = terminal.screen();
    assert!(end.contains("2 tasks merged into pleach/batch-1"), "{end}");
    assert_eq!(scene.new_files("pleach/batch-1"), "file-1.2 file-2.1");
}

#[test]
fn whoever_leaves_the_list_or_says_no_has_run_nothing() {
    let scene = Scene::new(PLAN, EDIT);
    for (keys, code) in [("q", 0), ("\x1b", 0), ("\x03", 130)] {
        let mut terminal = at_terminal(&scene, 80, 20, &["run"]);
        terminal.wait_for("0 of 3 selected");
        terminal.type_in(keys);
        check_end(&mut terminal, code);
    }
    let mut terminal = at_terminal(&scene, 80, 40, &["run", "1.1", "1.2"]);
    terminal.wait_for("Consent and run? [y/N]");
    terminal.type_in("\r");
    check_end(&mut terminal, 3);
    assert_eq!(scene.branches(), "");
}

#[test]
fn several_tasks_are_asked_about_also_when_what_steers_them_is_known() {
    let scene = Scene::new(PLAN, EDIT);
    scene.run(&["1.1"]).good();
    let start = || at_terminal(&scene, 80, 40, &["run", "1.2", "2.1"]);
    let mut terminal = start();
    terminal.wait_for("Run? [y/N]");
    terminal.type_in("n\r");
    check_end(&mut terminal, 0);
    assert_eq!(scene.branches(), "pleach/batch-1");
    let mut terminal = start();
    terminal.wait_for("Run? [y/N]");
    terminal.type_in("y\r");
    check_end(&mut terminal, 0);
    assert_eq!(scene.new_files("pleach/batch-2"), "file-1.2 file-2.1");
}

#[test]
fn a_signal_in_the_list_leaves_the_terminal_as_it_was() {
    let scene = Scene::new(PLAN, EDIT);
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let mut terminal = at_terminal(&scene, 80, 20, &["run"]);
        terminal.wait_for("0 of 3 selected");
        assert!(!terminal.is_as_found(), "keys come one by one");
        terminal.signal(signal);
        check_end(&mut terminal, -1);
    }
}

#[test]
fn the_list_follows_the_size_of_the_terminal() {
    let scene = Scene::new(PLAN, EDIT);
    let mut terminal = at_terminal(&scene, 80, 20, &["run"]);
    terminal.wait_for("enter run · q quit");
    terminal.resize(40, 10);
    terminal.wait_for("space · a all · / filter · enter · q");
    terminal.type_in("/bed");
    terminal.wait_until("two of them", |screen| !screen.contains("1.1"));
    terminal.type_in("\r\x1b");
    terminal.wait_for("1.1");
    terminal.type_in("q");
    check_end(&mut terminal, 0);
}

/// A run of two tasks whose agents wait at a gate.
fn held(columns: u16, rows: u16) -> (Scene, Gate, Terminal) {
    let scene = Scene::new(PLAN, &format!("{WAIT}; {EDIT}"));
    let gate = Gate::at(&scene);
    let words = ["run", "--yes", "1.1", "1.2"];
    let terminal = at_terminal(&scene, columns, rows, &words);
    (scene, gate, terminal)
}

#[test]
fn what_runs_is_drawn_below_and_what_is_over_scrolls_above() {
    let (_scene, mut gate, mut terminal) = held(80, 40);
    gate.wait_for(2);
    terminal.wait_until("both", |screen| {
        screen.contains("1.1  Write") && screen.contains("1.2  Plant") && screen.contains("0/2")
    });
    assert!(!terminal.is_as_found(), "what is typed is not shown");
    terminal.type_in("typed by mistake\n");
    gate.let_go(1);
    terminal.wait_for("merged      1.");
    terminal.wait_for("1/2");
    gate.let_go(1);
    check_end(&mut terminal, 0);
    let end = terminal.screen();
    assert!(!end.contains("1/2"), "the view is gone:\n{end}");
    assert!(!end.contains("by mistake"), "{end}");
    assert!(end.contains("2 tasks merged"), "{end}");
}

#[test]
fn the_view_is_drawn_only_when_something_changes() {
    let (_scene, mut gate, mut terminal) = held(80, 40);
    gate.wait_for(2);
    terminal.wait_for("0/2");
    while terminal.listen(Duration::from_millis(500)) {}
    let before = terminal.transcript().len();
    let mut pieces = 0;
    for _ in 0..3 {
        pieces += usize::from(terminal.listen(Duration::from_secs(20)));
    }
    let written = terminal.transcript().len() - before;
    // Three seconds pass, and a few hundred bytes a second are drawn.
    assert!(pieces == 3 && written < 3 * 1_500, "{pieces}: {written}");
    gate.let_go(2);
    check_end(&mut terminal, 0);
}

#[test]
fn a_narrower_terminal_gets_narrower_lines() {
    let (_scene, mut gate, mut terminal) = held(80, 20);
    gate.wait_for(2);
    terminal.wait_for("1.2  Plant a third bed");
    terminal.resize(40, 20);
    terminal.wait_until("short lines", |screen| {
        let bar = screen.lines().rfind(|line| line.starts_with("Batch 1"));
        bar.is_some_and(|bar| bar.chars().count() < 40 && bar.contains("░░░░░░░░░ "))
    });
    gate.let_go(2);
    check_end(&mut terminal, 0);
}

#[test]
fn the_first_ctrl_c_asks_and_says_so_and_the_second_stops_at_once() {
    // The agent passes over being asked.
    let scene = Scene::new(PLAN, &format!("trap '' TERM INT; {WAIT}; {WAIT}"));
    let mut gate = Gate::at(&scene);
    let mut terminal = at_terminal(&scene, 80, 40, &["run", "--yes", "1.1"]);
    gate.wait_for(1);
    terminal.wait_for("0/1");
    terminal.type_in("\x03");
    terminal.wait_for("Ctrl-C again stops them at once");
    terminal.wait_for("stopping");
    terminal.type_in("\x03");
    check_end(&mut terminal, 130);
    assert!(terminal.screen().contains("interrupted"));
}

#[test]
fn a_signal_stops_a_run_and_leaves_the_terminal_as_it_was() {
    let (_scene, mut gate, mut terminal) = held(80, 40);
    gate.wait_for(2);
    terminal.wait_for("0/2");
    terminal.signal(Signal::TERM);
    check_end(&mut terminal, 130);
}

#[test]
fn a_run_goes_on_when_its_terminal_is_closed() {
    let (_scene, mut gate, mut terminal) = held(80, 40);
    gate.wait_for(2);
    terminal.signal(Signal::HUP);
    gate.let_go(2);
    check_end(&mut terminal, 0);
}

#[test]
fn an_interrupted_batch_is_asked_about_and_left_alone_on_no() {
    let (scene, mut gate, mut terminal) = held(80, 40);
    gate.wait_for(2);
    terminal.signal(Signal::TERM);
    check_end(&mut terminal, 130);
    let answered = |answer: &str| {
        let mut terminal = at_terminal(&scene, 80, 40, &["run", "2.1"]);
        terminal.wait_for("Batch 1 is interrupted. Finish it first? [y/N]");
        terminal.type_in(answer);
        terminal
    };
    let status = || {
        let status = ["status", "1", "--json"];
        let status = crate::pleach(scene.repo.path(), &scene.home(), &status).json();
        status["batches"][0]["status"].clone()
    };
    let mut terminal = answered("n\r");
    // What it needs is in the batch that nobody finished.
    check_end(&mut terminal, 2);
    assert_eq!(status(), "running");
    let mut terminal = answered("y\r");
    gate.wait_for(2);
    gate.let_go(2);
    // Then it does what it was asked for.
    gate.wait_for(1);
    assert_eq!(status(), "completed");
    gate.let_go(1);
    check_end(&mut terminal, 0);
}

#[test]
fn who_waits_for_approval_is_told_what_to_type() {
    let scene = Scene::new(PLAN, EDIT);
    let words = ["run", "--yes", "--mode", "queue", "1.1", "1.2"];
    let mut terminal = at_terminal(&scene, 50, 40, &words);
    terminal.wait_for("pleach approve 1");
    let other = crate::pleach(scene.repo.path(), &scene.home(), &["approve", "1"]);
    other.good();
    check_end(&mut terminal, 0);
}

#[test]
fn one_task_is_run_without_a_question() {
    let scene = Scene::new(PLAN, EDIT);
    // What steers the agent is consented to.
    scene.run(&["1.2"]).good();
    let mut terminal = at_terminal(&scene, 80, 40, &["run", "1.1"]);
    check_end(&mut terminal, 0);
}

#[test]
fn colours_and_drawing_are_left_out_where_they_are_not_wanted() {
    let escapes = |variables: &[(&str, &str)]| {
        let scene = Scene::new("- [ ] 1 A\n", EDIT);
        let mut command = command(scene.repo.path(), &scene.home(), &["run", "--yes"]);
        command.env("TERM", "xterm").envs(variables.iter().copied());
        let mut terminal = Terminal::spawn(&command, 80, 40);
        assert_eq!(terminal.end(), 0);
        terminal.transcript()
    };
    let plain = escapes(&[("TERM", "dumb")]);
    assert!(!plain.contains('\x1b'), "{plain:?}");
    let drawn = escapes(&[("NO_COLOR", "1")]);
    assert!(drawn.contains("\x1b[K"), "it is drawn");
    assert!(
        !drawn.contains("\x1b[3") && !drawn.contains("\x1b[1m"),
        "{drawn:?}"
    );
    let coloured = escapes(&[]);
    assert!(coloured.contains("\x1b[32m"), "{coloured:?}");
    let scene = Scene::new("- [ ] 1 A\n", EDIT);
    let mut piped = command(scene.repo.path(), &scene.home(), &["run", "--yes"]);
    let piped = piped
        .env("TERM", "xterm")
        .env("CLICOLOR_FORCE", "1")
        .output();
    let piped = String::from_utf8(piped.unwrap().stdout).unwrap();
    assert!(piped.contains("\x1b[32m"), "forced: {piped:?}");
    assert!(!piped.contains("\x1b[K"), "a pipe is not drawn on");
}
