//! Finds the first of many patterns in bytes, fast where there is none.
//!
//! Looks at every second pair of bytes only; what could be part of a pattern is looked at closely. Knows nothing of
//! what the patterns mean.

use std::fmt;

/// The shortest pattern: one of its first two pairs of bytes is always looked at.
pub(super) const SHORTEST: usize = 3;

/// So many bytes are looked at in one step, and so many in one pair.
const STEP: usize = 8;
const PAIR: usize = 2;

pub(super) struct Finder {
    patterns: Vec<Vec<u8>>,
    /// Which pairs of bytes the first two pairs of a pattern are.
    pairs: Box<[u8; 1 << 16]>,
    /// The group of patterns with the same first three bytes, by a hash of them; the first group is empty.
    triples: Box<[u16; 1 << 16]>,
    /// Groups of patterns, longer ones first.
    groups: Vec<Vec<usize>>,
    /// Which bytes patterns begin with.
    starts: [bool; 256],
    longest: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatternMatch {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) pattern: usize,
}

/// Without the patterns, which are secrets.
impl fmt::Debug for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Finder({} patterns)", self.patterns.len())
    }
}

impl Finder {
    /// Prepares to look for patterns of three bytes and more.
    pub(super) fn new(patterns: Vec<Vec<u8>>) -> Self {
        let pairs = vec![0; 1 << 16].into_boxed_slice();
        let triples = vec![0; 1 << 16].into_boxed_slice();
        let mut finder = Self {
            pairs: pairs.try_into().expect("it has this length"),
            triples: triples.try_into().expect("it has this length"),
            groups: vec![Vec::new()],
            starts: [false; 256],
            longest: patterns.iter().map(Vec::len).max().unwrap_or_default(),
            patterns,
        };
        for (number, pattern) in finder.patterns.iter().enumerate() {
            let Some(start) = pattern.first_chunk::<SHORTEST>() else {
                continue;
            };
            for pair in start.windows(PAIR) {
                finder.pairs[usize::from(u16::from_le_bytes([pair[0], pair[1]]))] = 1;
            }
            finder.starts[usize::from(start[0])] = true;
            let group = &mut finder.triples[hash(*start)];
            if *group == 0 {
                *group = u16::try_from(finder.groups.len()).expect("patterns are few");
                finder.groups.push(Vec::new());
            }
            finder.groups[usize::from(*group)].push(number);
        }
        for numbers in &mut finder.groups {
            numbers.sort_by_key(|number| std::cmp::Reverse(finder.patterns[*number].len()));
        }
        finder
    }

    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// The first pattern that begins at or behind a place; the longest, if several do.
    pub(super) fn find(&self, bytes: &[u8], from: usize) -> Option<PatternMatch> {
        let mut at = from;
        loop {
            at = self.next_candidate(bytes, at)?;
            let before = at.checked_sub(1).filter(|before| *before >= from);
            let found = before.and_then(|start| self.at(bytes, start));
            if let Some(found) = found.or_else(|| self.at(bytes, at)) {
                return Some(found);
            }
            at += PAIR;
        }
    }

    /// The next place with a pair of bytes that a pattern begins with, or has behind its first byte; places are as far
    /// apart as a pair is long.
    fn next_candidate(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let is_one = |pair: &[u8]| self.pairs[usize::from(u16::from_le_bytes([pair[0], pair[1]]))];
        let mut at = from;
        while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<STEP>) {
            // All of them without a branch, which is what makes it fast.
            let any = eight
                .chunks_exact(PAIR)
                .fold(0, |any, pair| any | is_one(pair));
            if any != 0 {
                break;
            }
            at += STEP;
        }
        let mut pairs = bytes.get(at..)?.chunks_exact(PAIR);
        let place = pairs.position(|pair| is_one(pair) != 0);
        place.map(|place| at + place * PAIR)
    }

    fn at(&self, bytes: &[u8], start: usize) -> Option<PatternMatch> {
        let rest = &bytes[start..];
        let mut numbers = self.group(*rest.first_chunk()?).iter().copied();
        let pattern = numbers.find(|number| rest.starts_with(&self.patterns[*number]))?;
        Some(PatternMatch {
            start,
            end: start + self.patterns[pattern].len(),
            pattern,
        })
    }

    /// The patterns that may begin with three bytes.
    fn group(&self, start: [u8; SHORTEST]) -> &[usize] {
        &self.groups[usize::from(self.triples[hash(start)])]
    }

    /// Whether bytes are the beginning of a pattern that is longer.
    pub(super) fn begins_with(&self, bytes: &[u8]) -> bool {
        let is_start =
            |pattern: &Vec<u8>| pattern.len() > bytes.len() && pattern.starts_with(bytes);
        if let Some(start) = bytes.first_chunk::<SHORTEST>() {
            let mut numbers = self.group(*start).iter();
            return numbers.any(|number| is_start(&self.patterns[*number]));
        }
        let first = bytes.first();
        let is_possible = first.is_some_and(|byte| self.starts[usize::from(*byte)]);
        is_possible && self.patterns.iter().any(is_start)
    }
}

/// Spreads three bytes over 16 bits.
fn hash([first, second, third]: [u8; SHORTEST]) -> usize {
    let number = u32::from_le_bytes([first, second, third, 0]);
    (number.wrapping_mul(0x9E37_79B1) >> 16) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Slowly: every pattern at every place.
    fn slowly(patterns: &[Vec<u8>], bytes: &[u8], from: usize) -> Option<(usize, usize)> {
        (from..bytes.len()).find_map(|start| {
            let lengths = patterns
                .iter()
                .filter(|pattern| bytes[start..].starts_with(pattern))
                .map(Vec::len);
            lengths.max().map(|length| (start, start + length))
        })
    }

    proptest! {
        #[test]
        fn what_is_found_is_the_first_and_the_longest(
            patterns in prop::collection::vec(prop::collection::vec(b'a'..=b'c', 3..7), 0..6),
            bytes in prop::collection::vec(b'a'..=b'd', 0..60),
            from in 0..60_usize,
        ) {
            let from = from.min(bytes.len());
            let found = Finder::new(patterns.clone()).find(&bytes, from);
            let found = found.map(|found| (found.start, found.end));
            prop_assert_eq!(found, slowly(&patterns, &bytes, from));
        }

        #[test]
        fn the_beginning_of_a_pattern_is_known(
            patterns in prop::collection::vec(prop::collection::vec(b'a'..=b'c', 3..7), 0..6),
            bytes in prop::collection::vec(b'a'..=b'c', 1..7),
        ) {
            let longer = patterns.iter().any(|pattern| pattern.len() > bytes.len() && pattern.starts_with(&bytes));
            prop_assert_eq!(Finder::new(patterns).begins_with(&bytes), longer);
        }
    }
}
