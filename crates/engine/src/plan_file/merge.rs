//! Carries the lines that changed in one text over to another version of the same text.
//!
//! Works on lines, and takes two for equal that differ in a missing final newline only.

use std::collections::HashMap;
use std::ops::Range;

/// What stands where both sides changed the same lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlap {
    /// The lines of the change that is carried over.
    Theirs,
    Both,
}

/// Lines of the base that a side replaced by lines of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk {
    base: Range<usize>,
    added: usize,
}

struct MergeSide<'a> {
    lines: &'a [&'a str],
    hunks: &'a [Hunk],
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Occurrence {
    #[default]
    None,
    Once(usize),
    Often,
}

/// Applies to `current` what changed from `before` to `after`.
pub(super) fn merge(before: &str, after: &str, current: &str, overlap: Overlap) -> String {
    let [base, after, ours] =
        [before, after, current].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let their_hunks = hunks(&base, &after);
    let our_hunks = hunks(&base, &ours);
    let mut theirs = MergeSide {
        lines: &after,
        hunks: &their_hunks,
    };
    let mut ours = MergeSide {
        lines: &ours,
        hunks: &our_hunks,
    };
    let mut merged = Vec::new();
    let mut done = 0;
    while let Some((region, [their_count, our_count])) = next_region([theirs.hunks, ours.hunks]) {
        let same = region.start - done;
        theirs.take(same, 0);
        merged.extend(ours.take(same, 0));
        let theirs = theirs.take(region.len(), their_count);
        let ours = ours.take(region.len(), our_count);
        match (their_count, our_count) {
            (0, _) => merged.extend(ours),
            (_, 0) => merged.extend(theirs),
            _ => merged.extend(combine(&base[region.clone()], theirs, ours, overlap)),
        }
        done = region.end;
    }
    merged.extend(ours.lines);
    join(&merged, current)
}

/// How many lines have to be removed from and added to one text to make it the other.
pub(super) fn distance(one: &str, other: &str) -> usize {
    let [one, other] = [one, other].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let hunks = hunks(&one, &other);
    hunks.iter().map(|hunk| hunk.base.len() + hunk.added).sum()
}

/// The next lines of the base that either side changed, and how many hunks of each are in them.
fn next_region(sides: [&[Hunk]; 2]) -> Option<(Range<usize>, [usize; 2])> {
    let firsts = sides.iter().filter_map(|hunks| hunks.first());
    let first = firsts.min_by_key(|hunk| (hunk.base.start, hunk.base.end))?;
    let mut region = first.base.clone();
    let mut counts = [0, 0];
    loop {
        let mut grown = false;
        for (hunks, count) in sides.iter().zip(&mut counts) {
            if let Some(hunk) = hunks
                .get(*count)
                .filter(|hunk| overlaps(&hunk.base, &region))
            {
                region.end = region.end.max(hunk.base.end);
                *count += 1;
                grown = true;
            }
        }
        if !grown {
            return Some((region, counts));
        }
    }
}

/// Ranges that only touch do not overlap: a line put before another does not concern the other.
fn overlaps(one: &Range<usize>, other: &Range<usize>) -> bool {
    one == other || (one.start < other.end && other.start < one.end)
}

impl<'a> MergeSide<'a> {
    /// The lines that stand here for the next `length` lines of the base, which hold `hunks` hunks.
    fn take(&mut self, length: usize, hunks: usize) -> &'a [&'a str] {
        let (changed, hunks) = self.hunks.split_at(hunks);
        let removed: usize = changed.iter().map(|hunk| hunk.base.len()).sum();
        let added: usize = changed.iter().map(|hunk| hunk.added).sum();
        let (taken, lines) = self.lines.split_at(length - removed + added);
        *self = Self { lines, hunks };
        taken
    }
}

fn combine<'a>(
    base: &[&str],
    theirs: &[&'a str],
    ours: &[&'a str],
    overlap: Overlap,
) -> Vec<&'a str> {
    if contains(ours, theirs) {
        return ours.to_vec();
    }
    if contains(theirs, ours) || (overlap == Overlap::Theirs && !base.is_empty()) {
        return theirs.to_vec();
    }
    let is_in = |lines: &[&str], line: &str| lines.iter().any(|other| key(other) == key(line));
    let is_new = |line: &&&str| {
        line.trim().is_empty() && base.is_empty() || !(is_in(base, line) || is_in(ours, line))
    };
    ours.iter()
        .chain(theirs.iter().filter(is_new))
        .copied()
        .collect()
}

fn contains(lines: &[&str], part: &[&str]) -> bool {
    let same = |window: &[&str]| {
        window
            .iter()
            .zip(part)
            .all(|(one, other)| key(one) == key(other))
    };
    !part.is_empty() && lines.windows(part.len()).any(same)
}

fn key(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

/// Puts lines together, and ends one that stood last in its text and does no longer.
fn join(lines: &[&str], model: &str) -> String {
    let ending = if model
        .split_inclusive('\n')
        .next()
        .is_some_and(|line| line.ends_with("\r\n"))
    {
        "\r\n"
    } else {
        "\n"
    };
    let mut text = String::with_capacity(model.len());
    for line in lines {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push_str(ending);
        }
        text.push_str(line);
    }
    text
}

fn hunks(base: &[&str], side: &[&str]) -> Vec<Hunk> {
    let [base, side] =
        [base, side].map(|lines| lines.iter().map(|line| key(line)).collect::<Vec<_>>());
    let mut pairs = Vec::new();
    match_lines(&base, &side, (0, 0), &mut pairs);
    pairs.push((base.len(), side.len()));
    let mut found = Vec::new();
    let mut done = (0, 0);
    for (base_at, side_at) in pairs {
        if (base_at, side_at) != done {
            found.push(Hunk {
                base: done.0..base_at,
                added: side_at - done.1,
            });
        }
        done = (base_at + 1, side_at + 1);
    }
    found
}

/// Adds to `pairs` which lines of two texts are the same: those at both ends, those that each has once,
/// and so on between them. `at` is where the two slices start in their texts.
fn match_lines(one: &[&str], other: &[&str], at: (usize, usize), pairs: &mut Vec<(usize, usize)>) {
    let equal = |(one, other): &(&&str, &&str)| one == other;
    let head = one.iter().zip(other).take_while(equal).count();
    pairs.extend((0..head).map(|line| (at.0 + line, at.1 + line)));
    let (one, other, at) = (&one[head..], &other[head..], (at.0 + head, at.1 + head));
    let tail = one
        .iter()
        .rev()
        .zip(other.iter().rev())
        .take_while(equal)
        .count();
    let (one_end, other_end) = (one.len() - tail, other.len() - tail);
    let mut done = (0, 0);
    let anchors = anchors(&one[..one_end], &other[..other_end]);
    for (x, y) in anchors {
        match_lines(
            &one[done.0..x],
            &other[done.1..y],
            (at.0 + done.0, at.1 + done.1),
            pairs,
        );
        pairs.push((at.0 + x, at.1 + y));
        done = (x + 1, y + 1);
    }
    if done != (0, 0) {
        let rest = (at.0 + done.0, at.1 + done.1);
        match_lines(
            &one[done.0..one_end],
            &other[done.1..other_end],
            rest,
            pairs,
        );
    }
    pairs.extend((0..tail).map(|line| (at.0 + one_end + line, at.1 + other_end + line)));
}

/// The longest row of lines that both texts have exactly once and in the same order.
fn anchors(one: &[&str], other: &[&str]) -> Vec<(usize, usize)> {
    let mut places: HashMap<&str, [Occurrence; 2]> = HashMap::new();
    for (side, lines) in [one, other].into_iter().enumerate() {
        for (index, line) in lines.iter().enumerate() {
            let place = &mut places.entry(line).or_default()[side];
            *place = if *place == Occurrence::None {
                Occurrence::Once(index)
            } else {
                Occurrence::Often
            };
        }
    }
    let mut common: Vec<(usize, usize)> = places
        .into_values()
        .filter_map(|places| match places {
            [Occurrence::Once(x), Occurrence::Once(y)] => Some((x, y)),
            _ => None,
        })
        .collect();
    common.sort_unstable();
    // `rows[n]` is the pair that ends the row of length `n + 1` with the smallest end.
    let mut rows: Vec<usize> = Vec::new();
    let mut before = vec![None; common.len()];
    for (index, (_, y)) in common.iter().enumerate() {
        let length = rows.partition_point(|end| common[*end].1 < *y);
        before[index] = length.checked_sub(1).map(|shorter| rows[shorter]);
        match rows.get_mut(length) {
            Some(end) => *end = index,
            None => rows.push(index),
        }
    }
    let mut row: Vec<_> = std::iter::successors(rows.last().copied(), |index| before[*index])
        .map(|index| common[index])
        .collect();
    row.reverse();
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines are written with spaces between them.
    #[track_caller]
    fn check(overlap: Overlap, before: &str, after: &str, current: &str, expected: &str) {
        let lines = |text: &str| {
            text.split_whitespace()
                .fold(String::new(), |text, line| text + line + "\n")
        };
        let merged = merge(&lines(before), &lines(after), &lines(current), overlap);
        assert_eq!(merged, lines(expected));
    }

    #[test]
    fn changes_in_different_places_are_both_there() {
        check(Overlap::Both, "a b c d", "a B c d", "a b c D", "a B c D");
        check(Overlap::Both, "a b c", "new a b c", "a b", "new a b");
    }

    #[test]
    fn a_line_put_next_to_a_changed_one_does_not_concern_it() {
        check(Overlap::Theirs, "a b c", "a new b c", "a B c", "a new B c");
        check(Overlap::Theirs, "a b c", "a b new c", "a B c", "a B new c");
    }

    #[test]
    fn lines_put_in_the_same_place_are_all_there_once() {
        check(Overlap::Theirs, "a", "a x", "a y", "a y x");
        check(Overlap::Both, "a", "a x", "a x", "a x");
        check(Overlap::Both, "a", "a x", "a y x", "a y x");
        check(Overlap::Both, "a", "a x y", "a x", "a x y");
        check(Overlap::Both, "a", "a x z", "a y x", "a y x z");
    }

    #[test]
    fn a_line_that_both_changed_is_theirs_or_both() {
        check(
            Overlap::Theirs,
            "a b c",
            "a mine c",
            "a yours c",
            "a mine c",
        );
        check(
            Overlap::Both,
            "a b c",
            "a mine c",
            "a yours c",
            "a yours mine c",
        );
        check(Overlap::Both, "a b c d", "a m c d", "a c d", "a m c d");
    }

    #[test]
    fn texts_of_repeated_lines_are_merged() {
        check(
            Overlap::Both,
            "- a - b - c",
            "- a - b - new - c",
            "- A - b - c",
            "- A - b - new - c",
        );
    }

    #[test]
    fn a_missing_final_newline_is_no_change_and_is_added_where_lines_follow() {
        assert_eq!(
            merge("a\nb", "a\nb\nc\n", "a\nb\nours\n", Overlap::Both),
            "a\nb\nours\nc\n"
        );
        assert_eq!(
            merge("a\r\nb", "a\r\nb\r\nc", "A\r\nb", Overlap::Both),
            "A\r\nb\r\nc"
        );
        assert_eq!(
            merge("a\nb", "new\na\nb", "a\nb", Overlap::Both),
            "new\na\nb"
        );
    }
}
