//! Draws numbers, and from them the designs of batches.
//!
//! Knows nothing of what becomes of them.

use pleach_domain::batch::{
    Approval, Barriers, BatchSettings, Budget, Design, Fallback, Mode, OnFailure, Validation,
};
use pleach_domain::choice::{Landing, NoChanges, OnConflict};
use pleach_domain::graph::{Graph, OrderRules, Overlap, Strictness};
use pleach_domain::id::{PhaseNumber, TaskId};
use pleach_domain::plan::{Plan, Sequence, Stage};
use pleach_domain::task::{Dependency, Effort, IfUnknown, Priority, Task, TaskStatus};

use crate::ledger::NO_BASIS;

/// A generator of numbers that gives the same ones for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One step of splitmix64.
    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap();
        usize::try_from(self.number() % limit).unwrap()
    }

    pub(crate) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// A design of all open tasks of a random plan.
    pub(crate) fn design(&mut self) -> Design {
        let plan = self.plan();
        let graph = Graph::new(&plan, Strictness::AsWritten);
        assert_eq!(graph.errors(), []);
        let open = (0..plan.tasks.len()).filter(|at| !plan.tasks[*at].status.is_settled());
        let chosen: Vec<usize> = open.filter(|_| !self.one_in(12)).collect();
        let rules = OrderRules {
            overlap: self.pick(&[Overlap::Ordered, Overlap::Ordered, Overlap::Allowed]),
            ..OrderRules::default()
        };
        let barriers = self.pick(&[Barriers::Stages, Barriers::Stages, Barriers::Waves]);
        let settings = self.settings();
        let mut design = Design::new(&graph, &chosen, rules, barriers, settings);
        self.build_on_earlier_batches(&mut design);
        design
    }

    /// Lets some tasks build on work of earlier batches; what needs them does so too.
    fn build_on_earlier_batches(&mut self, design: &mut Design) {
        let works = self.pick(&[0, 0, 1, 3]);
        for work in 0..works {
            let conflicts = self.one_in(6);
            let first = self.below(design.tasks.len().max(1));
            let mut reached = vec![first];
            while let Some(at) = reached.pop() {
                let Some(task) = design.tasks.get_mut(at) else {
                    continue;
                };
                if task.earlier.last() != Some(&work) {
                    task.earlier.push(work);
                    if conflicts {
                        task.no_basis = Some(NO_BASIS.into());
                    }
                    let needs_it = |other: &usize| design.tasks[*other].needs.contains(&at);
                    reached.extend((0..design.tasks.len()).filter(needs_it));
                }
            }
        }
    }

    fn settings(&mut self) -> BatchSettings {
        let mode = match self.below(4) {
            0 => Mode::Queue {
                approval: self.pick(&[Approval::Automatic, Approval::ByPerson]),
            },
            _ => Mode::Parallel {
                slots: 1 + self.below(4),
            },
        };
        let on_conflict = [OnConflict::Skip, OnConflict::Fail, OnConflict::Rerun];
        let validation = [
            Validation::Unset,
            Validation::Drop,
            Validation::Drop,
            Validation::Fail,
        ];
        let landing = [Landing::Nowhere, Landing::Push, Landing::PullRequest];
        BatchSettings {
            mode,
            on_failure: self.pick(&[OnFailure::GoOn, OnFailure::GoOn, OnFailure::Stop]),
            on_conflict: self.pick(&on_conflict),
            fallback: self.pick(&[Fallback::OneAtATime, Fallback::Fail]),
            retries: u32::try_from(self.below(3)).unwrap(),
            retry_pause: 1_000,
            limit_wait: 60_000,
            no_changes: self.pick(&[NoChanges::Retry, NoChanges::Retry, NoChanges::Done]),
            validation: self.pick(&validation),
            landing: self.pick(&landing),
            budget: Budget {
                tokens: self.pick(&[None, None, None, Some(300)]),
                micro_usd: None,
            },
            task_budget: Budget {
                tokens: self.pick(&[None, None, None, Some(90)]),
                micro_usd: None,
            },
        }
    }

    /// A plan without cycles: whatever waits for something comes later in a hidden order.
    fn plan(&mut self) -> Plan {
        let most = self.pick(&[3, 8, 8, 8, 8, 10, 10, 24]);
        let count = 1 + self.below(most);
        let mut hidden: Vec<usize> = (0..count).collect();
        for place in (1..count).rev() {
            hidden.swap(place, self.below(place + 1));
        }
        let with_phases = self.one_in(2);
        let mut plan = Plan::default();
        for number in 0..count {
            plan.tasks.push(self.task(number, with_phases));
        }
        for place in 1..count {
            for _ in 0..self.pick(&[0, 0, 1, 1, 2]) {
                let on = plan.tasks[hidden[self.below(place)]].id.clone();
                plan.tasks[hidden[place]].needs.push(Dependency {
                    on,
                    line: 1,
                    if_unknown: IfUnknown::Error,
                });
            }
        }
        let in_order: Vec<TaskId> = hidden.iter().map(|at| plan.tasks[*at].id.clone()).collect();
        if self.one_in(2) {
            plan.stages = self.stages(&in_order);
        }
        if self.one_in(3) {
            let some = in_order.into_iter().filter(|_| self.one_in(3));
            plan.sequences.push(Sequence {
                tasks: some.collect(),
                group: "some".into(),
                reason: String::new(),
                line: 1,
            });
        }
        plan
    }

    fn task(&mut self, number: usize, with_phases: bool) -> Task {
        let mut task = Task::new(number.to_string(), "t", 1);
        if with_phases && !self.one_in(4) {
            task.phase = Some(PhaseNumber(u32::try_from(1 + self.below(3)).unwrap()));
        }
        if self.one_in(3) {
            task.files.push(format!("f{}", self.below(3)));
        }
        if self.one_in(10) {
            task.status = self.pick(&[TaskStatus::Completed, TaskStatus::Skipped]);
        }
        if self.one_in(3) {
            task.effort = Some(self.pick(&[Effort(60), Effort(180), Effort(480)]));
        }
        task.priority = self.pick(&[Priority::Low, Priority::Medium, Priority::High]);
        task
    }

    fn stages(&mut self, in_order: &[TaskId]) -> Vec<Stage> {
        let count = 1 + self.below(4);
        let left_out = self.pick(&[4, 8, 100]);
        let mut stages: Vec<Stage> = (0..count)
            .map(|number| Stage {
                id: format!("s{number}"),
                tasks: Vec::new(),
                can_parallel: !self.one_in(3),
                line: 1,
            })
            .collect();
        for (place, task) in in_order.iter().enumerate() {
            if !self.one_in(left_out) {
                stages[place * count / in_order.len()]
                    .tasks
                    .push(task.clone());
            }
        }
        stages
    }
}
