//! Asks git itself for a merge, where only git knows the answer.
//!
//! Everything that it writes stays in the weave folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gix_hash::ObjectId;
use gix_object::Kind as ObjectKind;

use super::conflict::{ConflictKind, ConflictedFile};
use super::objects::{TreeLeaf, WeaveObjects};
use super::sides::BothChanged;
use super::weave_folder::WeaveFolder;
use super::{WeaveError, objects, unreadable};
use crate::git::GitError;
use crate::git::read::text;

#[derive(Debug, Clone)]
pub(super) enum MergeAnswer {
    Clean(ObjectId),
    Conflict(Vec<ConflictedFile>),
}

/// Git's merge checks itself and aborts when it finds a mistake of its own, which rare entanglements
/// of renames and folders bring about.
const ABORTED: i32 = 128 + 6;

impl MergeAnswer {
    fn broken() -> Self {
        Self::Conflict(vec![ConflictedFile {
            path: String::new(),
            kind: ConflictKind::GitAborted,
        }])
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct MergeQuestion {
    /// The commit to compare with, or the one that git finds.
    pub(super) base: Option<ObjectId>,
    pub(super) ours: ObjectId,
    pub(super) theirs: ObjectId,
    /// The tree whose attributes count.
    pub(super) attributes: ObjectId,
}

pub(super) fn ask(
    weave_folder: &WeaveFolder,
    question: MergeQuestion,
) -> Result<MergeAnswer, WeaveError> {
    let mut call = weave_folder
        .call()
        // A bare repository has no attributes of its own, and `git merge` would see these.
        .env("GIT_ATTR_SOURCE", question.attributes.to_string())
        .args(["merge-tree", "--write-tree", "-z", "--messages"]);
    if let Some(base) = question.base {
        call = call.arg(format!("--merge-base={base}"));
    }
    let sides = [question.ours.to_string(), question.theirs.to_string()];
    let output = call.args(sides).run()?;
    let mut records = output.stdout.split(|byte| *byte == 0);
    let tree = records.next().and_then(|id| ObjectId::from_hex(id).ok());
    match (output.code, tree) {
        (0, Some(tree)) => Ok(MergeAnswer::Clean(tree)),
        // Git exits 1 for a commit it cannot find as well, but prints no tree then.
        (1, Some(_)) => Ok(MergeAnswer::Conflict(conflicts(&mut records)?)),
        (ABORTED, _) => Ok(MergeAnswer::broken()),
        _ => Err(output.failure().into()),
    }
}

/// Merges the contents of files that both sides changed, and nothing else; one process for many merges.
///
/// A file that all three trees have is renamed by nobody, so git merges it alone as it would among
/// all the others.
pub(super) fn ask_contents(
    weave_folder: &WeaveFolder,
    objects: &WeaveObjects,
    tip: ObjectId,
    merges: &[&[BothChanged]],
) -> Result<Vec<MergeAnswer>, WeaveError> {
    let attributes = attributes_above(objects, tip, merges.iter().copied().flatten())?;
    let leaves = attributes
        .iter()
        .map(|(path, leaf)| (path.as_slice(), Some(*leaf)));
    let attributes = show_sorted(objects, leaves.collect())?;
    let merges = merges.iter().map(|both| {
        let commit = |side: fn(&BothChanged) -> TreeLeaf| {
            let leaf = |file: &'_ BothChanged| Some(side(file));
            let leaves = both.iter().map(|file| (file.path.as_slice(), leaf(file)));
            bare_commit(objects, show_sorted(objects, leaves.collect())?)
        };
        Ok(Merge {
            base: commit(|file| file.base)?,
            ours: commit(|file| file.ours)?,
            theirs: commit(|file| file.theirs)?,
        })
    });
    let merges = merges.collect::<Result<Vec<_>, WeaveError>>()?;
    ask_many(weave_folder, attributes, &merges)
}

/// Two commits, and the one to compare both with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Merge {
    pub(super) base: ObjectId,
    pub(super) ours: ObjectId,
    pub(super) theirs: ObjectId,
}

/// Merges pairs of commits, all in one process.
pub(super) fn ask_many(
    weave_folder: &WeaveFolder,
    attributes: ObjectId,
    merges: &[Merge],
) -> Result<Vec<MergeAnswer>, WeaveError> {
    let mut lines = String::new();
    for Merge { base, ours, theirs } in merges {
        writeln!(lines, "{base} -- {ours} {theirs}").expect("writing to a string works");
    }
    let call = weave_folder
        .call()
        .env("GIT_ATTR_SOURCE", attributes.to_string())
        // With `--stdin` git separates by NUL, and tells messages of conflicts, without being told to.
        .args(["merge-tree", "--write-tree", "--stdin"])
        .stdin(lines);
    let output = call.run()?;
    match (output.code, merges) {
        (0, _) => answers(&output.stdout, merges.len()),
        (ABORTED, [_]) => Ok(vec![MergeAnswer::broken()]),
        (ABORTED, several) => {
            // Each by itself, so that only the one is left out that git cannot merge.
            let alone = several
                .iter()
                .map(|merge| ask_many(weave_folder, attributes, &[*merge]));
            let answers = alone.collect::<Result<Vec<_>, _>>()?;
            Ok(answers.into_iter().flatten().collect())
        }
        _ => Err(output.failure().into()),
    }
}

fn show_sorted(
    objects: &WeaveObjects,
    mut leaves: Vec<(&[u8], Option<TreeLeaf>)>,
) -> Result<ObjectId, WeaveError> {
    leaves.sort_by(|(one, _), (other, _)| objects::by_components(one, other));
    objects.show_leaves(&leaves)
}

/// Reads answers one after the other: 1 or 0, a tree, and of a conflict its files and messages.
fn answers(printed: &[u8], wanted: usize) -> Result<Vec<MergeAnswer>, WeaveError> {
    let garbled = || GitError::Garbled {
        what: "merge-tree --stdin".into(),
        printed: text(&printed[..printed.len().min(200)]),
    };
    let mut records = printed.split(|byte| *byte == 0);
    let mut answers = Vec::with_capacity(wanted);
    for _ in 0..wanted {
        let verdict = records.next();
        let tree = records.next().and_then(|id| ObjectId::from_hex(id).ok());
        answers.push(match (verdict, tree) {
            (Some(b"1"), Some(tree)) => {
                // An empty record ends each answer; that of a conflict goes with its messages.
                records.next();
                MergeAnswer::Clean(tree)
            }
            (Some(b"0"), Some(_)) => MergeAnswer::Conflict(conflicts(&mut records)?),
            _ => return Err(garbled().into()),
        });
    }
    Ok(answers)
}

/// A commit for git's eyes only, because it merges nothing less.
pub(super) fn bare_commit(objects: &WeaveObjects, tree: ObjectId) -> Result<ObjectId, WeaveError> {
    let nobody = "pleach <pleach@localhost> 0 +0000";
    let text = format!("tree {tree}\nauthor {nobody}\ncommitter {nobody}\n\n\n");
    objects.show_only(ObjectKind::Commit, text.as_bytes())
}

fn attributes_above<'f>(
    objects: &WeaveObjects,
    tip: ObjectId,
    files: impl Iterator<Item = &'f BothChanged>,
) -> Result<BTreeMap<Vec<u8>, TreeLeaf>, WeaveError> {
    let mut found = BTreeMap::new();
    for file in files {
        let mut end = 0;
        loop {
            let path = [&file.path[..end], b".gitattributes".as_slice()].concat();
            if !found.contains_key(&path)
                && let Some(entry) = objects.entry_at(tip, &path)?
                && !entry.mode.is_tree()
            {
                let leaf = TreeLeaf {
                    mode: entry.mode,
                    id: entry.oid,
                };
                found.insert(path, leaf);
            }
            match file.path[end..].iter().position(|byte| *byte == b'/') {
                Some(length) => end += length + 1,
                None => break,
            }
        }
    }
    Ok(found)
}

/// Which of these pairs of commits conflict; one process for all.
pub(super) fn colliding(
    weave_folder: &WeaveFolder,
    pairs: &[(ObjectId, ObjectId)],
    attributes: ObjectId,
) -> Result<Vec<bool>, WeaveError> {
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let mut lines = String::new();
    for (one, other) in pairs {
        writeln!(lines, "{one} {other}").expect("writing to a string works");
    }
    let merge = [
        "merge-tree",
        "--write-tree",
        "--stdin",
        "--name-only",
        "--no-messages",
        // One pair without a common commit would end git, and with it the answers about all others.
        "--allow-unrelated-histories",
    ];
    let call = weave_folder
        .call()
        .env("GIT_ATTR_SOURCE", attributes.to_string())
        .args(merge)
        .stdin(lines);
    let output = call.run()?;
    let printed = match (output.code, pairs) {
        (0, _) => output.stdout,
        (ABORTED, [_]) => return Ok(vec![true]),
        (ABORTED, several) => {
            let alone = several
                .iter()
                .map(|pair| colliding(weave_folder, &[*pair], attributes));
            let verdicts = alone.collect::<Result<Vec<_>, _>>()?;
            return Ok(verdicts.into_iter().flatten().collect());
        }
        _ => return Err(output.failure().into()),
    };
    // Each answer begins with 0 or 1, goes on with a tree and files, and ends with an empty record.
    let mut verdicts = Vec::with_capacity(pairs.len());
    let mut records = printed.split(|byte| *byte == 0);
    while let Some(verdict) = records.next().filter(|record| !record.is_empty()) {
        verdicts.push(verdict == b"0");
        for record in records.by_ref() {
            if record.is_empty() {
                break;
            }
        }
    }
    if verdicts.len() != pairs.len() {
        let printed = format!("{} answers to {} questions", verdicts.len(), pairs.len());
        let what = "merge-tree --stdin".to_owned();
        return Err(GitError::Garbled { what, printed }.into());
    }
    Ok(verdicts)
}

/// Of several commits those that come before no other one.
pub(super) fn independent(
    weave_folder: &WeaveFolder,
    commits: &[ObjectId],
) -> Result<Vec<ObjectId>, WeaveError> {
    let call = weave_folder.call().args(["merge-base", "--independent"]);
    let printed = call
        .args(commits.iter().map(ToString::to_string))
        .output()?;
    let lines = printed.split(|byte| *byte == b'\n');
    Ok(lines
        .filter_map(|line| ObjectId::from_hex(line).ok())
        .collect())
}

fn conflicts<'a>(
    records: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<ConflictedFile>, WeaveError> {
    let mut files: Vec<ConflictedFile> = Vec::new();
    for record in records.by_ref().take_while(|record| !record.is_empty()) {
        let path = record.splitn(2, |byte| *byte == b'\t').nth(1);
        let path = without_label(&text(path.unwrap_or(record)));
        if !files.iter().any(|file| file.path == path) {
            let kind = ConflictKind::Other;
            files.push(ConflictedFile { path, kind });
        }
    }
    for ConflictMessage { kind, paths } in read_messages(records)? {
        for path in paths.iter().map(|path| without_label(&text(path))) {
            match files.iter_mut().find(|file| file.path == path) {
                Some(file) if file.kind == ConflictKind::Other => file.kind = kind,
                // Of a rename git names both ends, though only one is unmerged.
                Some(_) | None => {}
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

pub(super) struct ConflictMessage {
    pub(super) kind: ConflictKind,
    pub(super) paths: Vec<Vec<u8>>,
}

/// Reads what git has to say, as far as it is about conflicts.
pub(super) fn read_messages<'a>(
    records: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<ConflictMessage>, WeaveError> {
    let mut messages = Vec::new();
    while let Some(count) = records.next().filter(|record| !record.is_empty()) {
        let count = std::str::from_utf8(count).ok().and_then(|n| n.parse().ok());
        let count: usize =
            count.ok_or_else(|| unreadable("merge-tree", "a message without a number of paths"))?;
        let paths = records.by_ref().take(count).map(<[u8]>::to_vec).collect();
        let word = text(records.next().unwrap_or_default());
        records.next();
        if let Some(kind) = ConflictKind::named(&word) {
            messages.push(ConflictMessage { kind, paths });
        }
    }
    Ok(messages)
}

/// Where a file cannot be beside a folder, git adds the side to its name: `name~<commit>`.
fn without_label(path: &str) -> String {
    let labelled = path.rsplit_once('~').filter(|(_, label)| {
        let id = label.split('_').next().unwrap_or_default();
        ObjectId::from_hex(id.as_bytes()).is_ok()
    });
    labelled.map_or(path, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_taken_off_a_name_and_nothing_else() {
        let id = "a".repeat(40);
        assert_eq!(without_label(&format!("d/x~{id}")), "d/x");
        assert_eq!(without_label(&format!("d/x~{id}_0")), "d/x");
        assert_eq!(without_label("notes~"), "notes~");
        assert_eq!(without_label("a~b"), "a~b");
    }
}
