//! Graphs: errors all at once, waves, critical paths and implied order.

use std::fmt::Write as _;

use pleach_domain::graph::{Graph, Order, OrderRules, Overlap, PredecessorKind, Strictness};
use pleach_domain::id::{PhaseNumber, TaskId};
use pleach_domain::phase::Threshold;
use pleach_domain::plan::{Plan, Stage};
use pleach_domain::task::IfUnknown;

use crate::{graph, ids, plan, sequence};

fn order(graph: &Graph<'_>) -> Order {
    Order::new(
        graph,
        &vec![true; graph.plan().tasks.len()],
        OrderRules::default(),
    )
}

#[track_caller]
fn check_waves(plan: &Plan, expected: &str) {
    let graph = graph(plan);
    let order = order(&graph);
    let waves: Vec<String> = order.waves.iter().map(|wave| ids(&graph, wave)).collect();
    assert_eq!(waves.join(" | "), expected);
}

#[test]
fn waves_follow_dependencies_and_leave_done_tasks_out() {
    check_waves(&plan("1\n2 < 1\n3 < 1\n4 < 2 3\n5"), "1 5 | 2 3 | 4");
    check_waves(&plan("1 done\n2 < 1\n3 < 2"), "2 | 3");
    check_waves(&plan("1 skipped\n2 < 1"), "2");
    check_waves(&plan(""), "");
}

#[test]
fn fifty_tasks_without_dependencies_are_one_wave() {
    let mut text = String::new();
    for number in 1..=50 {
        writeln!(text, "{number}").unwrap();
    }
    let plan = plan(&text);
    let order = order(&graph(&plan));
    assert_eq!(order.waves.len(), 1);
    assert_eq!(order.waves[0].len(), 50);
    assert_eq!(order.critical_path.len(), 1);
}

#[test]
fn a_chain_of_twenty_is_twenty_waves_and_its_own_critical_path() {
    let mut text = "1\n".to_owned();
    for number in 2..=20 {
        writeln!(text, "{number} < {}", number - 1).unwrap();
    }
    let plan = plan(&text);
    let order = order(&graph(&plan));
    assert_eq!(order.waves.len(), 20);
    assert_eq!(order.critical_path, (0..20).collect::<Vec<_>>());
}

#[test]
fn one_root_with_forty_nine_dependents_is_two_waves() {
    let mut text = "1\n".to_owned();
    for number in 2..=50 {
        writeln!(text, "{number} < 1").unwrap();
    }
    let plan = plan(&text);
    let order = order(&graph(&plan));
    let sizes: Vec<usize> = order.waves.iter().map(Vec::len).collect();
    assert_eq!(sizes, [1, 49]);
    assert_eq!(order.critical_path, [0, 1]);
}

#[test]
fn all_errors_are_reported_at_once_and_in_order() {
    let plan = plan("63 < 64\n64 < 66\n66 < 63\n70 < 70\n71 < 99\n72\n72\na < b\nb < a");
    let graph = graph(&plan);
    let errors: Vec<String> = graph
        .errors()
        .iter()
        .map(|error| {
            format!(
                "{}:{}: {}",
                error.line.unwrap(),
                error.code.as_str(),
                error.message
            )
        })
        .collect();
    assert_eq!(
        errors,
        [
            "1:cycle: dependency cycle: 63 → 64 → 66 → 63",
            "4:self_dependency: task 70 depends on itself",
            "5:unknown_dependency: task 71 depends on 99, which is not in the plan",
            "7:duplicate_id: task 72 is defined at line 6 and again at line 7",
            "8:cycle: dependency cycle: a → b → a",
        ]
    );
}

#[test]
fn an_unknown_dependency_is_a_warning_where_its_dialect_says_so() {
    let mut plan = plan("1 < 9");
    plan.tasks[0].needs[0].if_unknown = IfUnknown::TakenAsDone;
    let lenient = Graph::new(&plan, Strictness::AsWritten);
    assert_eq!((lenient.errors().len(), lenient.warnings().len()), (0, 1));
    let strict = Graph::new(&plan, Strictness::Strict);
    assert_eq!((strict.errors().len(), strict.warnings().len()), (1, 0));
}

#[test]
fn a_name_that_is_nearly_right_is_suggested() {
    let plan = plan("ENG-17\nENG-25 < ENG-71");
    let graph = graph(&plan);
    assert_eq!(
        graph.errors()[0].hint.as_deref(),
        Some("did you mean ENG-17?")
    );
}

#[test]
fn errors_beyond_the_chosen_tasks_are_kept_apart() {
    let plan = plan("1\n2 < 1\na < b\nb < a\n3 < a");
    let graph = graph(&plan);
    let (reached, beyond) = graph.errors_reaching(&[1]);
    assert_eq!((reached.len(), beyond.len()), (0, 1));
    let (reached, _) = graph.errors_reaching(&[4]);
    assert_eq!(reached.len(), 1);
}

#[test]
fn tasks_behind_a_cycle_are_in_no_wave() {
    check_waves(&plan("1\na < b\nb < a\nc < a"), "1");
}

#[test]
fn the_critical_path_is_weighed_by_effort() {
    let text = "1 ~60\n2 < 1 ~60\n3 < 2 ~60\n4 ~480\n5 < 4 ~30";
    let plan = plan(text);
    let graph = graph(&plan);
    assert_eq!(ids(&graph, &order(&graph).critical_path), "4 5");
}

#[test]
fn tasks_that_declare_one_file_follow_each_other_in_plan_order() {
    let plan = plan("1 @ a.rs\n2 @ b.rs\n3 @ a.rs b.rs\n4 @ a.rs");
    check_waves(&plan, "1 2 | 3 | 4");
    let graph = graph(&plan);
    let order = order(&graph);
    let reasons: Vec<String> = order
        .ordered
        .iter()
        .map(|pair| format!("{} {} {}", pair.first, pair.then, pair.because))
        .collect();
    assert_eq!(
        reasons,
        [
            "0 2 both declare a.rs",
            "1 2 both declare b.rs",
            "2 3 both declare a.rs"
        ]
    );
    let rules = OrderRules {
        overlap: Overlap::Allowed,
        ..OrderRules::default()
    };
    assert_eq!(Order::new(&graph, &[true; 4], rules).waves.len(), 1);
}

#[test]
fn a_collision_never_contradicts_a_dependency() {
    // 1 needs 3, so 3 comes first although it is later in the plan.
    let plan = plan("1 < 3 @ a.rs\n2 @ a.rs\n3 @ a.rs");
    check_waves(&plan, "3 | 1 | 2");
}

#[test]
fn the_later_of_two_colliding_tasks_waits_even_when_the_earlier_starts_late() {
    let plan = plan("1 < 9 @ a.rs\n2 @ a.rs\n9");
    check_waves(&plan, "9 | 1 | 2");
}

#[test]
fn a_note_puts_tasks_in_order_and_looks_through_done_ones() {
    let mut plan = plan("3.1\n3.2 done\n3.3\n3.4");
    sequence(&mut plan, "3.1-3.4", &["3.1", "3.2", "3.3", "3.4"]);
    check_waves(&plan, "3.1 | 3.3 | 3.4");
    let graph = graph(&plan);
    assert_eq!(
        order(&graph).ordered[0].because,
        "3.1-3.4 are sequential: one file"
    );
}

#[test]
fn a_note_against_a_dependency_is_a_cycle() {
    let mut plan = plan("1 < 2\n2");
    sequence(&mut plan, "1-2", &["1", "2"]);
    assert_eq!(graph(&plan).errors()[0].code.as_str(), "cycle");
}

#[test]
fn a_phase_waits_for_the_one_before_it() {
    check_waves(
        &plan("1.1 p1\n1.2 p1\n2.1 p2\n3.1 p3"),
        "1.1 1.2 | 2.1 | 3.1",
    );
}

#[test]
fn a_phase_that_is_open_waits_for_nothing() {
    let text = "1.1 p1 done\n1.2 p1 done\n1.3 p1 done\n1.4 p1 done\n1.5 p1\n2.1 p2";
    check_waves(&plan(text), "1.5 2.1");
}

#[test]
fn own_dependencies_take_the_place_of_the_phase() {
    check_waves(
        &plan("1.1 p1\n1.2 p1 < 1.1\n2.1 p2 < 1.1\n2.2 p2"),
        "1.1 | 1.2 2.1 | 2.2",
    );
}

#[test]
fn a_dependency_on_a_later_phase_makes_no_cycle() {
    let plan = plan("1.1 p1\n1.2 p1 < 3.1\n2.1 p2\n3.1 p3\n4.1 p4");
    assert!(graph(&plan).errors().is_empty());
    check_waves(&plan, "1.1 | 2.1 | 3.1 | 1.2 | 4.1");
}

#[test]
fn phases_order_nothing_at_threshold_zero() {
    let plan = plan("1.1 p1\n2.1 p2");
    let rules = OrderRules {
        threshold: Threshold::new(0.0).unwrap(),
        ..OrderRules::default()
    };
    assert_eq!(Order::new(&graph(&plan), &[true; 2], rules).waves.len(), 1);
}

fn stage(id: &str, tasks: &[&str], can_parallel: bool) -> Stage {
    Stage {
        id: id.to_owned(),
        tasks: tasks.iter().map(|id| TaskId::new(*id)).collect(),
        can_parallel,
        line: 1,
    }
}

#[test]
fn stages_follow_each_other_and_may_run_one_at_a_time() {
    let mut plan = plan("a\nb\nc\nd\ne");
    plan.stages = vec![
        stage("1", &["a", "b"], true),
        stage("2", &["d", "c"], false),
        stage("3", &["e"], true),
    ];
    check_waves(&plan, "a b | d | c | e");
}

#[test]
fn a_stage_against_a_dependency_a_stranger_and_a_double_are_errors() {
    let mut plan = plan("a < b\nb\nc\nd");
    plan.stages = vec![
        stage("1", &["a", "x"], true),
        stage("2", &["b", "d"], true),
        stage("3", &["d"], true),
    ];
    let graph = graph(&plan);
    let codes: Vec<&str> = graph
        .errors()
        .iter()
        .map(|error| error.code.as_str())
        .collect();
    assert!(
        codes.contains(&"cycle")
            && codes.contains(&"task_not_found")
            && codes.contains(&"bad_plan")
    );
    assert!(
        graph.warnings()[0]
            .message
            .starts_with("task c is in no batch")
    );
}

#[test]
fn tasks_that_share_a_file_across_a_closed_phase_are_in_order_already() {
    let plan = plan("1.1 p1 @ a\n1.2 p1 @ b\n2.1 p2 @ a\n2.2 p2 @ b");
    let graph = graph(&plan);
    assert_eq!(order(&graph).ordered, []);
    check_waves(&plan, "1.1 1.2 | 2.1 2.2");
}

/// What a task waits for in its whole plan: `needs 1 2 | after 3`.
#[track_caller]
fn check_before(plan: &Plan, task: usize, expected: &str) {
    let graph = graph(plan);
    let before = graph.predecessors(task);
    let bound = |wanted: PredecessorKind| {
        let bound = before.iter().filter(|(_, bond)| *bond == wanted);
        ids(&graph, &bound.map(|(task, _)| *task).collect::<Vec<_>>())
    };
    let (needs, after) = (bound(PredecessorKind::Needs), bound(PredecessorKind::After));
    assert_eq!(format!("needs {needs} | after {after}"), expected);
}

#[test]
fn what_a_task_waits_for_reaches_through_done_tasks_and_phases() {
    let chain = plan("1 done\n2 done < 1\n3 < 2\n4");
    check_before(&chain, 2, "needs 1 2 | after ");
    check_before(&chain, 3, "needs  | after ");
    let mut phased = plan("1 done\n2 done\n3 done < 1\n4\n5 < 3\n6");
    for (task, phase) in [1, 1, 2, 2, 3, 3].into_iter().enumerate() {
        phased.tasks[task].phase = Some(PhaseNumber(phase));
    }
    check_before(&phased, 3, "needs  | after 1 2");
    check_before(&phased, 4, "needs 1 3 | after ");
    check_before(&phased, 5, "needs  | after 1 2 3 4");
}

#[test]
fn what_a_task_waits_for_are_all_earlier_stages() {
    let mut staged = plan("1 done\n2\n3");
    let stage = |id: &str| Stage {
        id: id.into(),
        tasks: vec![TaskId::new(id)],
        can_parallel: true,
        line: 1,
    };
    staged.stages = ["1", "2", "3"].map(stage).to_vec();
    check_before(&staged, 2, "needs  | after 1 2");
}
