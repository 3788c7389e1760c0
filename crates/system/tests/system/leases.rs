//! Ports and slots of a process that was killed are free for others.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use pleach_system::ports::PortLease;
use pleach_system::slots::Slots;
use pleach_system::state_folder::StateFolder;

const STATE: &str = "PLEACH_TEST_STATE";

#[test]
fn what_a_killed_process_held_is_free_again() {
    let folder = tempfile::tempdir().unwrap();
    let state = StateFolder::at(folder.path()).unwrap();
    let (mut holder, first) = holder(folder.path());
    let slots = Slots::new(&state, 1).unwrap();
    assert!(slots.try_take().unwrap().is_none());
    let lease = folder.path().join(format!("ports/{first}.lock"));
    let is_free = || {
        let file = std::fs::File::open(&lease).unwrap();
        file.try_lock().is_ok()
    };
    assert!(!is_free());
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(slots.try_take().unwrap().is_some());
    assert!(is_free());
}

/// This program once more, holding a slot and ports, and the first of these ports.
fn holder(state: &Path) -> (Child, u16) {
    let mut holder = Command::new("/proc/self/exe")
        .args(["--exact", "leases::the_role_of_a_holder", "--nocapture"])
        .env(STATE, state)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let mut told = lines.filter_map(|line| {
        let line = line.unwrap();
        line.split_once("holds ")?.1.parse().ok()
    });
    let first = told.next().unwrap();
    (holder, first)
}

#[test]
fn the_role_of_a_holder() {
    let Some(state) = std::env::var_os(STATE) else {
        return;
    };
    let state = StateFolder::at(Path::new(&state)).unwrap();
    let _slot = Slots::new(&state, 1).unwrap().try_take().unwrap();
    let lease = PortLease::take(&state).unwrap();
    writeln!(std::io::stdout(), "holds {}", lease.first()).unwrap();
    // Until it is killed, or whoever started it is gone.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}
