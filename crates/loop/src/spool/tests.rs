//! What is torn, changed or half written is never taken for something else.

use std::fs;

use pleach_engine::validate::RunEnding;
use pleach_git::git::CommitId;

use super::*;
use crate::attempt::{Probe, ProbeEnded};

fn heartbeat() -> Heartbeat {
    Heartbeat {
        beat: 7,
        fence: "ab".repeat(16),
        phase: NodePhase::Working,
        node: "n1".to_owned(),
        job: Some("985".to_owned()),
        logs: LogLengths::from([("agent".to_owned(), 812)]),
        live: 3,
    }
}

#[test]
fn of_a_sealed_text_no_part_and_no_other_byte_is_read() {
    let text = "{\"a\":1}\n{\"b\":\"#x\"}";
    let whole = seal(text).into_bytes();
    assert_eq!(unseal(&whole), Some(text));
    for length in 0..whole.len() {
        assert_eq!(unseal(&whole[..length]), None, "{length} bytes");
    }
    for place in 0..whole.len() {
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[place] ^= 1 << bit;
            assert_eq!(unseal(&changed), None, "byte {place}, bit {bit}");
        }
    }
}

#[test]
fn a_heartbeat_that_is_being_written_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let unit = SubmissionFolder::at(folder.path().to_owned()).unit(1);
    assert_eq!(unit.heartbeat(), None);
    assert!(unit.claim("mine").unwrap());
    assert_eq!(unit.heartbeat(), None);
    let first = heartbeat();
    unit.beat(&first).unwrap();
    assert_eq!(unit.heartbeat(), Some(first.clone()));
    let path = folder.path().join("1/heartbeat");
    let old = fs::read(&path).unwrap();
    let second = Heartbeat { beat: 8, ..first };
    unit.beat(&second).unwrap();
    let new = fs::read(&path).unwrap();
    for length in 1..old.len() {
        let mixed = [&new[..length], &old[length..]].concat();
        fs::write(&path, &mixed).unwrap();
        let is_either = mixed == new || mixed == old;
        assert_eq!(unit.heartbeat().is_some(), is_either, "{length} bytes");
    }
}

#[test]
fn a_unit_is_claimed_once() {
    let folder = tempfile::tempdir().unwrap();
    let unit = SubmissionFolder::at(folder.path().to_owned()).unit(3);
    assert!(unit.claim("one").unwrap());
    assert!(!unit.claim("two").unwrap());
    assert!(unit.is_claimed_by("one"));
    assert!(!unit.is_claimed_by("two"));
}

#[test]
fn each_unit_hears_its_own_word() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("control"), "ggg").unwrap();
    let submission = SubmissionFolder::at(folder.path().to_owned());
    submission.say(2, Control::Stop).unwrap();
    submission.say(3, Control::StopAtOnce).unwrap();
    let heard = [1, 2, 3].map(|unit| submission.heard(unit).unwrap());
    assert_eq!(heard, [Control::Go, Control::Stop, Control::StopAtOnce]);
    assert!(submission.heard(4).is_err());
}

/// Damages a file in every way that a torn write or a flipped bit can, and reads it.
#[track_caller]
fn check_damaged(path: &Path, is_read: impl Fn() -> bool) {
    let whole = fs::read(path).unwrap();
    assert!(is_read(), "{} is not damaged", path.display());
    fs::write(path, &whole).unwrap();
    // Blanks that fill a file up say nothing.
    let said = whole.trim_ascii_end().len();
    for length in 0..=said.min(whole.len() - 1) {
        fs::write(path, &whole[..length]).unwrap();
        assert!(!is_read(), "{}: {length} bytes", path.display());
    }
    for place in 0..whole.len() {
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[place] ^= 1 << bit;
            fs::write(path, &changed).unwrap();
            assert!(!is_read(), "{}: byte {place}, bit {bit}", path.display());
        }
    }
}

fn stopped_probe() -> UnitEnding {
    let commit: CommitId = "ab".repeat(20).parse().unwrap();
    let tree = "cd".repeat(20).parse().unwrap();
    let probe = Probe {
        number: 4,
        tasks: Vec::new(),
        commit,
        tree,
    };
    UnitEnding::Judged(Box::new(ProbeEnded::new(&probe, RunEnding::Stopped)))
}

#[test]
fn no_file_that_is_torn_or_changed_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let submission = SubmissionFolder::at(folder.path().to_owned());
    let unit = submission.unit(1);
    assert!(unit.claim("mine").unwrap());
    unit.put_result(&UnitResult {
        fence: "ab".repeat(16),
        node: "n1".to_owned(),
        ended: stopped_probe(),
        has_bundle: false,
        was_evicted: false,
    })
    .unwrap();
    let at = |name: &str| folder.path().join("1").join(name);
    check_damaged(&at("claim"), || unit.is_claimed_by("mine"));
    check_damaged(&at("result.json"), || unit.result().is_ok());
    unit.beat(&heartbeat()).unwrap();
    check_damaged(&at("heartbeat"), || unit.heartbeat().is_some());
    submission.put_secrets(1, "{\"variables\":[]}").unwrap();
    let secrets = folder.path().join("secrets.1");
    check_damaged(&secrets, || submission.take_secrets(1).is_ok());
    fs::write(folder.path().join("control"), "s").unwrap();
    let control = folder.path().join("control");
    check_damaged(&control, || submission.heard(1).is_ok());
    let orders = seal("{\"protocol\":1}\n{\"unit\":1}").into_bytes();
    fs::write(folder.path().join("orders"), &orders).unwrap();
    let orders = folder.path().join("orders");
    let text = || read(&orders).unwrap();
    check_damaged(&orders, || unseal(&text()).is_some());
}

#[test]
fn a_submission_goes_while_somebody_writes_there() {
    for _ in 0..20 {
        let home = tempfile::tempdir().unwrap();
        let submission = SubmissionFolder::at(home.path().join("7-0a1b2c3d"));
        fs::create_dir(submission.path()).unwrap();
        let write = |number: u32| {
            let name = format!("job.{number}.out");
            fs::write(submission.path().join(name), "").is_ok()
        };
        (0..100).for_each(|number| assert!(write(number)));
        std::thread::scope(|scope| {
            scope.spawn(|| (100..2_000).all(write));
            submission.remove().unwrap();
        });
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }
}
