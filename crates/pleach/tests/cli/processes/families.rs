//! Nothing of a program is left, whatever it started and however it ended.

use std::fs::File;
use std::thread;
use std::time::{Duration, Instant};

use pleach_system::process::{Cancel, Ending};

use super::{
    Ground, HIDDEN, HOSTILE, HOSTILES, Held, SOON, check_gone, launch, open_gate, run, traces_of,
};

#[test]
fn a_hostile_family_is_gone_and_named_when_the_program_has_ended() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let gate = ground.gate("gate");
    let spec = ground.spec(&format!("{HOSTILE}{HIDDEN}read line < gate; exit 3"));
    let running = thread::spawn(move || run(&spec));
    held.wait_for_lines(HOSTILES + 1);
    open_gate(&gate);
    let record = running.join().unwrap();
    check_gone(&mut held, &record, &ground, &Ending::Exited(3));
    let named = |name: &str| {
        let leaked = record.leaked.iter();
        leaked.filter(|who| who.starts_with(name)).count()
    };
    assert!(named("sleep (") >= 2, "{:?}", record.leaked);
    assert!(named("sh (") >= 4, "{:?}", record.leaked);
}

#[test]
fn a_hostile_family_is_gone_when_somebody_cancels() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let mut spec = ground.spec(&format!("{HOSTILE}{HIDDEN}sleep 1000"));
    spec.grace = Duration::from_millis(100);
    let cancel = Cancel::default();
    let handle = cancel.clone();
    let running = thread::spawn(move || launch().run(&spec, &handle).unwrap());
    held.wait_for_lines(HOSTILES + 1);
    cancel.cancel();
    let record = running.join().unwrap();
    check_gone(&mut held, &record, &ground, &Ending::Cancelled);
    assert_eq!(record.leaked, Vec::<String>::new());
}

#[test]
fn a_hostile_family_is_gone_when_the_time_is_over() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let mut spec = ground.spec(&format!("{HOSTILE}{HIDDEN}sleep 1000"));
    spec.timeout = Duration::from_secs(1);
    spec.grace = Duration::from_millis(100);
    let record = run(&spec);
    check_gone(&mut held, &record, &ground, &Ending::TimedOut);
}

/// Both are stopped, and could not hear that they should end; the grace is longer than the test may take.
#[test]
fn somebody_who_is_stopped_is_asked_as_well() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let stopped =
        "trap \"echo bye >&9; exit 0\" TERM; echo $$ >&9; kill -STOP $$; sleep 1000 & wait";
    let spec = ground.spec(&format!(
        "exec 9> held; setsid sh -c '{stopped}' & {stopped}"
    ));
    let cancel = Cancel::default();
    let handle = cancel.clone();
    let running = thread::spawn(move || launch().run(&spec, &handle).unwrap());
    held.wait_for_lines(2);
    let deadline = Instant::now() + SOON;
    for pid in held.said().lines() {
        let is_stopped = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            stat.contains(") T ")
        };
        while !is_stopped() {
            assert!(Instant::now() < deadline);
            thread::yield_now();
        }
    }
    cancel.cancel();
    let record = running.join().unwrap();
    check_gone(&mut held, &record, &ground, &Ending::Cancelled);
    assert_eq!(held.said().matches("bye").count(), 2);
}

/// Those who are ended last would see the first one die.
#[test]
fn nobody_runs_any_more_when_the_first_is_killed() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    ground.gate("grave");
    let script = "trap '' TERM; exec 9> held; (exec 8> grave; echo on >&9; exec sleep 1000) &
        for i in $(seq 40); do (echo on >&9; exec sleep 1000) & done
        for i in $(seq 10); do (exec 7< grave; echo on >&9; read line <&7; echo avenged >&9) & done; sleep 1000";
    let mut spec = ground.spec(script);
    spec.grace = Duration::from_millis(50);
    let cancel = Cancel::default();
    let handle = cancel.clone();
    let running = thread::spawn(move || launch().run(&spec, &handle).unwrap());
    held.wait_for_lines(51);
    cancel.cancel();
    let record = running.join().unwrap();
    check_gone(&mut held, &record, &ground, &Ending::Cancelled);
    assert!(!held.said().contains("avenged"), "{}", held.said());
}

#[test]
fn somebody_who_holds_the_output_open_delays_nothing() {
    let ground = Ground::new();
    let begin = Instant::now();
    let record = ground.run("sleep 60 & exit 0");
    assert_eq!(record.ending, Ending::Exited(0));
    assert!(begin.elapsed() < Duration::from_millis(2500));
    assert_eq!(traces_of(&record.nonce, &ground.path("work")).len(), 0);
}

/// Somebody outside the family has the output: it is waited for, and not for long.
#[test]
fn a_stranger_who_holds_the_output_open_does_not_hold_up_the_end() {
    let ground = Ground::new();
    let gate = ground.gate("gate");
    let mut held = Held::open(&ground.gate("held"));
    let spec = ground.spec("exec 9> held; echo $$ >&9; read line < gate; exit 0");
    let running = thread::spawn(move || run(&spec));
    held.wait_for_lines(1);
    let output = format!("/proc/{}/fd/2", held.said().trim());
    let _stranger = File::options().write(true).open(output).unwrap();
    let begin = Instant::now();
    open_gate(&gate);
    let record = running.join().unwrap();
    assert_eq!(record.ending, Ending::Exited(0));
    let took = begin.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_millis(3500));
}

#[test]
fn many_that_come_and_go_are_all_collected() {
    let ground = Ground::new();
    let record = ground.run("i=0; while [ $i -lt 200 ]; do (true &); i=$((i+1)); done; wait");
    assert_eq!(record.ending, Ending::Exited(0));
    assert_eq!(traces_of(&record.nonce, &ground.path("work")).len(), 0);
}

/// Each one starts its heirs and goes, so that whoever was found is not there any more.
#[test]
fn those_who_flee_from_process_to_process_are_caught() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let flee = "trap '' TERM; [ $1 = 20 ] && echo on >&9; [ $1 -gt 5000 ] || sh ../flee $(($1+1)) & exit 0";
    std::fs::write(ground.path("flee"), flee).unwrap();
    let mut spec = ground.spec("exec 9> held; for i in 1 2 3; do sh ../flee 0 & done; sleep 1000");
    spec.grace = Duration::from_millis(50);
    let cancel = Cancel::default();
    let handle = cancel.clone();
    let running = thread::spawn(move || launch().run(&spec, &handle).unwrap());
    held.wait_for_lines(3);
    cancel.cancel();
    let record = running.join().unwrap();
    check_gone(&mut held, &record, &ground, &Ending::Cancelled);
}
