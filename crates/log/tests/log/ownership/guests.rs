//! Clients that are no clients.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use pleach_log::ownership::{Answer, AskError, Request, ask};

use super::{Folder, LONG, Owner, done};

/// A connection that says whatever the test wants.
fn connect(folder: &Folder) -> UnixStream {
    let place = std::fs::File::open(&folder.path).unwrap();
    let short = format!(
        "/proc/self/fd/{}/socket",
        std::os::fd::AsRawFd::as_raw_fd(&place)
    );
    let stream = UnixStream::connect(short).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

#[track_caller]
fn check_refused(stream: &mut UnixStream, told: &str) {
    check_refused_as("bad_request", stream, told);
}

#[track_caller]
fn check_refused_as(expected: &str, stream: &mut UnixStream, told: &str) {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    match serde_json::from_slice(&answer) {
        Ok(Answer::Refused { code, .. }) => assert_eq!(code, expected, "{told}"),
        _ => panic!("{told}: {}", String::from_utf8_lossy(&answer)),
    }
}

/// The owner heard nothing so far, and hears this.
fn check_undisturbed(owner: &Owner, folder: &Folder) {
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&folder.path, &Request::Approve).unwrap());
        let (request, reply) = owner.next();
        assert_eq!(request, Request::Approve);
        reply.send(done("approved"));
        assert_eq!(asked.join().unwrap(), done("approved"));
    });
}

/// A good request, without its end.
fn approving(folder: &Folder) -> String {
    format!(r#"{{"key":"{}","request":"approve"}}"#, folder.key())
}

#[test]
fn who_does_not_know_the_key_is_refused_and_told_of_once() {
    let folder = Folder::new();
    let before = {
        let _owner = Owner::of(&folder.path);
        folder.key()
    };
    let owner = Owner::of(&folder.path);
    let key = folder.key();
    assert_ne!(key, before, "each owner has its own");
    let mut almost = key.clone();
    let last = if almost.pop() == Some('0') { '1' } else { '0' };
    almost.push(last);
    for wrong in [
        "\"approve\"".to_owned(),
        "{\"request\":\"approve\"}".to_owned(),
        "{\"key\":\"\",\"request\":\"approve\"}".to_owned(),
        approving(&folder).replace(&key, &before),
        approving(&folder).replace(&key, &almost),
        approving(&folder).replace(&key, &key[1..]),
        approving(&folder).replace(&key, &format!("{key}0")),
    ] {
        let mut stream = connect(&folder);
        writeln!(stream, "{wrong}").unwrap();
        check_refused_as("bad_key", &mut stream, &wrong);
    }
    let told: Vec<i32> = owner.strangers.try_iter().collect();
    assert_eq!(told, [std::process::id().cast_signed()]);
    check_undisturbed(&owner, &folder);
}

#[test]
fn an_owner_of_a_version_without_keys_is_told_apart() {
    let folder = Folder::new();
    let _owner = Owner::of(&folder.path);
    let lock = folder.path.join("lock");
    let line = std::fs::read_to_string(&lock).unwrap();
    let old = line.rsplit_once(' ').unwrap().0;
    std::fs::write(&lock, format!("{old}\n")).unwrap();
    let asked = ask(&folder.path, &Request::Approve);
    assert!(matches!(asked, Err(AskError::Older(_))), "{asked:?}");
}

#[test]
fn garbage_is_refused_and_never_heard() {
    let folder = Folder::new();
    let owner = Owner::of(&folder.path);
    let deep = format!("{}\n", "[".repeat(60_000));
    for garbage in [
        &b"\n"[..],
        b"hello\n",
        b"{\"approve\"\n",
        b"{\"dance\":{}}\n",
        b"{\"cancel\":{}}\n",
        b"\xff\xfe\0\n",
        b"GET / HTTP/1.1\r\n\r\n",
        deep.as_bytes(),
    ] {
        let mut stream = connect(&folder);
        stream.write_all(garbage).unwrap();
        check_refused_as("bad_key", &mut stream, &String::from_utf8_lossy(garbage));
    }
    for odd in ["{\"dance\":{}}", "{\"cancel\":{}}", "7"] {
        let mut stream = connect(&folder);
        writeln!(stream, "{{\"key\":\"{}\",\"request\":{odd}}}", folder.key()).unwrap();
        check_refused(&mut stream, odd);
    }
    let mut half = connect(&folder);
    half.write_all(b"\"approve\"").unwrap();
    half.shutdown(Shutdown::Write).unwrap();
    check_refused(&mut half, "half a line");
    check_undisturbed(&owner, &folder);
}

#[test]
fn a_request_may_have_64_kib() {
    let folder = Folder::new();
    let owner = Owner::of(&folder.path);
    let padded = |length: usize| {
        let mut line = approving(&folder).into_bytes();
        line.resize(length, b' ');
        line.push(b'\n');
        line
    };
    let mut stream = connect(&folder);
    stream.write_all(&padded(65_536)).unwrap();
    assert_eq!(owner.next().0, Request::Approve);
    let mut stream = connect(&folder);
    stream.write_all(&padded(65_537)).unwrap();
    check_refused(&mut stream, "one byte too many");
    check_undisturbed(&owner, &folder);
}

#[test]
fn a_flood_without_an_end_is_cut() {
    let folder = Folder::new();
    let owner = Owner::of(&folder.path);
    let mut stream = connect(&folder);
    stream.set_write_timeout(Some(LONG)).unwrap();
    let flood = vec![b'x'; 1 << 16];
    let mut sent = 0;
    while stream.write_all(&flood).is_ok() {
        sent += flood.len();
        assert!(sent < 1 << 24, "it is still read");
    }
    check_undisturbed(&owner, &folder);
}

#[test]
fn clients_that_say_nothing_are_sent_away() {
    let folder = Folder::new();
    let owner = Owner::of(&folder.path);
    let began = Instant::now();
    let mut silent: Vec<UnixStream> = (0..20).map(|_| connect(&folder)).collect();
    let mut dripping = connect(&folder);
    check_undisturbed(&owner, &folder);
    while dripping.write_all(b" ").is_ok() {
        assert!(began.elapsed() < LONG, "a letter now and then buys time");
        std::thread::sleep(Duration::from_millis(20));
    }
    for stream in &mut silent {
        check_refused(stream, "silence");
    }
    assert!(began.elapsed() < LONG);
}

#[test]
fn clients_that_leave_before_the_answer_do_no_harm() {
    let folder = Folder::new();
    let owner = Owner::of(&folder.path);
    for _ in 0..5 {
        let mut stream = connect(&folder);
        writeln!(stream, "{}", approving(&folder)).unwrap();
        let (_, reply) = owner.next();
        drop(stream);
        reply.send(done("approved"));
    }
    drop(connect(&folder));
    check_undisturbed(&owner, &folder);
}

/// How many clients are being listened to.
fn guests() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let names = threads.filter_map(|thread| {
        // A thread may end while it is looked at.
        std::fs::read_to_string(thread.ok()?.path().join("comm")).ok()
    });
    names.filter(|name| name == "door guest\n").count()
}

#[test]
fn a_door_closes_at_once_while_clients_are_slow() {
    let folder = Folder::new();
    let owner = Owner::of(&folder.path);
    let silent: Vec<UnixStream> = (0..20).map(|_| connect(&folder)).collect();
    let began = Instant::now();
    while guests() < 16 {
        assert!(began.elapsed() < LONG, "nobody is let in");
        std::thread::yield_now();
    }
    let began = Instant::now();
    drop(owner);
    assert!(began.elapsed() < Duration::from_secs(1));
    drop(silent);
    drop(folder.lock());
}
