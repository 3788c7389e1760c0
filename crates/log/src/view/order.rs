//! In which order the tasks of a batch run: waves, edges, stages, and the longest chain.
//!
//! Drawn from the design of the batch alone; how far it is, others tell.

use pleach_domain::batch::Design;
use serde::Serialize;
use utoipa::ToSchema;

use crate::task_ids::TaskIds;

/// The order of the tasks of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderView {
    /// Tasks whose predecessors are all in earlier waves.
    pub waves: Vec<Vec<String>>,
    /// The dependencies between tasks.
    pub edges: Vec<EdgeView>,
    /// The longest chain of tasks.
    pub critical_path: Vec<String>,
    /// Stages or waves that wait for each other, in order.
    pub stages: Vec<OrderedStage>,
}

/// What a task that waits for another makes of its failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EdgeKind {
    /// It cannot start then.
    Needs,
    /// It starts all the same.
    After,
}

/// A task that waits for another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct EdgeView {
    /// The task that runs first.
    pub from: String,
    /// The task that waits.
    pub to: String,
    /// `needs`, or `after` if the task starts even when the first one fails.
    pub kind: EdgeKind,
}

/// A stage or wave that is woven and proved before the next one starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderedStage {
    /// Its name in the plan.
    pub name: String,
    /// Whether its tasks may run at the same time.
    pub can_parallel: bool,
    /// Its tasks.
    pub tasks: Vec<String>,
}

impl OrderView {
    pub fn of(design: &Design, ids: &TaskIds) -> Self {
        let name = |position: usize| ids.id(&design.tasks[position].id);
        let kinds = design.tasks.iter().enumerate().flat_map(|(to, task)| {
            let needs = task.needs.iter().map(|from| (*from, EdgeKind::Needs));
            let after = task.after.iter().map(|from| (*from, EdgeKind::After));
            needs.chain(after).map(move |(from, kind)| (from, to, kind))
        });
        let edges = kinds.map(|(from, to, kind)| EdgeView {
            from: name(from),
            to: name(to),
            kind,
        });
        let waves = waves(design);
        let all = 0..design.tasks.len();
        let stages = design.stages.iter().enumerate().map(|(number, stage)| {
            let of_stage = |task: &usize| design.tasks[*task].stage == Some(number);
            OrderedStage {
                name: stage.name.clone(),
                can_parallel: stage.can_parallel,
                tasks: all.clone().filter(of_stage).map(name).collect(),
            }
        });
        Self {
            edges: edges.collect(),
            critical_path: longest_chain(design).into_iter().map(name).collect(),
            stages: stages.collect(),
            waves: waves
                .into_iter()
                .map(|wave| wave.into_iter().map(name).collect())
                .collect(),
        }
    }
}

fn before(design: &Design, task: usize) -> impl Iterator<Item = usize> + '_ {
    let task = &design.tasks[task];
    task.needs.iter().chain(&task.after).copied()
}

/// Tasks by the length of the longest way to them; a stage comes after all of the one before.
fn waves(design: &Design) -> Vec<Vec<usize>> {
    let count = design.tasks.len();
    let mut depth = vec![0_usize; count];
    // A design has no cycles: every round settles at least one more wave.
    for _ in 0..count {
        let mut moved = false;
        let mut floor = 0;
        for stage in 0..design.stages.len() {
            let of_stage = |task: &usize| design.tasks[*task].stage == Some(stage);
            let mut deepest = floor;
            for task in (0..count).filter(of_stage) {
                moved |= depth[task] < floor;
                depth[task] = depth[task].max(floor);
                deepest = deepest.max(depth[task] + 1);
            }
            floor = deepest;
        }
        for task in 0..count {
            let least = before(design, task).map(|from| depth[from] + 1).max();
            if let Some(least) = least.filter(|least| *least > depth[task]) {
                depth[task] = least;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let last = depth.iter().max().map_or(0, |deepest| deepest + 1);
    let mut waves = vec![Vec::new(); last];
    for (task, depth) in depth.into_iter().enumerate() {
        waves[depth].push(task);
    }
    waves.retain(|wave| !wave.is_empty());
    waves
}

/// From the task with most behind it, always on to the follower with most behind it.
fn longest_chain(design: &Design) -> Vec<usize> {
    let all = 0..design.tasks.len();
    let heaviest = |tasks: &mut dyn Iterator<Item = usize>| {
        // The first in plan order of those that weigh the same.
        tasks.max_by_key(|task| (design.tasks[*task].remaining, std::cmp::Reverse(*task)))
    };
    let mut chain = Vec::new();
    let mut next = heaviest(&mut all.clone());
    while let Some(task) = next {
        chain.push(task);
        let follows = |later: &usize| before(design, *later).any(|from| from == task);
        let mut followers = all.clone().filter(follows).filter(|at| !chain.contains(at));
        next = heaviest(&mut followers);
    }
    chain
}

#[cfg(test)]
mod tests {
    use pleach_domain::batch::{Barriers, BatchSettings};
    use pleach_domain::graph::{Graph, OrderRules, Strictness};

    use super::*;

    fn order(plan: &str) -> OrderView {
        let plan = pleach_formats::read(plan).plan;
        let graph = Graph::new(&plan, Strictness::AsWritten);
        let all: Vec<usize> = (0..plan.tasks.len()).collect();
        let settings = BatchSettings::default();
        let design = Design::new(
            &graph,
            &all,
            OrderRules::default(),
            Barriers::Stages,
            settings,
        );
        OrderView::of(&design, &TaskIds::default())
    }

    #[test]
    fn waves_follow_edges_and_the_longest_chain_is_told() {
        let text = r#"{"tasks":[{"id":"a","title":"A"},{"id":"b","title":"B","depends_on":["a"]},
            {"id":"c","title":"C"},{"id":"d","title":"D","depends_on":["b","c"]}]}"#;
        let order = order(text);
        assert_eq!(order.waves, [vec!["a", "c"], vec!["b"], vec!["d"]]);
        assert_eq!(order.critical_path, ["a", "b", "d"]);
        let told = |edge: &EdgeView| (edge.kind, format!("{} {}", edge.from, edge.to));
        let edges: Vec<_> = order.edges.iter().map(told).collect();
        let needs = ["a b", "b d", "c d"].map(|pair| (EdgeKind::Needs, pair.to_owned()));
        assert_eq!(edges, needs);
    }

    #[test]
    fn a_stage_comes_after_all_of_the_one_before() {
        let text = r#"{"batches":[{"batch_id":1,"task_ids":["a","b"],"can_parallel":true},
            {"batch_id":2,"task_ids":["c"],"can_parallel":false}],
            "tasks":[{"id":"a","title":"A"},{"id":"b","title":"B"},{"id":"c","title":"C"}]}"#;
        let order = order(text);
        assert_eq!(order.waves.last().unwrap(), &["c"]);
        let told = |stage: &OrderedStage| (stage.tasks.join(" "), stage.can_parallel);
        let stages: Vec<_> = order.stages.iter().map(told).collect();
        assert_eq!(stages, [("a b".to_owned(), true), ("c".to_owned(), false)]);
    }
}
