//! The work of attempts that is kept under `refs/pleach/keep/`: listed, and brought back as branches or folders.
//!
//! Removes nothing.

mod into_folder;
mod kept_name;

use std::collections::HashMap;
use std::path::PathBuf;

use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::task_state::{Ending, TaskState};

use crate::stored_batch::{LookupError, StoredBatch};
use kept_name::KeptName;
use pleach_git::capture::keep_last_state;
use pleach_git::git::{CallPlace, CommitId, GitError, Store, StoreError, nul_separated};
use pleach_git::worktree::{Worktree, WorktreeError};
use pleach_log::batch_paths::project_name;
use pleach_log::database::Database;
use pleach_log::ownership::{BatchLock, OwnershipError};
use pleach_system::state_folder::StateFolder;

pub(crate) const KEEP: &str = "refs/pleach/keep/";

#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    #[error(transparent)]
    Lookup(#[from] LookupError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Worktree(Box<WorktreeError>),
    #[error(transparent)]
    Ownership(#[from] OwnershipError),
    #[error("could not create a folder in {}", path.display())]
    Folder {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{0}")]
    Nothing(String),
}

impl From<pleach_log::database::DatabaseError> for KeptError {
    fn from(error: pleach_log::database::DatabaseError) -> Self {
        Self::Lookup(error.into())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptWork {
    pub name: String,
    pub commit: CommitId,
    pub origin: Option<KeptOrigin>,
    /// When it was kept, in milliseconds since 1970, as far as known.
    pub kept_at: Option<u64>,
    pub also: OtherCopy,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptOrigin {
    pub batch: BatchNumber,
    pub batch_id: u32,
    pub task: TaskId,
    /// The attempt; none, if it is what stood on the branch before one, or a person's.
    pub attempt: Option<u32>,
    /// Whether a person made it who resolved a conflict.
    pub by_hand: bool,
    /// The commit that the attempt started from, if known.
    pub basis: Option<CommitId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtherCopy {
    Nowhere,
    /// A branch of the user's repository ends with it.
    Branch(String),
    Merged,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptSelector {
    Last,
    Attempt(u32),
    /// What a person last had in the folder of a conflict.
    ByHand,
}

impl KeptSelector {
    fn is(self, work: &KeptWork) -> bool {
        let by_hand = work.origin.as_ref().is_some_and(|origin| origin.by_hand);
        match self {
            Self::Last => work.attempt().is_some(),
            Self::Attempt(attempt) => work.attempt() == Some(attempt),
            Self::ByHand => by_hand,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveredWork {
    pub task: TaskId,
    /// The attempt; none, if a person made it.
    pub attempt: Option<u32>,
    pub back: RecoveredTo,
    pub commit: CommitId,
    pub basis: Option<CommitId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecoveredTo {
    Branch(String),
    /// A new folder, where there is no repository.
    Folder(PathBuf),
    /// Nowhere: no file was changed.
    Unchanged,
}

/// Everything that is kept in a store, by the names of the refs.
pub fn list(store: &Store, database: &Database) -> Result<Vec<KeptWork>, KeptError> {
    let refs = keep_refs(store)?;
    let branches = branches(store)?;
    let project = project_name(store);
    let find = |number: BatchNumber| {
        let id = database.batch_numbered(&project, number).ok()??;
        StoredBatch::load(database, id).ok()
    };
    let mut batches: HashMap<BatchNumber, Option<StoredBatch>> = HashMap::new();
    let mut found = Vec::new();
    for (name, commit) in refs {
        let meant = name.strip_prefix(KEEP).and_then(KeptName::parse);
        let stored = match &meant {
            Some(meant) => batches
                .entry(meant.batch)
                .or_insert_with(|| find(meant.batch))
                .as_ref(),
            None => None,
        };
        let place = meant
            .as_ref()
            .zip(stored)
            .and_then(|(meant, stored)| Some((meant, stored, meant.position(stored)?)));
        let origin = place.map(|(meant, stored, position)| meant.origin(stored, position));
        let facts = place.and_then(|(meant, stored, position)| {
            stored.attempt(position, meant.attempt(stored, position)?)
        });
        let is_merged = place.is_some_and(|(_, stored, position)| {
            let state = &stored.batch.tasks[position].state;
            matches!(state, TaskState::Ended(Ending::Merged { commit: merged }) if merged.0 == commit.as_str())
        });
        let own = place.and_then(|(_, stored, position)| {
            let published = stored.batch.tasks[position].published.as_ref();
            published.map(|(branch, _)| branch.as_str())
        });
        let branch = branches.get(commit.as_str()).and_then(|names| {
            let is_own = |name: &&String| Some(name.as_str()) == own;
            names.iter().find(is_own).or(names.last()).cloned()
        });
        found.push(KeptWork {
            kept_at: noted_at(store, &name).or_else(|| facts.map(|facts| facts.last_at)),
            also: match (is_merged, branch) {
                (true, _) => OtherCopy::Merged,
                (false, Some(branch)) => OtherCopy::Branch(branch),
                (false, None) => OtherCopy::Nowhere,
            },
            name,
            commit,
            origin,
        });
    }
    Ok(found)
}

impl KeptWork {
    pub fn attempt(&self) -> Option<u32> {
        self.origin.as_ref().and_then(|origin| origin.attempt)
    }

    fn is_unchanged(&self, store: &Store, commit: &CommitId) -> Result<bool, GitError> {
        let state = Self {
            commit: commit.clone(),
            ..self.clone()
        };
        Ok(state.count_files(store)? == Some(0))
    }

    pub fn count_files(&self, store: &Store) -> Result<Option<usize>, GitError> {
        let Some(basis) = self
            .origin
            .as_ref()
            .and_then(|origin| origin.basis.as_ref())
        else {
            return Ok(None);
        };
        let is_there = store.look_up(&[format!("{basis}^{{commit}}")])?[0].is_some();
        if !is_there {
            return Ok(None);
        }
        Ok(Some(store.changes(basis, &self.commit)?.len()))
    }
}

/// Brings kept work of a batch back as branches of the user's repository, or as folders where there is none.
///
/// Of one task, or of every task that is not merged. What is in a worktree that stayed is kept first, unless somebody
/// runs the batch.
pub fn recover(
    state: &StateFolder,
    database: &Database,
    stored: &StoredBatch,
    task: Option<&TaskId>,
    which: KeptSelector,
) -> Result<Vec<RecoveredWork>, KeptError> {
    let gone = || {
        KeptError::Nothing(format!(
            "no work of batch {} is kept any more",
            stored.number
        ))
    };
    let store = stored.store(state)?.ok_or_else(gone)?;
    let positions: Vec<usize> = match task {
        Some(task) => vec![stored.position(task)?],
        None => (0..stored.batch.tasks.len())
            .filter(|at| !is_merged(&stored.batch.tasks[*at].state))
            .collect(),
    };
    let mut latest: HashMap<usize, CommitId> = HashMap::new();
    if which == KeptSelector::Last
        && let Some(_lock) = BatchLock::take(&state.batch(stored.id))?
    {
        for position in &positions {
            if let Some(commit) = keep_tree(state, stored, &store, *position)? {
                latest.insert(*position, commit);
            }
        }
    }
    let kept = list(&store, database)?;
    let mut recovered = Vec::new();
    for position in positions {
        let id = &stored.batch.tasks[position].design.id;
        let of_task = |work: &&KeptWork| {
            let origin = work.origin.as_ref();
            origin.is_some_and(|origin| origin.batch == stored.number && origin.task == *id)
        };
        let of_task = kept.iter().filter(of_task);
        // Of several states of one attempt the last has the highest number.
        let last = of_task
            .filter(|work| which.is(work))
            .max_by_key(|work| (work.attempt(), work.name.len(), work.name.clone()));
        let Some(last) = last else { continue };
        let commit = latest.remove(&position);
        let commit = commit.unwrap_or_else(|| last.commit.clone());
        let back = if last.is_unchanged(&store, &commit)? {
            RecoveredTo::Unchanged
        } else {
            bring_back(state, stored, &store, &commit, &stored.segment(position))?
        };
        recovered.push(RecoveredWork {
            task: id.clone(),
            attempt: last.attempt(),
            back,
            basis: last.origin.as_ref().and_then(|origin| origin.basis.clone()),
            commit,
        });
    }
    if recovered.is_empty() {
        return Err(KeptError::Nothing(nothing_of(stored, task, which)));
    }
    Ok(recovered)
}

fn bring_back(
    state: &StateFolder,
    stored: &StoredBatch,
    store: &Store,
    commit: &CommitId,
    segment: &str,
) -> Result<RecoveredTo, KeptError> {
    if store.plain_folder().is_some() {
        let folder = into_folder::bring_back(state, stored, store, commit, segment)?;
        return Ok(RecoveredTo::Folder(folder));
    }
    let wanted = stored.record.branches.recovered(stored.number, segment);
    Ok(RecoveredTo::Branch(store.publish(commit, &wanted, None)?))
}

fn nothing_of(stored: &StoredBatch, task: Option<&TaskId>, which: KeptSelector) -> String {
    let id = stored.number;
    match (task, which) {
        (Some(task), KeptSelector::Attempt(attempt)) => {
            format!("no work is kept of attempt {attempt} of task {task} of batch {id}")
        }
        (Some(task), KeptSelector::ByHand) => {
            format!("no resolution is kept of task {task} of batch {id}")
        }
        (Some(task), KeptSelector::Last) => format!("no work is kept of task {task} of batch {id}"),
        (None, _) => format!("no unmerged work is kept of batch {id}"),
    }
}

/// Keeps what is in a worktree that stayed; nothing, if there is none or nothing was changed.
pub(crate) fn keep_tree(
    state: &StateFolder,
    stored: &StoredBatch,
    store: &Store,
    position: usize,
) -> Result<Option<CommitId>, KeptError> {
    let boxed = |error: WorktreeError| KeptError::Worktree(Box::new(error));
    let Some(spec) = stored.tree_spec(state, position) else {
        return Ok(None);
    };
    if !spec.path.is_dir() {
        return Ok(None);
    }
    let Some(worktree) = Worktree::existing(store, &spec).map_err(boxed)? else {
        return Ok(None);
    };
    let name = stored.keep_name(position, stored.batch.tasks[position].attempts);
    let kept = keep_last_state(store, &worktree, &name);
    let kept = kept.map_err(|error| boxed(error.into()))?;
    Ok(kept.commit().cloned())
}

pub(crate) fn is_merged(state: &TaskState) -> bool {
    matches!(
        state,
        TaskState::Ended(Ending::Merged { .. } | Ending::NoChanges { .. })
    )
}

pub(crate) fn keep_refs(store: &Store) -> Result<Vec<(String, CommitId)>, GitError> {
    refs_below(store, KEEP)
}

pub fn refs_below(store: &Store, prefix: &str) -> Result<Vec<(String, CommitId)>, GitError> {
    let list = [
        "for-each-ref",
        "--format=%(objectname)%00%(refname)%00",
        prefix,
    ];
    let printed = store.call().args(list).output()?;
    Ok(pairs(&printed))
}

fn pairs(printed: &[u8]) -> Vec<(String, CommitId)> {
    let mut fields = nul_separated(printed);
    let mut found = Vec::new();
    while let (Some(id), Some(name)) = (fields.next(), fields.next()) {
        let id = String::from_utf8_lossy(id);
        let name = String::from_utf8_lossy(name).trim_start().to_owned();
        if let Ok(id) = id.trim_start().parse() {
            found.push((name, id));
        }
    }
    found
}

/// The branches of the user's repository by the commits they end with; ours come last.
fn branches(store: &Store) -> Result<HashMap<String, Vec<String>>, KeptError> {
    let Ok(checkout) = store.checkout() else {
        return Ok(HashMap::new());
    };
    let list = [
        "for-each-ref",
        "--format=%(objectname)%00%(refname)%00",
        "refs/heads/",
    ];
    let call = store.git.call(CallPlace::Users(&checkout.folder));
    let found = pairs(&call.args(list).output()?);
    let short = |name: String| name.trim_start_matches("refs/heads/").to_owned();
    let mut by_commit: Vec<(String, String)> = found
        .into_iter()
        .map(|(name, commit)| (commit.to_string(), short(name)))
        .collect();
    by_commit.sort_by_key(|(_, name)| name.starts_with("pleach/"));
    let mut branches: HashMap<String, Vec<String>> = HashMap::new();
    for (commit, name) in by_commit {
        branches.entry(commit).or_default().push(name);
    }
    Ok(branches)
}

/// When a ref of the store was last written, by the log that git keeps of it.
pub(crate) fn noted_at(store: &Store, name: &str) -> Option<u64> {
    let log: PathBuf = store.git_dir().join("logs").join(name);
    let text = std::fs::read(log).ok()?;
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().last()?;
    let (who, _) = last.split_once('\t').unwrap_or((last, ""));
    let seconds: u64 = who.rsplit(' ').nth(1)?.parse().ok()?;
    seconds.checked_mul(1_000)
}
