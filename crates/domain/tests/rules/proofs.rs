//! What the tests decide: who is left out and who goes with them, and what stays without a proof.

use pleach_domain::batch::Proof;
use pleach_domain::bisect::BisectStep;

use crate::story::{check, tell};

const TWO: &str = "go 1:built 1:woven 2:built 2:woven go";
const THREE: &str = "go 1:built 1:woven 2:built 2:woven 3:built 3:woven go";

#[test]
fn a_result_is_proved_before_the_batch_completes() {
    tell("9 tests", "1\n2", TWO)
        .follows("merging; validating")
        .stands("validating: 1 merged, 2 merged")
        .todo("prove");
    let told = tell("9 tests", "1\n2", &format!("{TWO} tests"));
    told.follows("proved").todo("finish completed");
    assert!(told.batch.is_done(0) && told.batch.is_done(1));
    let open = tell("9 tests", "1\n2", TWO);
    assert!(!open.batch.is_done(0));
    // Where nothing is woven, or no command is set, there is nothing to prove.
    tell("9 tests", "1", "go 1:same go").follows("merging; completed");
    tell("9", "1", "go 1:built 1:woven go").follows("merging; completed");
}

#[test]
fn a_guilty_task_is_left_out_and_the_rest_is_proved() {
    tell("9 tests", "1\n2\n3", &format!("{THREE} 2:break"))
        .follows("2 found invalid; rewoven; proved")
        .stands("validating: 1 merged, 2 invalid, 3 merged")
        .todo("finish completed");
    let told = tell("9 tests", "1\n2\n3", &format!("{THREE} 1,3:break"));
    told.follows("1 found invalid; 3 found invalid; rewoven; proved");
    assert_eq!(told.batch.woven, [1]);
    assert!(told.batch.is_done(1) && !told.batch.is_done(0));
    // What was left out is kept.
    assert!(told.batch.tasks[0].kept.is_some());
}

#[test]
fn of_a_guilty_pair_the_later_one_in_weaving_order_goes() {
    tell("9 tests", "1\n2\n3", &format!("{THREE} 1+3:break"))
        .follows("3 found invalid; rewoven; proved");
    let story = "go 3:built 3:woven 2:built 2:woven 1:built 1:woven go 1+3:break";
    tell("9 tests", "1\n2\n3", story).follows("1 found invalid; rewoven; proved");
}

#[test]
fn what_needs_a_guilty_task_goes_with_it() {
    let plan = "1\n2 < 1\n3 < 2\n4";
    let story = "go 4:built 4:woven 1:built 1:woven go 2:same go 3:built 3:woven go 1:break";
    tell("9 tests", plan, story)
        .follows("1 found invalid; 2 blocked; 3 blocked; rewoven; proved")
        .stands("validating: 1 invalid, 2 blocked, 3 blocked, 4 merged");
    tell("9 tests", plan, &format!("{story} go 1:retry"))
        .follows("reopened; 1 retried; 2 retried; 3 retried")
        .todo("start 1");
    // One that merely came after it is woven without it.
    let plan = "1 @ f\n2 @ f";
    let story = "go 1:built 1:woven go 2:built 2:woven go 1:break";
    tell("9 tests", plan, story).follows("1 found invalid; rewoven; proved");
}

#[test]
fn a_branch_that_does_not_merge_without_a_guilty_one_goes_too() {
    let plan = "1\n2\n3\n4 < 2";
    let woven = "go 1:built 1:woven 2:built 2:woven 3:built 3:woven go 4:built 4:woven go";
    let found = "1,2,3,4:red base:green 1,2,3,4:red 1,2:red 1,2:red 1:red 1:red 1:red";
    for fell in ["2:fell", "2:fell 2:fell 1:fell"] {
        let story = format!("{woven} {found} {fell} 3:green proved");
        tell("9 tests", plan, &story)
            .follows("1 found invalid; 2 conflicted; 4 blocked; rewoven; proved")
            .stands("validating: 1 invalid, 2 conflicted, 3 merged, 4 blocked");
    }
}

#[test]
fn a_branch_that_falls_out_fails_a_batch_that_conflicts_fail() {
    let plan = "1\n2\n3\n4\nstage a: 1 2 3\nstage b: 4";
    // 1 and 2 were woven before a person opened the batch again.
    let again =
        "go 1:built 1:woven 2:built 2:woven 3:failed go tests go 3:retry go 3:built 3:woven go";
    let found = "1,2,3:red base:green 1,2,3:red 1:red 1:red 1:red 2:fell 3:green proved";
    tell("9 tests fail retries=0", plan, &format!("{again} {found}"))
        .follows("1 found invalid; 2 conflicted; rewoven; proved")
        .todo("give up because task 2 conflicted, and on_conflict is \"fail\"");
}

#[test]
fn when_all_is_left_out_nothing_was_merged() {
    let told = tell("9 tests push", "1\n2", &format!("{TWO} 1,2:break"));
    told.follows("1 found invalid; 2 found invalid; rewoven; proved")
        .todo("finish failed because nothing was merged");
    assert!(told.batch.woven.is_empty());
    let tried_again = "go 1:retry go 1:built 1:woven go tests";
    tell("9 tests", "1\n2", &format!("{TWO} 1,2:break {tried_again}")).todo("finish completed");
}

#[test]
fn a_red_base_or_trouble_blames_nobody() {
    tell("9 tests", "1\n2", &format!("{TWO} base:breaks"))
        .follows("not proved BaseRed")
        .stands("validating: 1 merged, 2 merged")
        .todo("finish failed because the base is red");
    tell("9 tests push", "1\n2", &format!("{TWO} 1,2:red trouble"))
        .follows("not proved Trouble")
        .stands("validating: 1 merged, 2 merged")
        .todo("finish failed because why");
}

#[test]
fn a_person_who_asks_again_has_the_tests_run_again() {
    let doubted = "go 3:failed 1:built 1:woven 2:built 2:woven go trouble go";
    let plan = "1\n2\n3";
    tell(
        "9 tests retries=0",
        plan,
        &format!("{doubted} 3:retry go 3:same go"),
    )
    .follows("merging; validating");
    tell("9 tests retries=0", plan, &format!("{doubted} land go")).follows("validating");
}

#[test]
fn tests_that_fail_the_batch_leave_nobody_out() {
    tell("9 strict push", "1\n2", &format!("{TWO} all-red"))
        .stands("validating: 1 merged, 2 merged")
        .todo("finish failed because why");
    // Even where the search went on and found somebody.
    let found = "1:red 1:red 1:red base:green proved";
    tell("9 strict", "1", &format!("go 1:built 1:woven go {found}"))
        .follows("not proved Red")
        .stands("validating: 1 merged");
}

#[test]
fn an_invalid_task_stops_a_batch_that_failures_stop() {
    tell("9 tests stop push", "1\n2", &format!("{TWO} 1:break"))
        .todo("finish failed because task 1 fails the tests, and stop_on_failure is set");
    let staged = "1\n2\n3\n4\nstage a: 1 2\nstage b: 3";
    let story = "go 1:built 1:woven 2:built 2:woven go 1:break go";
    tell("9 tests stop", staged, story)
        .follows("given up; 3 cancelled; 4 asked to stop; stage ended 0 badly TestFailed");
    // Also where it was woven before a person opened the batch again.
    let again = "go 1:built 1:woven 2:failed go 2,3:retry go 2:built 2:woven go 1:break go";
    tell(
        "9 tests stop retries=0",
        "1\n2\n3\nstage a: 1 2\nstage b: 3",
        again,
    )
    .follows(
        "given up; 3 cancelled; stage ended 0 badly TestFailed; \
         failed because task 1 fails the tests, and stop_on_failure is set",
    );
}

const STAGED: &str = "1\n2\n3\nstage a: 1 2\nstage b: 3";

#[test]
fn a_stage_is_proved_before_the_next_one_starts() {
    tell("9 tests", STAGED, TWO)
        .follows("validating 0")
        .stands("running: 1 merged, 2 merged, 3 queued")
        .todo("prove");
    tell("9 tests", STAGED, &format!("{TWO} tests go"))
        .follows("stage ended 0 well Success; stage started 1; 3 started");
    for not_well in ["2:break", "trouble"] {
        tell("9 tests", STAGED, &format!("{TWO} {not_well} go")).follows(
            "3 blocked; stage ended 0 badly TestFailed; merging; failed because stage a failed",
        );
    }
    // What was proved once is not proved again.
    tell("9 tests", STAGED, &format!("{TWO} tests go 3:same go"))
        .follows("stage ended 1 well Skipped; merging; completed");
}

#[test]
fn waves_go_on_without_a_proof_and_the_batch_fails_in_the_end() {
    let plan = "1\n2 < 1\n3 < 2";
    let first = "go 1:built 1:woven go base:breaks go";
    tell("9 tests waves", plan, first)
        .follows("stage ended 0 badly TestFailed; stage started 1; 2 started");
    tell(
        "9 tests waves",
        plan,
        &format!("{first} 2:same go 3:same go"),
    )
    .follows("stage ended 2 well Skipped; merging; failed because the base is red");
    tell(
        "9 tests waves",
        plan,
        &format!("{first} 2:built 2:woven go"),
    )
    .follows("validating 1");
    tell(
        "9 tests waves",
        plan,
        &format!("{first} 2:built 2:woven go tests go 3:same go"),
    )
    .follows("stage ended 2 well Skipped; merging; completed");
}

#[test]
fn a_stage_whose_proof_a_cancel_broke_off_is_proved_before_it_is_built_on() {
    let cancelled = format!("{TWO} cancel");
    tell("9 tests", STAGED, &cancelled)
        .follows("asked to stop; 3 cancelled")
        .todo("stop proving; note stage ended 0 badly Success");
    tell("9 tests", STAGED, &format!("{cancelled} tests")).follows("");
    tell("9 tests", STAGED, &format!("{cancelled} go 3:retry go")).follows("validating 0");
    tell(
        "9 tests",
        STAGED,
        &format!("{cancelled} go 3:retry go tests go"),
    )
    .follows("stage started 1; 3 started");
    tell(
        "9 tests",
        STAGED,
        &format!("{cancelled} go 3:retry go trouble go"),
    )
    .follows("3 blocked; merging; failed because stage a failed");
}

#[test]
fn a_stage_that_stayed_without_a_proof_gets_another_chance() {
    let doubted = format!("{TWO} trouble go 3:retry go");
    tell("9 tests", STAGED, &doubted).follows("validating 0");
    tell("9 tests", STAGED, &format!("{doubted} tests go 3:same go"))
        .follows("stage ended 1 well Skipped; merging; completed");
}

#[test]
fn a_retry_while_the_tests_run_waits_for_them() {
    let failed = "go 1:built 1:woven 2:failed go 2:retry";
    let told = tell("9 tests waves retries=0", "1\n2\n3 < 1", failed);
    told.follows("2 retried").todo("prove");
    tell(
        "9 tests waves retries=0",
        "1\n2\n3 < 1",
        &format!("{failed} tests go"),
    )
    .follows("2 started");
    let again = format!("{failed} trouble go 2:built 2:woven go tests go");
    tell("9 tests waves retries=0", "1\n2\n3 < 1", &again)
        .follows("stage ended 0 well Success; stage started 1; 3 started");
}

#[test]
fn a_retry_in_a_wave_without_a_proof_has_the_tests_run_again() {
    let doubted = "go 1:built 1:woven 2:failed go trouble go 2:retry go 2:same go";
    tell("9 tests waves retries=0", "1\n2\n3 < 1", doubted).follows("validating 0");
    // At the end it is too late for that.
    let closing = "go 1:built 1:woven 2:failed go 2:retry";
    tell("9 tests retries=0", "1\n2", closing).follows("");
}

#[test]
fn what_is_woven_while_the_tests_run_has_them_begin_again() {
    let plan = "1\n2\n3\nstage a: 1\nstage b: 2";
    let story = "go 1:built 1:woven go 3:built";
    check("9 tests", plan, story, "weave 3");
    let told = tell("9 tests", plan, &format!("{story} 3:woven"));
    told.todo("note validating 0");
    assert_eq!(told.batch.proof, Proof::Unknown);
}

#[test]
fn a_task_at_work_that_loses_what_it_needs_does_not_get_in() {
    // 2 is in no stage, so it runs while stage a is proved.
    let plan = "1\n2 < 1\n3\n4\nstage a: 1 4\nstage b: 3";
    let story = "go 1:built 1:woven go 4:same go 1:break go";
    tell("9 tests", plan, story).stands("running: 1 invalid, 2 running, 3 blocked, 4 no_changes");
    for (ending, kept) in [("built", true), ("same", false)] {
        let told = tell("9 tests", plan, &format!("{story} 2:{ending}"));
        told.todo("block 2 because needs 1, which fails the tests");
        let told = tell("9 tests", plan, &format!("{story} 2:{ending} go"));
        told.stands("failed: 1 invalid, 2 blocked, 3 blocked, 4 no_changes");
        assert_eq!(told.batch.tasks[1].kept.is_some(), kept);
        let told = tell("9 tests", plan, &format!("{story} cancel 2:{ending} go"));
        told.stands("cancelled: 1 invalid, 2 blocked, 3 blocked, 4 no_changes");
    }
    // Also where what it needs is to be made anew.
    tell("9 tests", plan, &format!("{story} 1:retry go 2:built"))
        .todo("block 2 because needs 1, which is queued");
    tell("9 tests", plan, &format!("{story} 2:refused")).follows("");
}

#[test]
fn a_cancel_stops_the_tests() {
    tell("9 tests", "1\n2", &format!("{TWO} cancel"))
        .follows("asked to stop")
        .todo("stop proving; finish cancelled");
    tell("9 tests", "1\n2", &format!("{TWO} cancel 1,2:green proved")).follows("");
    tell("9 tests", "1\n2", &format!("{TWO} tests cancel")).todo("finish cancelled");
}

#[test]
fn what_nobody_asked_the_tests_changes_nothing() {
    for late in ["1:green", "1:fell", "proved", "trouble", "red-base"] {
        tell("9 tests", "1\n2", &format!("go 1:built 1:woven {late}")).follows("");
        tell("9 tests", "1\n2", &format!("{TWO} tests go {late}")).follows("");
    }
}

#[test]
fn a_verdict_on_somebody_who_is_out_says_nothing_about_the_others() {
    let story = "go 1:built 1:woven 2:built 2:woven 3:failed go 1:break go";
    let again = format!("{story} 3:retry go 3:built 3:woven go 1,2,3:green");
    let told = tell("9 tests retries=0", "1\n2\n3", &again);
    let Proof::Searching(searching) = &told.batch.proof else {
        panic!("the tests run");
    };
    let next = searching.search.next(1, &[]);
    assert!(matches!(next, BisectStep::Run(_)), "{next:?}");
}

#[test]
fn a_red_base_is_known_while_agents_work_and_stops_nobody() {
    let told = tell("9 tests", "1\n2", "go base:looks-red");
    told.follows("judged");
    assert!(!told.batch.is_base_red(), "once is not enough");
    let told = tell("9 tests", "1\n2", "go base:looks-red base:looks-red");
    assert!(told.batch.is_base_red());
    // What mends it is proved.
    let story = "go base:looks-red base:looks-red 1:built 1:woven go tests go";
    tell("9 tests", "1", story).follows("completed");
    // A search asks for itself, and later nobody wants to know.
    tell("9 tests", "1", "go 1:built 1:woven go base:looks-red").follows("");
    tell("9", "1", "go 1:same go base:looks-red").follows("");
}
