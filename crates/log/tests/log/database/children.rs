//! Many processes at one log, some of them killed.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pleach_domain::event::Event;
use pleach_log::database::Database;
use pleach_system::state_folder::StateFolder;
use rusqlite::Connection;

use super::{BEGUN, CREATED, Home, create_as, started};

const ROLE: &str = "PLEACH_TEST_ROLE";
const STATE: &str = "PLEACH_TEST_STATE";

/// This program once more, playing `role`.
pub(super) fn child(role: &str, state: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command
        .args([
            "--exact",
            "database::children::the_role_of_a_child",
            "--nocapture",
        ])
        .env(ROLE, role)
        .env(STATE, state)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

#[test]
fn the_role_of_a_child() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let state = PathBuf::from(std::env::var_os(STATE).unwrap());
    match role.as_str() {
        "some" => append(&state, Some(APPENDS)),
        "until killed" => append(&state, None),
        "ordinary user" => super::damage::meet_permissions(&state),
        "no room" => super::damage::fill(&state),
        _ => panic!("{role}"),
    }
}

const WRITERS: usize = 6;
const APPENDS: usize = 15;

/// Appends two events at a time and tells the number of the second, once it is told to begin.
fn append(state: &Path, rounds: Option<usize>) {
    std::io::stdin().read_exact(&mut [0]).unwrap();
    let mut database = Database::open(&StateFolder::at(state).unwrap()).unwrap();
    let project = format!("project {}", std::process::id());
    let batch = create_as(std::process::id(), &mut database, &project, "1").unwrap();
    let mut stdout = std::io::stdout();
    for attempt in (1..).step_by(2).take(rounds.unwrap_or(usize::MAX)) {
        let events = [started("1", attempt), started("1", attempt + 1)];
        let stored = database.append(batch, &events).unwrap();
        let line = format!("stored {} {batch} {}\n", stored[1].seq, attempt + 1);
        stdout.write_all(line.as_bytes()).unwrap();
    }
}

/// What a child said it stored: number, batch and attempt.
fn acknowledged(line: &str) -> Option<(u64, u32, u32)> {
    // The test runner writes its own words in front of the first line.
    let (_, numbers) = line.split_once("stored ")?;
    let mut numbers = numbers.split(' ');
    let seq = numbers.next()?.parse().ok()?;
    let batch = numbers.next()?.parse().ok()?;
    Some((seq, batch, numbers.next()?.parse().ok()?))
}

fn lines_of(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.lines().map(Result::unwrap)
}

#[test]
fn processes_that_write_at_once_lose_nothing() {
    let home = Home::new();
    let mut children: Vec<Child> = (0..WRITERS)
        .map(|_| child("some", home.path()).spawn().unwrap())
        .collect();
    for child in &mut children {
        child.stdin.take().unwrap().write_all(b"!").unwrap();
    }
    let mut told = Vec::new();
    for child in &mut children {
        told.extend(lines_of(child).filter_map(|line| acknowledged(&line)));
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(told.len(), WRITERS * APPENDS);
    let events = home.open().events_after(0, None).unwrap();
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    let expected: Vec<u64> = (1..).take(WRITERS * (APPENDS * 2 + 1)).collect();
    assert_eq!(numbers, expected);
    check_there(&events_by_seq(&home), &told);
}

#[test]
fn threads_that_write_at_once_lose_nothing() {
    let home = Home::new();
    let mut numbers: Vec<u64> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let home = &home;
                scope.spawn(move || {
                    let mut database = home.open();
                    let batch = create_as(
                        u32::try_from(writer).unwrap() + 1,
                        &mut database,
                        &writer.to_string(),
                        "1",
                    )
                    .unwrap();
                    let created = database.load(batch).unwrap().unwrap().events[0].seq;
                    let append = |_| database.append(batch, &[BEGUN]).unwrap()[0].seq;
                    let appended = (0..APPENDS).map(append);
                    appended.chain([created]).collect::<Vec<u64>>()
                })
            })
            .collect();
        let numbers = writers
            .into_iter()
            .flat_map(|writer| writer.join().unwrap());
        numbers.collect()
    });
    numbers.sort_unstable();
    let expected: Vec<u64> = (1..).take(WRITERS * (APPENDS + 1)).collect();
    assert_eq!(numbers, expected);
    assert_eq!(
        home.open().events_after(0, None).unwrap().len(),
        expected.len()
    );
}

#[test]
fn a_new_database_may_be_opened_by_many_at_once() {
    for _ in 0..100 {
        let home = Home::new();
        let gate = std::sync::Barrier::new(WRITERS);
        std::thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| {
                    gate.wait();
                    home.open()
                });
            }
        });
    }
}

fn events_by_seq(home: &Home) -> HashMap<u64, (u32, Event)> {
    let events = home.open().events_after(0, None).unwrap();
    events
        .into_iter()
        .map(|stored| (stored.seq, (stored.batch, stored.event)))
        .collect()
}

#[track_caller]
fn check_there(events: &HashMap<u64, (u32, Event)>, told: &[(u64, u32, u32)]) {
    for (seq, batch, attempt) in told {
        let expected = (*batch, started("1", *attempt));
        assert_eq!(events.get(seq), Some(&expected), "event {seq}");
    }
}

const KILLS: u64 = 25;

#[test]
fn what_a_killed_writer_was_told_to_be_stored_is_there() {
    let home = Home::new();
    let mut told = Vec::new();
    let mut seed = 0x1ce_u64;
    for _ in 0..KILLS {
        let mut pair = [0, 1].map(|_| child("until killed", home.path()).spawn().unwrap());
        for writer in &mut pair {
            writer.stdin.take().unwrap().write_all(b"!").unwrap();
        }
        let mut lines = lines_of(&mut pair[0]).filter_map(|line| acknowledged(&line));
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let enough = usize::try_from(seed >> 61).unwrap() + 1;
        told.extend(lines.by_ref().take(enough));
        for writer in &mut pair {
            writer.kill().unwrap();
            writer.wait().unwrap();
        }
        told.extend(lines);
        told.extend(lines_of(&mut pair[1]).filter_map(|line| acknowledged(&line)));
        let events = home.open().events_after(0, None).unwrap();
        let halves: HashSet<(u32, String)> = events
            .iter()
            .map(|stored| (stored.batch, format!("{:?}", stored.event)))
            .collect();
        assert_eq!(halves.len(), events.len(), "something was stored twice");
        let of_pairs = events.iter().filter(|stored| stored.event != CREATED);
        assert_eq!(of_pairs.count() % 2, 0, "half a transaction");
    }
    check_there(&events_by_seq(&home), &told);
    assert!(told.len() as u64 >= KILLS);
    let connection = Connection::open(home.state().database()).unwrap();
    let check: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
}
