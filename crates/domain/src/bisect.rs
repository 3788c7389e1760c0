//! Finds the strands that turn the tests red, by trying prefixes of the weaving order.
//!
//! A strand is a place in that order and a set of strands its places, ascending; the empty set is the base. Knows
//! neither git nor processes: it says what to try next and hears what came of it, so the same runs always lead to
//! the same result.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A red run is repeated before it counts, for the machine may have been to blame.
const REDS_OF_A_RED_SET: usize = 2;

/// Whoever is left out for a red set has seen it fail once more.
const REDS_OF_A_CULPRIT: usize = 3;

/// A search for guilty strands: who is still in, who is out, and how every set has fared so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bisection {
    needs: Vec<Vec<usize>>,
    kept: Vec<usize>,
    left_out: Vec<LeftOut>,
    tallies: BTreeMap<Vec<usize>, RunCounts>,
}

/// How a run of the test command ended; one that was stopped or could not be started is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestResult {
    #[serde(rename = "green")]
    Passed,
    #[serde(rename = "red")]
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BisectStep {
    /// Run the command on these sets too, most wanted first; none while the answer is under way.
    Run(Vec<Vec<usize>>),
    /// What is kept is green as a whole.
    Proved,
    /// The base itself is red, so nobody is to blame.
    BaseRed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its place in weaving order.
    pub place: usize,
    pub why: LeftOutReason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftOutReason {
    /// It turns a green set red.
    Guilty {
        /// The set that failed three times: the strand, and before it what is green without it.
        first_red: Vec<usize>,
    },
    /// It needs this strand, which is left out.
    Needs(usize),
    /// It does not merge without what was left out.
    Conflicts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct RunCounts {
    greens: usize,
    reds: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SetVerdict {
    Untried,
    /// It failed once.
    Doubted,
    Red,
    Green,
}

/// Two prefixes, by their lengths: somebody between them turns the tests red.
#[derive(Clone, Copy)]
struct Interval {
    green: usize,
    red: usize,
}

impl RunCounts {
    /// One green run shows that the set can pass, however often it failed.
    fn verdict(self) -> SetVerdict {
        match (self.greens, self.reds) {
            (0, 0) => SetVerdict::Untried,
            (0, reds) if reds < REDS_OF_A_RED_SET => SetVerdict::Doubted,
            (0, _) => SetVerdict::Red,
            _ => SetVerdict::Green,
        }
    }
}

impl Interval {
    fn is_closed(self) -> bool {
        self.red == self.green + 1
    }
}

impl Bisection {
    /// A search over strands in weaving order; each needs those of the given places, all before its own.
    pub fn new(needs: Vec<Vec<usize>>) -> Self {
        let are_before = |(place, needs): (usize, &Vec<usize>)| needs.iter().all(|at| *at < place);
        debug_assert!(
            needs.iter().enumerate().all(are_before),
            "what is needed is woven first"
        );
        Self {
            kept: (0..needs.len()).collect(),
            needs,
            left_out: Vec::new(),
            tallies: BTreeMap::new(),
        }
    }

    /// The strands that are still in, in weaving order.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// The strands that are out, in the order in which they went.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The sets that have failed and passed.
    pub fn flaky(&self) -> impl Iterator<Item = &[usize]> {
        let both = self
            .tallies
            .iter()
            .filter(|(_, tally)| tally.greens > 0 && tally.reds > 0);
        both.map(|(set, _)| set.as_slice())
    }

    /// Whether the whole is red and the base is not.
    pub fn is_red(&self) -> bool {
        self.verdict(&self.kept) == SetVerdict::Red && self.verdict(&[]) == SetVerdict::Green
    }

    /// What to do besides the runs that are under way, with so many runs at once at most.
    pub fn next(&self, probers: usize, under_way: &[Vec<usize>]) -> BisectStep {
        match (self.verdict(&self.kept), self.verdict(&[])) {
            (SetVerdict::Green, _) => BisectStep::Proved,
            (SetVerdict::Red, SetVerdict::Red) => BisectStep::BaseRed,
            _ => {
                let free = probers.saturating_sub(under_way.len());
                let lengths = self.wanted(free, under_way);
                let lengths = self.in_good_company(lengths, under_way);
                let sets = lengths.iter().map(|length| self.kept[..*length].to_vec());
                BisectStep::Run(sets.collect())
            }
        }
    }

    /// Whether a run on that set still matters; one that does not may be stopped.
    pub fn wants(&self, set: &[usize]) -> bool {
        if !self.kept.starts_with(set) || !matches!(self.next(0, &[]), BisectStep::Run(_)) {
            return false;
        }
        let is_open = matches!(self.verdict(set), SetVerdict::Untried | SetVerdict::Doubted);
        let is_end = set.is_empty() || set.len() == self.kept.len();
        let interval = self.interval(&[SetVerdict::Red]);
        let is_inside = interval.green < set.len() && set.len() <= interval.red;
        is_inside || (is_end && is_open)
    }

    pub fn ran(&mut self, set: &[usize], run: TestResult) {
        let tally = self.tallies.entry(set.to_vec()).or_default();
        match run {
            TestResult::Passed => tally.greens += 1,
            TestResult::Failed => tally.reds += 1,
        }
        self.settle();
    }

    /// That strand no longer merges without what was left out: it goes, with what needs it.
    pub fn conflicted(&mut self, place: usize) {
        if self.is_kept(place) {
            self.leave_out(place, LeftOutReason::Conflicts);
            self.settle();
        }
    }

    fn settle(&mut self) {
        while let Some(first_red) = self.proven_red_prefix() {
            let place = first_red[first_red.len() - 1];
            self.leave_out(place, LeftOutReason::Guilty { first_red });
        }
    }

    /// The prefix that failed often enough, while the one before it is green, to blame its last strand.
    fn proven_red_prefix(&self) -> Option<Vec<usize>> {
        // Nobody is blamed while the whole may yet turn out green, or the base red.
        let is_needed = self.verdict(&self.kept) == SetVerdict::Red;
        if !is_needed || self.verdict(&[]) != SetVerdict::Green {
            return None;
        }
        let interval = self.interval(&[SetVerdict::Red]);
        let prefix = &self.kept[..interval.red];
        let is_proven = self.tally(prefix).reds >= REDS_OF_A_CULPRIT;
        (interval.is_closed() && is_proven).then(|| prefix.to_vec())
    }

    fn leave_out(&mut self, place: usize, why: LeftOutReason) {
        self.kept.retain(|kept| *kept != place);
        self.left_out.push(LeftOut { place, why });
        // Needs point backwards, so one way forward finds those that need it by way of others too.
        for place in place + 1..self.needs.len() {
            let needed = self.needs[place].iter().find(|need| !self.is_kept(**need));
            if let Some(&needed) = needed.filter(|_| self.is_kept(place)) {
                let why = LeftOutReason::Needs(needed);
                self.kept.retain(|kept| *kept != place);
                self.left_out.push(LeftOut { place, why });
            }
        }
    }

    /// The prefixes to try now, by their lengths.
    fn wanted(&self, free: usize, under_way: &[Vec<usize>]) -> Vec<usize> {
        let mut wanted = self.runs_that_decide();
        wanted.retain(|length| {
            let prefix = &self.kept[..*length];
            under_way.iter().all(|set| set != prefix)
        });
        wanted.extend(self.cuts(free.saturating_sub(wanted.len()), under_way));
        wanted.truncate(free);
        wanted
    }

    /// A run that repeats a red one is made alone: tests that share a port or a database may have been in each
    /// other's way.
    fn in_good_company(&self, mut lengths: Vec<usize>, under_way: &[Vec<usize>]) -> Vec<usize> {
        let repeats = |set: &[usize]| self.tally(set).reds > 0;
        let is_repeat = |length: &usize| repeats(&self.kept[..*length]);
        if under_way.iter().any(|set| repeats(set)) {
            return Vec::new();
        }
        match lengths.first() {
            Some(first) if is_repeat(first) && under_way.is_empty() => lengths.truncate(1),
            Some(first) if is_repeat(first) => lengths.clear(),
            _ => lengths.retain(|length| !is_repeat(length)),
        }
        lengths
    }

    /// Runs without which nothing is known for sure, in the order in which one prober makes them.
    fn runs_that_decide(&self) -> Vec<usize> {
        let whole = self.kept.len();
        let mut lengths = Vec::new();
        if self.verdict(&self.kept) != SetVerdict::Red {
            lengths.push(whole);
        }
        if whole > 0 && self.verdict(&self.kept) != SetVerdict::Untried {
            let base = self.verdict(&[]);
            if matches!(base, SetVerdict::Untried | SetVerdict::Doubted) {
                lengths.push(0);
            }
            let interval = self.interval(&[SetVerdict::Red, SetVerdict::Doubted]);
            let reds = self.tally(&self.kept[..interval.red]).reds;
            let is_due =
                reds < REDS_OF_A_RED_SET || (interval.is_closed() && reds < REDS_OF_A_CULPRIT);
            if self.may_probe() && is_due && !lengths.contains(&interval.red) {
                lengths.push(interval.red);
            }
        }
        lengths
    }

    /// Whether prefixes are worth a try: the whole has failed, and nothing speaks against the base.
    fn may_probe(&self) -> bool {
        let whole = self.verdict(&self.kept);
        let base = self.verdict(&[]);
        matches!(whole, SetVerdict::Doubted | SetVerdict::Red)
            && matches!(base, SetVerdict::Untried | SetVerdict::Green)
    }

    /// So many untried prefixes that cut the interval into parts as equal as those under way allow.
    fn cuts(&self, many: usize, under_way: &[Vec<usize>]) -> Vec<usize> {
        if !self.may_probe() {
            return Vec::new();
        }
        // One that failed once is taken for red: it will be, most of the time, and is repeated meanwhile.
        let Interval { green, red } = self.interval(&[SetVerdict::Red, SetVerdict::Doubted]);
        let probed = under_way.iter().filter(|set| self.kept.starts_with(set));
        let inside = probed.map(Vec::len).filter(|at| green < *at && *at < red);
        let mut marks: Vec<usize> = inside.chain([green, red]).collect();
        marks.sort_unstable();
        let mut gaps: Vec<(usize, usize, usize)> = marks
            .windows(2)
            .map(|ends| (ends[0], ends[1] - ends[0], 1))
            .collect();
        for _ in 0..many {
            let divisible = gaps.iter_mut().filter(|(_, width, parts)| parts < width);
            let widest = divisible
                .max_by_key(|(from, width, parts)| (width.div_ceil(*parts), Reverse(*from)));
            if let Some((_, _, parts)) = widest {
                *parts += 1;
            }
        }
        let cuts = gaps.into_iter().flat_map(|(from, width, parts)| {
            (1..parts).map(move |part| from + width * part / parts)
        });
        cuts.collect()
    }

    /// From the longest green prefix to the shortest longer one of these verdicts.
    ///
    /// A strand may mend what another broke, so a red prefix may lie below a green one. Between a green one and a
    /// longer red one there is a boundary all the same, and the longest green one leaves the least to search.
    fn interval(&self, reds: &[SetVerdict]) -> Interval {
        let known = || {
            let prefixes = self
                .tallies
                .iter()
                .filter(|(set, _)| self.kept.starts_with(set));
            prefixes.map(|(set, tally)| (set.len(), tally.verdict()))
        };
        let greens = known().filter(|(_, verdict)| *verdict == SetVerdict::Green);
        let green = greens.map(|(length, _)| length).max().unwrap_or(0);
        let reds = known().filter(|(length, verdict)| *length > green && reds.contains(verdict));
        let red = reds.map(|(length, _)| length).min();
        Interval {
            green,
            red: red.unwrap_or(self.kept.len()),
        }
    }

    fn is_kept(&self, place: usize) -> bool {
        self.kept.binary_search(&place).is_ok()
    }

    fn tally(&self, set: &[usize]) -> RunCounts {
        self.tallies.get(set).copied().unwrap_or_default()
    }

    fn verdict(&self, set: &[usize]) -> SetVerdict {
        self.tally(set).verdict()
    }
}
