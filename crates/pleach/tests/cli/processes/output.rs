//! What a program says: nothing is lost below the cap, little is held above it.

use std::fmt::Write as _;
use std::fs;
use std::thread;

use pleach_system::process::{Cancel, Ending, ProcessRecord};

use super::{Ground, Held, launch, open_gate, run};

const TAIL: usize = 1 << 20;

fn numbers(last: usize) -> String {
    let mut text = String::new();
    for number in 1..=last {
        writeln!(text, "{number}").unwrap();
    }
    text
}

#[test]
fn below_the_cap_nothing_is_lost_whatever_it_is() {
    let ground = Ground::new();
    let record = ground
        .run("seq 1 300000; head -c 5000000 /dev/zero; printf '\\377\\033[2J'; seq 1 300000 >&2");
    let mut expected = numbers(300_000).into_bytes();
    expected.resize(expected.len() + 5_000_000, 0);
    expected.extend_from_slice(b"\xff\x1b[2J");
    expected.extend_from_slice(numbers(300_000).as_bytes());
    let log = fs::read(ground.path("log")).unwrap();
    assert!(log == expected, "{} of {}", log.len(), expected.len());
    let output = record.output;
    assert_eq!((output.left_out, output.unwritten), (0, 0));
    assert_eq!(output.bytes, expected.len() as u64);
}

#[test]
fn a_flood_leaves_its_head_its_end_and_the_count_of_the_rest_and_little_memory_is_used() {
    let (_, _, usual) = memory_after("true");
    let (ground, record, taken) = memory_after("seq 1 5000000");
    let said = numbers(5_000_000);
    let left_out = said.len() - 100_000 - TAIL;
    let (begin, end) = (&said[..100_000], &said[said.len() - TAIL..]);
    let expected = format!("{begin}\n[pleach: {left_out} bytes of output omitted]\n{end}");
    assert!(ground.log() == expected, "the log is wrong");
    assert_eq!(record.output.bytes, said.len() as u64);
    assert_eq!(record.output.left_out, left_out as u64);
    // The end of the output, a megabyte of what is read at once, and as much to spare: of 39 that were said.
    let more = taken.saturating_sub(usual);
    assert!(more < 3_600, "{usual} kB, and {more} kB more");
}

/// What a wrapper has of memory once its program has said all that this command prints.
fn memory_after(command: &str) -> (Ground, ProcessRecord, u32) {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let gate = ground.gate("gate");
    let mut spec = ground.spec(&format!(
        "exec 9> held; {command}; echo on >&9; read line < gate"
    ));
    spec.log_cap = 100_000;
    let shim = launch();
    let status = format!("/proc/{}/status", shim.identity().pid);
    let running = thread::spawn(move || shim.run(&spec, &Cancel::default()).unwrap());
    held.wait_for_lines(1);
    let taken = own_memory(&status);
    open_gate(&gate);
    let record = running.join().unwrap();
    (ground, record, taken)
}

/// What a process has of memory, without the pages of its program, in kilobytes.
fn own_memory(status: &str) -> u32 {
    let status = fs::read_to_string(status).unwrap();
    let own = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    own.unwrap().trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_full_disk_stops_nobody_and_is_told() {
    let ground = Ground::new();
    let mut spec = ground.spec("seq 1 100000; exit 6");
    spec.log = "/dev/full".into();
    let record = run(&spec);
    assert_eq!(record.ending, Ending::Exited(6));
    let said = numbers(100_000).len() as u64;
    assert_eq!((record.output.bytes, record.output.unwritten), (said, said));
}
