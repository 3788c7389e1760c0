//! Whether two sides of a merge touch each other, by their changed paths alone.
//!
//! Says "apart" only where git's merge could not come to anything but both sides' changes; wherever
//! renames, folders or kinds of files might meet, git is to be asked. Touches no files.

use std::collections::{BTreeSet, HashMap, HashSet};

use gix_object::bstr::{BString, ByteSlice as _};

use super::change::{TreeChange, TreeDiff};
use super::objects::TreeLeaf;

/// What our side changed since the merge base.
#[derive(Debug, Clone, Default)]
pub(super) struct OurChanges {
    changes: HashMap<BString, (Option<TreeLeaf>, Option<TreeLeaf>)>,
    added: BTreeSet<BString>,
    gone: HashSet<BString>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SidesMeeting {
    /// The result is our tree with these changes.
    Disjoint {
        theirs: Vec<TreeChange>,
        /// Files whose content both changed: base, ours, theirs.
        both: Vec<BothChanged>,
    },
    /// They removed files that we changed, and added none that these could have become.
    Conflicting {
        files: Vec<BString>,
        both: Vec<BothChanged>,
    },
    /// Only git knows.
    Entangled,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct BothChanged {
    pub(super) path: BString,
    pub(super) base: TreeLeaf,
    pub(super) ours: TreeLeaf,
    pub(super) theirs: TreeLeaf,
}

impl OurChanges {
    pub(super) fn of(diff: TreeDiff) -> Self {
        let added = diff.changes.iter().filter(|change| change.is_addition());
        Self {
            added: added.map(|change| change.path.clone()).collect(),
            gone: diff.gone.into_iter().collect(),
            changes: diff
                .changes
                .into_iter()
                .map(|change| (change.path, (change.old, change.new)))
                .collect(),
        }
    }

    /// What we have at a path that we changed and did not remove.
    pub(super) fn leaf(&self, path: &BString) -> Option<TreeLeaf> {
        self.changes.get(path).and_then(|(_, now)| *now)
    }

    /// Takes in what was woven on top; `is_folder` tells of a folder whether our tree has it now.
    pub(super) fn advance<E>(
        &mut self,
        woven: &[TreeChange],
        mut is_folder: impl FnMut(&[u8]) -> Result<bool, E>,
    ) -> Result<(), E> {
        for change in woven {
            let known = self.changes.get(&change.path);
            let base = known.map_or(change.old, |(base, _)| *base);
            self.added.remove(&change.path);
            if base == change.new {
                self.changes.remove(&change.path);
            } else {
                if base.is_none() {
                    self.added.insert(change.path.clone());
                }
                let now = (base, change.new);
                self.changes.insert(change.path.clone(), now);
            }
        }
        for change in woven {
            for folder in folders_above(&change.path) {
                if !change.is_removal() {
                    self.gone.remove(folder.as_bstr());
                } else if !is_folder(folder)? {
                    self.gone.insert(folder.into());
                }
            }
        }
        Ok(())
    }

    pub(super) fn meet(&self, theirs: &TreeDiff) -> SidesMeeting {
        let mut apart = Vec::with_capacity(theirs.changes.len());
        let mut both = Vec::new();
        let mut torn = Vec::new();
        // Git may take a file that they added for one that they removed, and would carry our change of it there.
        let adds = theirs.changes.iter().any(TreeChange::is_addition);
        for change in &theirs.changes {
            match self.changes.get(&change.path) {
                None => apart.push(change.clone()),
                Some(ours) if !adds && is_torn(change, *ours) => torn.push(change.path.clone()),
                Some(ours) => match both_edit(change, *ours) {
                    // Our tree has that edit already.
                    Some(file) if file.ours == file.theirs => {}
                    Some(file) => both.push(file),
                    None => return SidesMeeting::Entangled,
                },
            }
            if change.is_addition() && self.is_in_the_way_of(&change.path) {
                return SidesMeeting::Entangled;
            }
        }
        // A folder that they removed may have been renamed, and ours would have to follow.
        let takes_ours_along = theirs.gone.iter().any(|folder| self.adds_below(folder));
        if takes_ours_along {
            return SidesMeeting::Entangled;
        }
        if torn.is_empty() {
            SidesMeeting::Disjoint {
                theirs: apart,
                both,
            }
        } else {
            SidesMeeting::Conflicting { files: torn, both }
        }
    }

    /// Whether a new path of theirs stands where we have a folder, below a file of ours, or in a
    /// folder that we removed and may have renamed.
    fn is_in_the_way_of(&self, path: &[u8]) -> bool {
        folders_above(path).any(|folder| {
            self.gone.contains(folder.as_bstr()) || self.added.contains(folder.as_bstr())
        }) || self.adds_below(path)
    }

    fn adds_below(&self, folder: &[u8]) -> bool {
        let mut start = folder.to_vec();
        start.push(b'/');
        let mut found = self.added.range(BString::from(start.clone())..);
        found.next().is_some_and(|path| path.starts_with(&start))
    }
}

/// The edit that both sides made to a file that all three have, if that is what they did.
fn both_edit(
    theirs: &TreeChange,
    ours: (Option<TreeLeaf>, Option<TreeLeaf>),
) -> Option<BothChanged> {
    let (base, ours) = (ours.0?, ours.1?);
    let both = BothChanged {
        path: theirs.path.clone(),
        base,
        ours,
        theirs: theirs.new?,
    };
    let is_file = both.base.is_file() && both.ours.is_file() && both.theirs.is_file();
    (is_file && theirs.old == Some(base)).then_some(both)
}

/// Whether they removed a file that we changed and still have.
fn is_torn(theirs: &TreeChange, (base, ours): (Option<TreeLeaf>, Option<TreeLeaf>)) -> bool {
    let is_file = |leaf: Option<TreeLeaf>| leaf.is_some_and(TreeLeaf::is_file);
    theirs.is_removal() && theirs.old == base && is_file(base) && is_file(ours)
}

pub(super) fn folders_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    ends.map(|(end, _)| &path[..end])
}
