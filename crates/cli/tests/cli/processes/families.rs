//! Nothing of a program is left, whatever it started and however it ended.

use std::fs::File;
use std::thread;
use std::time::{Duration, Instant};

use pleach_engine::process::{Cancel, Ending};

use super::{
    Ground, HIDDEN, HOSTILE, HOSTILES, Held, check_gone, launch, open_gate, run, traces_of,
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
    let cancel = Cancel::new().unwrap();
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

/// The one that is stopped cannot hear that it should end.
#[test]
fn somebody_who_is_stopped_ends_as_well() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let script = "exec 9> held; (echo on >&9; kill -STOP $(exec sh -c 'echo $PPID')) & exec 9>&-; read line < held2";
    let gate = ground.gate("held2");
    let spec = ground.spec(script);
    let running = thread::spawn(move || run(&spec));
    held.wait_for_lines(1);
    open_gate(&gate);
    let begin = Instant::now();
    let record = running.join().unwrap();
    check_gone(&mut held, &record, &ground, &Ending::Exited(1));
    assert!(begin.elapsed() < Duration::from_secs(5));
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
    let cancel = Cancel::new().unwrap();
    let handle = cancel.clone();
    let running = thread::spawn(move || launch().run(&spec, &handle).unwrap());
    held.wait_for_lines(3);
    cancel.cancel();
    let record = running.join().unwrap();
    check_gone(&mut held, &record, &ground, &Ending::Cancelled);
}
