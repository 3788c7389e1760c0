//! Finds the cycles of a graph, one path for each knot of tasks.
//!
//! Knows numbers, not tasks; nodes from `tasks` on are barriers and are left out of the paths.

use std::collections::VecDeque;

use super::edges::Edges;

/// For each strongly connected part a shortest cycle through its first task, along "waits for".
pub(super) fn find(waits_for: &Edges, tasks: usize) -> Vec<Vec<usize>> {
    let mut cycles: Vec<Vec<usize>> = knots(waits_for)
        .into_iter()
        .filter_map(|knot| shortest_cycle(waits_for, &knot, tasks))
        // A task in two batches is reported as such, not as a cycle of one.
        .filter(|cycle| cycle.len() > 1)
        .collect();
    cycles.sort();
    cycles
}

/// Strongly connected parts of more than one node, by Tarjan's algorithm without recursion.
fn knots(edges: &Edges) -> Vec<Vec<usize>> {
    const UNSEEN: u32 = u32::MAX;
    let nodes = edges.nodes();
    let mut order = vec![UNSEEN; nodes];
    let mut low = vec![0_u32; nodes];
    let mut on_stack = vec![false; nodes];
    let mut stack = Vec::new();
    let mut calls: Vec<(usize, usize)> = Vec::new();
    let mut count = 0;
    let mut found = Vec::new();
    for root in 0..nodes {
        if order[root] != UNSEEN {
            continue;
        }
        calls.push((root, 0));
        while let Some((node, next)) = calls.pop() {
            if next == 0 {
                order[node] = count;
                low[node] = count;
                count += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(target) = edges.targets(node).get(next) {
                let target = *target as usize;
                calls.push((node, next + 1));
                if order[target] == UNSEEN {
                    calls.push((target, 0));
                } else if on_stack[target] {
                    low[node] = low[node].min(order[target]);
                }
                continue;
            }
            if let Some((parent, _)) = calls.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == order[node] {
                let start = stack.iter().rposition(|member| *member == node);
                let knot = stack
                    .split_off(start.expect("a node is on the stack until its part is closed"));
                for member in &knot {
                    on_stack[*member] = false;
                }
                if knot.len() > 1 {
                    found.push(knot);
                }
            }
        }
    }
    found
}

fn shortest_cycle(edges: &Edges, knot: &[usize], tasks: usize) -> Option<Vec<usize>> {
    let start = knot.iter().copied().filter(|node| *node < tasks).min()?;
    let inside: std::collections::HashSet<usize> = knot.iter().copied().collect();
    let mut came_from = std::collections::HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for target in edges.targets(node).iter().map(|target| *target as usize) {
            if target == start {
                return Some(path_back(&came_from, start, node, tasks));
            }
            if inside.contains(&target) && !came_from.contains_key(&target) {
                came_from.insert(target, node);
                queue.push_back(target);
            }
        }
    }
    None
}

fn path_back(
    came_from: &std::collections::HashMap<usize, usize>,
    start: usize,
    end: usize,
    tasks: usize,
) -> Vec<usize> {
    let mut path = vec![end];
    while let Some(previous) = came_from.get(path.last().expect("the path has its end")) {
        path.push(*previous);
    }
    debug_assert_eq!(path.last(), Some(&start), "the search began at the start");
    path.reverse();
    path.retain(|node| *node < tasks);
    path
}
