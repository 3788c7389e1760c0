//! Weaves commits together in the object database, without any checkout.
//!
//! Resolves nothing by itself: what does not merge cleanly is reported with its files.

use crate::git::read::text;
use crate::git::{CommitId, GitError, Store, TreeId, nul_separated, parse_id};

/// Why weaving could not even be tried.
#[derive(Debug, thiserror::Error)]
pub enum WeaveError {
    /// Git itself failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// What came of weaving a branch in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Woven {
    /// A merge commit with both as parents.
    Merged(CommitId),
    /// Everything of the branch was there before.
    AlreadyIn,
    /// The branch does not merge cleanly.
    Conflict {
        /// The files that both sides changed in different ways.
        files: Vec<String>,
    },
}

/// What came of folding several commits into one basis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folded {
    /// The commit that holds them all.
    Basis(CommitId),
    /// Two of them do not go together.
    Conflict {
        /// The one that was in already, or the base itself.
        first: CommitId,
        /// The one that did not go in.
        second: CommitId,
        /// The files they disagree about.
        files: Vec<String>,
    },
}

/// Merges a branch onto a commit, always with a merge commit; no ref moves.
///
/// The same input gives the same commit, whenever it is done.
pub fn weave(
    store: &Store,
    onto: &CommitId,
    branch: &CommitId,
    message: &str,
) -> Result<Woven, WeaveError> {
    if store.is_ancestor(branch, onto)? {
        return Ok(Woven::AlreadyIn);
    }
    let tree = match merge_trees(store, onto, branch)? {
        MergedTrees::Clean(tree) => tree,
        MergedTrees::Conflict(files) => return Ok(Woven::Conflict { files }),
    };
    let date = latest_date(store, onto, branch)?;
    let commit = store.commit_tree(&tree, &[onto, branch], message, Some(date))?;
    Ok(Woven::Merged(commit))
}

/// Makes the basis of a task: the base with every given commit merged in, in their order.
pub fn fold(store: &Store, base: &CommitId, commits: &[CommitId]) -> Result<Folded, WeaveError> {
    let mut tip = base.clone();
    for (place, commit) in commits.iter().enumerate() {
        match weave(store, &tip, commit, "Fold finished tasks into a basis\n")? {
            Woven::Merged(merged) => tip = merged,
            Woven::AlreadyIn => {}
            Woven::Conflict { files } => {
                let first = opponent(store, base, &commits[..place], commit)?;
                return Ok(Folded::Conflict {
                    first,
                    second: commit.clone(),
                    files,
                });
            }
        }
    }
    Ok(Folded::Basis(tip))
}

/// The earlier commit that conflicts with this one by itself.
fn opponent(
    store: &Store,
    base: &CommitId,
    earlier: &[CommitId],
    commit: &CommitId,
) -> Result<CommitId, WeaveError> {
    for candidate in [base].into_iter().chain(earlier) {
        if let MergedTrees::Conflict(_) = merge_trees(store, candidate, commit)? {
            return Ok(candidate.clone());
        }
    }
    // Only together do they conflict, and the last one completed that.
    Ok(earlier.last().unwrap_or(base).clone())
}

enum MergedTrees {
    Clean(TreeId),
    Conflict(Vec<String>),
}

fn merge_trees(
    store: &Store,
    onto: &CommitId,
    branch: &CommitId,
) -> Result<MergedTrees, WeaveError> {
    let merge = [
        "merge-tree",
        "--write-tree",
        "-z",
        "--name-only",
        "--no-messages",
    ];
    let output = store
        .call()
        // A bare repository has no attributes of its own, and `git merge` would see these.
        .env("GIT_ATTR_SOURCE", onto.as_str())
        .args(merge)
        .args([onto.as_str(), branch.as_str()])
        .run()?;
    let mut records = nul_separated(&output.stdout);
    let tree = records.next().map(|tree| parse_id("merge-tree", tree));
    match (output.code, tree) {
        (0, Some(tree)) => Ok(MergedTrees::Clean(tree?)),
        // Git exits 1 for a commit it cannot find as well, but prints no tree then.
        (1, Some(Ok::<TreeId, _>(_))) => {
            let mut files: Vec<String> = records.map(text).collect();
            files.sort();
            files.dedup();
            Ok(MergedTrees::Conflict(files))
        }
        _ => Err(output.failure().into()),
    }
}

/// The later of two commit dates, so that a merge made again after a crash is the same one.
fn latest_date(store: &Store, one: &CommitId, other: &CommitId) -> Result<i64, WeaveError> {
    let show = [
        "log",
        "--no-walk",
        "--format=%ct",
        one.as_str(),
        other.as_str(),
    ];
    let printed = store.call().args(show).output()?;
    let printed = text(&printed);
    let dates = printed.lines().filter_map(|line| line.parse().ok());
    Ok(dates.max().unwrap_or_default())
}
