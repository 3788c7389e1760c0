//! The dispatcher in one process, where units come to their end at the same moment.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use pleach_domain::batch::AttemptEnding;
use pleach_engine::batch_record::UnitSizes;
use pleach_log::database::SubmittedUnit;

use super::follow::FollowedUnit;
use super::line::ClusterCall;
use super::send::{SendingStep, UnsentSubmission};
use super::{ClusterPlace, Dispatcher, TICK, TICK_OF_EACH};
use crate::attempt::{Attempt, AttemptContext};
use crate::cluster::{EndHow, UnitOver};
use crate::executor::LoopHandle;
use crate::loop_input::LoopInput;
use crate::spool::{Heartbeat, LogLengths, NodePace, NodePhase, SubmissionFolder, UnitWork};
use crate::tests::begin;
use crate::unit_secrets::SecretsRoute;

const LONG: Duration = Duration::from_mins(5);

fn place(share: &Path) -> ClusterPlace {
    ClusterPlace {
        home: share.join("home"),
        depot: share.join("depot.git"),
        program: share.join("pleach"),
        scratch: share.join("scratch"),
        project: "project".to_owned(),
        look: LONG,
        pace: NodePace {
            beat: LONG,
            lease: LONG,
            snapshot: LONG,
        },
        secrets: SecretsRoute::Nothing,
        min_free_disk: 0,
        most: 500,
    }
}

/// The unit of a submission by this name that carries out an attempt.
fn unit(submission: &str, (attempt, handle): (Attempt, LoopHandle), home: &Path) -> FollowedUnit {
    let sent = SubmittedUnit {
        whose: handle.whose.clone(),
        fence: attempt.task.to_string(),
        cluster: "slurm".to_owned(),
        submission: submission.to_owned(),
        unit: 1,
    };
    let folder = SubmissionFolder::at(home.join(submission));
    let work = UnitWork::Attempt(Box::new(attempt));
    FollowedUnit::new(work, handle, sent, folder)
}

/// What a unit says that runs.
fn heartbeat() -> Heartbeat {
    Heartbeat {
        beat: 1,
        fence: "3".to_owned(),
        phase: NodePhase::Working,
        node: "n2".to_owned(),
        job: None,
        logs: LogLengths::new(),
        live: 0,
    }
}

/// One without a thread, and what it calls for from its cluster.
fn dispatcher(
    place: &ClusterPlace,
    context: Arc<AttemptContext>,
) -> (Dispatcher, Receiver<ClusterCall>) {
    let (cluster, calls) = channel();
    let place = (place.clone(), UnitSizes::default());
    let dispatcher = Dispatcher::new(("slurm", cluster), place, context, channel());
    (dispatcher, calls)
}

#[test]
fn what_waits_and_is_cancelled_leaves_the_queue_before_that_is_looked_at() {
    let begun = begin("max_parallel = 2", "1, 2");
    let place = place(&begun.repo.beside("share"));
    let (mut dispatcher, calls) = dispatcher(&place, begun.context);
    let attempts = ["waiting", "running"].into_iter().zip(begun.attempts);
    dispatcher.units = attempts
        .map(|(name, of)| unit(name, of, &place.home))
        .collect();
    dispatcher.units[1].heartbeat = Some(heartbeat());
    for unit in &dispatcher.units {
        std::fs::create_dir_all(unit.folder.path()).unwrap();
        std::fs::write(unit.folder.path().join("control"), "g").unwrap();
        unit.handle.cancel.cancel();
    }

    dispatcher.pass_on();

    let waiting = dispatcher.units[0].name();
    let called: Vec<ClusterCall> = calls.try_iter().collect();
    let [ClusterCall::End(names, EndHow::IfItWaits)] = &called[..] else {
        panic!("{called:?}");
    };
    assert_eq!(names, &[waiting]);
}

#[test]
fn those_that_wait_make_nobody_wait_who_runs() {
    let begun = begin("max_parallel = 1", "1");
    let place = place(&begun.repo.beside("share"));
    let (mut dispatcher, _calls) = dispatcher(&place, begun.context);
    let many = (0..500).map(|_| unit("waiting", begun.attempts[0].clone(), &place.home));
    dispatcher.units = many.collect();
    assert_eq!(dispatcher.tick(), TICK);
    for unit in &mut dispatcher.units {
        unit.heartbeat = Some(heartbeat());
    }
    assert_eq!(dispatcher.tick(), 500 * TICK_OF_EACH);
}

/// The first unit is not sent yet, the second one is lost on a machine that is avoided from then on, the third runs
/// elsewhere.
#[test]
fn what_is_taken_back_from_a_machine_leaves_alone_what_runs_elsewhere() {
    let begun = begin("max_parallel = 3", "1, 2, 3");
    let share = begun.repo.beside("share");
    let place = place(&share);
    let (mut dispatcher, _calls) = dispatcher(&place, begun.context);
    let names = ["unsent", "lost", "running"];
    let attempts = begun.attempts.into_iter();
    let units = names.into_iter().zip(attempts);
    dispatcher.units = units
        .map(|(name, of)| unit(name, of, &place.home))
        .collect();
    let now = Instant::now();
    let unsent = UnsentSubmission::new("unsent".to_owned(), Vec::new(), SendingStep::Unsent, now);
    dispatcher.unsent.push(unsent);
    let lost = &mut dispatcher.units[1];
    lost.node = Some("n1".to_owned());
    lost.over = Some(UnitOver::Failed("it broke".to_owned()));
    lost.gone_at = now.checked_sub(LONG);
    let handle = lost.handle.clone();
    dispatcher.units[2].heartbeat = Some(heartbeat());
    dispatcher.blame("n1", "it broke", &handle);

    dispatcher.give_up_what_is_gone();
    dispatcher.pass_on();

    let told = begun.inbox.try_iter().filter_map(|input| match input {
        LoopInput::Finished(finished, _) => Some((finished.task.to_string(), finished.ending)),
        _ => None,
    });
    let mut told: Vec<_> = told.collect();
    told.sort_by(|(one, _), (other, _)| one.cmp(other));
    let lost = AttemptEnding::Lost("lost on n1: it broke".to_owned());
    let interrupted = AttemptEnding::Interrupted;
    let expected = [("1".to_owned(), interrupted), ("2".to_owned(), lost)];
    assert_eq!(told, expected);
    let left: Vec<&str> = { dispatcher.units.iter() }
        .map(|unit| unit.sent.submission.as_str())
        .collect();
    assert_eq!(left, ["running"]);
}
