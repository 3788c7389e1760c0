//! Sees conflicts coming: merges what tasks have made so far in pairs, while their agents still work.
//!
//! Looks at files and decides nothing. Whatever it writes lies in a folder of its own that goes with it.

mod round;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pleach_domain::event::PredictedConflict;
use pleach_domain::id::TaskId;
use pleach_system::process::Cancel;

use self::round::{LiveTree, RadarRound};
use crate::capture::{LiveSnapshot, TemporaryObjects, look};
use crate::git::{CommitId, Store, TreeId};
use crate::weave::{PairCache, WeaveError, WeaveFolder, tree_of};
use crate::worktree::Worktree;

/// So many trees are written before everything is cleared away and begun anew.
const MOST_TREES: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RadarInput {
    pub live: Vec<LiveTask>,
    /// Tasks that are woven, in the order of the batch.
    pub woven: Vec<WovenTask>,
    pub tip: CommitId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveTask {
    pub task: TaskId,
    pub position: usize,
    pub attempt: u32,
    pub branch: String,
    pub basis: CommitId,
    /// Its work, once it is done.
    pub built: Option<CommitId>,
    /// What it has made so far, where its worktree is on another machine.
    pub bundle: Option<PathBuf>,
    /// What it waited for, by position.
    pub comes_after: Vec<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WovenTask {
    pub task: TaskId,
    pub position: usize,
    pub commit: CommitId,
    pub basis: CommitId,
}

impl RadarInput {
    /// Whether there are two of whom one can still be helped.
    pub fn is_worth_a_look(&self) -> bool {
        let others = usize::from(!self.woven.is_empty());
        !self.live.is_empty() && self.live.len() + others > 1
    }
}

#[derive(Debug)]
pub struct Radar<'s> {
    store: &'s Store,
    /// Paths whose changes are no part of anybody's work.
    leave_out: Vec<PathBuf>,
    stop: Cancel,
    weave_folder: Option<WeaveFolder>,
    /// How many worktrees were read since then, and in all.
    trees: usize,
    read: usize,
    seen: HashMap<TaskId, (u32, LiveSnapshot)>,
    /// What was brought of tasks on other machines last.
    brought: HashMap<TaskId, (PathBuf, TreeId)>,
    known: [PairCache; 2],
    /// What the last round looked at, and what came of it.
    last: Option<(Vec<LiveTree>, RadarInput, Vec<PredictedConflict>)>,
}

impl<'s> Radar<'s> {
    /// A radar that has not looked yet, and that may be stopped.
    pub fn new(store: &'s Store, leave_out: Vec<PathBuf>, stop: Cancel) -> Self {
        Self {
            store,
            leave_out,
            stop,
            weave_folder: None,
            trees: 0,
            read: 0,
            seen: HashMap::new(),
            brought: HashMap::new(),
            known: Default::default(),
            last: None,
        }
    }

    pub fn merged(&self) -> usize {
        self.known.iter().map(PairCache::merged).sum()
    }

    /// How often files of a worktree were read so far.
    pub fn read(&self) -> usize {
        self.read
    }

    /// The conflicts that are coming; `None` if it was stopped.
    ///
    /// A worktree that cannot be read just now counts as it was last time.
    pub fn look(
        &mut self,
        situation: &RadarInput,
    ) -> Result<Option<Vec<PredictedConflict>>, WeaveError> {
        if self.trees > MOST_TREES {
            (self.weave_folder, self.trees) = (None, 0);
            self.seen.clear();
            self.brought.clear();
        }
        let weave_folder = match self.weave_folder.take() {
            Some(weave_folder) => weave_folder,
            None => WeaveFolder::of_store(self.store)?,
        };
        let looked = self.look_in(&weave_folder, situation);
        self.weave_folder = Some(weave_folder);
        looked
    }

    fn look_in(
        &mut self,
        weave_folder: &WeaveFolder,
        situation: &RadarInput,
    ) -> Result<Option<Vec<PredictedConflict>>, WeaveError> {
        let is_live = |task: &TaskId| situation.live.iter().any(|live| live.task == *task);
        self.seen.retain(|task, _| is_live(task));
        self.brought.retain(|task, _| is_live(task));
        let mut standing = Vec::new();
        for (place, live) in situation.live.iter().enumerate() {
            if self.stop.is_cancelled() {
                return Ok(None);
            }
            let basis = tree_of(self.store, &live.basis)?;
            let tree = match (&live.built, &live.bundle) {
                (Some(commit), _) => Some(tree_of(self.store, commit)?),
                (None, Some(bundle)) => self.tree_of_bundle(weave_folder, live, bundle),
                (None, None) => self.tree_of_worktree(weave_folder, live),
            };
            if let Some(tree) = tree.filter(|tree| *tree != basis) {
                standing.push(LiveTree { place, basis, tree });
            }
        }
        if let Some((then, there, found)) = &self.last
            && (then, there) == (&standing, situation)
        {
            return Ok(Some(found.clone()));
        }
        let round = RadarRound::begin(self.store, weave_folder, situation, &standing)?;
        let found = round.conflicts(&mut self.known, &self.stop)?;
        if let Some(found) = &found {
            self.last = Some((standing, situation.clone(), found.clone()));
        }
        Ok(found)
    }

    /// What a task on another machine has made so far; nothing of it goes to the store.
    fn tree_of_bundle(
        &mut self,
        weave_folder: &WeaveFolder,
        live: &LiveTask,
        bundle: &Path,
    ) -> Option<TreeId> {
        let known = self.brought.get(&live.task);
        if let Some((_, tree)) = known.filter(|(known, _)| known == bundle) {
            return Some(tree.clone());
        }
        // One that is gone is followed by another one.
        let Some(tree) = weave_folder.tree_of_bundle(bundle) else {
            return known.map(|(_, tree)| tree.clone());
        };
        self.trees += 1;
        let brought = (bundle.to_owned(), tree.clone());
        self.brought.insert(live.task.clone(), brought);
        Some(tree)
    }

    /// What a task has made so far, as far as anybody knows.
    fn tree_of_worktree(&mut self, weave_folder: &WeaveFolder, live: &LiveTask) -> Option<TreeId> {
        let before = self.seen.remove(&live.task);
        let before = before.filter(|(attempt, _)| *attempt == live.attempt);
        let before = before.map(|(_, seen)| seen);
        let worktree = Worktree::on_branch(self.store, &live.branch)
            .filter(|worktree| *worktree.basis() == live.basis);
        let objects = weave_folder.object_folder();
        let aside = TemporaryObjects {
            objects: &objects,
            stop: &self.stop,
        };
        let now = worktree.and_then(|worktree| {
            let seen = look(
                self.store,
                &worktree,
                &self.leave_out,
                Some(aside),
                before.as_ref(),
            );
            // Files come and go while they are looked at; what is not seen now is seen next time.
            seen.ok()
        });
        let has_read = now.as_ref().is_some_and(LiveSnapshot::has_read);
        self.trees += usize::from(has_read);
        self.read += usize::from(has_read);
        let seen = now.or(before)?;
        let tree = seen.tree().clone();
        self.seen.insert(live.task.clone(), (live.attempt, seen));
        Some(tree)
    }
}
