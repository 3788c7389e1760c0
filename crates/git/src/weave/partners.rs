//! Finds out with whom a branch that was left out collides.
//!
//! Asks git about pairs that touch a common path, all in one process, beginning with those whose
//! lines are near each other.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use gix_hash::ObjectId;

use super::authority::colliding;
use super::change::TreeChange;
use super::weaving::Weaving;
use super::{ConflictKind, StrandOutcome, WeaveError};

/// A branch that was left out, and who may be the reason: strands, or the base.
struct Suspicion {
    place: usize,
    suspects: Vec<Option<usize>>,
}

impl Weaving<'_> {
    /// Completes every conflict with the strands that it is with.
    pub(super) fn name_partners(&mut self) -> Result<(), WeaveError> {
        let mut lines = ChangedLines::default();
        let mut near = Vec::new();
        let mut far = Vec::new();
        for place in 0..self.outcomes.len() {
            if !matches!(self.outcomes[place], StrandOutcome::Conflict(_)) {
                continue;
            }
            let all = self.suspects(place);
            let mut suspects = Vec::new();
            for suspect in &all {
                if self.is_near(place, *suspect, &mut lines)? {
                    suspects.push(*suspect);
                }
            }
            far.push(Suspicion {
                place,
                suspects: all,
            });
            near.push(Suspicion { place, suspects });
        }
        let unexplained = self.convict(near)?;
        far.retain(|suspicion| unexplained.contains(&suspicion.place));
        for suspicion in &far {
            // If none does it alone, they do it together.
            self.blame(suspicion.place, suspicion.suspects.clone());
        }
        self.convict(far).map(drop)
    }

    /// Finds out which suspects collide by themselves, and returns the conflicts that none explains.
    fn convict(&mut self, suspicions: Vec<Suspicion>) -> Result<HashSet<usize>, WeaveError> {
        let mut pairs: Vec<(ObjectId, ObjectId)> = Vec::new();
        for suspicion in &suspicions {
            let left_out = self.commits[suspicion.place].id;
            for suspect in &suspicion.suspects {
                let commit = suspect.map_or(self.onto.id, |place| self.commits[place].id);
                pairs.push((commit, left_out));
            }
        }
        let mut verdicts = colliding(self.weave_folder, &pairs, self.onto.tree)?.into_iter();
        let mut unexplained = HashSet::new();
        for Suspicion { place, suspects } in suspicions {
            let verdicts = verdicts.by_ref().take(suspects.len());
            let judged = suspects.iter().zip(verdicts);
            let guilty: Vec<_> = judged
                .filter_map(|(suspect, collides)| collides.then_some(*suspect))
                .collect();
            if guilty.is_empty() {
                unexplained.insert(place);
            } else {
                self.blame(place, guilty);
            }
        }
        Ok(unexplained)
    }

    fn blame(&mut self, place: usize, with: Vec<Option<usize>>) {
        if let StrandOutcome::Conflict(conflict) = &mut self.outcomes[place] {
            conflict.with = with;
        }
    }

    /// Who touched one of the conflicting files or of the branch's own, which others may have renamed.
    fn suspects(&self, place: usize) -> Vec<Option<usize>> {
        let StrandOutcome::Conflict(conflict) = &self.outcomes[place] else {
            return Vec::new();
        };
        let files = conflict.files.iter().map(|file| file.path.as_bytes());
        let own = self.touched[place].changes.iter();
        let own = own.map(|change| change.path.as_slice());
        let paths: HashSet<&[u8]> = files.chain(own).collect();
        let touches = |other: &usize| {
            let mut changes = self.touched[*other].changes.iter();
            changes.any(|change| paths.contains(change.path.as_slice()))
        };
        let woven = || {
            let places = self.steps.iter().map(|step| step.place);
            places.filter(|other| *other < place)
        };
        let mut found: Vec<usize> = woven().filter(touches).collect();
        // A branch that parted from the base itself cannot collide with it.
        let base = (self.parted[place] != Some(self.onto.id)).then_some(None);
        if found.is_empty() && base.is_none() {
            found = woven().collect();
        }
        base.into_iter()
            .chain(found.into_iter().map(Some))
            .collect()
    }

    /// Whether a strand changed lines next to those of the branch, or anything that has no lines.
    fn is_near(
        &self,
        place: usize,
        suspect: Option<usize>,
        lines: &mut ChangedLines,
    ) -> Result<bool, WeaveError> {
        let Some(suspect) = suspect else {
            return Ok(true);
        };
        let StrandOutcome::Conflict(conflict) = &self.outcomes[place] else {
            return Ok(false);
        };
        for file in &conflict.files {
            let [ours, theirs] = [place, suspect].map(|strand| {
                let changes = &self.touched[strand].changes;
                let path = file.path.as_bytes();
                let found = changes.binary_search_by(|change| change.path.as_slice().cmp(path));
                found.ok().map(|found| &changes[found])
            });
            let is_near = match (ours, theirs) {
                // Lines can be compared only where both count from the same text.
                (Some(ours), Some(theirs)) if ours.old == theirs.old => {
                    let changed = (lines.changed(self, ours)?, lines.changed(self, theirs)?);
                    match changed {
                        (Some(one), Some(other)) => {
                            one.start <= other.end && other.start <= one.end
                        }
                        _ => true,
                    }
                }
                // Lines of a file that it does not touch are no matter of its.
                (Some(_), None) => file.kind != ConflictKind::Content,
                _ => true,
            };
            if is_near {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Which lines of a file were changed, as far as its beginning and its end tell.
#[derive(Default)]
struct ChangedLines {
    known: HashMap<(ObjectId, ObjectId), Range<usize>>,
    texts: HashMap<ObjectId, Rc<[u8]>>,
}

impl ChangedLines {
    fn changed(
        &mut self,
        weaving: &Weaving<'_>,
        change: &TreeChange,
    ) -> Result<Option<Range<usize>>, WeaveError> {
        let (Some(old), Some(new)) = (change.old, change.new) else {
            return Ok(None);
        };
        if !old.is_file() || !new.is_file() || old.mode != new.mode {
            return Ok(None);
        }
        let key = (old.id, new.id);
        if let Some(known) = self.known.get(&key) {
            return Ok(Some(known.clone()));
        }
        let old = match self.texts.get(&old.id) {
            Some(text) => Rc::clone(text),
            None => weaving.objects.file(old)?,
        };
        self.texts.insert(key.0, Rc::clone(&old));
        let range = changed_lines(&old, &weaving.objects.file(new)?);
        self.known.insert(key, range.clone());
        Ok(Some(range))
    }
}

/// The lines of the old text between the beginning and the end that both have.
fn changed_lines(old: &[u8], new: &[u8]) -> Range<usize> {
    let lines = |text| <[u8]>::split_inclusive(text, |byte| *byte == b'\n');
    let same = |(one, other): &(&[u8], &[u8])| one == other;
    let count = lines(old).count();
    let before = lines(old).zip(lines(new)).take_while(same).count();
    let shorter = count.min(lines(new).count()) - before;
    let after = lines(old).rev().zip(lines(new).rev());
    let after = after.take(shorter).take_while(same).count();
    before..count - after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_are_what_beginning_and_end_do_not_share() {
        let old = b"a\nb\nc\nd\n";
        assert_eq!(changed_lines(old, b"a\nX\nc\nd\n"), 1..2);
        assert_eq!(changed_lines(old, b"a\nb\nX\nc\nd\n"), 2..2);
        assert_eq!(changed_lines(old, b"a\nd\n"), 1..3);
        assert_eq!(changed_lines(b"a\na\n", b"a\n"), 1..2);
        assert_eq!(changed_lines(old, b""), 0..4);
        assert_eq!(changed_lines(b"", b"x"), 0..0);
    }
}
