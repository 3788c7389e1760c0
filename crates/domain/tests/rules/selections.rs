//! The selection language.

use pleach_domain::next::NextRules;
use pleach_domain::plan::Plan;
use pleach_domain::select::{ChosenTasks, Selection, closed_phases, resolve};
use pleach_domain::task::{TaskHold, TaskStatus};

use crate::{graph, ids, plan};

fn choose(plan: &Plan, text: &str) -> ChosenTasks {
    let graph = graph(plan);
    let selection = Selection::parse(text, |id| graph.index().find(id).is_some()).unwrap();
    resolve(&selection, &graph, NextRules::default())
}

#[track_caller]
fn check(text: &str, selection: &str, expected: &str) {
    let plan = plan(text);
    assert_eq!(
        ids(&graph(&plan), &choose(&plan, selection).tasks),
        expected
    );
}

const PLAN: &str = "63\n64 done\n65\n66 failed\n67\n88 begun\n1.1 p1\n1.2 p1\nENG-7\n#12";

#[test]
fn every_way_of_choosing_works() {
    check(PLAN, "63", "63");
    check(PLAN, "63,64,65", "63 65");
    check(PLAN, "65-67", "65 66 67");
    check(PLAN, "63, 65-67, 88", "63 65 66 67 88");
    check(PLAN, "1.1 1.2", "1.1 1.2");
    check(PLAN, "1.1-1.2", "1.1 1.2");
    check(PLAN, "phase:1", "1.1 1.2");
    check(PLAN, "p:1", "1.1 1.2");
    check(PLAN, "all", "63 65 67 88 1.1 1.2 ENG-7 #12");
    check(PLAN, "failed", "66");
    check(PLAN, "ENG-7", "ENG-7");
    check(PLAN, "12", "#12");
    check(PLAN, "11-13", "#12");
    check("1\n2\n3", "next:2", "1 2");
    check("1\n2", "2,1,2", "1 2");
}

#[test]
fn a_label_chooses_its_open_tasks() {
    let mut plan = plan("1\n2 done\n3");
    for task in &mut plan.tasks {
        task.labels.push("backend".to_owned());
    }
    assert_eq!(choose(&plan, "label:backend").tasks, [0, 2]);
    assert_eq!(
        choose(&plan, "label:none").errors[0].message,
        "label none has no tasks"
    );
}

#[test]
fn a_word_that_is_an_id_is_never_a_range() {
    check("1\n2\n3\n1-3", "1-3", "1-3");
}

#[test]
fn what_is_passed_over_is_said() {
    let plan = plan(PLAN);
    let notes = |selection| -> Vec<String> {
        let choice = choose(&plan, selection);
        choice
            .notes
            .iter()
            .map(|note| note.message.clone())
            .collect()
    };
    assert_eq!(notes("64"), ["task 64 is already completed"]);
    assert_eq!(
        notes("64-69"),
        [
            "the range includes tasks that do not exist: 68, 69",
            "task 64 is already completed"
        ]
    );
    assert_eq!(
        notes("88"),
        ["task 88 is marked in progress; treating it as pending"]
    );
    assert_eq!(notes("63-64"), ["task 64 is already completed"]);
}

#[test]
fn what_does_not_exist_is_an_error() {
    let plan = plan(PLAN);
    let error = |selection| {
        let errors = choose(&plan, selection).errors;
        assert_eq!(errors.len(), 1, "{selection}");
        let hint = errors[0].hint.clone().unwrap_or_default();
        (errors[0].message.clone(), hint)
    };
    let listed = "`pleach plan` lists the tasks";
    assert_eq!(
        error("63 650"),
        ("task 650 not found".into(), listed.into())
    );
    assert_eq!(
        error("ENG-8"),
        ("task ENG-8 not found".into(), "did you mean ENG-7?".into())
    );
    assert_eq!(error("phase:9").0, "phase 9 has no tasks");
    assert_eq!(
        error("90-91").0,
        "the range includes tasks that do not exist: 90, 91"
    );
}

#[test]
fn what_is_done_already_is_no_error() {
    let plan = plan("1 p1 done\n2 p1 skipped");
    for (selection, note) in [
        ("all", "all 2 tasks of the plan are done"),
        ("phase:1", "all 2 tasks of phase 1 are done"),
        ("next:3", "all 2 tasks of the plan are done"),
        ("failed", "there are no failed tasks"),
        ("1", "task 1 is already completed"),
    ] {
        let choice = choose(&plan, selection);
        assert_eq!(choice.errors, []);
        assert_eq!(choice.notes[0].message, note);
        assert_eq!(choice.notes[0].code.as_str(), "already_complete");
    }
}

#[test]
fn what_is_held_is_started_by_its_id_alone() {
    let mut plan = plan("1 p1\n2 p1\n3 p1");
    plan.tasks[1].hold = TaskHold::Blocked;
    plan.tasks[2].hold = TaskHold::InLiveBatch;
    for selection in ["all", "phase:1", "1-3", "next:3"] {
        assert_eq!(choose(&plan, selection).tasks, [0], "{selection}");
    }
    assert_eq!(choose(&plan, "2").tasks, [1]);
    plan.tasks[0].status = TaskStatus::Completed;
    let choice = choose(&plan, "all");
    assert_eq!(
        choice.errors[0].message,
        "no task of the plan can start now; 2 are open"
    );
    assert_eq!(choice.notes.len(), 2);
}

#[test]
fn a_sentence_is_no_selection() {
    check_refusal(
        "fix all failed tests",
        "`fix all failed tests` is not a selection",
        "^^^",
    );
    check_refusal(
        "1.1 and more",
        "`1.1 and more` is not a selection",
        "    ^^^",
    );
    check_refusal(
        "1.1 all",
        "`all` must stand alone or between commas",
        "    ^^^",
    );
    check_refusal(
        "failed 2",
        "`failed` must stand alone or between commas",
        "^^^^^^",
    );
    check(PLAN, "1.1, failed", "66 1.1");
    assert!(Selection::parse("a b", |id| matches!(id, "a" | "b")).is_ok());
}

#[track_caller]
fn check_refusal(selection: &str, message: &str, carets: &str) {
    let error = Selection::parse(selection, |_| false).unwrap_err();
    assert_eq!(error.message, message);
    assert_eq!(error.pointer(), format!("{selection}\n{carets}"));
    assert!(!error.hint.is_empty());
}

#[test]
fn wrong_syntax_is_shown_with_a_caret() {
    check_refusal("67-65", "the range 67-65 runs backwards", "^^^^^");
    check_refusal(
        "63, 67-65 88",
        "the range 67-65 runs backwards",
        "    ^^^^^",
    );
    check_refusal("a-", "the range a- has no end", "^^");
    check_refusal("-5", "the range -5 has no start", "^^");
    check_refusal("", "the selection is empty", "^");
    check_refusal("63,,64", "nothing between the commas", "   ^");
    check_refusal("1.1-2.3", "1.1 and 2.3 do not form a range", "^^^^^^^");
    check_refusal("phase:x", "\"x\" is not a phase number", "^^^^^^^");
    check_refusal("next:0", "\"0\" is not a number of tasks", "^^^^^^");
    check_refusal("label:", "the label has no name", "^^^^^^");
    check_refusal("7, foo:1", "unknown selector foo:", "   ^^^^^");
}

#[test]
fn missing_dependencies_are_named_and_can_be_added() {
    let plan = plan("1\n2 < 1\n3 < 2\n4 done\n5 < 4");
    let graph = graph(&plan);
    let missing = graph.missing_needs(&[2, 4]);
    assert_eq!(missing.len(), 1);
    assert_eq!(
        missing[0].message,
        "task 3 needs 2, which is not done and not selected"
    );
    assert_eq!(
        missing[0].hint.as_deref(),
        Some("pass --with-deps to select them too")
    );
    assert_eq!(graph.with_needs(&[2, 4]), [0, 1, 2, 4]);
}

#[test]
fn a_phase_that_is_not_open_is_told() {
    let plan = plan("1.1 p1\n2.1 p2\n2.2 p2 < 1.1");
    let graph = graph(&plan);
    let threshold = pleach_domain::phase::Threshold::default();
    let errors = |chosen: &[usize]| closed_phases(&graph, chosen, threshold);
    assert_eq!(
        errors(&[1])[0].message,
        "phase 2 is not open: phase 1 has only 0 of 1 tasks done, below 80 %"
    );
    assert_eq!(
        errors(&[1])[0].hint.as_deref(),
        Some("also select phase:1, or pass --phase-threshold 0")
    );
    assert_eq!(errors(&[0, 1]), []);
    assert_eq!(errors(&[2]), []);
    let none = pleach_domain::phase::Threshold::new(0.0).unwrap();
    assert_eq!(closed_phases(&graph, &[1], none), []);
}
