//! How long tasks take that run beside and after each other.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::batch::{Barriers, BatchSettings, Design};
use crate::graph::{Graph, OrderRules, Strictness};
use crate::plan::Plan;
use crate::task::Task;

/// How long tasks of a plan (positions, ascending) take in a batch of their own, given how long each of them does.
pub fn plan_seconds_left(
    plan: &Plan,
    chosen: &[usize],
    rules: OrderRules,
    at_once: usize,
    took: impl Fn(&Task) -> f64,
) -> Option<f64> {
    let graph = Graph::new(plan, Strictness::AsWritten);
    let settings = BatchSettings::default();
    let design = Design::new(&graph, chosen, rules, Barriers::Stages, settings);
    let left = chosen.iter().map(|at| Some(took(&plan.tasks[*at])));
    batch_seconds_left(&design, &left.collect::<Vec<_>>(), at_once)
}

/// How long everything takes, given what is left of each task and how many run at once; none for no task.
#[expect(clippy::cast_precision_loss, reason = "no plan has 2^52 tasks")]
fn seconds_left(tasks: impl IntoIterator<Item = f64>, at_once: usize) -> Option<f64> {
    let mut longest: f64 = 0.0;
    let mut sum = 0.0;
    let mut count: usize = 0;
    for left in tasks {
        let left = left.max(0.0);
        longest = longest.max(left);
        sum += left;
        count += 1;
    }
    let slots = at_once.min(count).max(1);
    (count > 0).then(|| longest.max(sum / slots as f64))
}

/// The same for a batch, given what is left of each task that is not over: stages and phases follow each other, and within
/// one nothing is faster than its longest chain.
pub fn batch_seconds_left(design: &Design, left: &[Option<f64>], at_once: usize) -> Option<f64> {
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (position, task) in design.tasks.iter().enumerate() {
        if left[position].is_some() {
            let phase = task.phase.filter(|_| task.follows_phase);
            groups
                .entry((task.stage, phase))
                .or_default()
                .push(position);
        }
    }
    let each = groups.values().map(|group| {
        let mut chains = HashMap::new();
        let members: HashSet<usize> = group.iter().copied().collect();
        let chain = |position: &usize| chain(design, left, &members, &mut chains, *position);
        let longest = group.iter().map(chain).fold(0.0, f64::max);
        let alone = group.iter().filter_map(|position| left[*position]);
        seconds_left(alone, at_once).map_or(longest, |spread| spread.max(longest))
    });
    (!groups.is_empty()).then(|| each.sum())
}

/// How long it takes until a task is over, with what it waits for among the members.
fn chain(
    design: &Design,
    left: &[Option<f64>],
    members: &HashSet<usize>,
    known: &mut HashMap<usize, f64>,
    position: usize,
) -> f64 {
    if let Some(known) = known.get(&position) {
        return *known;
    }
    let task = &design.tasks[position];
    let mut before = 0.0_f64;
    for earlier in task.needs.iter().chain(&task.after) {
        if members.contains(earlier) {
            before = before.max(chain(design, left, members, known, *earlier));
        }
    }
    let total = before + left[position].unwrap_or(0.0).max(0.0);
    known.insert(position, total);
    total
}
