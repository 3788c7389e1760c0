//! Conflicts that are coming, as batches know them.

use pleach_domain::event::{BatchEvent, Event, PredictedConflict};
use pleach_domain::id::TaskId;

use crate::story::{Story, tell};

fn pair(a: &str, b: &str) -> PredictedConflict {
    PredictedConflict {
        a: TaskId::new(a),
        b: TaskId::new(b),
        files: vec!["a.rs".to_owned()],
    }
}

/// A batch in which tasks 1 to 3 run and these conflicts are coming, after some more steps.
#[track_caller]
fn check(pairs: &[PredictedConflict], story: &str, expected: &[PredictedConflict]) {
    let mut told = tell("3", "1\n2\n3", "go");
    foresee(&mut told, pairs);
    for step in story.split_whitespace() {
        let (task, word) = step.split_once(':').unwrap();
        told.play(task, word);
    }
    assert_eq!(told.batch.predicted, expected, "{story}");
}

fn foresee(told: &mut Story, pairs: &[PredictedConflict]) -> usize {
    let events = told.batch.predict(pairs.to_vec());
    for event in &events {
        told.batch.apply(event).unwrap();
    }
    events.len()
}

#[test]
fn a_pair_stands_as_long_as_one_of_both_can_still_be_helped() {
    let pairs = [pair("1", "2"), pair("1", "3")];
    check(&pairs, "", &pairs);
    check(&pairs, "1:built", &pairs);
    check(&pairs, "1:built 1:woven", &pairs);
    check(&pairs, "1:built 1:woven 2:built", &pairs);
    check(&pairs, "1:built 1:woven 2:built 2:woven", &pairs[1..]);
    check(&pairs, "2:hopeless", &pairs[1..]);
    check(&pairs, "2:same", &pairs[1..]);
    check(&pairs, "1:built 1:woven 2:built 2:conflict", &pairs[1..]);
}

#[test]
fn only_news_is_an_event() {
    let mut told = tell("3", "1\n2\n3", "go");
    assert_eq!(foresee(&mut told, &[]), 0);
    assert_eq!(foresee(&mut told, &[pair("1", "2")]), 1);
    assert_eq!(foresee(&mut told, &[pair("1", "2")]), 0);
    assert_eq!(foresee(&mut told, &[]), 1);
}

#[test]
fn what_was_seen_of_a_task_that_ended_meanwhile_does_not_count() {
    let mut told = tell("3", "1\n2\n3", "go 2:hopeless");
    assert_eq!(foresee(&mut told, &[pair("1", "2"), pair("1", "9")]), 0);
    let seen = told.batch.predict(vec![pair("1", "2"), pair("1", "3")]);
    let pairs = vec![pair("1", "3")];
    assert_eq!(
        seen,
        [Event::Batch(BatchEvent::ConflictsPredicted { pairs })]
    );
}

#[test]
fn a_batch_that_stops_hears_of_no_coming_conflict() {
    let told = tell("3", "1\n2\n3", "go cancel");
    assert_eq!(told.batch.predict(vec![pair("1", "2")]), []);
}
