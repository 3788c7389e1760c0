//! Requests and answers within a living owner.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use pleach_domain::event::Rollback;
use pleach_domain::id::TaskId;
use pleach_log::ownership::{Answer, AskError, BatchLock, Request, ask, is_owned};

use super::{Folder, Owner, done};

#[test]
fn a_request_arrives_as_it_was_and_so_does_its_answer() {
    let folder = Folder::new();
    let owner = Owner::of(&folder.path);
    let requests = [
        Request::Approve,
        Request::Cancel {
            task: None,
            rollback: Rollback::Remove,
        },
        Request::Cancel {
            task: Some(TaskId::new("é\n1")),
            rollback: Rollback::Keep,
        },
        Request::Retry {
            tasks: vec![TaskId::new("1"), TaskId::new("2")],
        },
    ];
    let refused = Answer::Refused {
        code: "nothing_waiting".into(),
        message: "nothing waits\nfor approval".into(),
        hint: Some("look at `pleach status`".into()),
    };
    for request in requests {
        for answer in [done("task 1 runs"), refused.clone()] {
            std::thread::scope(|scope| {
                let asked = scope.spawn(|| ask(&folder.path, &request).unwrap());
                let (heard, reply) = owner.next();
                assert_eq!(heard, request);
                reply.send(answer.clone());
                assert_eq!(asked.join().unwrap(), answer);
            });
        }
    }
}

#[test]
fn a_request_that_takes_long_keeps_nobody_waiting() {
    let folder = Folder::new();
    let owner = Owner::of(&folder.path);
    std::thread::scope(|scope| {
        let cancel = Request::Cancel {
            task: None,
            rollback: Rollback::Keep,
        };
        let path = &folder.path;
        let slow = scope.spawn(move || ask(path, &cancel).unwrap());
        let (_, kept) = owner.next();
        // More than are listened to at once: waiting for an answer takes no seat.
        let others: Vec<_> = (0..40)
            .map(|_| scope.spawn(|| ask(path, &Request::Approve).unwrap()))
            .collect();
        let replies: Vec<_> = others.iter().map(|_| owner.next().1).collect();
        assert!(!slow.is_finished());
        for reply in replies {
            reply.send(done("approved"));
        }
        for other in others {
            assert_eq!(other.join().unwrap(), done("approved"));
        }
        kept.send(done("cancelled"));
        assert_eq!(slow.join().unwrap(), done("cancelled"));
    });
}

#[test]
fn an_owner_that_does_not_answer_breaks_the_request() {
    let folder = Folder::new();
    let owner = Owner::of(&folder.path);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&folder.path, &Request::Approve));
        drop(owner.next());
        let error = asked.join().unwrap().unwrap_err();
        assert!(matches!(error, AskError::Broken { .. }), "{error}");
    });
}

#[test]
fn nobody_is_there_without_an_owner() {
    let folder = Folder::new();
    let check = || {
        assert!(!is_owned(&folder.path).unwrap());
        let error = ask(&folder.path, &Request::Approve).unwrap_err();
        assert!(matches!(error, AskError::NobodyThere(_)), "{error}");
    };
    check();
    drop(Owner::of(&folder.path));
    check();
    fs::remove_dir_all(&folder.path).unwrap();
    check();
}

#[test]
fn the_door_is_its_owners_alone_and_goes_with_it() {
    let folder = Folder::new();
    let Owner { door, lock, .. } = Owner::of(&folder.path);
    for name in ["socket", "lock"] {
        let mode = fs::metadata(folder.path.join(name)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600, "{name}");
    }
    drop(lock);
    assert!(is_owned(&folder.path).unwrap(), "an open door has an owner");
    assert!(BatchLock::take(&folder.path).unwrap().is_none());
    drop(door);
    assert!(!is_owned(&folder.path).unwrap());
    let names = fs::read_dir(&folder.path).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["lock"]);
}

#[test]
fn an_owner_may_open_its_door_after_it_was_knocked_at() {
    let folder = Folder::new();
    let lock = folder.lock();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&folder.path, &Request::Approve).unwrap());
        let door = pleach_log::ownership::Door::open(
            &lock,
            |_, reply| reply.send(done("approved")),
            |_| (),
        );
        assert_eq!(asked.join().unwrap(), done("approved"));
        drop(door);
    });
}

#[test]
fn looking_keeps_nobody_from_owning() {
    let folder = Folder::new();
    drop(folder.lock());
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    is_owned(&folder.path).unwrap();
                }
            });
        }
        let taken = (0..300).all(|_| BatchLock::take(&folder.path).unwrap().is_some());
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(taken);
    });
}
