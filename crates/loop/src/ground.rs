//! What tasks stand on: a commit with the work of earlier batches that it lacks woven in.
//!
//! Nobody is ever to blame for it, and it is taken for the base wherever what is woven is made anew.

use super::RunError;
use super::run_loop::Loop;
use pleach_domain::choice::Strategy;
use pleach_git::git::CommitId;
use pleach_git::weave::{Strand, StrandOutcome, WeaveFolder, weave};
use pleach_log::earlier::BuildsOn;
use pleach_log::earlier::Presence;

pub(super) struct Ground {
    pub(super) commit: CommitId,
    /// The first work that does not merge there: its place, and the files.
    pub(super) conflict: Option<(usize, Vec<String>)>,
}

impl Loop<'_> {
    /// A commit with the work at some places, as far as that merges.
    pub(super) fn ground(&self, onto: &CommitId, places: &[usize]) -> Result<Ground, RunError> {
        let lacking = self.lacking(onto, places)?;
        let mut ground = Ground {
            commit: onto.clone(),
            conflict: None,
        };
        if lacking.is_empty() {
            return Ok(ground);
        }
        let (places, strands): (Vec<usize>, Vec<Strand>) = lacking.into_iter().unzip();
        let weave_folder = WeaveFolder::of_store(&self.context.store)?;
        let woven = weave(&weave_folder, onto, &strands, Strategy::Merge)?;
        let mut outcomes = woven.outcomes.iter().zip(places);
        ground.conflict = outcomes.find_map(|(outcome, place)| match outcome {
            StrandOutcome::Conflict(conflict) => Some((place, conflict.paths())),
            _ => None,
        });
        ground.commit = woven.tip;
        Ok(ground)
    }

    /// What a commit lacks of the work at some places, to be woven.
    pub(super) fn lacking(
        &self,
        onto: &CommitId,
        places: &[usize],
    ) -> Result<Vec<(usize, Strand)>, RunError> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let earlier = &self.record.earlier;
        let weave_folder = WeaveFolder::of_store(&self.context.store)?;
        let presence = earlier.presence(&weave_folder, onto, places)?;
        let places = places.iter().zip(presence);
        let lacking = places.filter(|(_, presence)| *presence != Presence::There);
        Ok(lacking
            .filter_map(|(place, _)| Some((*place, earlier.strand(*place)?)))
            .collect())
    }

    /// The work that a task builds on and that is not in what is woven, to be woven before it.
    pub(super) fn ground_of_task(&self, task: usize) -> Result<Vec<Strand>, RunError> {
        let places = self.earlier_beyond(&[task], &self.batch.woven);
        let basis = self.batch.tasks[task].basis.as_ref();
        let basis = basis.and_then(|basis| basis.0.parse().ok());
        if !places.is_empty()
            && let Some(basis) = basis
            && self.context.store.is_ancestor(&basis, &self.tip)?
        {
            // A person who resolved a conflict made it on what is woven, and the work is part of that.
            return Ok(Vec::new());
        }
        let lacking = self.lacking(&self.tip, &places)?.into_iter();
        Ok(lacking.map(|(_, strand)| strand).collect())
    }

    /// The work that some tasks build on and others do not.
    pub(super) fn earlier_beyond(&self, tasks: &[usize], others: &[usize]) -> Vec<usize> {
        let there = self.batch.earlier_of(others);
        let mut wanted = self.batch.earlier_of(tasks);
        wanted.retain(|place| !there.contains(place));
        wanted
    }

    /// The batches that the result builds on and that are not in the base.
    pub(super) fn builds_on(&self) -> Vec<BuildsOn> {
        let record = &self.record;
        let places = self.batch.earlier_of(&self.batch.woven);
        let lacking = self.lacking(&self.base, &places);
        let lacking = lacking.map(|lacking| lacking.into_iter().map(|(place, _)| place).collect());
        let mut told = record.earlier.told(&lacking.unwrap_or(places));
        if self.base.as_str() == record.base {
            told.extend(record.stands_on.iter().cloned());
        }
        told
    }
}
