//! Every forge gets its pull request, and none gets two because an answer was lost.

use pleach_testkit::{Failure, ForgeFault, ForgeStep, ForgeStyle};

use super::{Harbour, SHELL};

#[track_caller]
fn check_lands_on(style: ForgeStyle) {
    let harbour = Harbour::new(style, "1, 2, 3 2", "validate = \"[ ! -e file-2 ]\"", SHELL);
    let story = harbour.run();
    story.check(1, "1:merged 2:invalid 3:blocked");
    assert_eq!(story.status(), "completed");
    harbour.check_landed(&story);
    let body = &harbour.forge.pull_requests()[0].body;
    for part in ["pleach/task-1/2", "pleach/task-1/3", "[ ! -e file-2 ]"] {
        assert!(body.contains(part), "{part} is missing from\n{body}");
    }
    let shown = harbour.pleach(&["status", "1", "--json"]);
    assert!(shown.out.contains("\"prUrl\": \"http"), "{}", shown.out);
}

#[test]
fn a_batch_that_completed_lands_as_one_pull_request_on_github() {
    check_lands_on(ForgeStyle::GitHub);
}

#[test]
fn a_batch_that_completed_lands_as_one_pull_request_on_gitlab() {
    check_lands_on(ForgeStyle::GitLab);
}

#[test]
fn a_batch_that_completed_lands_as_one_pull_request_on_gitea() {
    check_lands_on(ForgeStyle::Gitea);
}

/// What a forge refuses is told with what to do, and that helps.
#[track_caller]
fn check_refused(fault: ForgeFault, told: &str) {
    let harbour = Harbour::github("1", "", SHELL);
    harbour
        .forge
        .fail(ForgeStep::Create, Failure::Before(fault));
    let story = harbour.run();
    story.check(1, "1:merged");
    let not_landed = story.told("batch:not_landed")[0];
    let reason = not_landed["reason"].as_str().unwrap();
    assert!(reason.contains(told), "{reason}");
    let hint = not_landed["hint"].as_str().unwrap();
    assert!(hint.contains("`pleach land 1` tries again"), "{hint}");
    assert!(hint.contains("/compare/main...pleach/batch-1"), "{hint}");
    let later = harbour.story(&["land", "1"]);
    assert_eq!(later.code, 0, "{}", later.err);
    harbour.check_landed(&later);
}

#[test]
fn a_login_without_the_rights_is_told_what_to_do() {
    check_refused(ForgeFault::NoRights, "does not allow this login");
}

#[test]
fn a_login_that_asked_too_often_is_told_what_to_do() {
    check_refused(ForgeFault::RateLimited(3_600), "is rate limiting requests");
}

#[test]
fn a_login_that_the_forge_does_not_accept_is_told_what_to_do() {
    check_refused(ForgeFault::BadLogin, "did not accept the login");
}

/// Something fails once, and one pull request comes of it all the same.
#[track_caller]
fn check_outlasted(step: ForgeStep, failure: Failure) {
    let harbour = Harbour::github("1", "", SHELL);
    harbour.forge.fail(step, failure);
    let story = harbour.run();
    story.check(0, "1:merged");
    harbour.check_landed(&story);
}

#[test]
fn a_fetch_that_is_cut_off_is_tried_again() {
    check_outlasted(ForgeStep::Fetch, Failure::Before(ForgeFault::Cut));
}

#[test]
fn a_push_whose_answer_is_lost_is_not_pushed_twice() {
    check_outlasted(ForgeStep::Push, Failure::After(ForgeFault::Cut));
}

#[test]
fn a_pull_request_that_a_proxy_lost_is_opened_once() {
    check_outlasted(ForgeStep::Create, Failure::Before(ForgeFault::Status(502)));
}

#[test]
fn a_pull_request_whose_answer_is_lost_is_opened_once() {
    check_outlasted(ForgeStep::Create, Failure::After(ForgeFault::Cut));
}

#[test]
fn a_search_for_a_pull_request_that_is_cut_off_is_tried_again() {
    check_outlasted(ForgeStep::Find, Failure::Before(ForgeFault::Cut));
}
