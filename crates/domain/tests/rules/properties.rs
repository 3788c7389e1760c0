//! What must hold for every random plan and every random ending.

use pleach_domain::graph::{Order, OrderRules};
use pleach_domain::id::PhaseNumber;
use pleach_domain::next::{NextRules, OfferReason, next};
use pleach_domain::plan::Plan;
use pleach_domain::select::Selection;
use pleach_domain::task::{Dependency, IfUnknown, Task, TaskStatus};
use proptest::prelude::*;

use crate::{graph, sequence};

#[derive(Debug, Clone)]
struct Draft {
    needs: Vec<prop::sample::Index>,
    phase: Option<u32>,
    file: Option<u8>,
    status: TaskStatus,
}

fn draft() -> impl Strategy<Value = Draft> {
    let status = prop_oneof![
        6 => Just(TaskStatus::Pending),
        1 => Just(TaskStatus::Completed),
        1 => Just(TaskStatus::Skipped),
        1 => Just(TaskStatus::Failed),
    ];
    (
        proptest::collection::vec(any::<prop::sample::Index>(), 0..3),
        proptest::option::of(1..4_u32),
        proptest::option::of(0..4_u8),
        status,
    )
        .prop_map(|(needs, phase, file, status)| Draft {
            needs,
            phase,
            file,
            status,
        })
}

/// A random plan without cycles: a task needs only tasks before it in a hidden order.
fn acyclic_plan() -> impl Strategy<Value = Plan> {
    let drafts = proptest::collection::vec(draft(), 1..30);
    (drafts, any::<u64>(), any::<bool>()).prop_map(|(drafts, shuffle, with_note)| {
        let count = drafts.len();
        // The hidden order differs from plan order, so that dependencies point both ways.
        let step = 1 + usize::try_from(shuffle % 7).unwrap();
        let mut hidden: Vec<usize> = (0..count).collect();
        hidden.sort_by_key(|at| (at * step + at / 3) % count.max(1));
        let mut plan = Plan::default();
        for (number, draft) in drafts.iter().enumerate() {
            let mut task = Task::new(format!("{number}"), "t", 1);
            task.phase = draft.phase.map(PhaseNumber);
            task.status = draft.status;
            task.files = draft
                .file
                .iter()
                .map(|file| format!("f{file}.rs"))
                .collect();
            plan.tasks.push(task);
        }
        for (place, at) in hidden.iter().enumerate().skip(1) {
            for need in &drafts[*at].needs {
                let on = plan.tasks[hidden[need.index(place)]].id.clone();
                plan.tasks[*at].needs.push(Dependency {
                    on,
                    line: 1,
                    if_unknown: IfUnknown::Error,
                });
            }
        }
        if with_note && count > 2 {
            let first = plan.tasks[hidden[0]].id.to_string();
            let last = plan.tasks[hidden[count - 1]].id.to_string();
            sequence(&mut plan, "note", &[&first, &last]);
        }
        plan
    })
}

/// How many cases a property is tried on; `cargo xtask fuzz` asks for many more.
fn cases(usual: u32) -> u32 {
    let asked = std::env::var("PLEACH_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(1_000)))]

    #[test]
    fn waves_respect_every_edge(plan in acyclic_plan()) {
        let graph = graph(&plan);
        prop_assert!(graph.errors().is_empty());
        let order = Order::new(&graph, &vec![true; plan.tasks.len()], OrderRules::default());
        for (position, task) in plan.tasks.iter().enumerate() {
            prop_assert_eq!(order.wave_of[position].is_none(), task.status.is_settled());
            for before in graph.open_needs(position).chain(order.waits_for(position)) {
                if !task.status.is_settled() {
                    prop_assert!(order.wave_of[before] < order.wave_of[position]);
                }
            }
        }
        // Whatever declares the same file is never in the same wave.
        for wave in &order.waves {
            let mut seen = std::collections::HashSet::new();
            for file in wave.iter().flat_map(|at| &plan.tasks[*at].files) {
                prop_assert!(seen.insert(file), "{} twice in a wave", file);
            }
        }
        let listed: usize = order.waves.iter().map(Vec::len).sum();
        prop_assert_eq!(listed, plan.tasks.iter().filter(|task| !task.status.is_settled()).count());
    }

    #[test]
    fn next_never_offers_a_task_whose_dependency_is_open(plan in acyclic_plan(), limit in 1..9_usize) {
        let graph = graph(&plan);
        let offers = next(&graph, limit, NextRules::default());
        for offer in &offers {
            if offer.reason == OfferReason::Ready {
                prop_assert_eq!(graph.open_needs(offer.position).count(), 0);
            }
        }
        let failed = offers.iter().filter(|offer| offer.reason == OfferReason::Failed).count();
        prop_assert!(offers.len() <= limit.max(failed));
    }

    #[test]
    fn selections_round_trip(words in proptest::collection::vec(word(), 1..8)) {
        let text = words.join(", ");
        let selection = Selection::parse(&text, |_| false).unwrap();
        prop_assert_eq!(selection.terms().len(), words.len());
        let again = Selection::parse(&selection.to_string(), |_| false).unwrap();
        prop_assert_eq!(again, selection);
    }

    #[test]
    fn any_text_is_a_selection_or_an_error_with_a_place(text in any::<String>()) {
        if let Err(error) = Selection::parse(&text, |_| false) {
            prop_assert!(error.pointer().contains('^'));
        }
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        (1..999_u32).prop_map(|number| number.to_string()),
        (1..9_u32, 1..9_u32).prop_map(|(phase, number)| format!("{phase}.{number}")),
        (1..99_u32, 0..99_u32).prop_map(|(first, more)| format!("{first}-{}", first + more)),
        (1..9_u32).prop_map(|number| format!("ENG-{number}")),
        (1..9_u32).prop_map(|number| format!("phase:{number}")),
        (1..9_u32).prop_map(|number| format!("next:{number}")),
        "[a-z]{1,6}".prop_map(|label| format!("label:{label}")),
        Just("all".to_owned()),
        Just("failed".to_owned()),
    ]
}
