//! Draws a plan: as a tree of waves, for mermaid and Graphviz, and as a picture of its own.
//!
//! Knows what is drawn in all of them; each form knows how.

pub(crate) mod bars;
pub(crate) mod batch;
pub(crate) mod dot;
mod layout;
pub(crate) mod mermaid;
mod remarks;
#[cfg(test)]
mod sample;
pub(crate) mod svg;
pub(crate) mod text;
mod wait_reasons;
pub(crate) mod words;

use pleach_domain::graph::{Graph, Order};
use pleach_domain::task::{Task, TaskStatus};

pub(crate) struct Picture<'a> {
    /// The plan's file as the user named it.
    pub(crate) name: &'a str,
    pub(crate) graph: &'a Graph<'a>,
    pub(crate) order: &'a Order,
    /// The chosen tasks, settled ones included, by position.
    pub(crate) chosen: &'a [usize],
}

/// Two chosen tasks, one of which comes before the other.
struct Link<'a> {
    first: usize,
    then: usize,
    tie: Tie<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tie<'a> {
    Needs,
    /// They are merely in order, for this reason.
    After(&'a str),
}

/// For each task of the plan why it waits, in few words.
pub(crate) fn reasons(picture: &Picture<'_>) -> Vec<String> {
    let waiting = wait_reasons::WaitReasons::new(picture);
    let tasks = 0..picture.graph.plan().tasks.len();
    tasks
        .map(|position| {
            let mut reasons = waiting.reasons(position);
            reasons.extend(waiting.gate(position).map(|gate| gate.to_string()));
            reasons.join(" · ")
        })
        .collect()
}

impl<'a> Picture<'a> {
    fn task(&self, position: usize) -> &'a Task {
        self.graph.task(position)
    }

    fn in_waves(&self) -> usize {
        self.order.waves.iter().map(Vec::len).sum()
    }

    fn settled(&self) -> Vec<usize> {
        self.select(TaskStatus::is_settled)
    }

    /// The chosen tasks that are open and yet in no wave: in a cycle, or behind one.
    fn stuck(&self) -> Vec<usize> {
        let mut open = self.select(|status| !status.is_settled());
        open.retain(|position| self.order.wave_of[*position].is_none());
        open
    }

    fn select(&self, wanted: impl Fn(TaskStatus) -> bool) -> Vec<usize> {
        let chosen = self.chosen.iter().copied();
        chosen
            .filter(|position| wanted(self.task(*position).status))
            .collect()
    }

    /// For each task of the plan whether it was chosen.
    fn is_chosen(&self) -> Vec<bool> {
        self.marked(self.chosen)
    }

    /// The longest chain; a single task is none.
    fn chain(&self) -> &'a [usize] {
        let order = self.order;
        match order.critical_path.len() {
            0 | 1 => &[],
            _ => &order.critical_path,
        }
    }

    /// For each task of the plan whether it is on the longest chain.
    fn is_critical(&self) -> Vec<bool> {
        self.marked(self.chain())
    }

    fn marked(&self, positions: &[usize]) -> Vec<bool> {
        let mut marked = vec![false; self.graph.plan().tasks.len()];
        for position in positions {
            marked[*position] = true;
        }
        marked
    }

    /// Everything that ties chosen tasks together, each pair once, by the later task.
    fn links(&self) -> Vec<Link<'a>> {
        let is_chosen = self.is_chosen();
        let mut links = Vec::new();
        for then in self.chosen.iter().copied() {
            let mut needs: Vec<usize> = self.graph.needs(then).collect();
            needs.sort_unstable();
            needs.dedup();
            needs.retain(|need| is_chosen[*need]);
            links.extend(needs.into_iter().map(|first| Link {
                first,
                then,
                tie: Tie::Needs,
            }));
        }
        let order = self.order;
        links.extend(order.ordered.iter().map(|pair| Link {
            first: pair.first,
            then: pair.then,
            tie: Tie::After(&pair.because),
        }));
        links.sort_by_key(|link| (link.then, link.first));
        links.dedup_by_key(|link| (link.then, link.first));
        links
    }

    /// The pairs of tasks that follow each other on the longest chain.
    fn critical_steps(&self) -> Vec<(usize, usize)> {
        let steps = self.chain().windows(2);
        steps.map(|pair| (pair[0], pair[1])).collect()
    }
}
