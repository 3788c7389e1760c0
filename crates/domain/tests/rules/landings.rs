//! Where the result goes, what people do about conflicts, and what is never taken back.

use pleach_domain::batch::{LandingResult, Proof};

use crate::story::tell;

const ONE: &str = "go 1:built 1:woven go";
const DONE: &str = "go 1:built 1:woven go tests go pushed landed go";

#[test]
fn what_completed_lands_by_itself_where_that_is_wanted() {
    tell("9 push", "1", ONE)
        .follows("merging; landing")
        .stands("landing: 1 merged")
        .todo("land");
    tell("9 push", "1", &format!("{ONE} pushed"))
        .follows("pushed")
        .todo("land");
    tell("9 push", "1", &format!("{ONE} pushed landed go")).follows("completed");
    tell("9 push", "1", &format!("{ONE} not-landed go")).follows("completed");
    tell("9 push tests", "1", &format!("{ONE} tests go")).follows("landing");
    tell("9 push", "1", "go 1:same go").follows("merging; completed");
    tell(
        "9 push stop retries=0",
        "1\n2",
        "go 1:built 1:woven 2:failed go",
    )
    .follows("given up; failed because task 2 failed, and stop_on_failure is set");
}

#[test]
fn what_is_not_proved_does_not_land_by_itself() {
    tell("9 push tests", "1", &format!("{ONE} trouble go")).follows("failed because why");
    tell("9 push tests", "1", &format!("{ONE} base:breaks go"))
        .follows("failed because the base is red");
}

#[test]
fn a_person_may_land_what_is_over_but_not_what_is_not_proved() {
    tell("9", "1", &format!("{ONE} land"))
        .follows("asked to land")
        .todo("note landing");
    tell("9", "1", &format!("{ONE} into go landed go")).follows("completed");
    let doubted = format!("{ONE} trouble go land go");
    tell("9 tests", "1", &doubted).follows("validating");
    tell("9 tests", "1", &format!("{doubted} tests go")).follows("landing");
    for doubt in ["trouble", "red-base"] {
        let told = tell("9 tests", "1", &format!("{doubted} {doubt} go"));
        told.follows("failed because why");
        assert_eq!(told.batch.landing_refused(), Some("why"));
    }
    tell("9 strict", "1", &format!("{doubted} all-red go")).follows("failed because why");
    let into = format!("{ONE} trouble go into go red-base go");
    tell("9 tests", "1", &into).follows("failed because why");
    // Whatever else kept it from completing.
    let failed = "go 1:built 1:woven 2:failed go land go pushed landed go";
    tell("9 stop retries=0", "1\n2", failed)
        .follows("failed because task 2 failed, and stop_on_failure is set");
    tell("9", "1", "go 1:built 1:woven land").follows("");
    tell("9 retries=0", "1", "go 1:failed go land").follows("");
}

#[test]
fn a_person_may_land_without_a_proof_and_no_tests_are_run_for_that() {
    for (settings, doubt) in [
        ("9 tests", "trouble"),
        ("9 tests", "red-base"),
        ("9 strict", "all-red"),
    ] {
        let asked = format!("{ONE} {doubt} go land-unproved go");
        tell(settings, "1", &asked).follows("landing").todo("land");
        let told = tell(settings, "1", &format!("{asked} pushed landed go"));
        told.follows("failed because why");
        assert!(told.batch.landing_refused().is_none() && !told.batch.is_done(0));
    }
    // Nobody asked the tests before.
    let cancelled = format!("{ONE} cancel go land-unproved go pushed landed go");
    tell("9 tests", "1", &cancelled).follows("failed because the woven result was not tested");
    // On a base that moved there is no proof, and none is wanted.
    let moved = format!("{ONE} trouble go land-unproved go moved");
    tell("9 tests", "1", &moved).todo("land");
    tell("9", "1", &format!("{ONE} land-unproved go landed go")).follows("completed");
}

#[test]
fn a_branch_that_went_with_a_cancel_is_not_landed() {
    let story = "go 1:built 1:woven rollback 2:stopped go";
    tell("9", "1\n2", &format!("{story} land")).follows("");
    let kept = "go 1:built 1:woven cancel 2:stopped go land";
    tell("9", "1\n2", kept).follows("asked to land");
    tell("9", "1\n2", &format!("{story} 2:retry go 2:same go land")).follows("asked to land");
}

#[test]
fn on_a_base_that_moved_it_is_proved_again() {
    let moved = format!("{ONE} tests go moved");
    tell("9 push tests", "1", &moved)
        .follows("rewoven")
        .todo("note validating");
    tell("9 push tests", "1", &format!("{moved} go tests go")).follows("landing");
    tell("9 push", "1", &format!("{ONE} moved")).todo("land");
    let twice = tell("9 push", "1", &format!("{ONE} moved moved"));
    assert_eq!(twice.batch.base_moves, 2);
    tell("9 push", "1", &format!("{ONE} pushed landed moved")).follows("");
}

#[test]
fn a_proof_on_one_base_is_none_on_another() {
    let moved = format!("{ONE} tests go moved");
    let told = tell("9 push tests", "1", &moved);
    assert!(!told.batch.is_done(0) && told.batch.lost_proof.is_some());
    let told = tell("9 push tests", "1", &format!("{moved} go tests"));
    assert!(told.batch.is_done(0) && told.batch.lost_proof.is_none());
    let told = tell("9 push tests", "1", &format!("{moved} go base:breaks go"));
    told.follows("failed because the base is red");
    assert!(!told.batch.is_done(0) && told.batch.tasks[0].was_done);
    // What is on the server was proved there.
    let told = tell("9 push tests", "1", &format!("{DONE} land go moved"));
    assert!(told.batch.is_done(0));
    // Where nothing is proved, nothing is lost.
    let told = tell("9 push", "1", &format!("{ONE} moved"));
    assert!(told.batch.is_done(0) && told.batch.lost_proof.is_none());
}

#[test]
fn what_does_not_merge_on_another_base_goes_with_what_needs_it() {
    let plan = "1\n2\n3 < 2";
    let story = "go 1:built 1:woven 2:built 2:woven go 3:built 3:woven go 2:moved";
    tell("9 push", plan, story)
        .follows("2 conflicted; 3 blocked; rewoven")
        .todo("land");
    tell("9 push fail", plan, story)
        .todo("finish failed because task 2 conflicted, and on_conflict is \"fail\"");
    tell("9 push", "1", &format!("{ONE} 1:moved"))
        .follows("1 conflicted; rewoven")
        .todo("finish failed because nothing was merged");
    // One that is not in cannot go out.
    let others = "go 1:built 1:woven 2:same go 2:moved 9:moved";
    tell("9 push", "1\n2", others).follows("rewoven");
}

const AGAIN: &str =
    "go 1:built 1:woven 2:failed go tests go pushed landed go 2:retry go 2:built 2:woven go";

#[test]
fn what_was_pushed_is_in_no_search() {
    let settings = "9 push tests retries=0";
    let told = tell(settings, "1\n2", AGAIN);
    told.follows("merging; validating").todo("prove");
    let Proof::Searching(searching) = &told.batch.proof else {
        panic!("the tests run");
    };
    assert_eq!(searching.strands, [1]);
    let told = tell(settings, "1\n2", &format!("{AGAIN} trouble"));
    assert!(told.batch.is_done(0) && !told.batch.is_done(1));
    // With what is on the server the tests fail, and nobody is to blame.
    tell(settings, "1\n2", &format!("{AGAIN} base:breaks")).follows("not proved BaseRed");
}

#[test]
fn what_was_pushed_stays_so_when_a_proof_leaves_others_out() {
    let told = tell(
        "9 push tests retries=0",
        "1\n2",
        &format!("{AGAIN} 2:break"),
    );
    told.follows("2 found invalid; rewoven; proved")
        .stands("validating: 1 merged, 2 invalid")
        .todo("note landing");
    assert!(told.batch.is_pushed(0), "the base is what it was");
}

#[test]
fn what_is_pushed_already_can_be_landed_again() {
    tell("9 push tests", "1", &format!("{DONE} land go"))
        .follows("landing")
        .todo("land");
    tell(
        "9 push tests",
        "1",
        &format!("{DONE} land go pushed landed go"),
    )
    .follows("completed");
}

#[test]
fn a_push_that_is_heard_of_late_has_what_was_woven_when_it_was_meant() {
    let failed = "go 1:built 1:woven 2:failed go pushing not-landed go";
    let late = format!("{failed} 2:retry go 2:built 2:woven go pushed");
    let told = tell("9 push retries=0", "1\n2", &late);
    told.follows("pushed");
    assert!(told.batch.is_pushed(0) && !told.batch.is_pushed(1));
    let at_once = tell("9 push", "1", &format!("{ONE} pushing pushed"));
    assert!(at_once.batch.is_pushed(0));
    assert_eq!(at_once.batch.pushing, None);
}

#[test]
fn a_proof_is_made_again_where_a_person_wants_that() {
    let asked = "go 1:built 1:woven go tests go land-again go";
    let told = tell("9 tests", "1", asked);
    told.follows("validating").todo("prove");
    assert!(!told.batch.is_done(0));
    let told = tell("9 tests", "1", &format!("{asked} tests go"));
    told.follows("landing");
    assert!(told.batch.is_done(0));
    tell("9 tests", "1", &format!("{asked} trouble go")).follows("failed because why");
}

#[test]
fn an_opened_batch_lands_anew() {
    let failed = "go 1:built 1:woven 2:failed go not-landed go 2:retry";
    let told = tell("9 push retries=0", "1\n2", failed);
    told.follows("reopened; 2 retried");
    assert_eq!(told.batch.landed, None);
    tell(
        "9 push retries=0",
        "1\n2",
        &format!("{failed} go 2:same go"),
    )
    .follows("merging; landing");
    // Nobody asks any more for what a person wanted landed before.
    let landed = "go 1:built 1:woven 2:failed go land go landed go 2:retry go 2:same go";
    tell("9 retries=0", "1\n2", landed).follows("merging; completed");
    let told = tell("9 push", "1", &format!("{ONE} pushed landed"));
    assert_eq!(told.batch.landed, Some(LandingResult::Landed));
}

const CONFLICT: &str = "go 1:built 1:woven 2:built 2:conflict go";

#[test]
fn a_resolved_task_is_woven_and_what_was_blocked_by_it_goes_on() {
    let plan = "1\n2\n3 < 2";
    tell("9", plan, &format!("{CONFLICT} 2:resolve"))
        .follows("reopened; 2 resolved; 3 retried")
        .stands("running: 1 merged, 2 built, 3 queued")
        .todo("weave 2");
    tell("9", plan, &format!("{CONFLICT} 2:resolve 2:woven go")).follows("3 started");
    tell("9", "1\n2\n4", &format!("{CONFLICT} 2:resolve")).follows("2 resolved");
    // What a person made is not made again by an agent.
    let fell_off = "go 1:built 1:woven 2:built 2:woven go 2:moved pushed landed go";
    tell(
        "9 push rerun",
        "1\n2",
        &format!("{fell_off} 2:resolve 2:conflict"),
    )
    .follows("2 conflicted");
}

#[test]
fn only_a_conflict_with_all_that_it_needs_is_resolved() {
    for story in ["1:resolve", "2:resolve 2:resolve", "9:resolve"] {
        tell("9", "1\n2", &format!("{CONFLICT} {story}")).follows("");
    }
    tell("9", "1\n2\n3", &format!("{CONFLICT} cancel 2:resolve")).follows("");
    // The tests run for the last time.
    tell("9 tests", "1\n2", &format!("{CONFLICT} 2:resolve")).follows("");
    // Its branch would bring back what is left out.
    let lost = "go 1:built 1:woven go 2:built 2:conflict 3:built 3:woven go 1:break go 2:resolve";
    tell("9 tests", "1\n2 < 1\n3", lost).follows("");
}

#[test]
fn the_stage_of_a_resolved_task_ends_once_more() {
    let plan = "1\n2\n3\nstage a: 1 2\nstage b: 3";
    let settings = "9 tests no-fallback";
    // Also while its tests run.
    tell(settings, plan, &format!("{CONFLICT} 2:resolve")).todo("weave 2");
    let resolved = format!("{CONFLICT} tests go 2:resolve");
    tell(settings, plan, &resolved)
        .follows("reopened; 2 resolved; 3 retried")
        .todo("weave 2");
    tell(settings, plan, &format!("{resolved} 2:woven go")).follows("validating 0");
    tell(settings, plan, &format!("{resolved} 2:woven go tests go"))
        .follows("stage ended 0 well Success; stage started 1; 3 started");
}

#[test]
fn landing_is_heard_of_only_while_it_goes_on() {
    for late in ["pushing", "pushed", "landed", "not-landed", "moved"] {
        tell("9", "1\n2", &format!("go 1:built 1:woven {late}")).follows("");
        tell("9", "1", &format!("{ONE} {late}")).follows("");
    }
    for late in ["not-landed", "moved"] {
        tell("9 push", "1", &format!("{ONE} not-landed {late}")).follows("");
    }
    // What was stopped may have got there all the same.
    tell("9 push", "1", &format!("{ONE} not-landed landed")).follows("landed");
}
