//! Makes one plan of several, so that one batch can hold tasks of each.
//!
//! Takes of each plan only what its tasks have to do with. The first plan keeps its ids; a task of a later one whose id is
//! taken gets the name of its plan in front.

use std::collections::{BTreeSet, HashMap, HashSet};

use pleach_domain::graph::{Graph, PredecessorKind, Strictness};
use pleach_domain::id::TaskId;
use pleach_domain::plan::Plan;

use super::{JoinedPlan, PlanOrigin, PlanToRun};

impl PlanToRun {
    /// One plan of at least one, with the ids of the chosen tasks of each; or the origins of those that cannot be joined, because
    /// more than one has chosen tasks in phases or stages.
    pub(crate) fn join(
        mut plans: Vec<(Self, Vec<TaskId>)>,
    ) -> Result<(Self, Vec<TaskId>), Vec<PlanOrigin>> {
        if plans.len() > 1 {
            let mut in_order = Vec::new();
            for (plan, chosen) in &mut plans {
                if plan.narrow(chosen) == PhaseNarrowing::HasPhasesOrStages {
                    in_order.push(plan.origin.clone());
                }
            }
            if in_order.len() > 1 {
                return Err(in_order);
            }
        }
        let mut plans = plans.into_iter();
        let (mut all, mut tasks) = plans.next().expect("tasks are of some plan");
        for (plan, chosen) in plans {
            let names = all.append(plan);
            tasks.extend(chosen.iter().map(|id| names.name_of(id)));
        }
        Ok((all, tasks))
    }

    /// Leaves out what the chosen tasks have nothing to do with; where phases or stages order them, that is nothing.
    fn narrow(&mut self, chosen: &[TaskId]) -> PhaseNarrowing {
        let plan = &mut self.document.plan;
        let kept = with_needs(plan, chosen);
        let mut members = plan.tasks.iter().filter(|task| kept.contains(&task.id));
        let mut staged = plan.stages.iter().flat_map(|stage| &stage.tasks);
        if members.any(|task| task.phase.is_some()) || staged.any(|id| kept.contains(id)) {
            return PhaseNarrowing::HasPhasesOrStages;
        }
        let mut places = plan.tasks.iter().map(|task| kept.contains(&task.id));
        self.document
            .places
            .retain(|_| places.next().unwrap_or(false));
        plan.tasks.retain(|task| kept.contains(&task.id));
        plan.phases.clear();
        plan.stages.clear();
        for sequence in &mut plan.sequences {
            sequence.tasks.retain(|id| kept.contains(id));
        }
        PhaseNarrowing::HasNone
    }

    /// Puts the tasks of another plan behind those that are here; says what they are called here.
    fn append(&mut self, mut other: Self) -> RenamedIds {
        let (document, plan) = (&mut self.document, &mut other.document.plan);
        let keys = plan.tasks.iter().map(|task| task.id.clone()).collect();
        let names = RenamedIds::rename_taken(plan, &mut document.plan, &prefix(&other.origin));
        for id in mentions(plan) {
            *id = names.name_of(id);
        }
        self.joined.push(JoinedPlan {
            origin: other.origin,
            text: other.text,
            first: document.plan.tasks.len(),
            keys,
        });
        document.places.append(&mut other.document.places);
        let all = &mut document.plan;
        all.tasks.append(&mut plan.tasks);
        all.phases.append(&mut plan.phases);
        all.sequences.append(&mut plan.sequences);
        all.stages.append(&mut plan.stages);
        all.errors.append(&mut plan.errors);
        all.warnings.append(&mut plan.warnings);
        names
    }
}

/// What the chosen tasks of a plan are ordered by, besides dependencies and notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PhaseNarrowing {
    HasPhasesOrStages,
    HasNone,
}

/// The chosen tasks with everything that they need, done or not.
fn with_needs(plan: &Plan, chosen: &[TaskId]) -> HashSet<TaskId> {
    let graph = Graph::new(plan, Strictness::AsWritten);
    let mut kept = HashSet::new();
    for at in chosen
        .iter()
        .filter_map(|id| graph.index().find(id.as_str()))
    {
        let before = graph.predecessors(at).into_iter();
        let needs = before.filter(|(_, bond)| *bond == PredecessorKind::Needs);
        let all = needs.map(|(need, _)| need).chain([at]);
        kept.extend(all.map(|at| graph.task(at).id.clone()));
    }
    kept
}

fn mentions(plan: &mut Plan) -> impl Iterator<Item = &mut TaskId> {
    let tasks = plan.tasks.iter_mut().flat_map(|task| {
        let needs = task.needs.iter_mut().map(|need| &mut need.on);
        std::iter::once(&mut task.id).chain(needs)
    });
    let sequences = plan
        .sequences
        .iter_mut()
        .map(|sequence| &mut sequence.tasks);
    let stages = plan.stages.iter_mut().map(|stage| &mut stage.tasks);
    let problems = plan.errors.iter_mut().chain(&mut plan.warnings);
    let problems = problems.map(|problem| &mut problem.tasks);
    tasks.chain(sequences.chain(stages).chain(problems).flatten())
}

/// `#12` and `12` name the same task.
fn bare(id: &TaskId) -> &str {
    id.as_str().strip_prefix('#').unwrap_or(id.as_str())
}

/// What stands in front of an id of a plan that is taken.
fn prefix(origin: &PlanOrigin) -> String {
    let stem = origin.path().and_then(std::path::Path::file_stem);
    let name = stem.map_or(PlanOrigin::BOARD.into(), |stem| stem.to_string_lossy());
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    name.chars().map(plain).collect()
}

/// The new names of ids that were taken, without `#`.
struct RenamedIds(HashMap<String, TaskId>);

impl RenamedIds {
    /// Whatever both plans mention is taken, whether it is a task or not: no dependency finds a task of another plan.
    fn rename_taken(plan: &mut Plan, before: &mut Plan, prefix: &str) -> Self {
        let known = |plan: &mut Plan| -> BTreeSet<String> {
            mentions(plan).map(|id| bare(id).to_owned()).collect()
        };
        let (taken, own) = (known(before), known(plan));
        let mut names = HashMap::new();
        let mut used = &taken | &own;
        for id in own.intersection(&taken) {
            let first = std::iter::once(format!("{prefix}-{id}"));
            let mut free = first.chain((2..).map(|more| format!("{prefix}-{id}-{more}")));
            if let Some(name) = free.find(|name| used.insert(name.clone())) {
                names.insert(id.clone(), TaskId::new(name));
            }
        }
        Self(names)
    }

    fn name_of(&self, id: &TaskId) -> TaskId {
        self.0.get(bare(id)).unwrap_or(id).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(path: &str, text: &str) -> PlanToRun {
        let origin = match path {
            PlanOrigin::BOARD => PlanOrigin::Board,
            path => PlanOrigin::File(path.into()),
        };
        PlanToRun::new(origin, text.to_owned(), pleach_formats::read(text))
    }

    /// Joins plans, each with the ids that were chosen of it.
    fn join(plans: &[(&str, &str, &str)]) -> Result<(PlanToRun, Vec<TaskId>), Vec<PlanOrigin>> {
        let plans = plans.iter().map(|(path, text, chosen)| {
            let chosen = chosen.split(' ').map(TaskId::new).collect();
            (plan(path, text), chosen)
        });
        PlanToRun::join(plans.collect())
    }

    /// `board-2<1`: the tasks, each with what it says it needs.
    #[track_caller]
    fn check(plans: &[(&str, &str, &str)], tasks: &str, chosen: &str) {
        let (all, ids) = join(plans).unwrap();
        let written = all.document.plan.tasks.iter().map(|task| {
            let needs = task.needs.iter().map(|need| format!("<{}", need.on));
            format!("{}{}", task.id, needs.collect::<String>())
        });
        assert_eq!(written.collect::<Vec<_>>().join(" "), tasks);
        let ids: Vec<&str> = ids.iter().map(TaskId::as_str).collect();
        assert_eq!(ids.join(" "), chosen);
        assert_eq!(all.document.places.len(), all.document.plan.tasks.len());
    }

    #[test]
    fn ids_that_are_taken_get_the_name_of_their_plan() {
        let file = ("/p/TODO.md", "- [ ] 1. A\n- [ ] 2. B (depends: 1)\n", "2");
        let board = "- [ ] 1. C\n- [ ] 2. D\n- [ ] 3. E (depends: 1)\n";
        let tasks = "1 2<1 board-1 3<board-1";
        check(&[file, ("board", board, "3")], tasks, "2 3");
        let alone = ("/p/TODO.md", "- [ ] 1. A\n- [ ] 2. B\n", "1");
        check(&[alone, ("board", board, "2")], "1 2", "1 2");
        let named = ("/p/a.md", "- [ ] 1. A\n- [ ] MORE-1 B\n", "1 MORE-1");
        let more = ("/p/MORE.md", "- [ ] 1. C\n", "1");
        let tasks = "1 MORE-1 MORE-1-2";
        check(&[named, more], tasks, tasks);
    }

    #[test]
    fn plans_of_one_name_are_told_apart() {
        let texts = ["/p/PLAN.md", "/p/a/PLAN.md", "/p/b/PLAN.md"];
        let plans = texts.map(|path| (path, "- [ ] 1. A\n", "1"));
        check(&plans, "1 PLAN-1 PLAN-1-2", "1 PLAN-1 PLAN-1-2");
    }

    #[test]
    fn no_dependency_finds_a_task_of_another_plan() {
        // What is not in the plan any more was archived.
        let archived = "### 7. A\n**Dependencies**: 3, 4\n";
        let board = "- [ ] #3 C\n- [ ] #5 D (depends: 3)\n";
        let tasks = "7<3<4 board-3 #5<board-3";
        let plans = [("/p/TODO.md", archived, "7"), ("board", board, "#5")];
        check(&plans, tasks, "7 #5");
        let (all, _) = join(&plans).unwrap();
        let graph = Graph::new(&all.document.plan, Strictness::AsWritten);
        assert_eq!(graph.needs(0).count(), 0);
        assert_eq!(graph.needs(2).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn every_task_knows_where_it_lives() {
        let file = ("/p/TODO.md", "- [ ] 1. A\n", "1");
        let more = ("/p/z.md", "- [ ] 1. B\n- [ ] 2. C\n", "1 2");
        let (all, _) = join(&[file, more, ("board", "- [ ] 1. D\n", "1")]).unwrap();
        let homes = (0..4).map(|at| format!("{} {}", all.origin_of(at), all.key_of(at)));
        let homes: Vec<String> = homes.collect();
        assert_eq!(homes, ["/p/TODO.md 1", "/p/z.md 1", "/p/z.md 2", "board 1"]);
        assert_eq!(all.text_of(2), more.1);
        assert_eq!(all.home_of(0), None);
    }

    #[test]
    fn only_one_plan_may_order_its_tasks_by_phases_or_stages() {
        let phased = "- [ ] 9. Z\n## Phase 1: A\n- [ ] 1.1 A\n## Phase 2: B\n- [ ] 2.1 B\n";
        let staged =
            r#"{"batches":[{"batch_id":1,"task_ids":["a"]}],"tasks":[{"id":"a","title":"A"}]}"#;
        let refused = |plans: &[(&str, &str, &str)]| join(plans).map(|_| ()).unwrap_err().len();
        assert_eq!(
            refused(&[("/p/a", phased, "1.1"), ("/p/b", phased, "2.1")]),
            2
        );
        assert_eq!(
            refused(&[("/p/a", phased, "1.1"), ("/p/b", staged, "a")]),
            2
        );
        let loose = [("/p/a", phased, "1.1"), ("/p/b", phased, "9")];
        check(&loose, "9 1.1 2.1 b-9", "1.1 b-9");
    }
}
