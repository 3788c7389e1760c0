//! The steering files of a commit with their hashes, and how those of another commit differ.
//!
//! Knows nothing of consent.

use std::collections::BTreeMap;
use std::sync::Arc;

use pleach_domain::task_state::SteeringFile;
use pleach_system::text::hash::hash;

use super::follow::{ReferenceCache, SteeringSearch, TreeFile, follow, shown};
use super::names::Role;

use pleach_git::git::{CommitId, GitError, ObjectSource};

use super::SteeringRemark;

/// Stands before the hash of a link, which is another thing than a file of the same bytes.
pub(super) const LINK: &str = "link:";

/// Stands before the hash of a file that can be run: a hook that becomes one is another thing than it was.
pub(super) const EXECUTABLE: &str = "exec:";

/// The steering files of a commit with their hashes, in order.
#[derive(Debug, Clone, Default)]
pub struct SteeringFiles {
    /// Paths, and what is there: its hash, with a word before that of a link.
    files: Vec<(String, String)>,
    remarks: BTreeMap<String, SteeringRemark>,
    known: Arc<ReferenceCache>,
}

impl SteeringFiles {
    /// Looks through the files of a commit, and follows links and imports.
    pub(crate) fn at(objects: &impl ObjectSource, commit: &CommitId) -> Result<Self, GitError> {
        Self::look(objects, commit, Arc::default())
    }

    /// The same for another commit; contents that both have are not read again.
    pub fn in_commit(
        &self,
        objects: &impl ObjectSource,
        commit: &CommitId,
    ) -> Result<Self, GitError> {
        Self::look(objects, commit, Arc::clone(&self.known))
    }

    fn look(
        objects: &impl ObjectSource,
        commit: &CommitId,
        mut known: Arc<ReferenceCache>,
    ) -> Result<Self, GitError> {
        let found = follow(objects, commit, &mut known)?;
        let remarks = found.files.keys().map(|path| remark(&found, path));
        let remarks = remarks.collect();
        let files = found.files.iter().map(|(path, file)| {
            let kind = match file {
                TreeFile { is_link: true, .. } => LINK,
                TreeFile {
                    is_executable: true,
                    ..
                } => EXECUTABLE,
                _ => "",
            };
            (shown(path), format!("{kind}{}", file.blob))
        });
        let mut files: Vec<_> = files.collect();
        files.sort();
        Ok(Self {
            files,
            remarks,
            known,
        })
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(path, _)| path.as_str())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(String, String)> {
        self.files.iter()
    }

    pub(super) fn remarks(&self) -> BTreeMap<String, SteeringRemark> {
        self.remarks.clone()
    }

    /// What is new, different or gone in another commit, as it is there.
    pub fn steering_in(&self, other: &Self) -> Vec<SteeringFile> {
        let changed = self.changed_in(other);
        let there = |path: &String| {
            let mut files = other.files.iter();
            let blob = files.find(|(known, _)| known == path);
            blob.map(|(_, blob)| blob.clone())
        };
        let changed = changed.into_iter().map(|path| SteeringFile {
            blob: there(&path),
            path,
        });
        let mut changed: Vec<SteeringFile> = changed.collect();
        // By what they do: names are chosen by whoever changed them, and lists are cut.
        changed.sort_by_key(|file| {
            let mut remarks = [other, self].into_iter();
            let remark = remarks.find_map(|files| files.remarks.get(&file.path));
            let role = remark.map(|remark| remark.role);
            role.unwrap_or_else(|| Role::of_entry(&file.path, file.blob.as_deref()))
        });
        changed
    }

    /// A short name for exactly these files with exactly these contents.
    pub fn fingerprint(&self) -> String {
        let files = self.files.iter();
        hash(files.flat_map(|(path, blob)| [path.as_str(), blob.as_str()]))
    }

    /// The paths that are new, different or gone in another commit.
    pub fn changed_in(&self, other: &Self) -> Vec<String> {
        let missing =
            |from: &Self, entry: &(String, String)| from.files.binary_search(entry).is_err();
        let mut changed: Vec<String> = self
            .files
            .iter()
            .filter(|entry| missing(other, entry))
            .map(|(path, _)| path.clone())
            .collect();
        changed.extend(
            other
                .files
                .iter()
                .filter(|entry| missing(self, entry))
                .map(|(path, _)| path.clone()),
        );
        changed.sort();
        changed.dedup();
        changed
    }
}

fn remark(found: &SteeringSearch, path: &[u8]) -> (String, SteeringRemark) {
    let by = found.led_to.get(path);
    let name = shown(path);
    let is_executable = found.files[path].is_executable;
    let role = match (Role::of_file(&name), by) {
        (Role::Other, _) if is_executable => Role::Hooks,
        // Agents read or run it in the place of a file that says so by its name.
        (Role::Other, Some(by)) if !by.is_folder => by.role,
        (role, _) => role,
    };
    let link = || {
        let target = found.links.get(path)?;
        Some(format!("a link to {target}"))
    };
    let mode = || is_executable.then(|| "executable".to_owned());
    let remark = SteeringRemark {
        role,
        because: by.map(|by| by.words.clone()).or_else(link).or_else(mode),
        unseen: found.unseen.get(path).cloned(),
    };
    (name, remark)
}

#[cfg(test)]
impl SteeringFiles {
    pub(super) fn of(files: Vec<(String, String)>) -> Self {
        Self {
            files,
            remarks: BTreeMap::new(),
            known: Arc::default(),
        }
    }
}
