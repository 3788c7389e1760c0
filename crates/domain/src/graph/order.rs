//! The order in which some tasks of a plan may run: waves, critical path, and who waits for whom.
//!
//! Knows the rules of phases, notes, stages and declared files; not what runs at the moment.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};

use super::collision::Collisions;
use super::edges::Edges;
use super::{Graph, narrow};
use crate::id::PhaseNumber;
use crate::phase::{OpenPhases, Threshold};
use crate::task::Effort;

/// Whether tasks that declare the same file are put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overlap {
    /// The later one in the plan comes after the other.
    #[default]
    Ordered,
    /// They may run at the same time.
    Allowed,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct OrderRules {
    pub overlap: Overlap,
    pub threshold: Threshold,
}

/// Two tasks that something other than a dependency puts in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImpliedEdge {
    /// The position of the earlier task.
    pub first: usize,
    /// The position of the later task.
    pub then: usize,
    pub because: String,
}

#[derive(Debug)]
pub struct Order {
    /// Tasks whose predecessors are all in earlier waves, in plan order within a wave.
    pub waves: Vec<Vec<usize>>,
    /// For each task of the plan the number of its wave, counted from 1.
    pub wave_of: Vec<Option<u32>>,
    /// The longest chain, by estimated minutes.
    pub critical_path: Vec<usize>,
    /// The minutes from the start of each task to the end of the longest chain behind it.
    pub remaining: Vec<u64>,
    /// Pairs that are in order without needing each other.
    pub ordered: Vec<ImpliedEdge>,
    waits_for: Edges,
    tasks: usize,
}

impl Order {
    /// Puts the members (by position) in order; members that are settled or in a cycle stay out.
    pub fn new(graph: &Graph<'_>, members: &[bool], rules: OrderRules) -> Self {
        let open = graph.open_members();
        let members: Vec<bool> = members.iter().zip(open).map(|(m, o)| *m && o).collect();
        let tasks = members.len();
        let mut edges = gated_edges(graph, &members, rules.threshold);
        let mut ranks = topological_ranks(&edges);
        let mut ordered = written_order(graph, &members);
        if rules.overlap == Overlap::Ordered {
            let mut collisions = Collisions::new(&edges, &mut ranks, tasks);
            collisions.order_all(graph, &members);
            let (extra, found) = collisions.into_found();
            if !extra.is_empty() {
                let mut pairs: Vec<(u32, u32)> = edges.pairs().collect();
                pairs.extend(extra);
                edges = Edges::from_pairs(edges.nodes(), &pairs);
            }
            ordered.extend(found);
        }
        ordered.sort_by_key(|pair| (pair.then, pair.first));
        let line = nodes_by_rank(&ranks);
        let wave_of = wave_numbers(&edges, &line, &members);
        let remaining = remaining_minutes(graph, &edges, &line);
        let critical_path = critical_path(&edges, &remaining, &wave_of);
        Self {
            waves: collect_waves(&wave_of),
            wave_of,
            critical_path,
            remaining,
            ordered,
            waits_for: edges,
            tasks,
        }
    }

    /// The tasks that `position` waits for directly; phases and stages are looked through.
    pub fn waits_for(&self, position: usize) -> Vec<usize> {
        let mut seen = HashSet::new();
        let mut found = BTreeSet::new();
        let mut stack = vec![position];
        while let Some(node) = stack.pop() {
            for before in self
                .waits_for
                .targets(node)
                .iter()
                .map(|node| *node as usize)
            {
                if before < self.tasks {
                    found.insert(before);
                } else if seen.insert(before) {
                    stack.push(before);
                }
            }
        }
        found.into_iter().collect()
    }
}

/// "Waits for" along dependencies, notes and stages, among the members; barriers follow the tasks.
pub(super) fn written_edges(graph: &Graph<'_>, members: &[bool]) -> Edges {
    let tasks = members.len();
    let mut pairs = Vec::new();
    for position in (0..tasks).filter(|position| members[*position]) {
        for need in graph.needs(position).filter(|need| members[*need]) {
            pairs.push((narrow(position), narrow(need)));
        }
    }
    for (first, then, _) in chains(graph, members) {
        pairs.push((narrow(then), narrow(first)));
    }
    let stages = &graph.plan().stages;
    let barrier = |stage: usize| narrow(tasks + stage - 1);
    for (number, stage) in stages.iter().enumerate() {
        let is_last = number + 1 == stages.len();
        for task in positions(graph, members, &stage.tasks) {
            if number > 0 {
                pairs.push((narrow(task), barrier(number)));
            }
            if !is_last {
                pairs.push((barrier(number + 1), narrow(task)));
            }
        }
        if number > 1 {
            pairs.push((barrier(number), barrier(number - 1)));
        }
    }
    Edges::from_pairs(tasks + stages.len().saturating_sub(1), &pairs)
}

/// Consecutive pairs of notes and of stages that run one at a time.
fn chains(graph: &Graph<'_>, members: &[bool]) -> Vec<(usize, usize, String)> {
    let plan = graph.plan();
    let mut chains = Vec::new();
    let mut known = HashSet::new();
    let mut chain = |ids: &[crate::id::TaskId], because: &str| {
        let inside = positions(graph, members, ids);
        for pair in inside.windows(2).filter(|pair| pair[0] != pair[1]) {
            if !known.insert((pair[0], pair[1])) {
                continue;
            }
            chains.push((pair[0], pair[1], because.to_owned()));
        }
    };
    // Of two notes about one pair, the one that says why is told.
    let (told, bare): (Vec<_>, Vec<_>) = plan
        .sequences
        .iter()
        .partition(|sequence| !sequence.reason.is_empty());
    for sequence in told.into_iter().chain(bare) {
        let reason = match sequence.reason.as_str() {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        chain(
            &sequence.tasks,
            &format!("{} are sequential{reason}", sequence.group),
        );
    }
    for stage in plan.stages.iter().filter(|stage| !stage.can_parallel) {
        chain(
            &stage.tasks,
            &format!("batch {} runs one at a time", stage.id),
        );
    }
    chains
}

fn positions(graph: &Graph<'_>, members: &[bool], ids: &[crate::id::TaskId]) -> Vec<usize> {
    ids.iter()
        .filter_map(|id| graph.index().find(id.as_str()))
        .filter(|position| members[*position])
        .collect()
}

fn written_order(graph: &Graph<'_>, members: &[bool]) -> Vec<ImpliedEdge> {
    chains(graph, members)
        .into_iter()
        .filter(|(first, then, _)| !graph.own_needs(*then).any(|need| need == *first))
        .map(|(first, then, because)| ImpliedEdge {
            first,
            then,
            because,
        })
        .collect()
}

/// Adds a barrier before each phase that is not open.
///
/// A task feeds the first barrier beyond its own phase and beyond the phase of everything it waits
/// for, so that a dependency on a later phase opens no cycle.
fn gated_edges(graph: &Graph<'_>, members: &[bool], threshold: Threshold) -> Edges {
    let written = written_edges(graph, members);
    let tasks = graph.plan().tasks.iter();
    let statuses = tasks.map(|task| (task.phase, task.status));
    let open = OpenPhases::for_run(statuses, threshold);
    let gated = |position: usize| -> Option<PhaseNumber> {
        let task = graph.task(position);
        let waits = members[position] && task.follows_its_phase();
        task.phase.filter(|phase| waits && !open.is_open(*phase))
    };
    let closed: BTreeSet<PhaseNumber> = (0..members.len()).filter_map(gated).collect();
    if closed.is_empty() {
        return written;
    }
    let mut reach: Vec<Option<PhaseNumber>> = vec![None; written.nodes()];
    for node in nodes_by_rank(&topological_ranks(&written)) {
        let own = (node < members.len()).then(|| gated(node)).flatten();
        let before = written
            .targets(node)
            .iter()
            .filter_map(|before| reach[*before as usize]);
        reach[node] = before.chain(own).max();
    }
    let barriers: Vec<PhaseNumber> = closed.into_iter().collect();
    let barrier = |place: usize| narrow(written.nodes() + place);
    let mut pairs: Vec<(u32, u32)> = written.pairs().collect();
    for position in (0..members.len()).filter(|position| members[*position]) {
        if let Some(phase) = gated(position) {
            let place = barriers.partition_point(|number| *number < phase);
            pairs.push((narrow(position), barrier(place)));
        }
        let Some(phase) = graph.task(position).phase else {
            continue;
        };
        let beyond = reach[position].map_or(phase, |reach| reach.max(phase));
        let place = barriers.partition_point(|number| *number <= beyond);
        if place < barriers.len() {
            pairs.push((barrier(place), narrow(position)));
        }
    }
    pairs.extend((1..barriers.len()).map(|place| (barrier(place), barrier(place - 1))));
    Edges::from_pairs(written.nodes() + barriers.len(), &pairs)
}

/// The place of each node in a line that respects "waits for" and is near plan order; nodes in or
/// behind a cycle have none.
fn topological_ranks(waits_for: &Edges) -> Vec<Option<u32>> {
    let nodes = waits_for.nodes();
    let followers = waits_for.reversed();
    let mut waiting: Vec<usize> = (0..nodes)
        .map(|node| waits_for.targets(node).len())
        .collect();
    let mut ready: BinaryHeap<Reverse<usize>> = (0..nodes)
        .filter(|node| waiting[*node] == 0)
        .map(Reverse)
        .collect();
    let mut ranks = vec![None; nodes];
    let mut rank = 0;
    while let Some(Reverse(node)) = ready.pop() {
        ranks[node] = Some(rank);
        rank += 1;
        for follower in followers.targets(node).iter().map(|node| *node as usize) {
            waiting[follower] -= 1;
            if waiting[follower] == 0 {
                ready.push(Reverse(follower));
            }
        }
    }
    ranks
}

fn nodes_by_rank(ranks: &[Option<u32>]) -> Vec<usize> {
    let ranked = ranks.iter().flatten().count();
    let mut line = vec![0; ranked];
    for (node, rank) in ranks.iter().enumerate() {
        if let Some(rank) = rank {
            line[*rank as usize] = node;
        }
    }
    line
}

fn wave_numbers(waits_for: &Edges, line: &[usize], members: &[bool]) -> Vec<Option<u32>> {
    let mut level = vec![0_u32; waits_for.nodes()];
    let mut wave_of = vec![None; members.len()];
    for node in line {
        let before = waits_for
            .targets(*node)
            .iter()
            .map(|before| level[*before as usize]);
        level[*node] = before.max().unwrap_or(0);
        if members.get(*node) == Some(&true) {
            level[*node] += 1;
            wave_of[*node] = Some(level[*node]);
        }
    }
    wave_of
}

fn collect_waves(wave_of: &[Option<u32>]) -> Vec<Vec<usize>> {
    let count = wave_of.iter().flatten().max().copied().unwrap_or(0);
    let mut waves = vec![Vec::new(); count as usize];
    for (position, wave) in wave_of.iter().enumerate() {
        if let Some(wave) = wave {
            waves[*wave as usize - 1].push(position);
        }
    }
    waves
}

fn remaining_minutes(graph: &Graph<'_>, waits_for: &Edges, line: &[usize]) -> Vec<u64> {
    let mut behind = vec![0_u64; waits_for.nodes()];
    for node in line.iter().rev() {
        if let Some(task) = graph.plan().tasks.get(*node) {
            behind[*node] += u64::from(task.effort.unwrap_or(Effort::UNKNOWN).0);
        }
        for before in waits_for.targets(*node) {
            let before = *before as usize;
            behind[before] = behind[before].max(behind[*node]);
        }
    }
    behind
}

fn critical_path(waits_for: &Edges, remaining: &[u64], wave_of: &[Option<u32>]) -> Vec<usize> {
    let followers = waits_for.reversed();
    let longest = |nodes: &mut dyn Iterator<Item = usize>| {
        nodes.max_by_key(|node| (remaining[*node], Reverse(*node)))
    };
    let starts = |node: &usize| wave_of.get(*node).is_some_and(Option::is_some);
    let mut at = longest(&mut (0..wave_of.len()).filter(starts));
    let mut path = Vec::new();
    while let Some(node) = at {
        if node < wave_of.len() {
            path.push(node);
        }
        let next = followers.targets(node).iter().map(|node| *node as usize);
        at = longest(&mut next.filter(|node| remaining[*node] > 0));
    }
    path
}
