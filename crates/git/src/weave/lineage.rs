//! Which commits a branch would bring, and from where it parted.
//!
//! Knows the commits that the base lacks, and which of them are woven in already.

use std::collections::{BTreeSet, HashMap, HashSet};

use gix_hash::ObjectId;

/// The commits that some branches have and the base has not.
#[derive(Debug, Default)]
pub(super) struct Lineage {
    parents: HashMap<ObjectId, Vec<ObjectId>>,
    woven: HashSet<ObjectId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parting {
    AlreadyIn,
    /// Every commit that it brings comes after this one.
    At(ObjectId),
    /// There are several such commits; some may come before others.
    Several(Vec<ObjectId>),
    Nowhere,
}

impl Lineage {
    /// Reads lines of a commit and its parents, as `rev-list --parents` prints them.
    pub(super) fn read(printed: &[u8]) -> Option<Self> {
        let mut parents = HashMap::new();
        for line in printed.split(|byte| *byte == b'\n') {
            let mut ids = line
                .split(|byte| *byte == b' ')
                .filter(|word| !word.is_empty());
            let Some(commit) = ids.next() else {
                continue;
            };
            let commit = ObjectId::from_hex(commit).ok()?;
            let above: Option<Vec<_>> = ids.map(|id| ObjectId::from_hex(id).ok()).collect();
            parents.insert(commit, above?);
        }
        Some(Self {
            parents,
            woven: HashSet::new(),
        })
    }

    /// The commits that a branch would bring now, the oldest first.
    pub(super) fn brings(&self, branch: ObjectId) -> Vec<ObjectId> {
        let is_new = |id: &ObjectId| self.parents.contains_key(id) && !self.woven.contains(id);
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        let mut stack = vec![(branch, false)];
        while let Some((commit, is_done)) = stack.pop() {
            if is_done {
                order.push(commit);
            } else if is_new(&commit) && seen.insert(commit) {
                stack.push((commit, true));
                stack.extend(self.parents[&commit].iter().map(|parent| (*parent, false)));
            }
        }
        order
    }

    /// Where a branch that brings these commits parted from what is woven.
    pub(super) fn parting(&self, brings: &[ObjectId]) -> Parting {
        if brings.is_empty() {
            return Parting::AlreadyIn;
        }
        let own: HashSet<&ObjectId> = brings.iter().collect();
        let above: BTreeSet<ObjectId> = brings
            .iter()
            .flat_map(|commit| &self.parents[commit])
            .filter(|parent| !own.contains(parent))
            .copied()
            .collect();
        let mut above = above.into_iter();
        match (above.next(), above.len()) {
            (None, _) => Parting::Nowhere,
            (Some(only), 0) => Parting::At(only),
            (Some(first), _) => Parting::Several([first].into_iter().chain(above).collect()),
        }
    }

    /// Whether everything up to a commit is woven in; a merge of what is woven counts as woven.
    pub(super) fn is_in(&self, commit: ObjectId) -> bool {
        let is_merge = |new: &ObjectId| self.parents[new].len() > 1;
        self.brings(commit).iter().all(is_merge)
    }

    /// A commit and those before it that the base lacks.
    pub(super) fn brings_before(&self, commit: ObjectId) -> HashSet<ObjectId> {
        let mut seen = HashSet::new();
        let mut stack = vec![commit];
        while let Some(commit) = stack.pop() {
            if let Some(parents) = self.parents.get(&commit)
                && seen.insert(commit)
            {
                stack.extend(parents);
            }
        }
        seen
    }

    /// The only parent of a commit; nothing for a merge or a beginning.
    pub(super) fn only_parent(&self, commit: ObjectId) -> Option<ObjectId> {
        match self.parents.get(&commit).map(Vec::as_slice) {
            Some([parent]) => Some(*parent),
            _ => None,
        }
    }

    pub(super) fn weave(&mut self, commits: &[ObjectId]) {
        self.woven.extend(commits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: u8) -> ObjectId {
        ObjectId::from_bytes_or_panic(&[name; 20])
    }

    fn lineage(text: &str) -> Lineage {
        let hex = |name: &str| id(name.as_bytes()[0]).to_string();
        let lines = text.lines().map(|line| {
            let words: Vec<_> = line.split(' ').map(hex).collect();
            words.join(" ")
        });
        Lineage::read(lines.collect::<Vec<_>>().join("\n").as_bytes()).unwrap()
    }

    #[test]
    fn a_branch_parts_where_its_oldest_commit_stands() {
        let lineage = lineage("c b\nb a\na O");
        let brings = lineage.brings(id(b'c'));
        assert_eq!(brings, [id(b'a'), id(b'b'), id(b'c')]);
        assert_eq!(lineage.parting(&brings), Parting::At(id(b'O')));
    }

    #[test]
    fn a_branch_on_top_of_a_woven_one_parts_from_that() {
        let mut lineage = lineage("c b\nb a\na O");
        lineage.weave(&lineage.brings(id(b'b')));
        let brings = lineage.brings(id(b'c'));
        assert_eq!(lineage.parting(&brings), Parting::At(id(b'b')));
        lineage.weave(&brings);
        assert_eq!(
            lineage.parting(&lineage.brings(id(b'c'))),
            Parting::AlreadyIn
        );
    }

    #[test]
    fn a_branch_that_merged_what_is_in_parted_at_several_places() {
        let lineage = lineage("m a P\na O");
        let parting = lineage.parting(&lineage.brings(id(b'm')));
        assert_eq!(parting, Parting::Several(vec![id(b'O'), id(b'P')]));
    }

    #[test]
    fn a_merge_of_what_is_woven_is_in_and_one_of_what_is_not_is_not() {
        let mut lineage = lineage("n m c\nm a b\nc O\na O\nb O");
        for branch in [b'a', b'b'] {
            assert!(!lineage.is_in(id(b'm')));
            lineage.weave(&lineage.brings(id(branch)));
        }
        assert!(lineage.is_in(id(b'm')));
        assert!(!lineage.is_in(id(b'n')));
    }

    #[test]
    fn a_history_of_its_own_parts_nowhere() {
        let lineage = lineage("b a\na");
        let parting = lineage.parting(&lineage.brings(id(b'b')));
        assert_eq!(parting, Parting::Nowhere);
        assert_eq!(lineage.parting(&[]), Parting::AlreadyIn);
    }
}
