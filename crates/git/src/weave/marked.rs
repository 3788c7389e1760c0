//! A merge with its conflicts left in it, for a person to resolve.
//!
//! Stores trees and files; where a person sees them is another file's duty.

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;

use super::authority::{ConflictMessage, read_messages};
use super::conflict::ConflictKind;
use super::objects::{TreeLeaf, WeaveObjects};
use super::weave_folder::WeaveFolder;
use super::weaving::object_id;
use super::{WeaveError, unreadable};
use crate::git::read::text;
use crate::git::{CommitId, TreeId, parse_id};

/// One of the two that do not merge.
#[derive(Debug, Clone, Copy)]
pub struct MarkedSide<'a> {
    /// What it is called in files that hold both, a name that git would take for a branch.
    pub name: &'a str,
    pub commit: &'a CommitId,
}

#[derive(Debug)]
pub struct MarkedMerge {
    /// Everything that merges, and files that hold both sides between marks.
    pub(crate) tree: TreeId,
    pub files: Vec<Unmerged>,
}

#[derive(Debug)]
pub struct Unmerged {
    pub path: Vec<u8>,
    pub kind: ConflictKind,
    /// What the base, ours and theirs have there, as far as they have it.
    pub stages: Vec<ConflictStage>,
    pub marked: Option<Content>,
}

/// A version of a file, as an index names it.
#[derive(Debug, Clone)]
pub struct ConflictStage {
    pub(crate) number: u8,
    pub content: Content,
}

/// A mode and an object, in git's own words.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Content {
    pub mode: String,
    pub id: String,
}

/// Merges what one side did since a base into the other, as far as it goes.
pub fn merge_with_marks(
    weave_folder: &WeaveFolder,
    base: &CommitId,
    ours: MarkedSide<'_>,
    theirs: MarkedSide<'_>,
) -> Result<MarkedMerge, WeaveError> {
    let objects = weave_folder.objects()?;
    for side in [ours, theirs] {
        weave_folder.name(side.commit, side.name)?;
    }
    let attributes = objects.commit(object_id(ours.commit))?.tree;
    let output = weave_folder
        .call()
        .env("GIT_ATTR_SOURCE", attributes.to_string())
        .args(["merge-tree", "--write-tree", "-z", "--messages"])
        .arg(format!("--merge-base={base}"))
        .args([ours.name, theirs.name])
        .run()?;
    let mut records = output.stdout.split(|byte| *byte == 0);
    let tree = records.next().and_then(|id| ObjectId::from_hex(id).ok());
    let (0 | 1, Some(tree)) = (output.code, tree) else {
        return Err(output.failure().into());
    };
    let mut files = if output.code == 0 {
        Vec::new()
    } else {
        read_stages(&mut records)?
    };
    if output.code == 1 {
        for ConflictMessage { kind, paths } in read_messages(&mut records)? {
            let of_message = files.iter_mut().filter(|file| paths.contains(&file.path));
            for file in of_message.filter(|file| file.kind == ConflictKind::Other) {
                file.kind = kind;
            }
        }
    }
    objects.adopt(tree)?;
    for file in &mut files {
        let entry = objects.entry_at(tree, &file.path)?;
        file.marked = entry.map(|entry| Content {
            mode: format!("{:06o}", entry.mode.value()),
            id: entry.oid.to_string(),
        });
        adopt_stages(&objects, file)?;
    }
    weave_folder.store(&objects)?;
    Ok(MarkedMerge {
        tree: parse_id("merge-tree", tree.to_string().as_bytes())?,
        files,
    })
}

/// Contents that git merged on the way may be nowhere else.
fn adopt_stages(objects: &WeaveObjects, file: &Unmerged) -> Result<(), WeaveError> {
    for ConflictStage { content, .. } in &file.stages {
        let mode = match content.mode.as_str() {
            "160000" => EntryKind::Commit,
            _ => EntryKind::Blob,
        };
        if let Ok(id) = ObjectId::from_hex(content.id.as_bytes()) {
            let mode = mode.into();
            objects.adopt_file(TreeLeaf { mode, id })?;
        }
    }
    Ok(())
}

/// Reads lines of `<mode> <object> <stage>\t<path>`, up to an empty one.
fn read_stages<'a>(
    records: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<Unmerged>, WeaveError> {
    let mut files: Vec<Unmerged> = Vec::new();
    for record in records.take_while(|record| !record.is_empty()) {
        let garbled = || unreadable("merge-tree", &text(record));
        let tab = record.iter().position(|byte| *byte == b'\t');
        let (head, path) = record.split_at(tab.ok_or_else(garbled)?);
        let head = text(head);
        let fields: Vec<&str> = head.split(' ').collect();
        let [mode, id, number] = fields[..] else {
            return Err(garbled());
        };
        let stage = ConflictStage {
            number: number.parse().map_err(|_| garbled())?,
            content: Content {
                mode: mode.to_owned(),
                id: id.to_owned(),
            },
        };
        let path = &path[1..];
        match files.iter_mut().find(|file| file.path == path) {
            Some(file) => file.stages.push(stage),
            None => files.push(Unmerged {
                path: path.to_vec(),
                kind: ConflictKind::Other,
                stages: vec![stage],
                marked: None,
            }),
        }
    }
    Ok(files)
}
