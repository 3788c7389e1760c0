//! `next`: what to do now.

use pleach_domain::next::{NextRules, RuleUse, next};
use pleach_domain::phase::Threshold;
use pleach_domain::plan::Plan;
use pleach_domain::task::TaskHold;

use crate::{graph, ids, plan, sequence};

#[track_caller]
fn check_with(plan: &Plan, limit: usize, rules: NextRules, expected: &str) {
    let graph = graph(plan);
    let offers: Vec<usize> = next(&graph, limit, rules)
        .iter()
        .map(|offer| offer.position)
        .collect();
    assert_eq!(ids(&graph, &offers), expected);
}

#[track_caller]
fn check(text: &str, limit: usize, expected: &str) {
    check_with(&plan(text), limit, NextRules::default(), expected);
}

#[test]
fn tasks_in_progress_come_first_and_alone() {
    check("1\n2 begun\n3 begun\n4 failed", 3, "2 3");
    check("1 begun\n2 begun\n3 begun", 2, "1 2");
}

#[test]
fn failed_tasks_come_all_even_beyond_the_limit() {
    check("1 failed\n2 failed\n3 failed\n4", 2, "1 2 3");
    check("1\n2 failed\n3", 3, "2 1 3");
}

#[test]
fn ready_tasks_fill_up_to_the_limit() {
    check("1\n2\n3\n4", 3, "1 2 3");
    check("1 done\n2 < 1\n3 < 4\n4", 3, "2 4");
}

#[test]
fn a_task_that_collides_with_one_listed_waits() {
    check("1 @ a.rs\n2 @ a.rs\n3 @ b.rs", 3, "1 3");
    check("1 failed @ a.rs\n2 @ a.rs\n3", 3, "1 3");
    let plan = plan("1 @ a.rs\n2 @ a.rs");
    let rules = NextRules {
        conflicts: RuleUse::Ignored,
        ..NextRules::default()
    };
    check_with(&plan, 3, rules, "1 2");
}

#[test]
fn dependencies_can_be_ignored() {
    let rules = NextRules {
        dependencies: RuleUse::Ignored,
        ..NextRules::default()
    };
    check_with(&plan("1 < 2\n2"), 3, rules, "1 2");
}

#[test]
fn a_closed_phase_is_not_offered() {
    check("1.1 p1\n2.1 p2", 3, "1.1");
    check("1.1 p1\n2.1 p2 < 1.1\n2.2 p2", 3, "1.1");
    check(
        "1.1 p1 done\n1.2 p1 done\n1.3 p1 done\n1.4 p1 done\n1.5 p1\n2.1 p2",
        3,
        "1.5 2.1",
    );
    let strict = NextRules {
        threshold: Threshold::new(1.0).unwrap(),
        ..NextRules::default()
    };
    let plan = plan("1.1 p1 done\n1.2 p1 done\n1.3 p1 done\n1.4 p1 done\n1.5 p1\n2.1 p2");
    check_with(&plan, 3, strict, "1.5");
}

#[test]
fn a_task_without_its_dependencies_follows_its_phase() {
    let rules = NextRules {
        dependencies: RuleUse::Ignored,
        ..NextRules::default()
    };
    check_with(
        &plan("1.1 p1\n2.1 p2 < 1.1\n1.2 p1 < 1.1"),
        5,
        rules,
        "1.1 1.2",
    );
    check_with(&plan("1.1 p1 done\n1.2 p1\n2.1 p2 < 1.1"), 5, rules, "1.2");
}

#[test]
fn tasks_in_no_phase_come_first_and_hold_up_the_others() {
    check("1.1 p1\n1.2 p1\nx\ny", 5, "x y");
    check("1.2 p1\nx done\ny done", 5, "1.2");
    check("1.1 p1 begun\nx begun", 5, "x 1.1");
    check("1.1 p1\na done\nb done\nc done\nd done\nx", 5, "x 1.1");
    check("1.1 p1 done\n1.2 p1\n1.3 p1\nx failed", 5, "x 1.2 1.3");
    check("1.1 p1\n2.1 p2\nx < 1.1", 5, "1.1");
}

#[test]
fn what_is_held_is_not_offered() {
    let mut plan = plan("1\n2");
    plan.tasks[0].hold = TaskHold::Blocked;
    check_with(&plan, 3, NextRules::default(), "2");
}

#[test]
fn a_sequence_is_offered_one_at_a_time() {
    let mut first_open = plan("3.1\n3.2\n3.3");
    sequence(&mut first_open, "3.1-3.3", &["3.1", "3.2", "3.3"]);
    check_with(&first_open, 3, NextRules::default(), "3.1");
    let mut middle_done = plan("3.1\n3.2 done\n3.3");
    sequence(&mut middle_done, "3.1-3.3", &["3.1", "3.2", "3.3"]);
    check_with(&middle_done, 3, NextRules::default(), "3.1");
}

#[test]
fn a_task_that_an_error_is_about_is_not_offered() {
    check("1 < 99\n2", 3, "2");
    check("1 < 1\n2", 3, "2");
    check("1\n1\n2", 3, "2");
}

#[test]
fn a_phase_that_waits_for_a_later_one_does_not_hold_it_up() {
    check("1.1 p1 < 2.1\n2.1 p2", 3, "2.1");
    check("1.1 p1 < 2.1\n1.2 p1\n2.1 p2", 3, "1.2");
}
