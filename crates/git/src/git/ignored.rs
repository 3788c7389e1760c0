//! Asks git which paths are ignored, and which loose files some rules name.
//!
//! Knows nothing of what is done with the answer.

use std::collections::HashSet;
use std::path::Path;

use super::{Call, GitError, nul_separated};

/// A leading dot keeps a colon from being read as magic.
const HERE: &[u8] = b"./";

/// Those of some paths that are ignored, whether they are under version control or not.
pub(crate) fn ignored<'p>(
    call: Call,
    paths: impl Iterator<Item = &'p [u8]>,
) -> Result<HashSet<Vec<u8>>, GitError> {
    let mut question = Vec::new();
    for path in paths {
        question.extend_from_slice(HERE);
        question.extend_from_slice(path);
        question.push(0);
    }
    if question.is_empty() {
        return Ok(HashSet::new());
    }
    let ask = ["check-ignore", "-z", "--no-index", "--stdin"];
    let answer = call.args(ask).stdin(question).run()?;
    if !matches!(answer.code, 0 | 1) {
        return Err(answer.failure());
    }
    let ignored = nul_separated(&answer.stdout);
    Ok(ignored
        .filter_map(|path| path.strip_prefix(HERE))
        .map(<[u8]>::to_vec)
        .collect())
}

/// The files that are not under version control and that the rules in a file name; a repository within
/// is named by its folder, with a slash at its end.
pub(crate) fn loose_files(call: Call, rules: &Path) -> Result<Vec<Vec<u8>>, GitError> {
    let list = ["ls-files", "-z", "--others", "--ignored", "--exclude-from"];
    let printed = call.args(list).arg(rules).output()?;
    Ok(nul_separated(&printed).map(<[u8]>::to_vec).collect())
}
