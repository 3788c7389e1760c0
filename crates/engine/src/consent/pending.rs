//! What a task that waits needs a person's consent to: the files that tasks before it changed.
//!
//! Knows nothing of who asks and who answers.

use pleach_domain::id::TaskId;
use pleach_domain::task_state::Consent;
use pleach_system::text::hash::hash;

use super::names::Role;

use pleach_git::git::{GitError, ObjectSource};
use pleach_system::secrets::Hider;

use super::{ChangeKind, ConsentChange, SteeringChange, SteeringFiles, SteeringSubject, show};

#[derive(Debug, Clone)]
pub struct PendingConsent {
    pub task: TaskId,
    pub task_id: String,
    /// A short name for exactly these files with exactly these contents.
    pub fingerprint: String,
    /// The files, those first that can do most.
    pub changes: Vec<SteeringChange>,
}

impl PendingConsent {
    pub fn shown(&self) -> Vec<ConsentChange> {
        self.changes.iter().map(ConsentChange::new).collect()
    }
}

pub fn fingerprint(consent: &Consent) -> String {
    let files = consent.files.iter();
    hash(files.flat_map(|file| {
        let (kind, blob) = match &file.blob {
            Some(blob) => ("is", blob.as_str()),
            None => ("gone", ""),
        };
        [file.path.as_str(), kind, blob]
    }))
}

/// What tasks changed since a batch began, with contents as far as anybody reads them.
pub(crate) fn pending_changes(
    objects: &impl ObjectSource,
    consent: &Consent,
    begun_with: &SteeringFiles,
    hider: &Hider,
) -> Result<Vec<SteeringChange>, GitError> {
    let changes = consent.files.iter().map(|file| {
        let mut known = begun_with.iter();
        let before = known.find(|(path, _)| *path == file.path);
        let before = before.map(|(_, blob)| blob.clone());
        let kind = match (&before, &file.blob) {
            (_, None) => ChangeKind::Gone,
            (None, Some(_)) => ChangeKind::New,
            (Some(_), Some(_)) => ChangeKind::Changed,
        };
        let hash = file.blob.as_deref().or(before.as_deref());
        SteeringChange {
            what: SteeringSubject::File(file.path.clone()),
            contents: [before.clone(), file.blob.clone()],
            ..SteeringChange::of_file(file.path.clone(), kind, Role::of_entry(&file.path, hash))
        }
    });
    let mut changes: Vec<SteeringChange> = changes.collect();
    changes.sort_by_key(|change| change.role);
    show(objects, &mut changes, hider)?;
    Ok(changes)
}
