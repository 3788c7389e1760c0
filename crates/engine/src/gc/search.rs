//! Finds what can go; changes nothing.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use pleach_domain::task_state::{Ending, TaskState};
use pleach_git::git::CommitId;
use pleach_log::batch_paths::batch_branch;
use pleach_log::database::{BatchFilter, BatchScope, now};
use pleach_log::ownership::is_owned;
use pleach_system::state_folder::StateFolder;

use super::{Garbage, GarbageCollector, GarbageKind, GcError};
use crate::kept::{KEEP, KeptWork, list, refs_below};
use crate::share;
use crate::stored_batch::StoredBatch;

pub(super) const LOCK: &str = "lock";
const SOCKETS: [&str; 2] = ["socket", "socket.new"];

/// The folder of a batch that is just being made has no row yet either.
const MAKING: Duration = Duration::from_hours(1);

/// A batch that is over and that nobody has.
struct FinishedBatch {
    stored: StoredBatch,
    age: Duration,
}

impl GarbageCollector<'_> {
    pub fn look(&self) -> Result<Vec<Garbage>, GcError> {
        let over = self.batches_that_are_over()?;
        let mut finds = Vec::new();
        for batch in over.values() {
            self.look_at_trees(batch, &mut finds);
            self.look_at_resolutions(batch, &mut finds);
        }
        let kept = list(self.store, self.database)?;
        self.look_at_kept(&over, &kept, &mut finds);
        self.look_at_branches(&over, &kept, &mut finds)?;
        for batch in over.values() {
            self.look_at_folder(batch, &mut finds);
        }
        self.look_at_damaged(&mut finds);
        finds.sort_by_key(|find| (find.batch, order(&find.what)));
        Ok(finds)
    }

    /// What could not be read may be work, and goes when that would.
    fn look_at_damaged(&self, finds: &mut Vec<Garbage>) {
        for (folder, age) in self.store.damaged_folders() {
            if age > self.keep {
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                finds.push(Garbage {
                    batch: None,
                    number: None,
                    name: name.into_owned(),
                    age: Some(age),
                    bytes: Some(bytes_below(&folder)),
                    what: GarbageKind::Damaged { folder },
                });
            }
        }
    }

    fn batches_that_are_over(&self) -> Result<HashMap<u32, FinishedBatch>, GcError> {
        let all = BatchFilter {
            project: Some(self.project),
            among: BatchScope::All,
        };
        let mut over = HashMap::new();
        for row in self.database.batches(all)? {
            let Some(ended_at) = row.ended_at else {
                continue;
            };
            if is_owned(&self.state.batch(row.id))? {
                continue;
            }
            let stored = StoredBatch::load(self.database, row.id)?;
            let age = Duration::from_millis(now().saturating_sub(ended_at));
            over.insert(row.id, FinishedBatch { stored, age });
        }
        Ok(over)
    }

    fn look_at_trees(&self, batch: &FinishedBatch, finds: &mut Vec<Garbage>) {
        let stored = &batch.stored;
        for task in 0..stored.batch.tasks.len() {
            let Some(spec) = stored.tree_spec(self.state, task) else {
                continue;
            };
            if spec.path.is_dir() {
                finds.push(Garbage {
                    batch: Some(stored.id),
                    number: Some(stored.number),
                    name: stored.batch.tasks[task].design.id.to_string(),
                    age: Some(batch.age),
                    bytes: Some(bytes_below(&spec.path)),
                    what: GarbageKind::Worktree {
                        task,
                        path: spec.path,
                    },
                });
            }
        }
    }

    /// The folder of a resolution is in use as long as there is a conflict to resolve, unless it is as old as
    /// work that nobody needs.
    fn look_at_resolutions(&self, batch: &FinishedBatch, finds: &mut Vec<Garbage>) {
        let stored = &batch.stored;
        for (task, state) in stored.batch.tasks.iter().enumerate() {
            let Some((path, age)) = stored
                .conflict_worktree(self.state, self.store, task)
                .folder()
            else {
                continue;
            };
            let age = age.min(batch.age);
            let conflicted = matches!(state.state, TaskState::Ended(Ending::Conflicted { .. }));
            if conflicted && age <= self.keep {
                continue;
            }
            finds.push(Garbage {
                batch: Some(stored.id),
                number: Some(stored.number),
                name: format!("{}, resolved by hand", state.design.id),
                age: Some(age),
                bytes: Some(bytes_below(&path)),
                what: GarbageKind::Resolution { task, path },
            });
        }
    }

    /// Kept work goes when both its batch has been over and itself has been kept for long enough.
    fn look_at_kept(
        &self,
        over: &HashMap<u32, FinishedBatch>,
        kept: &[KeptWork],
        finds: &mut Vec<Garbage>,
    ) {
        for work in kept {
            let Some(kept_at) = work.kept_at else {
                continue;
            };
            let age = Duration::from_millis(now().saturating_sub(kept_at));
            let (batch, age, name) = match &work.origin {
                Some(origin) => {
                    let Some(batch) = over.get(&origin.batch_id) else {
                        continue;
                    };
                    let attempt = origin.attempt;
                    let attempt = attempt.map(|attempt| format!(", attempt {attempt}"));
                    let name = format!("{}{}", origin.task, attempt.unwrap_or_default());
                    (
                        Some((origin.batch_id, origin.batch)),
                        age.min(batch.age),
                        name,
                    )
                }
                // What agents moved that was not theirs is of no batch; anything else is not known to be old.
                None if work.name.starts_with(&format!("{KEEP}moved/")) => {
                    (None, age, work.name.trim_start_matches(KEEP).to_owned())
                }
                None => continue,
            };
            if age > self.keep {
                finds.push(Garbage {
                    what: GarbageKind::KeptWork {
                        name: work.name.clone(),
                        commit: work.commit.clone(),
                    },
                    batch: batch.map(|(id, _)| id),
                    number: batch.map(|(_, number)| number),
                    name,
                    age: Some(age),
                    bytes: None,
                });
            }
        }
    }

    /// The branch of a task is no longer needed when its commit is kept, or merged into the batch.
    fn look_at_branches(
        &self,
        over: &HashMap<u32, FinishedBatch>,
        kept: &[KeptWork],
        finds: &mut Vec<Garbage>,
    ) -> Result<(), GcError> {
        let refs: HashMap<String, CommitId> = refs_below(self.store, "refs/heads/pleach/")?
            .into_iter()
            .collect();
        for batch in over.values() {
            let stored = &batch.stored;
            let woven = refs.get(&format!("refs/heads/{}", batch_branch(stored.number)));
            for (position, task) in stored.batch.tasks.iter().enumerate() {
                let Some(spec) = stored.tree_spec(self.state, position) else {
                    continue;
                };
                let name = format!("refs/heads/{}", spec.branch);
                let Some(commit) = refs.get(&name) else {
                    continue;
                };
                let is_kept =
                    *commit == spec.basis || kept.iter().any(|work| work.commit == *commit);
                if is_kept || self.is_within(commit, woven)? {
                    finds.push(Garbage {
                        what: GarbageKind::Branch {
                            name,
                            commit: commit.clone(),
                            tree: Some(spec.path),
                        },
                        batch: Some(stored.id),
                        number: Some(stored.number),
                        name: task.design.id.to_string(),
                        age: Some(batch.age),
                        bytes: None,
                    });
                }
            }
        }
        Ok(())
    }

    fn is_within(&self, commit: &CommitId, woven: Option<&CommitId>) -> Result<bool, GcError> {
        match woven {
            Some(woven) => Ok(self.store.is_ancestor(commit, woven)?),
            None => Ok(false),
        }
    }

    fn look_at_folder(&self, batch: &FinishedBatch, finds: &mut Vec<Garbage>) {
        let stored = &batch.stored;
        let folder = self.state.batch(stored.id);
        let find = |what, name: &str, bytes| Garbage {
            what,
            batch: Some(stored.id),
            number: Some(stored.number),
            name: name.to_owned(),
            age: Some(batch.age),
            bytes: Some(bytes),
        };
        let mut sockets = SOCKETS.iter().map(|name| folder.join(name));
        if let Some(path) = sockets.find(|path| path.symlink_metadata().is_ok()) {
            finds.push(find(GarbageKind::Socket { path }, "of a dead process", 0));
        }
        let segments = (0..stored.batch.tasks.len()).map(|task| stored.segment(task));
        let mut transcripts = segments.map(|segment| folder.join(format!("task-{segment}")));
        if batch.age > self.keep && transcripts.any(|path| path.exists()) {
            let bytes = bytes_below(&folder);
            finds.push(find(
                GarbageKind::Transcripts { folder },
                "of its agents",
                bytes,
            ));
        }
    }
}

/// The folders of batches that never came to be.
pub fn empty_folders(
    state: &StateFolder,
    database: &pleach_log::database::Database,
) -> Result<Vec<Garbage>, GcError> {
    let batches = state.batch(0);
    let batches = batches.parent().unwrap_or(Path::new("/"));
    let mut finds = Vec::new();
    for entry in fs::read_dir(batches).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(number) = name.parse::<u32>() else {
            continue;
        };
        let folder = entry.path();
        let made = entry.metadata().and_then(|meta| meta.modified()).ok();
        let age = made.and_then(|made| SystemTime::now().duration_since(made).ok());
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_empty = { entries }.all(|entry| entry.file_name() == LOCK);
        if is_empty
            && age.is_some_and(|age| age > MAKING)
            && !is_owned(&folder)?
            && database.load(number)?.is_none()
        {
            finds.push(Garbage {
                what: GarbageKind::EmptyFolder { folder },
                batch: Some(number),
                number: None,
                name: "of a batch that never started".to_owned(),
                age,
                bytes: Some(0),
            });
        }
    }
    finds.sort_by_key(|find| find.batch);
    Ok(finds)
}

/// What is on the shares of clusters for nothing.
pub fn unused_on_shares(
    state: &StateFolder,
    database: &pleach_log::database::Database,
    keep: Duration,
) -> Result<Vec<Garbage>, GcError> {
    let unused = share::unused(state, database, keep)?.into_iter();
    let finds = unused.map(|unused| Garbage {
        batch: None,
        number: None,
        bytes: Some(bytes_of(&unused.path)),
        name: unused.name,
        age: unused.age,
        what: GarbageKind::OnShare { path: unused.path },
    });
    Ok(finds.collect())
}

/// Worktrees go first: what is in them is kept then, and their branches are free.
fn order(what: &GarbageKind) -> u8 {
    match what {
        GarbageKind::Worktree { .. } | GarbageKind::Resolution { .. } => 0,
        GarbageKind::KeptWork { .. } => 1,
        GarbageKind::Branch { .. } => 2,
        GarbageKind::Transcripts { .. } => 3,
        GarbageKind::Socket { .. } => 4,
        GarbageKind::EmptyFolder { .. } => 5,
        GarbageKind::Damaged { .. } => 6,
        GarbageKind::OnShare { .. } => 7,
    }
}

fn bytes_of(path: &Path) -> u64 {
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => meta.len(),
        _ => bytes_below(path),
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => bytes_below(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}
