//! Which of many trees would conflict with each other, pair by pair.
//!
//! An index of the changed paths finds the few pairs that could; the others are never merged. Knows nothing of
//! whose trees they are.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use gix_hash::ObjectId;

use super::authority::{Merge, MergeAnswer, ask_contents, ask_many, bare_commit};
use super::change::{TreeChange, TreeDiff, diff};
use super::conflict::paths_of;
use super::objects::WeaveObjects;
use super::sides::{BothChanged, OurChanges, SidesMeeting, folders_above};
use super::weave_folder::WeaveFolder;
use super::weaving::{Merged, Weaving, object_id, torn};
use super::{ConflictedFile, WeaveError};
use crate::git::{CommitId, TreeId, parse_id};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChangedTree {
    pub basis: TreeId,
    pub tree: TreeId,
}

/// Two pieces of work that do not merge.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Collision {
    pub one: usize,
    /// The place of the second, which comes later.
    pub other: usize,
    /// The files that conflict; none where git cannot say which.
    pub files: Vec<String>,
}

/// What came of pairs that were merged before; a pair that is not asked for any more is forgotten.
#[derive(Debug, Default)]
pub struct PairCache {
    now: PairVerdicts,
    before: PairVerdicts,
    merged: usize,
}

/// What came of each pair of trees that began as the same one.
type PairVerdicts = HashMap<[ObjectId; 3], PairVerdict>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum PairVerdict {
    Clean,
    Conflict(Vec<String>),
}

impl PairVerdict {
    fn of(files: &[ConflictedFile]) -> Self {
        if files.is_empty() {
            Self::Clean
        } else {
            Self::Conflict(paths_of(files))
        }
    }
}

impl PairCache {
    pub fn merged(&self) -> usize {
        self.merged
    }

    fn find(&mut self, pair: [ObjectId; 3]) -> Option<PairVerdict> {
        if let Some(known) = self.now.get(&pair) {
            return Some(known.clone());
        }
        let known = self.before.get(&pair)?.clone();
        self.now.insert(pair, known.clone());
        Some(known)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RebasedTree {
    To(TreeId),
    /// It does not go there, because of these files.
    Conflict(Vec<String>),
}

/// A place where trees are merged in pairs; nothing of it is stored.
pub struct Pairwise<'l> {
    weaving: Weaving<'l>,
}

impl<'l> Pairwise<'l> {
    /// Begins on top of a commit, onto which trees may be moved.
    pub fn on(weave_folder: &'l WeaveFolder, onto: &CommitId) -> Result<Self, WeaveError> {
        let weaving = Weaving::begin(weave_folder, onto, &[])?;
        Ok(Self { weaving })
    }

    pub fn tree_of(&self, commit: &CommitId) -> Result<TreeId, WeaveError> {
        tree_id(self.weaving.objects.commit(object_id(commit))?.tree)
    }

    pub fn changed(&self, work: &ChangedTree) -> Result<Vec<String>, WeaveError> {
        let found = self.diff(work)?;
        let paths = found.changes.iter();
        Ok(paths
            .map(|change| crate::git::read::text(&change.path))
            .collect())
    }

    /// Work as it would be on top of the commit that was begun with.
    pub fn moved(&self, work: &ChangedTree) -> Result<RebasedTree, WeaveError> {
        let objects = &self.weaving.objects;
        let onto = self.weaving.tip;
        if tree_object(&work.basis) == onto {
            return Ok(RebasedTree::To(work.tree.clone()));
        }
        let basis = bare_commit(objects, tree_object(&work.basis))?;
        let theirs = bare_commit(objects, tree_object(&work.tree))?;
        Ok(match self.weaving.merge_freely(onto, basis, theirs)? {
            Merged::Clean { tree, .. } => RebasedTree::To(tree_id(tree)?),
            Merged::Conflict(files) => RebasedTree::Conflict(paths_of(&files)),
        })
    }

    /// The pairs that conflict, among those that are asked for and began as the same tree.
    pub fn collisions(
        &self,
        works: &[ChangedTree],
        is_asked_for: impl Fn(usize, usize) -> bool,
        known: &mut PairCache,
    ) -> Result<Vec<Collision>, WeaveError> {
        let diffs = works.iter().map(|work| self.diff(work).map(Rc::new));
        let diffs = diffs.collect::<Result<Vec<_>, _>>()?;
        let mut of_basis: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, work) in works.iter().enumerate() {
            of_basis.entry(work.basis.as_str()).or_default().push(place);
        }
        known.before = std::mem::take(&mut known.now);
        let mut found = Vec::new();
        let mut open = Vec::new();
        for group in of_basis.values() {
            for (one, other) in candidates(group, &diffs) {
                if works[one].tree == works[other].tree || !is_asked_for(one, other) {
                    continue;
                }
                let pair = Pair { one, other };
                match known.find(pair.key(works)) {
                    Some(PairVerdict::Conflict(files)) => {
                        found.push(Collision { one, other, files });
                    }
                    Some(PairVerdict::Clean) => {}
                    None => open.push(pair),
                }
            }
        }
        known.merged += open.len();
        for (pair, verdict) in self.merge(works, &diffs, &open)? {
            known.now.insert(pair.key(works), verdict.clone());
            if let PairVerdict::Conflict(files) = verdict {
                let Pair { one, other } = pair;
                found.push(Collision { one, other, files });
            }
        }
        known.before.clear();
        found.sort();
        Ok(found)
    }

    fn diff(&self, work: &ChangedTree) -> Result<TreeDiff, WeaveError> {
        let trees = [&work.basis, &work.tree].map(|tree| Some(tree_object(tree)));
        diff(&self.weaving.objects, trees[0], trees[1])
    }

    /// Merges pairs: by their paths where these decide, and all others in a few processes.
    fn merge(
        &self,
        works: &[ChangedTree],
        diffs: &[Rc<TreeDiff>],
        pairs: &[Pair],
    ) -> Result<Vec<(Pair, PairVerdict)>, WeaveError> {
        let mut results = Vec::with_capacity(pairs.len());
        let mut questions: BTreeMap<ObjectId, OpenQuestions> = BTreeMap::new();
        let does_renormalize = self.weaving.weave_folder.does_renormalize();
        for of_one in pairs.chunk_by(|a, b| a.one == b.one) {
            let one = of_one[0].one;
            let ours = OurChanges::of(TreeDiff::clone(&diffs[one]));
            let attributes = attributes_of(&works[one], &diffs[one]);
            for pair in of_one {
                let (torn, both) = match ours.meet(&diffs[pair.other]) {
                    SidesMeeting::Disjoint { both, .. } => (Vec::new(), both),
                    SidesMeeting::Conflicting { files, both } if !does_renormalize => {
                        (files.iter().map(torn).collect(), both)
                    }
                    SidesMeeting::Conflicting { .. } | SidesMeeting::Entangled => {
                        let questions = questions.entry(attributes).or_default();
                        questions.entangled.push(*pair);
                        continue;
                    }
                };
                if both.is_empty() {
                    results.push((*pair, PairVerdict::of(&torn)));
                    continue;
                }
                let questions = questions.entry(attributes).or_default();
                questions.contents.push((*pair, torn, both));
            }
        }
        for (attributes, questions) in questions {
            self.ask(attributes, &questions, works, &mut results)?;
        }
        Ok(results)
    }

    /// Asks git about pairs for which the same attributes count.
    fn ask(
        &self,
        attributes: ObjectId,
        questions: &OpenQuestions,
        works: &[ChangedTree],
        results: &mut Vec<(Pair, PairVerdict)>,
    ) -> Result<(), WeaveError> {
        let (weave_folder, objects) = (self.weaving.weave_folder, &self.weaving.objects);
        // The same contents meet in many pairs.
        let mut different: HashMap<&[BothChanged], usize> = HashMap::new();
        let mut asked: Vec<&[BothChanged]> = Vec::new();
        for (_, _, both) in &questions.contents {
            different.entry(both).or_insert_with(|| {
                asked.push(both);
                asked.len() - 1
            });
        }
        let answers = if asked.is_empty() {
            Vec::new()
        } else {
            ask_contents(weave_folder, objects, attributes, &asked)?
        };
        for (pair, torn, both) in &questions.contents {
            let mut files: Vec<ConflictedFile> = torn.clone();
            if let MergeAnswer::Conflict(more) = &answers[different[both.as_slice()]] {
                files.extend(more.iter().cloned());
            }
            files.sort_by(|one, other| one.path.cmp(&other.path));
            results.push((*pair, PairVerdict::of(&files)));
        }
        if questions.entangled.is_empty() {
            return Ok(());
        }
        let merges = questions.entangled.iter().map(|pair| {
            Ok(Merge {
                base: shown(objects, &works[pair.one].basis)?,
                ours: shown(objects, &works[pair.one].tree)?,
                theirs: shown(objects, &works[pair.other].tree)?,
            })
        });
        let merges = merges.collect::<Result<Vec<_>, WeaveError>>()?;
        let answers = ask_many(weave_folder, attributes, &merges)?;
        for (pair, answer) in questions.entangled.iter().zip(answers) {
            // Some conflicts are of no file, such as a folder that went to two places.
            let verdict = match answer {
                MergeAnswer::Clean(_) => PairVerdict::Clean,
                MergeAnswer::Conflict(files) => PairVerdict::Conflict(paths_of(&files)),
            };
            results.push((*pair, verdict));
        }
        Ok(())
    }
}

/// Two places, the first the lesser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    one: usize,
    other: usize,
}

impl Pair {
    fn key(self, works: &[ChangedTree]) -> [ObjectId; 3] {
        let Self { one, other } = self;
        [&works[one].basis, &works[one].tree, &works[other].tree].map(tree_object)
    }
}

#[derive(Default)]
struct OpenQuestions {
    /// Pairs whose common files alone decide, with those that are torn anyway.
    contents: Vec<(Pair, Vec<ConflictedFile>, Vec<BothChanged>)>,
    entangled: Vec<Pair>,
}

/// The pairs whose changes could touch each other.
///
/// These are the ways in which [`OurChanges::meet`] finds two sides not simply apart: a path that both
/// changed, a new path below a new file of the other side, and one below a folder that the other side
/// removed and may have renamed.
fn candidates(group: &[usize], diffs: &[Rc<TreeDiff>]) -> BTreeSet<(usize, usize)> {
    let mut changed: HashMap<&[u8], Vec<usize>> = HashMap::new();
    let mut added: HashMap<&[u8], Vec<usize>> = HashMap::new();
    let mut gone: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for place in group {
        for change in &diffs[*place].changes {
            changed.entry(&change.path).or_default().push(*place);
            if change.is_addition() {
                added.entry(&change.path).or_default().push(*place);
            }
        }
        for folder in &diffs[*place].gone {
            gone.entry(folder).or_default().push(*place);
        }
    }
    let mut found = BTreeSet::new();
    let mut meet = |one: usize, other: usize| {
        if one != other {
            found.insert((one.min(other), one.max(other)));
        }
    };
    for places in changed.values() {
        for (at, one) in places.iter().enumerate() {
            for other in &places[at + 1..] {
                meet(*one, *other);
            }
        }
    }
    for (path, places) in &added {
        for folder in folders_above(path) {
            let others = [&added, &gone].map(|index| index.get(folder));
            for other in others.into_iter().flatten().flatten() {
                for one in places {
                    meet(*one, *other);
                }
            }
        }
    }
    found
}

/// The tree whose attributes count when others are merged into it.
fn attributes_of(work: &ChangedTree, diff: &TreeDiff) -> ObjectId {
    let is_about_attributes = |change: &TreeChange| change.path.ends_with(b".gitattributes");
    let changes_them = diff.changes.iter().any(is_about_attributes);
    tree_object(if changes_them {
        &work.tree
    } else {
        &work.basis
    })
}

/// A commit by which git finds a tree.
fn shown(objects: &WeaveObjects, tree: &TreeId) -> Result<ObjectId, WeaveError> {
    let tree = tree_object(tree);
    objects.show_tree(tree)?;
    bare_commit(objects, tree)
}

fn tree_object(tree: &TreeId) -> ObjectId {
    ObjectId::from_hex(tree.as_str().as_bytes()).expect("a tree's id is checked when it is made")
}

fn tree_id(tree: ObjectId) -> Result<TreeId, WeaveError> {
    Ok(parse_id("tree", tree.to_string().as_bytes())?)
}
