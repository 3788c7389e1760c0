//! Every way a program can end.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use pleach_system::process::{Cancel, Ending, ProcessSpec, load_record};

use super::{Ground, Held, LONG, launch, open_gate, run};

#[test]
fn exit_code_and_output_are_seen() {
    let ground = Ground::new();
    let script = "echo out; echo err >&2; exit 7";
    let record = ground.run(script);
    assert_eq!(record.ending, Ending::Exited(7));
    assert_eq!((record.output.bytes, record.leaked.len()), (8, 0));
    assert!(record.started_at <= record.ended_at && record.started_at > 0);
    assert_eq!(ground.log(), "out\nerr\n");
    assert_eq!(ground.run("exit 0").ending, Ending::Exited(0));
    ground.run(script);
    assert_eq!(ground.log(), "out\nerr\nout\nerr\n");
}

#[test]
fn a_foreign_signal_is_told_apart_from_an_exit() {
    let ground = Ground::new();
    assert_eq!(ground.run("kill -9 $$").ending, Ending::Signalled(9));
    assert_eq!(ground.run("kill -15 $$").ending, Ending::Signalled(15));
}

#[test]
fn only_the_given_environment_is_there_and_input_ends_at_once() {
    let ground = Ground::new();
    let mut spec = ground.spec("echo \"[$HOME][$GIVEN][${#PLEACH_NONCE}]\"; cat");
    spec.env.push(("GIVEN".into(), "yes".into()));
    assert_eq!(run(&spec).ending, Ending::Exited(0));
    assert_eq!(ground.log(), "[][yes][32]\n");
    let prompt = ground.path("prompt");
    fs::write(&prompt, "do it").unwrap();
    spec.stdin_file = Some(prompt);
    run(&spec);
    assert!(ground.log().ends_with("[][yes][32]\ndo it"));
}

/// Compared with a program that nobody wraps, for whoever runs the tests may hand something down.
#[test]
fn a_program_has_no_terminal_and_nothing_of_ours_open() {
    let ground = Ground::new();
    let script = "for fd in /proc/self/fd/*; do [ -e $fd ] && echo ${fd##*/}; done; (: < /dev/tty) || echo no terminal";
    ground.run(&format!("exec 2> /dev/null; {script}"));
    assert_eq!(ground.log(), "0\n1\n2\nno terminal\n");
}

#[test]
fn what_cannot_be_started_is_named() {
    let ground = Ground::new();
    let reason = |spec: &ProcessSpec| match run(spec).ending {
        Ending::NotStarted(reason) => reason,
        other => panic!("{other:?}"),
    };
    let mut spec = ground.spec("");
    spec.argv = vec!["no-such-agent".into(), "--task".into()];
    assert_eq!(reason(&spec), "no such program: no-such-agent");
    spec.argv = vec!["/dev/null".into()];
    assert!(reason(&spec).contains("could not start /dev/null: Permission denied"));
    spec.argv.clear();
    assert_eq!(reason(&spec), "the command is empty");
    let mut spec = ground.spec("");
    spec.stdin_file = Some(ground.path("no-prompt"));
    assert!(reason(&spec).contains("could not open the input: No such file"));
    let mut spec = ground.spec("");
    spec.cwd = ground.path("nowhere");
    assert!(reason(&spec).contains("does not exist"));
    let mut spec = ground.spec("");
    spec.log = ground.path("nowhere/log");
    assert!(reason(&spec).contains("could not open the log"));
}

#[test]
fn time_runs_out() {
    let ground = Ground::new();
    let mut spec = ground.spec("exec sleep 1000");
    spec.timeout = Duration::from_millis(50);
    assert_eq!(run(&spec).ending, Ending::TimedOut);
}

#[test]
fn a_program_that_says_nothing_is_stopped_and_one_that_speaks_is_not() {
    let ground = Ground::new();
    let mut spec = ground.spec("echo a; exec sleep 1000");
    spec.stall = Some(Duration::from_millis(300));
    let begin = Instant::now();
    assert_eq!(run(&spec).ending, Ending::Stalled);
    assert!(begin.elapsed() >= Duration::from_millis(300));
    // It runs for longer than it may be silent.
    let mut spec = ground.spec("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.2; done");
    spec.stall = Some(Duration::from_millis(1200));
    assert_eq!(run(&spec).ending, Ending::Exited(0));
}

#[test]
fn a_program_that_closes_its_output_is_not_taken_for_ended() {
    let ground = Ground::new();
    let gate = ground.gate("gate");
    let mut held = Held::open(&ground.gate("held"));
    let spec =
        ground.spec("exec 9> held; exec > /dev/null 2>&1; echo on >&9; read line < gate; exit 4");
    let running = thread::spawn(move || run(&spec));
    held.wait_for_lines(1);
    open_gate(&gate);
    assert_eq!(running.join().unwrap().ending, Ending::Exited(4));
}

#[test]
fn a_program_that_ignores_the_polite_signal_dies_after_the_grace() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let script = "trap '' TERM; exec 9> held; echo on >&9; while :; do sleep 1000; done";
    let mut spec = ground.spec(script);
    spec.grace = Duration::from_millis(100);
    let cancel = Cancel::default();
    let canceller = {
        let cancel = cancel.clone();
        thread::spawn(move || {
            held.wait_for_lines(1);
            cancel.cancel();
            (Instant::now(), held)
        })
    };
    let record = launch().run(&spec, &cancel).unwrap();
    let (asked, mut held) = canceller.join().unwrap();
    assert_eq!(record.ending, Ending::Cancelled);
    assert!(asked.elapsed() >= spec.grace);
    assert!(held.is_free());
}

/// The grace is longer than any test may take, so only the second call can end it in time.
#[test]
fn a_program_that_ignores_the_polite_signal_can_be_ended_at_once() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let script = "trap 'echo asked >&9' TERM; exec 9> held; echo on >&9; while :; do sleep 1000 & wait; done";
    let spec = ground.spec(script);
    let cancel = Cancel::default();
    let canceller = {
        let cancel = cancel.clone();
        thread::spawn(move || {
            held.wait_for_lines(1);
            cancel.cancel();
            held.wait_for_lines(2);
            cancel.cancel_at_once();
            held
        })
    };
    let record = launch().run(&spec, &cancel).unwrap();
    assert_eq!(record.ending, Ending::Cancelled);
    assert!(canceller.join().unwrap().is_free());
}

/// Stops a program that is asked alone first, once so many processes have said that they are there.
fn stopped_politely(script: &str, polite: Duration, lines: usize) -> (Ending, String) {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let mut spec = ground.spec(script);
    spec.polite = Some(polite);
    let cancel = Cancel::default();
    let canceller = {
        let cancel = cancel.clone();
        thread::spawn(move || {
            held.wait_for_lines(lines);
            cancel.cancel();
            held
        })
    };
    let record = launch().run(&spec, &cancel).unwrap();
    let mut held = canceller.join().unwrap();
    assert!(held.is_free(), "somebody of {:?} lives", held.said());
    (record.ending, held.said())
}

/// A child that says that it is there, and that it was asked to end.
const CHILD: &str = "exec 9> held; (trap 'echo child asked >&9; exit' TERM; echo child >&9; while :; do sleep 0.1; done) &\n";

#[test]
fn a_program_is_asked_alone_first_and_its_family_when_it_does_not_leave() {
    let script = format!(
        "trap 'echo asked >&9; trap \"exit 0\" TERM' TERM\n{CHILD}echo on >&9; while :; do wait; done"
    );
    let polite = Duration::from_millis(200);
    let (ending, said) = stopped_politely(&script, polite, 2);
    assert_eq!(ending, Ending::Cancelled);
    let at = |word: &str| {
        said.find(word)
            .unwrap_or_else(|| panic!("{word} in {said:?}"))
    };
    assert!(at("\nasked\n") < at("child asked"), "{said}");
}

/// It is asked alone for longer than any test may take, so only its end can be why the family is asked.
#[test]
fn the_family_of_a_program_that_left_politely_is_asked_before_it_is_killed() {
    let script = format!("trap 'exit 0' TERM\n{CHILD}echo on >&9; while :; do wait; done");
    let (ending, said) = stopped_politely(&script, LONG, 2);
    assert_eq!(ending, Ending::Cancelled);
    assert!(said.contains("child asked"), "{said}");
}

#[test]
fn a_program_that_obeys_may_tidy_up() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let script = "trap 'echo bye; exit 0' TERM; exec 9> held; echo on >&9; sleep 1000 & wait";
    let spec = ground.spec(script);
    let cancel = Cancel::default();
    let begin = Instant::now();
    let canceller = {
        let cancel = cancel.clone();
        thread::spawn(move || {
            held.wait_for_lines(1);
            cancel.cancel();
        })
    };
    let record = launch().run(&spec, &cancel).unwrap();
    canceller.join().unwrap();
    assert_eq!(record.ending, Ending::Cancelled);
    assert_eq!(ground.log(), "bye\n");
    assert!(begin.elapsed() < LONG / 2);
}

#[test]
fn one_cancel_stops_its_own_program_and_starts_no_other() {
    let ground = Ground::new();
    let others = Ground::new();
    let gate = others.gate("gate");
    let mut held = [&ground, &others].map(|ground| Held::open(&ground.gate("held")));
    let cancel = Cancel::default();
    thread::scope(|scope| {
        let spec = ground.spec("exec 9> held; echo on >&9; exec sleep 1000");
        let handle = cancel.clone();
        let cancelled = scope.spawn(move || launch().run(&spec, &handle).unwrap().ending);
        let spec = others.spec("exec 9> held; echo on >&9; read line < gate; exit 5");
        let other = scope.spawn(move || run(&spec).ending);
        for held in &mut held {
            held.wait_for_lines(1);
        }
        cancel.cancel();
        assert_eq!(cancelled.join().unwrap(), Ending::Cancelled);
        open_gate(&gate);
        assert_eq!(other.join().unwrap(), Ending::Exited(5));
    });
    let shim = launch();
    let nonce = shim.identity().nonce.clone();
    let spec = ground.spec("touch started-anyway");
    assert_eq!(shim.run(&spec, &cancel).unwrap().ending, Ending::Cancelled);
    assert!(!ground.path("work/started-anyway").exists());
    assert_eq!(load_record(&spec.record, &nonce), None);
}
