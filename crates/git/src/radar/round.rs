//! One round of the radar: trees in, pairs that would conflict out.
//!
//! Knows nothing of worktrees; every tree is there already.

use pleach_domain::event::PredictedConflict;
use pleach_system::process::Cancel;

use super::{LiveTask, RadarInput, WovenTask};
use crate::git::{Store, TreeId};
use crate::weave::{
    ChangedTree, Collision, PairCache, Pairwise, RebasedTree, WeaveError, WeaveFolder,
};

/// What a task that is not over has made so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LiveTree {
    /// Its place among the live ones.
    pub(super) place: usize,
    pub(super) basis: TreeId,
    pub(super) tree: TreeId,
}

pub(super) struct RadarRound<'r> {
    store: &'r Store,
    situation: &'r RadarInput,
    standing: &'r [LiveTree],
    pairwise: Pairwise<'r>,
    tip: TreeId,
}

impl<'r> RadarRound<'r> {
    pub(super) fn begin(
        store: &'r Store,
        weave_folder: &'r WeaveFolder,
        situation: &'r RadarInput,
        standing: &'r [LiveTree],
    ) -> Result<Self, WeaveError> {
        let pairwise = Pairwise::on(weave_folder, &situation.tip)?;
        let tip = pairwise.tree_of(&situation.tip)?;
        Ok(Self {
            store,
            situation,
            standing,
            pairwise,
            tip,
        })
    }

    /// All pairs, in the order of the batch; `None` if it was stopped.
    pub(super) fn conflicts(
        &self,
        known: &mut [PairCache; 2],
        stop: &Cancel,
    ) -> Result<Option<Vec<PredictedConflict>>, WeaveError> {
        let mut found: Vec<(usize, usize, PredictedConflict)> = Vec::new();
        let works: Vec<ChangedTree> = self.standing.iter().map(work).collect();
        let mut on_tip = Vec::with_capacity(works.len());
        for (place, work) in works.iter().enumerate() {
            if stop.is_cancelled() {
                return Ok(None);
            }
            let moved = self.pairwise.moved(work)?;
            on_tip.push(match moved {
                RebasedTree::To(tree) => Some(tree),
                RebasedTree::Conflict(files) => {
                    let live = self.live(place);
                    for (woven, files) in self.partners(work, live, &files)? {
                        found.push(pair(
                            (live.position, &live.task),
                            (woven.position, &woven.task),
                            files,
                        ));
                    }
                    None
                }
            });
        }
        let together = |one: usize, other: usize| !self.are_ordered(one, other);
        let mut collisions = self.pairwise.collisions(&works, together, &mut known[0])?;
        // Tasks that began apart are compared where both will end.
        let lasting = on_tip.iter().enumerate();
        let lasting = lasting.filter_map(|(place, tree)| Some((place, tree.clone()?)));
        let (places, moved): (Vec<usize>, Vec<ChangedTree>) = lasting
            .map(|(place, tree)| {
                let basis = self.tip.clone();
                (place, ChangedTree { basis, tree })
            })
            .unzip();
        let began_apart = |one: usize, other: usize| {
            let (one, other) = (places[one], places[other]);
            works[one].basis != works[other].basis && together(one, other)
        };
        for mut pair in self
            .pairwise
            .collisions(&moved, began_apart, &mut known[1])?
        {
            (pair.one, pair.other) = (places[pair.one], places[pair.other]);
            collisions.push(pair);
        }
        for Collision { one, other, files } in collisions {
            let (one, other) = (self.live(one), self.live(other));
            found.push(pair(
                (one.position, &one.task),
                (other.position, &other.task),
                files,
            ));
        }
        found.sort_by_key(|(one, other, _)| (*one, *other));
        Ok(Some(found.into_iter().map(|(_, _, pair)| pair).collect()))
    }

    fn live(&self, place: usize) -> &'r LiveTask {
        &self.situation.live[self.standing[place].place]
    }

    /// Whether one of two tasks waited for the other.
    fn are_ordered(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.live(one), self.live(other));
        one.comes_after[other.position] || other.comes_after[one.position]
    }

    /// The woven tasks that are to be named for a conflict with all of them together, and for which files.
    fn partners(
        &self,
        work: &ChangedTree,
        live: &LiveTask,
        files: &[String],
    ) -> Result<Vec<(&'r WovenTask, Vec<String>)>, WeaveError> {
        let (mut suspects, mut guilty) = (Vec::new(), Vec::new());
        for woven in &self.situation.woven {
            if live.comes_after[woven.position] {
                continue;
            }
            let theirs = ChangedTree {
                basis: self.pairwise.tree_of(&woven.basis)?,
                tree: self.pairwise.tree_of(&woven.commit)?,
            };
            let changed = self.pairwise.changed(&theirs)?;
            let mut touched = files.to_vec();
            touched.retain(|file| changed.contains(file));
            if touched.is_empty() || self.store.is_ancestor(&woven.commit, &live.basis)? {
                continue;
            }
            suspects.push((woven, touched));
            let both = [theirs, work.clone()];
            let known = &mut PairCache::default();
            let alone = self.pairwise.collisions(&both, |_, _| true, known)?;
            guilty.extend(alone.into_iter().map(|alone| (woven, alone.files)));
        }
        // If none does it alone, or began elsewhere, they do it together.
        Ok(if guilty.is_empty() { suspects } else { guilty })
    }
}

fn work(standing: &LiveTree) -> ChangedTree {
    ChangedTree {
        basis: standing.basis.clone(),
        tree: standing.tree.clone(),
    }
}

/// A pair with the positions of its tasks, the earlier one first.
fn pair(
    one: (usize, &pleach_domain::id::TaskId),
    other: (usize, &pleach_domain::id::TaskId),
    files: Vec<String>,
) -> (usize, usize, PredictedConflict) {
    let (first, second) = if one.0 < other.0 {
        (one, other)
    } else {
        (other, one)
    };
    let coming = PredictedConflict {
        a: first.1.clone(),
        b: second.1.clone(),
        files,
    };
    (first.0, second.0, coming)
}
