//! Weaves strand after strand into one tree.
//!
//! Decides who is in and what the tree is then; which commits are written is another file's duty.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::rc::Rc;

use gix_hash::ObjectId;
use gix_object::bstr::BString;

use super::authority::{MergeAnswer, MergeQuestion, ask, ask_contents, bare_commit, independent};
use super::change::{TreeChange, TreeDiff, diff};
use super::conflict::{Conflict, ConflictKind, ConflictedFile};
use super::history::CommitChain;
use super::lineage::{Lineage, Parting};
use super::objects::{Commit, TreeLeaf, WeaveObjects, by_components};
use super::sides::{BothChanged, OurChanges, SidesMeeting};
use super::weave_folder::WeaveFolder;
use super::{Strand, StrandOutcome, WeaveError};
use crate::git::read::text;
use crate::git::{CommitId, GitError};

/// Our side is remembered against so many bases; others are found again by looking.
const MOST_BASES: usize = 16;

pub(super) struct Weaving<'w> {
    pub(super) weave_folder: &'w WeaveFolder,
    pub(super) objects: WeaveObjects,
    pub(super) strands: &'w [Strand],
    pub(super) commits: Vec<Commit>,
    pub(super) onto: Commit,
    pub(super) lineage: Lineage,
    pub(super) tip: ObjectId,
    pub(super) steps: Vec<WeaveStep>,
    pub(super) outcomes: Vec<StrandOutcome>,
    /// What each strand changed since it parted, as far as it was looked at.
    pub(super) touched: Vec<Rc<TreeDiff>>,
    /// The commit where each strand parted, where there is one.
    pub(super) parted: Vec<Option<ObjectId>>,
    diffs: Vec<Option<(ObjectId, Rc<TreeDiff>)>>,
    /// What our side changed since the tree of a merge base.
    pub(super) ours: HashMap<ObjectId, OurChanges>,
    /// What git makes of contents that both sides changed, as long as attributes stay the same.
    pub(super) foreseen: HashMap<Vec<BothChanged>, MergeAnswer>,
}

/// A strand that went in.
#[derive(Debug, Clone)]
pub(super) struct WeaveStep {
    pub(super) place: usize,
    pub(super) tree: ObjectId,
    /// The commits that came with it, the oldest first.
    pub(super) brought: Vec<ObjectId>,
    /// Where it parted, if at one commit.
    pub(super) base: Option<ObjectId>,
    pub(super) history: StepHistory,
}

/// Whether the strand's own commits may become part of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepHistory {
    Joined,
    /// It holds work that was left out, so only its changes are taken.
    Apart,
}

pub(super) enum Merged {
    Clean {
        tree: ObjectId,
        changes: Vec<TreeChange>,
    },
    Conflict(Vec<ConflictedFile>),
}

impl<'w> Weaving<'w> {
    pub(super) fn begin(
        weave_folder: &'w WeaveFolder,
        onto: &CommitId,
        strands: &'w [Strand],
    ) -> Result<Self, WeaveError> {
        let objects = weave_folder.objects()?;
        let onto = objects.commit(object_id(onto))?;
        let commits = strands
            .iter()
            .map(|strand| objects.commit(object_id(&strand.commit)));
        let commits = commits.collect::<Result<Vec<_>, _>>()?;
        let mut wanted = format!("^{}\n", onto.id);
        for strand in strands {
            writeln!(wanted, "{}", strand.commit).expect("writing to a string works");
        }
        let list = ["rev-list", "--parents", "--stdin"];
        let printed = weave_folder.call().args(list).stdin(wanted).output()?;
        let lineage = Lineage::read(&printed).ok_or_else(|| GitError::Garbled {
            what: "rev-list --parents".into(),
            printed: String::from_utf8_lossy(&printed)
                .chars()
                .take(200)
                .collect(),
        })?;
        Ok(Self {
            weave_folder,
            objects,
            strands,
            commits,
            tip: onto.tree,
            onto,
            lineage,
            steps: Vec::new(),
            outcomes: Vec::new(),
            touched: vec![Rc::default(); strands.len()],
            parted: vec![None; strands.len()],
            diffs: vec![None; strands.len()],
            ours: HashMap::new(),
            foreseen: HashMap::new(),
        })
    }

    pub(super) fn weave(&mut self, place: usize) -> Result<(), WeaveError> {
        let brought = self.lineage.brings(self.commits[place].id);
        let (parting, history) = self.parting(place, &brought)?;
        let outcome = match parting {
            Parting::AlreadyIn => StrandOutcome::AlreadyIn,
            Parting::Nowhere => left_out(vec![ConflictedFile {
                path: String::new(),
                kind: ConflictKind::Unrelated,
            }]),
            Parting::At(base) => {
                let merged = self.merge_at(place, base)?;
                self.take(place, merged, brought, Some(base), history)?
            }
            Parting::Several(_) => {
                let merged = self.merge_by_history(place)?;
                self.take(place, merged, brought, None, history)?
            }
        };
        self.outcomes.push(outcome);
        Ok(())
    }

    fn parting(
        &self,
        place: usize,
        brought: &[ObjectId],
    ) -> Result<(Parting, StepHistory), WeaveError> {
        let by_history = match self.lineage.parting(brought) {
            Parting::Several(commits) => match independent(self.weave_folder, &commits)?.as_slice()
            {
                [only] => Parting::At(*only),
                several => Parting::Several(several.to_vec()),
            },
            other => other,
        };
        let Some(basis) = &self.strands[place].basis else {
            return Ok((by_history, StepHistory::Joined));
        };
        if by_history == Parting::AlreadyIn {
            return Ok((by_history, StepHistory::Joined));
        }
        let basis = object_id(basis);
        let history = if self.lineage.is_in(basis) {
            StepHistory::Joined
        } else {
            StepHistory::Apart
        };
        Ok((Parting::At(basis), history))
    }

    fn take(
        &mut self,
        place: usize,
        merged: Merged,
        brought: Vec<ObjectId>,
        base: Option<ObjectId>,
        history: StepHistory,
    ) -> Result<StrandOutcome, WeaveError> {
        let (tree, changes) = match merged {
            Merged::Clean { tree, changes } => (tree, changes),
            Merged::Conflict(files) => return Ok(left_out(files)),
        };
        let objects = &self.objects;
        for ours in self.ours.values_mut() {
            ours.advance(&changes, |folder| is_folder(objects, tree, folder))?;
        }
        let is_about_attributes = |change: &TreeChange| change.path.ends_with(b".gitattributes");
        if changes.iter().any(is_about_attributes) {
            self.foreseen.clear();
        }
        // Commits that stay out of the history must not count as a merge base of the strands to come.
        if history == StepHistory::Joined {
            self.lineage.weave(&brought);
        }
        self.tip = tree;
        self.steps.push(WeaveStep {
            place,
            tree,
            brought,
            base,
            history,
        });
        Ok(StrandOutcome::Merged)
    }

    fn merge_at(&mut self, place: usize, base: ObjectId) -> Result<Merged, WeaveError> {
        self.parted[place] = Some(base);
        let base_tree = self.objects.commit(base)?.tree;
        let theirs = self.theirs(place, base_tree)?;
        if !self.ours.contains_key(&base_tree) {
            if self.ours.len() >= MOST_BASES {
                self.ours.clear();
            }
            let ours = OurChanges::of(diff(&self.objects, Some(base_tree), Some(self.tip))?);
            self.ours.insert(base_tree, ours);
        }
        let meeting = self.ours[&base_tree].meet(&theirs);
        self.touched[place] = theirs;
        if let SidesMeeting::Disjoint { both, .. } | SidesMeeting::Conflicting { both, .. } =
            &meeting
            && !both.is_empty()
            && !self.foreseen.contains_key(both)
        {
            self.foresee(place, both)?;
        }
        self.merge(meeting, self.tip, base, self.commits[place].id)
    }

    /// The tree that a strand would be compared with if its turn were now.
    pub(super) fn base_tree(&self, place: usize) -> Result<Option<ObjectId>, WeaveError> {
        if let Some((tree, _)) = &self.diffs[place] {
            return Ok(Some(*tree));
        }
        let brought = self.lineage.brings(self.commits[place].id);
        match self.lineage.parting(&brought) {
            Parting::At(base) => Ok(Some(self.objects.commit(base)?.tree)),
            _ => Ok(None),
        }
    }

    /// What a strand changed since a tree; looked up once.
    pub(super) fn theirs(
        &mut self,
        place: usize,
        base_tree: ObjectId,
    ) -> Result<Rc<TreeDiff>, WeaveError> {
        if let Some((tree, known)) = &self.diffs[place]
            && *tree == base_tree
        {
            return Ok(Rc::clone(known));
        }
        let theirs = Some(self.commits[place].tree);
        let found = Rc::new(diff(&self.objects, Some(base_tree), theirs)?);
        self.diffs[place] = Some((base_tree, Rc::clone(&found)));
        Ok(found)
    }

    /// Merges as the paths allow, or as git says.
    fn merge(
        &self,
        meeting: SidesMeeting,
        tip: ObjectId,
        base: ObjectId,
        theirs: ObjectId,
    ) -> Result<Merged, WeaveError> {
        match meeting {
            SidesMeeting::Disjoint { theirs, both } if both.is_empty() => self.put_on(tip, theirs),
            SidesMeeting::Disjoint { mut theirs, both } => {
                let merged = match self.contents(tip, &both)? {
                    MergeAnswer::Clean(merged) => merged,
                    MergeAnswer::Conflict(files) => return Ok(Merged::Conflict(files)),
                };
                for file in both {
                    theirs.push(self.merged_file(merged, file)?);
                }
                self.put_on(tip, theirs)
            }
            // Where git renormalizes, a change of nothing but line ends does not keep a file that they removed.
            SidesMeeting::Conflicting { files, both } if !self.weave_folder.does_renormalize() => {
                let mut conflicts: Vec<ConflictedFile> = files.iter().map(torn).collect();
                if !both.is_empty()
                    && let MergeAnswer::Conflict(files) = self.contents(tip, &both)?
                {
                    conflicts.extend(files);
                }
                conflicts.sort_by(|one, other| one.path.cmp(&other.path));
                Ok(Merged::Conflict(conflicts))
            }
            SidesMeeting::Conflicting { .. } | SidesMeeting::Entangled => {
                self.objects.show_tree(tip)?;
                let question = MergeQuestion {
                    base: Some(base),
                    ours: bare_commit(&self.objects, tip)?,
                    theirs,
                    attributes: tip,
                };
                self.take_answer(tip, ask(self.weave_folder, question)?)
            }
        }
    }

    /// The merge of one tree by three trees, without what is remembered of our side.
    pub(super) fn merge_freely(
        &self,
        tip: ObjectId,
        base: ObjectId,
        theirs: ObjectId,
    ) -> Result<Merged, WeaveError> {
        let (base_tree, their_tree) = (
            self.objects.commit(base)?.tree,
            self.objects.commit(theirs)?.tree,
        );
        let ours = OurChanges::of(diff(&self.objects, Some(base_tree), Some(tip))?);
        let diff = diff(&self.objects, Some(base_tree), Some(their_tree))?;
        self.merge(ours.meet(&diff), tip, base, theirs)
    }

    /// Several merge bases have to be merged themselves first, which takes the whole history.
    fn merge_by_history(&mut self, place: usize) -> Result<Merged, WeaveError> {
        let base = self.onto.tree;
        self.touched[place] = self.theirs(place, base)?;
        self.objects.show_tree(self.tip)?;
        let mut chain = CommitChain::shown_from(self);
        for step in &self.steps {
            chain.merge(step)?;
        }
        let question = MergeQuestion {
            base: None,
            ours: chain.tip(),
            theirs: self.commits[place].id,
            attributes: self.tip,
        };
        self.take_answer(self.tip, ask(self.weave_folder, question)?)
    }

    fn take_answer(&self, tip: ObjectId, answer: MergeAnswer) -> Result<Merged, WeaveError> {
        let tree = match answer {
            MergeAnswer::Clean(tree) => tree,
            MergeAnswer::Conflict(files) => return Ok(Merged::Conflict(files)),
        };
        self.objects.adopt(tree)?;
        let changes = diff(&self.objects, Some(tip), Some(tree))?.changes;
        Ok(Merged::Clean { tree, changes })
    }

    /// Our tree with changes of paths that we did not touch.
    fn put_on(&self, tip: ObjectId, mut changes: Vec<TreeChange>) -> Result<Merged, WeaveError> {
        changes.sort_by(|one, other| by_components(&one.path, &other.path));
        let edits: Vec<_> = changes
            .iter()
            .map(|change| (change.path.as_slice(), change.new))
            .collect();
        let tree = self.objects.edited(Some(tip), &edits)?;
        let tree = tree.map_or_else(|| self.objects.empty_tree(), Ok)?;
        Ok(Merged::Clean { tree, changes })
    }

    /// What git makes of contents that both sides changed, if it was not asked before.
    fn contents(&self, tip: ObjectId, both: &[BothChanged]) -> Result<MergeAnswer, WeaveError> {
        if let Some(known) = self.foreseen.get(both) {
            return Ok(known.clone());
        }
        let mut answers = ask_contents(self.weave_folder, &self.objects, tip, &[both])?;
        Ok(answers.remove(0))
    }

    fn merged_file(&self, merged: ObjectId, file: BothChanged) -> Result<TreeChange, WeaveError> {
        let entry = self.objects.entry_at(merged, &file.path)?;
        let new = entry.map(|entry| TreeLeaf {
            mode: entry.mode,
            id: entry.oid,
        });
        if let Some(new) = new {
            self.objects.adopt_file(new)?;
        }
        Ok(TreeChange {
            path: file.path,
            old: Some(file.ours),
            new,
        })
    }
}

pub(super) fn torn(path: &BString) -> ConflictedFile {
    ConflictedFile {
        path: text(path),
        kind: ConflictKind::ModifyDelete,
    }
}

fn left_out(files: Vec<ConflictedFile>) -> StrandOutcome {
    let with = Vec::new();
    StrandOutcome::Conflict(Conflict { files, with })
}

fn is_folder(objects: &WeaveObjects, root: ObjectId, path: &[u8]) -> Result<bool, WeaveError> {
    let entry = objects.entry_at(root, path)?;
    Ok(entry.is_some_and(|entry| entry.mode.is_tree()))
}

pub(super) fn object_id(commit: &CommitId) -> ObjectId {
    ObjectId::from_hex(commit.as_str().as_bytes())
        .expect("a commit's id is checked when it is made")
}
