//! Systems without Landlock or namespaces, or containers that forbid them: it is said, and the batch runs unless that
//! was asked for by name.

use std::collections::BTreeMap;
use std::process::{Command, Output};

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

use super::network::{knocking, listeners};
use super::{done, python};
use crate::scene::{Scene, Story};
use crate::{Answer, command};

/// The three system calls of Landlock, which have the same numbers everywhere.
const LANDLOCK: [i64; 3] = [444, 445, 446];

/// The call that makes namespaces.
pub(in crate::hostile) const UNSHARE: i64 = if cfg!(target_arch = "aarch64") {
    97
} else {
    272
};

/// The call that filters others.
const SECCOMP: i64 = if cfg!(target_arch = "aarch64") {
    277
} else {
    317
};

/// What a container says that forbids a call.
const FORBIDDEN: u32 = 1;

/// Does something while the system refuses some calls to it, and to all programs that it starts.
pub(in crate::hostile) fn with_refused<T: Send>(
    refused: &[i64],
    work: impl FnOnce() -> T + Send,
) -> T {
    let rules = refused.iter().map(|call| (*call, Vec::new()));
    let filter = SeccompFilter::new(
        rules.collect::<BTreeMap<_, _>>(),
        SeccompAction::Allow,
        SeccompAction::Errno(FORBIDDEN),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let filter: BpfProgram = filter.unwrap().try_into().unwrap();
    // A filter stays with its thread and with what that starts.
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            apply_filter(&filter).unwrap();
            work()
        });
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn output(mut command: Command, refused: &[i64]) -> Output {
    with_refused(refused, move || command.output().unwrap())
}

fn pleach(scene: &Scene, words: &[&str], refused: &[i64]) -> Output {
    output(command(scene.repo.path(), &scene.home(), words), refused)
}

const RUN: [&str; 3] = ["run", "--yes", "--json"];

#[test]
fn doctor_and_every_run_say_so_and_the_batch_runs() {
    let scene = Scene::with("retries = 0", super::ONE, "echo x > x");
    // A scene opens a folder besides, which is no wish for a sandbox.
    let story = Story::of(&pleach(&scene, &RUN, &LANDLOCK).into());
    story.check(0, "1:merged");
    let notes = story.notes();
    assert_eq!(notes.matches("no Landlock").count(), 1, "{notes}");
    let doctor = pleach(&scene, &["doctor"], &LANDLOCK);
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert_eq!(said.matches("no Landlock").count(), 1, "{said}");
}

#[test]
fn a_sandbox_that_was_asked_for_by_name_stops_the_run() {
    for sandbox in ["landlock", "strict"] {
        let settings = format!("sandbox = \"{sandbox}\"");
        let scene = Scene::with(&settings, super::ONE, "echo x > x");
        let answer: Answer = pleach(&scene, &RUN, &LANDLOCK).into();
        assert!(answer.bad(3).contains("Landlock"));
    }
}

#[test]
fn where_namespaces_are_forbidden_sockets_are_said_to_be_open() {
    let scene = Scene::with(super::CLOSED, super::ONE, "echo x > x");
    let story = Story::of(&pleach(&scene, &RUN, &[UNSHARE]).into());
    story.check(0, "1:merged");
    let notes = story.notes();
    assert_eq!(notes.matches("sockets").count(), 1, "{notes}");
    let doctor = pleach(&scene, &["doctor"], &[UNSHARE]);
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert_eq!(said.matches("sockets").count(), 1, "{said}");
}

#[test]
fn where_filters_are_forbidden_it_is_said_unless_the_sandbox_was_asked_for_by_name() {
    let scene = Scene::with(super::CLOSED, super::ONE, "echo x > x");
    let story = Story::of(&pleach(&scene, &RUN, &[SECCOMP]).into());
    story.check(0, "1:merged");
    let notes = story.notes();
    assert_eq!(
        notes.matches("filtering system calls").count(),
        1,
        "{notes}"
    );
    let doctor = pleach(&scene, &["doctor"], &[SECCOMP]);
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert_eq!(said.matches("filtering system calls").count(), 1, "{said}");
    let named = Scene::with("sandbox = \"landlock\"", super::ONE, "echo x > x");
    let answer: Answer = pleach(&named, &RUN, &[SECCOMP]).into();
    assert!(answer.bad(3).contains("filter system calls"));
}

#[test]
fn where_namespaces_are_forbidden_landlock_takes_the_network_or_the_run_stops() {
    let (tcp, udp) = listeners();
    let settings = format!("{}\nnetwork = \"none\"", super::CLOSED);
    let scene = python(&settings, &knocking(&tcp, &udp));
    let both: Vec<i64> = LANDLOCK.into_iter().chain([UNSHARE]).collect();
    let answer: Answer = pleach(&scene, &RUN, &both).into();
    assert!(answer.bad(3).contains("network"));
    let story = Story::of(&pleach(&scene, &RUN, &[UNSHARE]).into());
    story.check(0, "1:merged");
    assert!(story.notes().contains("only TCP"), "{}", story.notes());
    assert!(done(&scene).starts_with("tcp 13, "), "{}", done(&scene));
}
