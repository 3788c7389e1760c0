//! Asks git about contents that both sides changed for many strands in one go.
//!
//! Supposes that the strands to come will go in; an answer counts only for the very contents that
//! were asked about, so a wrong guess costs time and nothing else.

use std::collections::HashMap;

use gix_object::bstr::BString;

use super::WeaveError;
use super::authority::ask_contents;
use super::objects::TreeLeaf;
use super::sides::BothChanged;
use super::weaving::Weaving;

/// So many strands are looked at beyond the one that is due.
const HORIZON: usize = 64;

#[derive(Clone, Copy)]
enum FutureLeaf {
    Known(Option<TreeLeaf>),
    /// A merge that nobody has made yet decides.
    Open,
}

impl Weaving<'_> {
    /// Answers what is due, and what can be known by now of the strands after it.
    pub(super) fn foresee(&mut self, place: usize, due: &[BothChanged]) -> Result<(), WeaveError> {
        let mut coming: HashMap<BString, FutureLeaf> = HashMap::new();
        for file in due {
            coming.insert(file.path.clone(), FutureLeaf::Open);
        }
        for change in &self.touched[place].changes {
            let now = FutureLeaf::Known(change.new);
            coming.entry(change.path.clone()).or_insert(now);
        }
        let mut merges = vec![due.to_vec()];
        let last = self.strands.len().min(place + 1 + HORIZON);
        for later in place + 1..last {
            if !self.look_ahead(later, &mut coming, &mut merges)? {
                break;
            }
        }
        let asked: Vec<&[BothChanged]> = merges.iter().map(Vec::as_slice).collect();
        let answers = ask_contents(self.weave_folder, &self.objects, self.tip, &asked)?;
        self.foreseen.extend(merges.into_iter().zip(answers));
        Ok(())
    }

    /// Adds the merge of a later strand if all that it needs is known; `false` where foresight ends.
    fn look_ahead(
        &mut self,
        place: usize,
        coming: &mut HashMap<BString, FutureLeaf>,
        merges: &mut Vec<Vec<BothChanged>>,
    ) -> Result<bool, WeaveError> {
        let base_tree = self.base_tree(place)?;
        let Some(base_tree) = base_tree.filter(|tree| self.ours.contains_key(tree)) else {
            // To know our side against that base would take a comparison of whole trees, for a guess.
            return Ok(true);
        };
        let theirs = self.theirs(place, base_tree)?;
        let is_about_attributes = |path: &BString| path.ends_with(b".gitattributes");
        if theirs
            .changes
            .iter()
            .any(|change| is_about_attributes(&change.path))
        {
            // Contents merge as attributes say, and all questions go with those of the tip.
            return Ok(false);
        }
        let ours = &self.ours[&base_tree];
        let mut both = Vec::new();
        let mut is_open = false;
        for change in &theirs.changes {
            let now = coming.get(&change.path).copied();
            let now = now.or_else(|| {
                ours.leaf(&change.path)
                    .map(|leaf| FutureLeaf::Known(Some(leaf)))
            });
            match (now, change.old, change.new) {
                (Some(FutureLeaf::Open), ..) => is_open = true,
                (Some(FutureLeaf::Known(Some(ours))), Some(base), Some(theirs))
                    if ours != theirs && base.is_file() && ours.is_file() && theirs.is_file() =>
                {
                    both.push(BothChanged {
                        path: change.path.clone(),
                        base,
                        ours,
                        theirs,
                    });
                }
                _ => {}
            }
        }
        let is_merged = |path: &BString| both.iter().any(|file| file.path == *path);
        for change in &theirs.changes {
            let is_decided_later = is_open || is_merged(&change.path);
            let now = if is_decided_later {
                FutureLeaf::Open
            } else {
                FutureLeaf::Known(change.new)
            };
            coming.insert(change.path.clone(), now);
        }
        if !is_open && !both.is_empty() && !self.foreseen.contains_key(&both) {
            merges.push(both);
        }
        Ok(true)
    }
}
