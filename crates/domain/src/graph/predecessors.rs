//! What a task comes after in its whole plan, whoever did that and when.
//!
//! Knows nothing of batches; `order` says what the tasks of one of them wait for.

use super::Graph;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PredecessorKind {
    /// It is of no use without that one.
    Needs,
    /// It merely comes later.
    After,
}

impl Graph<'_> {
    /// Everything that a task waits for, through other tasks as well: what it needs, earlier phases, earlier stages.
    pub fn predecessors(&self, position: usize) -> Vec<(usize, PredecessorKind)> {
        let tasks = &self.plan.tasks;
        let mut bonds: Vec<Option<PredecessorKind>> = vec![None; tasks.len()];
        let mut reached = vec![position];
        let mut looked_at = 0;
        while let Some(at) = reached.get(looked_at).copied() {
            looked_at += 1;
            for need in self.needs(at) {
                if need != position && bonds[need].is_none() {
                    bonds[need] = Some(PredecessorKind::Needs);
                    reached.push(need);
                }
            }
        }
        let stages = self.stages();
        let (mut phase, mut stage) = (None, None);
        let mut looked_at = 0;
        while let Some(at) = reached.get(looked_at).copied() {
            looked_at += 1;
            let mut found: Vec<usize> = self.needs(at).collect();
            if tasks[at].follows_its_phase() && tasks[at].phase > phase {
                phase = tasks[at].phase;
                let is_earlier =
                    |task: &usize| tasks[*task].phase.is_some_and(|of| Some(of) < phase);
                found.extend((0..tasks.len()).filter(is_earlier));
            }
            if stages[at] > stage {
                stage = stages[at];
                let is_earlier = |task: &usize| stages[*task].is_some_and(|of| Some(of) < stage);
                found.extend((0..tasks.len()).filter(is_earlier));
            }
            for before in found {
                if before != position && bonds[before].is_none() {
                    bonds[before] = Some(PredecessorKind::After);
                    reached.push(before);
                }
            }
        }
        let bonds = bonds.into_iter().enumerate();
        bonds
            .filter_map(|(task, bond)| Some((task, bond?)))
            .collect()
    }

    fn stages(&self) -> Vec<Option<usize>> {
        let mut stages = vec![None; self.plan.tasks.len()];
        for (number, stage) in self.plan.stages.iter().enumerate() {
            for task in &stage.tasks {
                if let Some(position) = self.index.find(task.as_str()) {
                    stages[position] = Some(number);
                }
            }
        }
        stages
    }
}
