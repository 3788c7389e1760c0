//! How long what is left takes.

use pleach_domain::batch::{Barriers, BatchSettings, Design};
use pleach_domain::estimate::{batch_seconds_left, plan_seconds_left};
use pleach_domain::graph::OrderRules;

use crate::{graph, plan};

#[track_caller]
fn check(text: &str, left: &[Option<f64>], at_once: usize, expected: Option<f64>) {
    let plan = plan(text);
    let graph = graph(&plan);
    let all: Vec<usize> = (0..plan.tasks.len()).collect();
    let (rules, settings) = (OrderRules::default(), BatchSettings::default());
    let design = Design::new(&graph, &all, rules, Barriers::Stages, settings);
    assert_eq!(batch_seconds_left(&design, left, at_once), expected);
}

#[test]
fn no_batch_ends_before_its_longest_chain() {
    let chain = "1\n2 < 1\n3 < 2\n4";
    let two = Some(2.0);
    check(chain, &[two; 4], 4, Some(6.0));
    check(chain, &[two; 4], 1, Some(8.0));
    check(chain, &[None, Some(0.5), two, None], 4, Some(2.5));
    check(chain, &[None; 4], 4, None);
    check("1 p1\n2 p1\n3 p2", &[two; 3], 3, Some(4.0));
}

#[test]
fn tasks_that_are_to_run_wait_for_each_other_too() {
    let plan = plan("1\n2 < 1\n3");
    let seconds =
        |chosen: &[usize]| plan_seconds_left(&plan, chosen, OrderRules::default(), 3, |_| 2.0);
    assert_eq!(seconds(&[0, 1, 2]), Some(4.0));
    assert_eq!(seconds(&[1, 2]), Some(2.0));
    assert_eq!(seconds(&[]), None);
}
