//! Finds out with whom a branch that was left out collides.
//!
//! Asks git about pairs that touch a common path, all in one process.

use std::collections::HashSet;

use gix_hash::ObjectId;

use super::authority::colliding;
use super::change::Diff;
use super::weaving::Weaving;
use super::{Outcome, WeaveError};

/// So many partners are tried for one branch; beyond that, the last ones.
const MOST_TRIED: usize = 100;

/// A branch that was left out, and who may be the reason: strands, or the base.
struct Suspicion {
    place: usize,
    suspects: Vec<Option<usize>>,
}

impl Weaving<'_> {
    /// Completes every conflict with the strands that it is with.
    pub(super) fn name_partners(&mut self) -> Result<(), WeaveError> {
        let suspicions: Vec<Suspicion> = (0..self.outcomes.len())
            .filter(|place| matches!(self.outcomes[*place], Outcome::Conflict(_)))
            .map(|place| self.suspicion(place))
            .collect();
        let mut pairs: Vec<(ObjectId, ObjectId)> = Vec::new();
        for suspicion in &suspicions {
            let left_out = self.commits[suspicion.place].id;
            for suspect in &suspicion.suspects {
                let commit = suspect.map_or(self.onto.id, |place| self.commits[place].id);
                pairs.push((commit, left_out));
            }
        }
        let mut verdicts = colliding(self.loom, &pairs, self.onto.tree)?.into_iter();
        for suspicion in suspicions {
            let verdicts = verdicts.by_ref().take(suspicion.suspects.len());
            let judged: Vec<_> = suspicion.suspects.into_iter().zip(verdicts).collect();
            let guilty: Vec<_> = judged
                .iter()
                .filter(|(_, collides)| *collides)
                .map(|(suspect, _)| *suspect)
                .collect();
            // Only together do they conflict with it.
            let all = || judged.iter().filter_map(|(suspect, _)| *suspect);
            let with = if guilty.is_empty() {
                all().map(Some).collect()
            } else {
                guilty
            };
            if let Outcome::Conflict(conflict) = &mut self.outcomes[suspicion.place] {
                conflict.with = with;
            }
        }
        Ok(())
    }

    fn suspicion(&self, place: usize) -> Suspicion {
        let Outcome::Conflict(conflict) = &self.outcomes[place] else {
            return Suspicion {
                place,
                suspects: Vec::new(),
            };
        };
        let woven = self
            .steps
            .iter()
            .map(|step| step.place)
            .filter(|other| *other < place);
        let files: HashSet<&[u8]> = conflict
            .files
            .iter()
            .map(|file| file.path.as_bytes())
            .collect();
        let own: HashSet<&[u8]> = paths(&self.touched[place]).collect();
        let touching = |set: &HashSet<&[u8]>| -> Vec<usize> {
            woven
                .clone()
                .filter(|other| paths(&self.touched[*other]).any(|path| set.contains(path)))
                .collect()
        };
        let mut found = touching(&files);
        if found.is_empty() {
            found = touching(&own);
        }
        if found.is_empty() {
            found = woven.clone().collect();
        }
        let beyond = found.len().saturating_sub(MOST_TRIED);
        let suspects = [None]
            .into_iter()
            .chain(found.into_iter().skip(beyond).map(Some));
        Suspicion {
            place,
            suspects: suspects.collect(),
        }
    }
}

fn paths(diff: &Diff) -> impl Iterator<Item = &[u8]> {
    diff.changes.iter().map(|change| change.path.as_slice())
}
