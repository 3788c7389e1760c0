//! Puts tasks that declare the same file in order, without ever contradicting what was written.
//!
//! Keeps a topological order up to date while edges are added (Pearce and Kelly), so that each
//! question "does one wait for the other already?" looks only at the tasks between the two.

use std::collections::HashMap;

use super::edges::Edges;
use super::order::ImpliedEdge;
use super::{Graph, narrow};

pub(super) struct Collisions<'a> {
    tasks: usize,
    waits_for: &'a Edges,
    followers: Edges,
    extra_waits_for: HashMap<u32, Vec<u32>>,
    extra_followers: HashMap<u32, Vec<u32>>,
    ranks: &'a mut [Option<u32>],
    seen: Vec<u32>,
    epoch: u32,
    extra: Vec<(u32, u32)>,
    found: Vec<ImpliedEdge>,
}

impl<'a> Collisions<'a> {
    /// Starts from edges and their topological ranks, which are kept true.
    pub(super) fn new(waits_for: &'a Edges, ranks: &'a mut [Option<u32>], tasks: usize) -> Self {
        Self {
            tasks,
            followers: waits_for.reversed(),
            seen: vec![0; ranks.len()],
            waits_for,
            ranks,
            extra_waits_for: HashMap::new(),
            extra_followers: HashMap::new(),
            epoch: 0,
            extra: Vec::new(),
            found: Vec::new(),
        }
    }

    /// The new "waits for" edges, and the same with reasons.
    pub(super) fn into_found(self) -> (Vec<(u32, u32)>, Vec<ImpliedEdge>) {
        (self.extra, self.found)
    }

    /// Orders every pair of members that share a declared file.
    pub(super) fn order_all(&mut self, graph: &Graph<'_>, members: &[bool]) {
        let mut chains: HashMap<&str, Vec<u32>> = HashMap::new();
        let ranked: Vec<bool> = self.ranks.iter().map(Option::is_some).collect();
        for position in (0..members.len()).filter(|at| members[*at] && ranked[*at]) {
            for file in &graph.task(position).files {
                let chain = chains.entry(file).or_default();
                self.insert(graph, chain, narrow(position));
            }
        }
    }

    /// Puts a task into the chain of one file; the chain's tasks already wait for each other.
    fn insert(&mut self, graph: &Graph<'_>, chain: &mut Vec<u32>, task: u32) {
        if chain.contains(&task) {
            return;
        }
        let place = self.first_behind(chain, task);
        if let Some(before) = place.checked_sub(1).map(|place| chain[place])
            && !self.reaches(before, task)
        {
            self.add(before, task);
            let (first, then) = (before as usize, task as usize);
            self.found.push(ImpliedEdge {
                first,
                then,
                because: because(graph, first, then),
            });
        }
        chain.insert(place, task);
    }

    /// The place of the first task in the chain that waits for `task`.
    fn first_behind(&mut self, chain: &[u32], task: u32) -> usize {
        let Some(last) = chain.last() else { return 0 };
        if self.rank(*last) < self.rank(task) {
            return chain.len();
        }
        self.forward_from(task, self.rank(*last));
        let behind = |node: &u32| self.seen[*node as usize] == self.epoch;
        chain.iter().position(behind).unwrap_or(chain.len())
    }

    fn rank(&self, node: u32) -> u32 {
        self.ranks[node as usize].expect("only ranked tasks are compared")
    }

    fn reaches(&mut self, from: u32, to: u32) -> bool {
        if self.rank(from) > self.rank(to) {
            return false;
        }
        if self.waits_for.targets(to as usize).contains(&from)
            || self.is_parted_by_barrier(from, to)
        {
            return true;
        }
        self.forward_from(from, self.rank(to));
        self.seen[to as usize] == self.epoch
    }

    /// Whether `from` is before a barrier that `to` is behind; barriers follow each other by number,
    /// and a task's barrier is the last of its edges.
    fn is_parted_by_barrier(&self, from: u32, to: u32) -> bool {
        let is_barrier = |node: &&u32| **node as usize >= self.tasks;
        let fed = self
            .followers
            .targets(from as usize)
            .last()
            .filter(is_barrier);
        let behind = self
            .waits_for
            .targets(to as usize)
            .last()
            .filter(is_barrier);
        fed.zip(behind).is_some_and(|(fed, behind)| fed <= behind)
    }

    /// Marks and returns what waits for `from`, up to a rank.
    fn forward_from(&mut self, from: u32, limit: u32) -> Vec<u32> {
        self.walk(from, |this, node, stack| {
            let extra = this.extra_followers.get(&node).into_iter().flatten();
            let followers = this.followers.targets(node as usize).iter().chain(extra);
            stack.extend(
                followers
                    .filter(|next| this.ranks[**next as usize].is_some_and(|rank| rank <= limit)),
            );
        })
    }

    /// Marks and returns what `from` waits for, down to a rank.
    fn backward_from(&mut self, from: u32, limit: u32) -> Vec<u32> {
        self.walk(from, |this, node, stack| {
            let extra = this.extra_waits_for.get(&node).into_iter().flatten();
            let before = this.waits_for.targets(node as usize).iter().chain(extra);
            stack.extend(
                before.filter(|next| this.ranks[**next as usize].is_some_and(|rank| rank >= limit)),
            );
        })
    }

    fn walk(&mut self, from: u32, neighbours: impl Fn(&Self, u32, &mut Vec<u32>)) -> Vec<u32> {
        self.epoch += 1;
        let mut stack = vec![from];
        let mut reached = Vec::new();
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut self.seen[node as usize], self.epoch) != self.epoch {
                reached.push(node);
                neighbours(self, node, &mut stack);
            }
        }
        reached
    }

    /// Adds "`task` waits for `before`" and repairs the ranks between the two.
    fn add(&mut self, before: u32, task: u32) {
        let (low, high) = (self.rank(task), self.rank(before));
        if low < high {
            let mut behind = self.forward_from(task, high);
            let mut ahead = self.backward_from(before, low);
            behind.sort_by_key(|node| self.rank(*node));
            ahead.sort_by_key(|node| self.rank(*node));
            ahead.extend(behind);
            let mut places: Vec<u32> = ahead.iter().map(|node| self.rank(*node)).collect();
            places.sort_unstable();
            for (node, place) in ahead.iter().zip(places) {
                self.ranks[*node as usize] = Some(place);
            }
        }
        self.extra_waits_for.entry(task).or_default().push(before);
        self.extra_followers.entry(before).or_default().push(task);
        self.extra.push((task, before));
    }
}

fn because(graph: &Graph<'_>, first: usize, then: usize) -> String {
    let others = &graph.task(then).files;
    let shared: Vec<&str> = graph
        .task(first)
        .files
        .iter()
        .filter(|file| others.contains(file))
        .map(String::as_str)
        .collect();
    format!("both declare {}", shared.join(", "))
}
