//! Puts the contents of steering files beside their changes, for a person to read before they consent.
//!
//! Shows what can do most first, and as much as anybody reads.

use std::collections::HashMap;

use super::files::LINK;
use super::{Change, What};
use crate::git::{BlobId, GitError, Objects};
use crate::secrets::Hider;

/// The longest file that is shown, in bytes.
const LONGEST: usize = 64 << 10;

/// So many bytes are shown in all.
const MOST_BYTES: usize = 512 << 10;

/// So many files are read.
const MOST_FILES: usize = 200;

/// Writes into changes what their files held and hold, without secrets; what has no room is said to be cut.
pub(crate) fn show(
    objects: &impl Objects,
    changes: &mut [Change],
    hider: &Hider,
) -> Result<(), GitError> {
    let is_file = |change: &&mut Change| matches!(change.what, What::File(_));
    let mut files: Vec<&mut Change> = changes.iter_mut().filter(is_file).collect();
    let wanted = files.iter().take(MOST_FILES);
    let wanted = wanted.flat_map(|change| change.contents.iter().flatten());
    let mut wanted: Vec<BlobId> = wanted.filter_map(|id| blob(id)).collect();
    wanted.sort();
    wanted.dedup();
    let read = objects.read_blobs(&wanted, LONGEST)?;
    let mut room = MOST_BYTES;
    for change in &mut files {
        let [before, now] = change.contents.clone();
        change.before = before.and_then(|id| text(&read, &id, &mut room));
        change.now = now.as_ref().and_then(|id| text(&read, id, &mut room));
        change.is_cut = now.is_some() && change.now.is_none();
        for text in [&mut change.before, &mut change.now] {
            *text = text.take().map(|text| hider.hidden(text));
        }
    }
    Ok(())
}

fn blob(hash: &str) -> Option<BlobId> {
    hash.strip_prefix(LINK).unwrap_or(hash).parse().ok()
}

fn text(read: &HashMap<BlobId, Option<Vec<u8>>>, id: &str, room: &mut usize) -> Option<String> {
    let bytes = read.get(&blob(id)?)?.as_ref()?;
    if bytes.contains(&0) {
        return None;
    }
    *room = room.checked_sub(bytes.len())?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}
