//! Whether the work of a strand is in a commit, however it came there.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use super::change::diff;
use super::weaving::object_id;
use pleach_domain::choice::Strategy;

use super::{Strand, StrandOutcome, WeaveError, WeaveFolder, foresee};
use crate::git::{CommitId, parse_id};

/// So many commits that touched the work are looked at.
const MOST_COMMITS: &str = "--max-count=50";

/// Whether a commit has a strand: by its history, or because weaving it there changes nothing, or changed nothing at
/// some time before; what was squashed into a branch and changed later is there as well.
pub fn has_landed(
    weave_folder: &WeaveFolder,
    commit: &CommitId,
    strand: &Strand,
) -> Result<bool, WeaveError> {
    if changes_nothing(weave_folder, commit, strand)? {
        return Ok(true);
    }
    for before in commits_about(weave_folder, commit, strand)? {
        if changes_nothing(weave_folder, &before, strand)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The commits of a branch since a strand began that touch the first file of it; whatever brought it did.
fn commits_about(
    weave_folder: &WeaveFolder,
    commit: &CommitId,
    strand: &Strand,
) -> Result<Vec<CommitId>, WeaveError> {
    let Some(basis) = &strand.basis else {
        return Ok(Vec::new());
    };
    let objects = weave_folder.objects()?;
    let tree = |commit| Ok::<_, WeaveError>(objects.commit(object_id(commit))?.tree);
    let changes = diff(&objects, Some(tree(basis)?), Some(tree(&strand.commit)?))?.changes;
    let Some(first) = changes.first() else {
        return Ok(Vec::new());
    };
    let list = [
        "--literal-pathspecs",
        "rev-list",
        "--first-parent",
        MOST_COMMITS,
    ];
    let call = weave_folder.call().args(list).arg(commit.as_str());
    let call = call.args([&format!("^{basis}"), "--"]);
    let printed = call.arg(OsStr::from_bytes(&first.path)).output()?;
    let lines = printed.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    Ok(lines
        .map(|line| parse_id("rev-list", line))
        .collect::<Result<_, _>>()?)
}

fn changes_nothing(
    weave_folder: &WeaveFolder,
    commit: &CommitId,
    strand: &Strand,
) -> Result<bool, WeaveError> {
    let strands = std::slice::from_ref(strand);
    let woven = foresee(weave_folder, commit, strands, Strategy::Merge)?.weave;
    Ok(match woven.outcomes.as_slice() {
        [StrandOutcome::AlreadyIn] => true,
        [StrandOutcome::Merged] => woven.idle == [0],
        _ => false,
    })
}
