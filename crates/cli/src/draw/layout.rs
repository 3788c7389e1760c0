//! Places cards in columns so that the curves between them cross little.
//!
//! Knows heights and neighbours, not tasks. A curve that passes a column gets a lane of its own
//! there, shared with the other curves from the same card. Cards without curves stand below the
//! others, side by side where they are many.

use std::collections::HashMap;

/// More lanes than this would leave no room for the cards.
const MOST_LANES: usize = 600;
const ORDER_SWEEPS: usize = 8;
const PLACE_SWEEPS: usize = 12;
/// How many cards stand side by side in a column of nothing but cards without curves.
const WIDEST_ALONE: usize = 6;
/// The same below cards that have curves.
const WIDEST_BELOW: usize = 3;

#[derive(Debug, Clone, Copy)]
pub(super) struct Heights {
    pub(super) card: f64,
    pub(super) lane: f64,
    pub(super) gap: f64,
    /// How many cards may stand in a column before it grows wider.
    pub(super) rows: usize,
}

#[derive(Debug)]
pub(super) struct Layout {
    /// The middle of each card, by the key it was given as.
    pub(super) cards: HashMap<usize, Position>,
    /// How many cards stand side by side in each column.
    pub(super) spans: Vec<usize>,
    /// For each link the places it leads through, both ends included.
    pub(super) routes: Vec<Vec<Position>>,
    /// How far down the lowest card reaches, counted from the top of the highest.
    pub(super) height: f64,
}

/// A column, and the middle of something in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Position {
    pub(super) column: usize,
    /// Which of the cards side by side it is.
    pub(super) slot: usize,
    pub(super) y: f64,
}

/// Two cards to keep near each other; the first one is in an earlier column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pull {
    pub(super) first: usize,
    pub(super) then: usize,
    pub(super) weight: f64,
}

pub(super) fn layout(columns: &[Vec<usize>], links: &[Pull], heights: Heights) -> Layout {
    let mut sheet = LayoutGrid::new(columns, heights);
    let routes = sheet.route(links);
    sheet.order();
    sheet.place();
    let spans = sheet.place_alone();
    let top = sheet.extreme(Node::top, f64::min);
    let bottom = sheet.extreme(Node::bottom, f64::max);
    let place = |node: usize| Position {
        column: sheet.nodes[node].column,
        slot: sheet.nodes[node].slot,
        y: sheet.nodes[node].y - top,
    };
    let keys = columns.iter().flatten().copied();
    Layout {
        cards: keys
            .enumerate()
            .map(|(node, key)| (key, place(node)))
            .collect(),
        spans,
        routes: routes
            .iter()
            .map(|route| route.iter().map(|node| place(*node)).collect())
            .collect(),
        height: (bottom - top).max(0.0),
    }
}

/// A card or a lane.
#[derive(Debug)]
struct Node {
    column: usize,
    slot: usize,
    height: f64,
    y: f64,
    before: Vec<(usize, f64)>,
    behind: Vec<(usize, f64)>,
}

impl Node {
    fn top(&self) -> f64 {
        self.y - self.height / 2.0
    }

    fn bottom(&self) -> f64 {
        self.y + self.height / 2.0
    }

    fn is_alone(&self) -> bool {
        self.before.is_empty() && self.behind.is_empty()
    }
}

#[derive(Debug)]
struct LayoutGrid {
    nodes: Vec<Node>,
    columns: Vec<Vec<usize>>,
    /// The cards of each column that no link reaches.
    alone: Vec<Vec<usize>>,
    node_of: HashMap<usize, usize>,
    heights: Heights,
}

impl LayoutGrid {
    fn new(columns: &[Vec<usize>], heights: Heights) -> Self {
        let mut sheet = Self {
            nodes: Vec::new(),
            columns: vec![Vec::new(); columns.len()],
            alone: vec![Vec::new(); columns.len()],
            node_of: HashMap::new(),
            heights,
        };
        for (column, keys) in columns.iter().enumerate() {
            for key in keys {
                let node = sheet.add(column, heights.card);
                sheet.node_of.insert(*key, node);
            }
        }
        sheet
    }

    fn add(&mut self, column: usize, height: f64) -> usize {
        let node = self.nodes.len();
        self.nodes.push(Node {
            column,
            slot: 0,
            height,
            y: 0.0,
            before: Vec::new(),
            behind: Vec::new(),
        });
        self.columns[column].push(node);
        node
    }

    /// Leads every link through the columns between its ends.
    fn route(&mut self, links: &[Pull]) -> Vec<Vec<usize>> {
        let ends: Vec<(usize, usize)> = links
            .iter()
            .map(|link| (self.node_of[&link.first], self.node_of[&link.then]))
            .collect();
        let reach = |(first, then): &(usize, usize)| {
            let passed = self.nodes[*then].column - self.nodes[*first].column;
            passed.saturating_sub(1)
        };
        let has_lanes = ends.iter().map(reach).sum::<usize>() <= MOST_LANES;
        let mut lanes = HashMap::new();
        let mut routes = Vec::new();
        for ((first, then), link) in ends.into_iter().zip(links) {
            let mut route = vec![first];
            let passed = self.nodes[first].column + 1..self.nodes[then].column;
            for column in passed.filter(|_| has_lanes) {
                let height = self.heights.lane;
                let lane = *lanes
                    .entry((first, column))
                    .or_insert_with(|| self.add(column, height));
                route.push(lane);
            }
            route.push(then);
            for pair in route.windows(2) {
                self.nodes[pair[0]].behind.push((pair[1], link.weight));
                self.nodes[pair[1]].before.push((pair[0], link.weight));
            }
            routes.push(route);
        }
        for (column, alone) in self.columns.iter_mut().zip(&mut self.alone) {
            let is_alone = |node: &mut usize| self.nodes[*node].is_alone();
            alone.extend(column.extract_if(.., is_alone));
        }
        routes
    }

    /// Sorts each column by the mean place of its neighbours, to and fro.
    fn order(&mut self) {
        let mut rank = vec![0.0; self.nodes.len()];
        for column in &self.columns {
            spread(column, &mut rank);
        }
        for sweep in 0..ORDER_SWEEPS {
            let forward = sweep % 2 == 0;
            for step in 0..self.columns.len() {
                let at = if forward {
                    step
                } else {
                    self.columns.len() - 1 - step
                };
                let mut column = std::mem::take(&mut self.columns[at]);
                let wish = |node: &usize| {
                    let node = &self.nodes[*node];
                    let neighbours = if forward { &node.before } else { &node.behind };
                    let (mean, weight) = mean(neighbours, |other| rank[other]);
                    if weight > 0.0 { Some(mean) } else { None }
                };
                let mut wishes: Vec<(f64, usize)> = column
                    .iter()
                    .map(|node| (wish(node).unwrap_or(rank[*node]), *node))
                    .collect();
                wishes.sort_by(|a, b| a.0.total_cmp(&b.0));
                column.clear();
                column.extend(wishes.into_iter().map(|(_, node)| node));
                spread(&column, &mut rank);
                self.columns[at] = column;
            }
        }
    }

    /// Moves everything towards its neighbours, as far as the order and the gaps allow.
    fn place(&mut self) {
        for at in 0..self.columns.len() {
            let offsets = self.offsets(at);
            for (node, offset) in self.columns[at].iter().zip(&offsets) {
                self.nodes[*node].y = *offset;
            }
        }
        for sweep in 0..PLACE_SWEEPS {
            for step in 0..self.columns.len() {
                let at = match sweep % 2 {
                    0 => step,
                    _ => self.columns.len() - 1 - step,
                };
                self.settle(at);
            }
        }
    }

    fn settle(&mut self, at: usize) {
        let offsets = self.offsets(at);
        let column = &self.columns[at];
        let wishes: Vec<(f64, f64)> = column
            .iter()
            .zip(&offsets)
            .map(|(node, offset)| {
                let node = &self.nodes[*node];
                let height = |other: usize| self.nodes[other].y;
                let (before, pull_before) = mean(&node.before, height);
                let (behind, pull_behind) = mean(&node.behind, height);
                let pull = pull_before + pull_behind;
                let wish = (before * pull_before + behind * pull_behind) / pull;
                (wish - offset, pull)
            })
            .collect();
        for ((node, offset), y) in column.iter().zip(&offsets).zip(rising(&wishes)) {
            self.nodes[*node].y = y + offset;
        }
    }

    /// Puts the cards without links beside or below the others and says how wide each column is.
    fn place_alone(&mut self) -> Vec<usize> {
        let heights = self.heights;
        let tied = self.cards_with_links();
        let most = tied.iter().max().copied().unwrap_or(0);
        let aim = heights.rows.max(most + most / 3);
        let tops = self
            .columns
            .iter()
            .flatten()
            .map(|node| self.nodes[*node].top());
        let top = tops.reduce(f64::min).unwrap_or(0.0);
        let mut spans = Vec::new();
        for (at, tied) in tied.into_iter().enumerate() {
            let alone = self.alone[at].len();
            let below = alone.div_ceil(aim.saturating_sub(tied).max(1)).max(1);
            if tied == 0 {
                let span = below.min(WIDEST_ALONE);
                self.fill(at, span, top);
                spans.push(span);
            } else if at == 0 && below > 1 {
                // Nothing comes from the left here, so that nothing is in the way.
                let span = alone.div_ceil(aim).min(WIDEST_ALONE);
                self.fill(at, span, top);
                for node in &self.columns[at] {
                    self.nodes[*node].slot = span;
                }
                spans.push(span + 1);
            } else {
                let span = below.min(WIDEST_BELOW);
                let lowest = self.columns[at].last().map(|node| &self.nodes[*node]);
                let below = lowest.map_or(top, |node| node.bottom() + heights.gap);
                self.fill(at, span, below);
                spans.push(span);
            }
        }
        spans
    }

    fn cards_with_links(&self) -> Vec<usize> {
        let is_card = |node: &&usize| self.nodes[**node].height >= self.heights.card;
        let columns = self.columns.iter();
        columns
            .map(|column| column.iter().filter(is_card).count())
            .collect()
    }

    /// Puts the cards without links of a column in rows.
    fn fill(&mut self, at: usize, span: usize, top: f64) {
        let Heights { card, gap, .. } = self.heights;
        for (place, node) in self.alone[at].iter().enumerate() {
            let row = super::words::real(place / span);
            self.nodes[*node].y = top + card / 2.0 + row * (card + gap);
            self.nodes[*node].slot = place % span;
        }
    }

    /// How far below the first node of a column each one is when they stand as close as they may.
    fn offsets(&self, at: usize) -> Vec<f64> {
        let mut offsets = Vec::new();
        let mut below = 0.0;
        let mut last_height = None;
        for node in &self.columns[at] {
            let height = self.nodes[*node].height;
            if let Some(last) = last_height {
                below += f64::midpoint(last, height) + self.heights.gap;
            }
            last_height = Some(height);
            offsets.push(below);
        }
        offsets
    }

    fn extreme(&self, of: fn(&Node) -> f64, pick: fn(f64, f64) -> f64) -> f64 {
        self.nodes.iter().map(of).reduce(pick).unwrap_or(0.0)
    }
}

/// Gives the nodes of a column ranks between 0 and 1, whatever their number.
fn spread(column: &[usize], rank: &mut [f64]) {
    let step = 1.0 / super::words::real(column.len().max(1));
    let mut at = step / 2.0;
    for node in column {
        rank[*node] = at;
        at += step;
    }
}

/// The weighted mean of something about the neighbours, and their weight together.
fn mean(neighbours: &[(usize, f64)], of: impl Fn(usize) -> f64) -> (f64, f64) {
    let weight: f64 = neighbours.iter().map(|(_, weight)| weight).sum();
    let sum: f64 = neighbours
        .iter()
        .map(|(other, weight)| of(*other) * weight)
        .sum();
    if weight > 0.0 {
        (sum / weight, weight)
    } else {
        (0.0, 0.0)
    }
}

/// The rising sequence nearest to weighted wishes: neighbours that fall are pooled to their mean.
fn rising(wishes: &[(f64, f64)]) -> Vec<f64> {
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (wish, weight) in wishes {
        let mut pool = (*wish, *weight, 1);
        while let Some(last) = pools.pop_if(|last| last.0 > pool.0) {
            let weight = last.1 + pool.1;
            let value = (last.0 * last.1 + pool.0 * pool.1) / weight;
            pool = (value, weight, last.2 + pool.2);
        }
        pools.push(pool);
    }
    pools
        .into_iter()
        .flat_map(|(value, _, length)| std::iter::repeat_n(value, length))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEIGHTS: Heights = Heights {
        card: 10.0,
        lane: 4.0,
        gap: 2.0,
        rows: 20,
    };

    fn pulls(links: impl IntoIterator<Item = (usize, usize)>) -> Vec<Pull> {
        let pull = |(first, then)| Pull {
            first,
            then,
            weight: 1.0,
        };
        links.into_iter().map(pull).collect()
    }

    #[test]
    fn columns_are_sorted_so_that_parallel_links_do_not_cross() {
        let columns = [vec![0, 1, 2], vec![3, 4, 5]];
        let placed = layout(&columns, &pulls([(0, 5), (1, 4), (2, 3)]), HEIGHTS);
        let y = |key: usize| placed.cards[&key].y;
        for (first, then) in [(0, 5), (1, 4), (2, 3)] {
            assert!(
                (y(first) - y(then)).abs() < 0.01,
                "{first} and {then} are level"
            );
        }
    }

    #[test]
    fn cards_of_a_column_never_overlap() {
        let columns: Vec<Vec<usize>> = (0..6).map(|c| (c * 20..(c + 1) * 20).collect()).collect();
        let links = pulls((0..80).map(|n| (n, (n * 7) % 20 + 100)));
        let placed = layout(&columns, &links, HEIGHTS);
        for column in &columns {
            let mut ys: Vec<f64> = column.iter().map(|key| placed.cards[key].y).collect();
            ys.sort_by(f64::total_cmp);
            assert!(ys.windows(2).all(|pair| pair[1] - pair[0] > 11.99));
            assert!(ys[0] > 4.99 && ys[19] < placed.height - 4.99);
        }
    }

    #[test]
    fn a_link_over_three_columns_has_a_lane_beside_the_cards_between() {
        let columns = [vec![0], vec![1], vec![2]];
        let placed = layout(&columns, &pulls([(0, 2), (0, 1), (1, 2)]), HEIGHTS);
        let route = &placed.routes[0];
        assert_eq!(route.len(), 3);
        assert!((route[1].y - placed.cards[&1].y).abs() > 8.99);
    }

    #[test]
    fn cards_without_links_stand_below_the_others() {
        let placed = layout(&[vec![0, 1], vec![2]], &pulls([(1, 2)]), HEIGHTS);
        assert!(placed.cards[&0].y > placed.cards[&1].y);
        assert!((placed.cards[&1].y - placed.cards[&2].y).abs() < 0.01);
    }

    #[test]
    fn many_cards_without_links_stand_side_by_side() {
        let placed = layout(&[(0..50).collect()], &[], HEIGHTS);
        assert_eq!(placed.spans, [3]);
        assert_eq!(placed.cards[&4].slot, 1);
        assert!((placed.height - (17.0 * 12.0 - 2.0)).abs() < 0.01);
    }

    #[test]
    fn nothing_takes_no_room() {
        let placed = layout(&[], &[], HEIGHTS);
        assert!(placed.height.abs() < 0.01);
    }

    #[test]
    fn falling_wishes_meet_in_their_middle() {
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.01);
        assert!(close(&rising(&[(1.0, 1.0), (3.0, 1.0)]), &[1.0, 3.0]));
        assert!(close(
            &rising(&[(3.0, 1.0), (1.0, 1.0), (9.0, 1.0)]),
            &[2.0, 2.0, 9.0]
        ));
    }
}
