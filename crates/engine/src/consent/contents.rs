//! Puts the contents of steering files beside their changes, for a person to read before they consent.
//!
//! Shows what can do most first, and as much as anybody reads.

use std::collections::HashMap;

use pleach_git::git::{BlobId, GitError, ObjectSource};
use pleach_system::secrets::Hider;

use super::files::{EXECUTABLE, LINK};
use super::{SteeringChange, SteeringSubject};

/// The longest file that is shown, in bytes.
const LONGEST: usize = 64 << 10;

/// So many bytes are shown in all.
const MOST_BYTES: usize = 512 << 10;

const MOST_FILES: usize = 200;

/// Writes into changes what their files held and hold, without secrets; what has no room is said to be cut.
pub(crate) fn show(
    objects: &impl ObjectSource,
    changes: &mut [SteeringChange],
    hider: &Hider,
) -> Result<(), GitError> {
    let is_file = |change: &&mut SteeringChange| matches!(change.what, SteeringSubject::File(_));
    let mut files: Vec<&mut SteeringChange> = changes.iter_mut().filter(is_file).collect();
    let wanted = files.iter().take(MOST_FILES);
    let wanted = wanted.flat_map(|change| change.contents.iter().flatten());
    let mut wanted: Vec<BlobId> = wanted.filter_map(|id| blob(id)).collect();
    wanted.sort();
    wanted.dedup();
    let read = objects.read_blobs(&wanted, LONGEST)?;
    let mut room = MOST_BYTES;
    for change in &mut files {
        let mut shown = |id: &Option<String>| id.as_ref().map(|id| text(&read, id, &mut room));
        let [before, now] = [&change.contents[0], &change.contents[1]].map(&mut shown);
        // One half of a change alone would look like a file that is new or gone.
        change.is_cut = before == Some(None) || now == Some(None);
        if !change.is_cut {
            let hidden = |text: Option<String>| text.map(|text| hider.hidden(text));
            change.before = hidden(before.flatten());
            change.now = hidden(now.flatten());
        }
    }
    Ok(())
}

fn blob(hash: &str) -> Option<BlobId> {
    let mut kinds = [LINK, EXECUTABLE].into_iter();
    let bare = kinds.find_map(|kind| hash.strip_prefix(kind));
    bare.unwrap_or(hash).parse().ok()
}

fn text(read: &HashMap<BlobId, Option<Vec<u8>>>, id: &str, room: &mut usize) -> Option<String> {
    let bytes = read.get(&blob(id)?)?.as_ref()?;
    if bytes.contains(&0) {
        return None;
    }
    *room = room.checked_sub(bytes.len())?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consent::{ChangeKind, Role};
    use pleach_git::git::{Call, CommitId, read::TreeEntry};

    /// One file of bytes that are no text.
    struct Binary(BlobId);

    impl ObjectSource for Binary {
        fn call(&self) -> Call {
            unreachable!("it has no git")
        }

        fn entries(&self, _: &CommitId) -> Result<Vec<TreeEntry>, GitError> {
            Ok(Vec::new())
        }

        fn read_blobs(
            &self,
            wanted: &[BlobId],
            _: usize,
        ) -> Result<HashMap<BlobId, Option<Vec<u8>>>, GitError> {
            let text = |id: &BlobId| if *id == self.0 { "\0" } else { "text" };
            let read = wanted
                .iter()
                .map(|id| (id.clone(), Some(text(id).as_bytes().to_vec())));
            Ok(read.collect())
        }
    }

    #[test]
    fn a_change_of_which_one_half_cannot_be_shown_does_not_look_like_a_new_file() {
        let (binary, text) = ("1".repeat(40), "2".repeat(40));
        let objects = Binary(binary.parse().unwrap());
        for contents in [[&binary, &text], [&text, &binary]] {
            let contents = contents.map(|id| Some(format!("{EXECUTABLE}{id}")));
            let mut changes = [SteeringChange {
                contents,
                ..SteeringChange::of_file("a".to_owned(), ChangeKind::Changed, Role::Hooks)
            }];
            show(&objects, &mut changes, &Hider::default()).unwrap();
            assert!(changes[0].is_cut);
            assert_eq!((&changes[0].before, &changes[0].now), (&None, &None));
        }
    }
}
