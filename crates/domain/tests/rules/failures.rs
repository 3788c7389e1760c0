//! What follows when agents fail, are limited, have no place to work, or collide.

use pleach_domain::batch::{AttemptEnding, BatchSettings};
use pleach_domain::event::{Event, TaskEvent};
use pleach_domain::id::TaskId;

use crate::story::{check, message, tell};

#[test]
fn a_failed_attempt_is_repeated_after_a_pause_until_the_retries_are_spent() {
    tell("1 retries=2", "1\n2", "go 1:failed")
        .follows("1 tried in vain")
        .stands("running: 1 queued, 2 queued")
        .todo("start 2");
    check("1 retries=2", "1", "go 1:failed", "");
    check("1 retries=2", "1", "go 1:failed 1:rested", "start 1");
    let twice = "go 1:failed 1:rested go 1:failed 1:rested go";
    tell("1 retries=2", "1", &format!("{twice} 1:failed"))
        .follows("1 failed")
        .stands("running: 1 failed");
    tell("1 retries=2", "1", &format!("{twice} 1:built")).stands("running: 1 built");
}

#[test]
fn what_no_repetition_mends_is_not_repeated() {
    tell("1 retries=2", "1", "go 1:hopeless").follows("1 failed");
    tell("1 retries=2", "1", "go 1:late").follows("1 timed out");
}

/// The pauses of one task that fails again and again, with the same throw of the dice.
fn pauses(ending: &AttemptEnding, chance: u16, times: usize) -> Vec<u64> {
    let id = TaskId::new("1");
    let mut batch = tell("1 retries=99", "1", "").batch;
    let mut pauses = Vec::new();
    for attempt in 1..=u32::try_from(times).unwrap() {
        if batch.tasks[0].state.ending().is_some() {
            break;
        }
        let started = TaskEvent::Started {
            attempt,
            basis: pleach_domain::task_state::Commit("base".into()),
        };
        let mut events = vec![Event::Task {
            task: id.clone(),
            event: started,
        }];
        batch.apply(&events.remove(0)).unwrap();
        for event in batch.decide(message((&id, attempt), ending.clone(), chance)) {
            batch.apply(&event).unwrap();
            if let Event::Task {
                event:
                    TaskEvent::AttemptFailed { pause, .. }
                    | TaskEvent::Limited { pause, .. }
                    | TaskEvent::Overloaded { pause, .. },
                ..
            } = event
            {
                pauses.push(pause);
            }
        }
        let rested = pleach_domain::batch::Message::PauseEnded(id.clone());
        for event in batch.decide(rested) {
            batch.apply(&event).unwrap();
        }
    }
    pauses
}

#[test]
fn pauses_double_within_a_quarter_either_way_up_to_a_quarter_of_an_hour() {
    let first = BatchSettings::default().retry_pause;
    for ending in [
        AttemptEnding::Failed("exit 1".into()),
        AttemptEnding::Limited("429".into(), None),
    ] {
        let middle = pauses(&ending, 500, 4);
        assert_eq!(middle, [first, 2 * first, 4 * first, 8 * first]);
        for chance in [0, 250, 999, 5_000] {
            let some = pauses(&ending, chance, 80);
            let mut expected = first;
            for pause in some {
                let near = expected.min(12 * 60_000);
                assert!(
                    pause >= near * 3 / 4 && pause <= near * 5 / 4,
                    "{pause} {near}"
                );
                assert!(pause <= 15 * 60_000, "{pause} is too long");
                expected = expected.saturating_mul(2);
            }
        }
    }
    let stated = AttemptEnding::Limited("429".into(), Some(3_600_000));
    assert_eq!(pauses(&stated, 999, 2), [3_600_000, 3_600_000]);
}

#[test]
fn a_limit_spends_no_attempt() {
    let four_limits = "go 1:limited 1:rested ".repeat(4);
    tell("1 retries=0", "1", "go 1:limited").stands("running: 1 limited");
    tell("1 retries=0", "1", &four_limits).todo("start 1");
}

#[test]
fn a_task_that_is_limited_without_end_fails_in_the_end() {
    let story = "go 1:limited 1:rested ".repeat(100);
    tell("1", "1", &story).todo("start 1");
    tell("1", "1", &format!("{story} go 1:limited")).stands("running: 1 failed");
}

#[test]
fn a_task_waits_for_stated_limits_for_a_day_or_four_of_the_longest_waits() {
    let hour = 3_600_000;
    let stated = |hours: u64| AttemptEnding::Limited("429".into(), Some(hours * hour));
    assert_eq!(
        pauses(&stated(6), 0, 9).len(),
        4,
        "what judges cap at limit_wait"
    );
    assert_eq!(pauses(&stated(5), 0, 9).len(), 4, "just below it");
    assert_eq!(
        pauses(&stated(2), 0, 20).len(),
        12,
        "a night of honest ones"
    );
    let overloaded = AttemptEnding::Overloaded("529".into(), Some(6 * hour));
    assert_eq!(pauses(&overloaded, 0, 9).len(), 4);
    let six_hours = "1:waits-6h 1:rested go ".repeat(4);
    let told = tell("1", "1", &format!("go {six_hours} 1:waits-6h")).batch;
    let state = format!("{:?}", told.tasks[0].state);
    assert!(
        state.contains("gave up after 4 usage limits and 24 h of waiting"),
        "{state}"
    );
    let again = format!("go {six_hours} 1:waits-6h 1:retry go 1:waits-6h");
    tell("1", "1", &again).stands("running: 1 limited");
    let patient = format!("go {} 1:waits-6h", "1:waits-6h 1:rested go ".repeat(8));
    tell("1 limit_wait=12h", "1", &patient).stands("running: 1 failed");
    tell("1 limit_wait=14h", "1", &patient).stands("running: 1 limited");
}

#[test]
fn an_ending_of_another_attempt_changes_nothing() {
    let second = "go 1:interrupted go";
    for word in ["built", "same", "failed", "hopeless", "late", "lost"] {
        for attempt in [0, 1, 3] {
            tell("1", "1\n2", &format!("{second} 1:{word}@{attempt}"))
                .follows("")
                .stands("running: 1 running, 2 queued");
        }
    }
    tell("1", "1\n2", &format!("{second} 1:failed@1 1:built@2")).follows("1 built");
    // One that is asked to stop ends by its own number too.
    let stopping = format!("{second} 1:cancel");
    tell("1", "1\n2", &format!("{stopping} 1:stopped@1")).stands("running: 1 stopping, 2 queued");
    tell("1", "1\n2", &format!("{stopping} 1:stopped@2")).follows("1 cancelled");
    tell("1", "1", "go 1:built 1:failed@1").follows("");
}

#[test]
fn a_lost_attempt_is_no_failure_and_the_task_is_queued_again_at_once() {
    tell("1 retries=0", "1\n2", "go 1:lost")
        .follows("1 lost")
        .stands("running: 1 queued, 2 queued")
        .todo("start 1");
    let lost = tell("1 retries=0", "1", "go 1:lost go 1:lost go").batch;
    assert_eq!((lost.tasks[0].losses, lost.tasks[0].failures), (2, 0));
    tell("1 retries=0", "1", "go 1:cancel 1:lost").follows("1 cancelled");
    tell("1 each=100", "1", "go 1:failed-at-60 1:rested go 1:lost").follows("1 lost");
}

#[test]
fn the_sixth_loss_in_a_row_fails_the_task() {
    let five = "go 1:lost ".repeat(5);
    tell("1 retries=9", "1", &five).stands("running: 1 queued");
    let sixth = tell("1 retries=9", "1", &format!("{five} go 1:lost"));
    sixth.follows("1 failed");
    let state = format!("{:?}", sixth.batch.tasks[0].state);
    assert!(
        state.contains("lost 6 times in a row: n7 went down"),
        "{state}"
    );
    for word in [
        "failed 1:rested",
        "limited 1:rested",
        "overloaded 1:rested",
        "idle",
    ] {
        let story = format!("{five} go 1:{word} go 1:lost");
        tell("1 retries=9", "1", &story).follows("1 lost");
    }
    // A process that died says nothing of the machines.
    let story = format!("{five} go 1:interrupted go 1:lost");
    tell("1 retries=9", "1", &story).follows("1 failed");
    let story = format!("{five} go 1:lost 1:retry {five} go");
    tell("1 retries=9", "1", &story).stands("running: 1 running");
}

#[test]
fn an_attempt_gets_its_machine_once_and_nothing_else_changes() {
    tell("1", "1\n2", "go 1:on-n7")
        .follows("1 placed")
        .stands("running: 1 running, 2 queued")
        .todo("");
    let node = |story: &str| tell("1", "1", story).batch.tasks[0].node.clone();
    assert_eq!(node("go 1:on-n7 1:on-n8").as_deref(), Some("n7"));
    assert_eq!(node("go 1:cancel 1:on-n7").as_deref(), Some("n7"));
    assert_eq!(node("go 1:on-n7@2"), None);
    assert_eq!(node("1:on-n7"), None);
    assert_eq!(node("go 1:on-n7 1:lost go"), None);
}

#[test]
fn nothing_new_starts_while_the_agent_is_limited() {
    tell("2", "1\n2\n3", "go 1:limited").todo("");
    tell("2", "1\n2\n3", "go 1:limited 2:built 2:woven").todo("");
    tell("2", "1\n2\n3", "go 1:limited 2:built 2:woven 1:rested").todo("start 1; start 3");
}

#[test]
fn three_rounds_of_limits_mean_one_at_a_time() {
    // All that were under way meet the same limit.
    let round = "go 1:limited 2:limited 3:limited 1:rested 2:rested 3:rested ";
    tell("3", "1\n2\n3\n4", round).todo("start 1; start 2; start 3");
    let two = round.repeat(2);
    tell("3", "1\n2\n3\n4", &format!("{two} go 1:limited"))
        .follows("1 limited; fallen back")
        .todo("");
    let third = format!("{two} go 1:limited 2:limited 3:limited 1:rested 2:rested 3:rested");
    tell("3", "1\n2\n3\n4", &third).todo("start 1");
    // Somebody who was slow to meet the first limit does not hide the second of those who were quick.
    let quick = "1:limited 1:rested go ".repeat(2);
    tell("3", "1\n2\n3\n4", &format!("go {quick} 1:limited")).follows("1 limited; fallen back");
    let slow = "go 1:limited 1:rested go 2:limited 2:rested go 1:limited 1:rested go 3:limited 3:rested go";
    tell("3", "1\n2\n3\n4", &format!("{slow} 2:limited")).follows("2 limited");
    tell("3", "1\n2\n3\n4", &format!("{slow} 1:limited")).follows("1 limited; fallen back");
    // A success in between begins the count anew.
    let between = format!("{two} go 2:same 1:limited");
    tell("3", "1\n2\n3\n4", &between).follows("1 limited");
    // What is one at a time already cannot fall back any further.
    let alone = "go 1:limited 1:rested ".repeat(3);
    tell("1", "1\n2", &format!("{alone} go 1:limited")).follows("1 limited");
}

#[test]
fn without_fallback_limits_end_the_batch() {
    let round = "go 1:limited 2:limited 3:limited 1:rested 2:rested 3:rested ";
    let third = format!("{} go 1:limited", round.repeat(2));
    tell("3 no-fallback", "1\n2\n3\n4", &third)
        .follows("1 failed; given up; 2 asked to stop; 3 asked to stop; 4 cancelled");
    let over = format!("{third} 2:stopped 3:stopped");
    tell("3 no-fallback", "1\n2\n3\n4", &over)
        .todo("finish failed because the agent keeps hitting its usage limit: exit 1");
    let reopened = format!("{over} go 1,2,3:retry go 1:limited");
    tell("3 no-fallback", "1\n2\n3\n4", &reopened).follows("1 limited");
}

#[test]
fn overload_again_and_again_halves_the_slots_and_success_gives_them_back_one_by_one() {
    let plan = "1\n2\n3\n4\n5\n6\n7\n8";
    tell("4", plan, "go 1:overloaded").follows("1 overloaded");
    // Those that were under way with it say nothing new.
    let twice = "go 1:overloaded 2:overloaded";
    tell("4", plan, twice)
        .follows("2 overloaded; resized")
        .todo("");
    tell("4", plan, &format!("{twice} 3:overloaded"))
        .follows("3 overloaded")
        .todo("start 5");
    let quarter = format!("{twice} 3:overloaded 4:overloaded go 5:overloaded 6:overloaded");
    tell("4", plan, &quarter)
        .follows("6 overloaded; resized")
        .todo("start 7");
    let better = format!("{quarter} go 7:built");
    tell("4", plan, &better).follows("7 built; resized");
    tell("4", plan, &format!("{better} 7:woven 1:rested")).todo("start 1; start 8");
    // Somebody who was slow to meet the first limit does not hide the second of those who were quick.
    let quick = "1:limited 1:rested go ".repeat(2);
    tell("3", "1\n2\n3\n4", &format!("go {quick} 1:limited")).follows("1 limited; fallen back");
    let slow = "go 1:limited 1:rested go 2:limited 2:rested go 1:limited 1:rested go 3:limited 3:rested go";
    tell("3", "1\n2\n3\n4", &format!("{slow} 2:limited")).follows("2 limited");
    tell("3", "1\n2\n3\n4", &format!("{slow} 1:limited")).follows("1 limited; fallen back");
    // A success in between begins the count anew.
    tell("4", plan, "go 1:overloaded 2:same 3:overloaded").follows("3 overloaded");
}

#[test]
fn a_budget_that_is_used_up_ends_the_task_and_that_of_the_batch_ends_all() {
    tell("2 each=100", "1\n2", "go 1:failed-at-99").follows("1 charged; 1 tried in vain");
    tell(
        "2 each=100",
        "1\n2",
        "go 1:failed-at-60 1:rested go 1:failed-at-40",
    )
    .follows("1 charged; 1 failed")
    .stands("running: 1 failed, 2 running");
    // A person who asks for it again gives it another share.
    tell(
        "2 each=100",
        "1\n2",
        "go 1:failed-at-100 1:retry go 1:failed-at-99",
    )
    .follows("1 charged; 1 tried in vain");
    let spent = "go 1:failed-at-60 2:failed-at-40";
    tell("2 tokens=100", "1\n2\n3", spent)
        .todo("give up because the batch's budget of 100 tokens is used up (100)");
    // What is over is paid for.
    let over = "go 1:failed-at-60 1:rested go 1:failed-at-60";
    tell("1 tokens=100 retries=1", "1", over)
        .stands("running: 1 failed")
        .todo("note merging");
}

#[test]
fn without_a_place_to_work_the_rest_runs_one_at_a_time_on_the_woven_result() {
    let story = "go 1:noplace";
    tell("2", "1\n2\n3", story)
        .follows("1 requeued; fallen back")
        .todo("");
    let story = "go 1:noplace 2:built 2:woven";
    tell("2", "1\n2\n3", story).todo("start 3").basis("3", "2");
    let story = "go 1:noplace 2:built 2:woven go 3:same";
    tell("2", "1\n2\n3", story).todo("start 1").basis("1", "2");
    tell("1 retries=0", "1", "go 1:noplace").follows("1 failed");
    tell("1 retries=1", "1", "go 1:noplace").follows("1 tried in vain");
    tell("2 no-fallback", "1\n2\n3", "go 1:noplace")
        .follows("1 failed; given up; 2 asked to stop; 3 cancelled");
}

#[test]
fn a_failure_stops_everything_where_that_is_the_rule() {
    let story = "go 1:failed";
    tell("2 stop retries=0", "1\n2\n3", story)
        .todo("give up because task 1 failed, and stop_on_failure is set");
    tell("2 stop retries=1", "1\n2\n3", story).todo("start 3");
    let story = "go 1:failed go";
    tell("2 stop retries=0", "1\n2\n3", story)
        .follows("given up; 2 asked to stop; 3 cancelled")
        .todo("stop 2");
    let story = "go 1:failed go 2:stopped";
    tell("2 stop retries=0", "1\n2\n3", story)
        .stands("running: 1 failed, 2 cancelled, 3 cancelled")
        .todo("finish failed because task 1 failed, and stop_on_failure is set");
    let story = "go 1:failed go 2:built";
    tell("2 stop retries=0", "1\n2", story).todo("weave 2");
}

#[test]
fn a_conflict_is_left_out_or_fails_the_batch_or_is_done_again() {
    let story = "go 1:built 2:built 1:woven 2:conflict";
    tell("2 skip", "1\n2\n3 < 2", story)
        .follows("2 conflicted")
        .todo("block 3 because needs 2, which conflicted");
    tell("2 fail", "1\n2\n3 < 2", story)
        .follows("2 conflicted")
        .todo("give up because task 2 conflicted, and on_conflict is \"fail\"");
    tell("2 rerun", "1\n2\n3 < 2", story)
        .follows("2 requeued")
        .todo("start 2")
        .basis("2", "1");
    let story = "go 1:built 2:built 1:woven 2:conflict go 2:built 2:conflict";
    tell("2 rerun", "1\n2\n3 < 2", story)
        .follows("2 conflicted")
        .todo("block 3 because needs 2, which conflicted");
}

#[test]
fn what_is_done_again_runs_alone_when_all_else_is_woven() {
    let plan = "1\n2\n3\n4";
    let collided = "go 1:built 2:built 1:woven 2:conflict";
    tell("2 rerun", plan, collided).todo("start 3; start 4");
    tell("2 rerun", plan, &format!("{collided} go 3:built 4:built")).todo("weave 3");
    let woven = format!("{collided} go 3:built 4:built 3:woven 4:woven");
    tell("2 rerun", plan, &woven)
        .todo("start 2")
        .basis("2", "1 3 4");
    let both = "go 1:built 2:built 3:built 1:woven 2:conflict 3:conflict";
    tell("3 rerun", "1\n2\n3", both).todo("start 2");
    tell("3 rerun", "1\n2\n3", &format!("{both} go")).todo("");
}

#[test]
fn a_session_goes_on_after_a_limit_or_an_overload_and_no_further() {
    let session = |story: &str| {
        tell("1 retries=2", "1", story).batch.tasks[0]
            .session
            .clone()
    };
    assert_eq!(session("go 1:speaks").as_deref(), Some("session of 1"));
    for ending in ["limited", "overloaded"] {
        let story = format!("go 1:speaks 1:{ending} 1:rested go");
        assert_eq!(session(&story).as_deref(), Some("session of 1"), "{ending}");
    }
    assert_eq!(session("go 1:speaks 1:failed 1:rested go"), None);
    // One that is over is not spoken to.
    assert_eq!(session("go 1:same 1:speaks"), None);
    tell("1", "1", "go 1:speaks 1:speaks").follows("");
}

#[test]
fn an_agent_that_changes_nothing_without_a_word_is_asked_once_more_and_then_has_failed() {
    tell("1", "1\n2 < 1", "go 1:idle").follows("1 asked again");
    let asked = "go 1:idle go";
    tell("1", "1\n2 < 1", &format!("{asked} 1:idle")).follows("1 failed");
    // Whatever it says or does when it is asked counts as ever.
    tell("1", "1", &format!("{asked} 1:same")).follows("1 left unchanged");
    tell("1", "1", &format!("{asked} 1:built")).follows("1 built");
    // What is interrupted or fails meanwhile begins anew, and is asked anew.
    tell("1", "1", &format!("{asked} 1:interrupted go 1:idle")).follows("1 asked again");
    tell("1", "1", &format!("{asked} 1:failed 1:rested go 1:idle")).follows("1 asked again");
    // A person who wants it tried again has it asked again.
    let retried = format!("{asked} 1:idle go 1:retry go 1:idle");
    tell("1", "1", &retried).follows("1 asked again");
    tell("1", "1", "go 1:cancel 1:idle").follows("1 cancelled");
    tell("1 idle-is-done", "1", "go 1:idle").follows("1 left unchanged");
}
