//! Clears up after processes that were killed.
//!
//! Touches no worktree that anybody may have worked in, unless its removal had begun.

use std::fs;
use std::path::{Path, PathBuf};

use super::git_folder::git_folders;
use super::record::{self, WorktreeRecord, WorktreeStage};
use super::trash::{self, TrashItem, delete_later};
use super::{LOCK, Worktree, WorktreeError, WorktreeSpec};
use crate::git::{Store, ref_segment};

/// Clears up what processes left behind that have ended, and names the worktrees that were cleared.
///
/// Deletion goes on behind; [`super::finish_removals`] waits for it.
pub fn sweep(store: &Store) -> Result<Vec<PathBuf>, WorktreeError> {
    let mut cleared = Vec::new();
    for sign in store.dead_signs()? {
        cleared.extend(clear_records(store, &sign)?);
        trash::left_by(store, &sign)
            .into_iter()
            .for_each(delete_later);
    }
    // A git that outlived its Pleach may write even after the sign of that was cleared away, so these
    // are told by the names that they bear.
    let home = store.home();
    let of_scratch = |name: &str| trash::sign_in(name.strip_prefix("scratch-")?);
    let of_building = |name: &str| name.split('.').nth(1).map(str::to_owned);
    let mut waste = abandoned(store, home, of_scratch)?;
    let building = [
        git_folders(store),
        home.join("index"),
        home.join("trees"),
        home.join("resolves"),
    ];
    for folder in building {
        waste.extend(abandoned(store, &folder, of_building)?);
    }
    waste.into_iter().for_each(delete_later);
    Ok(cleared)
}

/// A process that was killed may have left a git behind that is still writing to the same place.
pub(super) fn wait_for_earlier(store: &Store, spec: &WorktreeSpec) -> Result<(), WorktreeError> {
    let record = WorktreeRecord::load(store, &ref_segment(&spec.branch));
    let us = store.sign()?;
    match record.filter(|record| record.sign != us) {
        Some(record) => Ok(store.wait_for_end(&record.sign)?),
        None => Ok(()),
    }
}

/// Worktrees that were never finished, and those whose removal was not.
fn clear_records(store: &Store, sign: &str) -> Result<Vec<PathBuf>, WorktreeError> {
    let _lock = store.lock(LOCK)?;
    let mut cleared = Vec::new();
    for id in record::names(store) {
        let record = WorktreeRecord::load(store, &id);
        let is_open =
            |record: &WorktreeRecord| record.stage != WorktreeStage::Made && record.sign == sign;
        if let Some(record) = record.filter(is_open) {
            cleared.push(record.path.clone());
            Worktree::of_record(store, &record).put_away(store)?;
        }
    }
    Ok(cleared)
}

/// What bears the sign of a process that is not alive any more.
fn abandoned(
    store: &Store,
    folder: &Path,
    sign_in: impl Fn(&str) -> Option<String>,
) -> Result<Vec<TrashItem>, WorktreeError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // The sign is made before anything that bears it, so it is looked at afterwards.
        let sign = sign_in(&entry.file_name().to_string_lossy());
        if let Some(sign) = sign
            && !store.is_alive(&sign)?
        {
            found.push(TrashItem::Path(entry.path()));
        }
    }
    Ok(found)
}
