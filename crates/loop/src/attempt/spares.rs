//! Worktrees of a batch whose tasks are over, for the tasks that come.
//!
//! Knows nothing of what is done to them; what is left of them goes with the batch.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use pleach_git::worktree::Spare;

#[derive(Debug)]
pub(crate) struct Spares {
    most: usize,
    shelf: Arc<SparePool>,
}

#[derive(Debug, Default)]
struct SparePool {
    holds: Mutex<PoolState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct PoolState {
    spares: Vec<Spare>,
    promised: usize,
}

/// That a worktree may become a spare one; whoever wants one waits until this is kept or dropped.
#[derive(Debug)]
pub(crate) struct SparePromise(Arc<SparePool>);

impl Drop for SparePromise {
    fn drop(&mut self) {
        self.0.holds().promised -= 1;
        self.0.changed.notify_all();
    }
}

impl SparePool {
    fn holds(&self) -> MutexGuard<'_, PoolState> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spares {
    /// Room for so many: more can never be wanted at once.
    pub(crate) fn new(most: usize) -> Self {
        let shelf = Arc::default();
        Self { most, shelf }
    }

    /// Says that one may come, before anybody who could want it begins.
    pub(crate) fn promise(&self) -> SparePromise {
        self.shelf.holds().promised += 1;
        SparePromise(Arc::clone(&self.shelf))
    }

    /// Takes in what was promised, if anything came of it; the oldest goes where there are enough.
    pub(crate) fn put(&self, spare: Option<Spare>, promise: SparePromise) {
        let mut holds = self.shelf.holds();
        holds.spares.extend(spare);
        let too_many = holds.spares.len().saturating_sub(self.most);
        holds.spares.drain(..too_many);
        drop(holds);
        drop(promise);
    }

    /// The one that came last: what it has cached is the newest.
    ///
    /// Waits for those on their way, which takes no longer than moving a folder.
    pub(crate) fn take(&self) -> Option<Spare> {
        let is_coming = |holds: &mut PoolState| holds.spares.is_empty() && holds.promised > 0;
        let holds = self.shelf.holds();
        let holds = self.shelf.changed.wait_while(holds, is_coming);
        holds.unwrap_or_else(PoisonError::into_inner).spares.pop()
    }

    pub(crate) fn clear(&self) {
        self.shelf.holds().spares.clear();
    }
}
