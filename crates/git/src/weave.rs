//! Weaves branches together in the object database, without any checkout.
//!
//! Gives the tree that `git merge` would give, branch by branch, and resolves nothing by itself: a
//! branch that does not merge cleanly is left out and reported with its files. Where the changed paths
//! alone decide, it is done here; everything else is asked of git.

mod authority;
mod change;
mod conflict;
mod deflate;
mod foresight;
mod history;
mod landed;
mod lineage;
mod marked;
mod objects;
mod pairs;
mod partners;
pub mod reading;
mod sides;
mod weave_folder;
mod weaving;

use std::io;
use std::path::PathBuf;

pub use conflict::{Conflict, ConflictKind, ConflictedFile};
pub use landed::has_landed;
pub use marked::{Content, MarkedMerge, MarkedSide, Unmerged, merge_with_marks};
pub use pairs::{ChangedTree, Collision, PairCache, Pairwise, RebasedTree};
pub use weave_folder::WeaveFolder;

use self::objects::WeaveObjects;
use self::weaving::Weaving;
use pleach_domain::choice::Strategy;

use crate::git::read::text;
use crate::git::{CommitId, GitError, Store, StoreError, TreeId, parse_id};

#[derive(Debug, thiserror::Error)]
pub enum WeaveError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("could not {doing} {id}")]
    Objects {
        doing: &'static str,
        id: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("could not set up {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// Folders are in each other more often than git allows.
    #[error("a branch has folders too deep for git")]
    TooDeep,
    #[error("unsupported object format {0:?} of this repository")]
    UnknownHash(String),
}

/// A branch that is to be woven in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strand {
    /// What it is called in messages: `branch 'x'`, `task 63: Title`.
    pub subject: String,
    pub commit: CommitId,
    /// The commit that its work began at, where history cannot tell: only what came after it is
    /// woven in, though it may hold work that was left out.
    pub basis: Option<CommitId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrandOutcome {
    Merged,
    AlreadyIn,
    Conflict(Conflict),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weave {
    pub tip: CommitId,
    pub tree: TreeId,
    /// What became of each strand, in their order.
    pub outcomes: Vec<StrandOutcome>,
    /// The places of strands that are in and changed nothing.
    pub idle: Vec<usize>,
}

/// Weaves strands onto a commit, in their order; no ref moves.
///
/// The same input gives the same commits, whenever it is done.
pub fn weave(
    weave_folder: &WeaveFolder,
    onto: &CommitId,
    strands: &[Strand],
    strategy: Strategy,
) -> Result<Weave, WeaveError> {
    foresee(weave_folder, onto, strands, strategy)?.store()
}

pub fn foresee<'l>(
    weave_folder: &'l WeaveFolder,
    onto: &CommitId,
    strands: &[Strand],
    strategy: Strategy,
) -> Result<ForeseenWeave<'l>, WeaveError> {
    let mut weaving = Weaving::begin(weave_folder, onto, strands)?;
    for place in 0..strands.len() {
        weaving.weave(place)?;
    }
    weaving.name_partners()?;
    // Commits are replayed on earlier trees, whose attributes may be others.
    weaving.foreseen.clear();
    let tip = history::write(&weaving, strategy)?;
    let tree = weaving.tip;
    let before =
        std::iter::once(weaving.onto.tree).chain(weaving.steps.iter().map(|step| step.tree));
    let idle = weaving.steps.iter().zip(before);
    let idle = idle.filter(|(step, before)| step.tree == *before);
    let idle = idle.map(|(step, _)| step.place).collect();
    let weave = Weave {
        tip: parse_id("weave", tip.to_string().as_bytes())?,
        tree: parse_id("weave", tree.to_string().as_bytes())?,
        outcomes: weaving.outcomes,
        idle,
    };
    Ok(ForeseenWeave {
        weave,
        weave_folder,
        objects: weaving.objects,
    })
}

/// A result that only the weave folder holds.
pub struct ForeseenWeave<'l> {
    pub weave: Weave,
    weave_folder: &'l WeaveFolder,
    objects: WeaveObjects,
}

impl ForeseenWeave<'_> {
    /// Stores it in the repository, so that a ref may point at it.
    pub fn store(self) -> Result<Weave, WeaveError> {
        self.weave_folder.store(&self.objects)?;
        Ok(self.weave)
    }
}

/// What came of folding several commits into one basis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folded {
    Basis(CommitId),
    Conflict {
        /// The one that was in already, or the base itself.
        first: CommitId,
        second: CommitId,
        files: Vec<String>,
    },
}

/// Makes the basis of a task: the base with every given commit merged in, in their order, each with what it is.
pub fn fold(
    weave_folder: &WeaveFolder,
    base: &CommitId,
    commits: &[(CommitId, String)],
) -> Result<Folded, WeaveError> {
    let strand = |(commit, what): &(CommitId, String)| Strand {
        subject: format!("{what} (dependency)"),
        commit: commit.clone(),
        basis: None,
    };
    let strands: Vec<Strand> = commits.iter().map(strand).collect();
    let folded = foresee(weave_folder, base, &strands, Strategy::Merge)?;
    for (outcome, second) in folded.weave.outcomes.iter().zip(&strands) {
        if let StrandOutcome::Conflict(conflict) = outcome {
            let first = conflict.with.first().copied().flatten();
            return Ok(Folded::Conflict {
                first: first.map_or(base, |place| &strands[place].commit).clone(),
                second: second.commit.clone(),
                files: conflict.paths(),
            });
        }
    }
    Ok(Folded::Basis(folded.store()?.tip))
}

/// The tree of a commit of a store, read in process.
pub fn tree_of(store: &Store, commit: &CommitId) -> Result<TreeId, WeaveError> {
    let tree = read_store(store)?.commit(weaving::object_id(commit))?.tree;
    Ok(parse_id("commit", tree.to_string().as_bytes())?)
}

/// The paths that differ between two trees of a store, found in process.
pub(crate) fn changed_files(
    store: &Store,
    from: &TreeId,
    to: &TreeId,
) -> Result<Vec<String>, WeaveError> {
    let id = |tree: &TreeId| gix_hash::ObjectId::from_hex(tree.as_str().as_bytes()).ok();
    let found = change::diff(&read_store(store)?, id(from), id(to))?;
    let paths = found.changes.iter().map(|change| text(&change.path));
    Ok(paths.collect())
}

fn unreadable(what: &str, printed: &str) -> WeaveError {
    let (what, printed) = (what.to_owned(), printed.to_owned());
    GitError::Garbled { what, printed }.into()
}

fn read_store(store: &Store) -> Result<WeaveObjects, WeaveError> {
    let folder = store.git_dir().join("objects");
    let hash = weave_folder::hash(store.object_format())?;
    WeaveObjects::open(&folder, hash).map_err(|source| WeaveError::Io {
        path: folder,
        source,
    })
}
