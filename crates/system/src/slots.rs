//! The slots that all batches of a user share: each is a locked file, freed by the kernel if need be.
//!
//! Knows nothing of tasks, nor of how many of them one batch may run.

use std::io;
use std::path::PathBuf;

use crate::state_folder::{LockedFile, StateFolder, StateFolderError, try_lock};

/// So many agents may run at once, whoever starts them.
#[derive(Debug)]
pub struct Slots {
    folder: PathBuf,
    limit: usize,
}

/// Holds a slot; let go when dropped, or when the process ends.
#[derive(Debug)]
pub struct SlotGuard(#[expect(dead_code, reason = "holding it is its use")] LockedFile);

impl Slots {
    pub fn new(state: &StateFolder, limit: usize) -> Result<Self, StateFolderError> {
        Ok(Self {
            folder: state.slots()?,
            limit,
        })
    }

    pub fn try_take(&self) -> io::Result<Option<SlotGuard>> {
        // Always the lowest, so that somebody with a lower limit sees how many are taken.
        for number in 1..=self.limit {
            if let Some(file) = try_lock(&self.folder.join(format!("{number}.lock")))? {
                return Ok(Some(SlotGuard(file)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (tempfile::TempDir, StateFolder) {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::at(folder.path()).unwrap();
        (folder, state)
    }

    #[test]
    fn no_more_are_taken_than_there_are_and_a_freed_one_is_taken_again() {
        let (_folder, state) = state();
        let (ours, others) = (
            Slots::new(&state, 3).unwrap(),
            Slots::new(&state, 3).unwrap(),
        );
        let mut taken: Vec<SlotGuard> = [&ours, &others, &ours]
            .map(|slots| slots.try_take().unwrap().unwrap())
            .into();
        assert!(ours.try_take().unwrap().is_none());
        assert!(others.try_take().unwrap().is_none());
        taken.remove(1);
        let again = others.try_take().unwrap();
        assert!(again.is_some());
        assert!(ours.try_take().unwrap().is_none());
    }

    #[test]
    fn whoever_allows_fewer_waits_for_those_who_allow_more() {
        let (_folder, state) = state();
        let (many, few) = (
            Slots::new(&state, 8).unwrap(),
            Slots::new(&state, 2).unwrap(),
        );
        let first = many.try_take().unwrap();
        let _second = many.try_take().unwrap();
        assert!(few.try_take().unwrap().is_none());
        assert!(many.try_take().unwrap().is_some());
        drop(first);
        assert!(few.try_take().unwrap().is_some());
    }

    #[test]
    fn a_crowd_never_holds_more_than_the_limit() {
        let (_folder, state) = state();
        let held = std::sync::atomic::AtomicUsize::new(0);
        let most = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let slots = Slots::new(&state, 4).unwrap();
                    for _ in 0..200 {
                        let Some(guard) = slots.try_take().unwrap() else {
                            continue;
                        };
                        let now = 1 + held.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        most.fetch_max(now, std::sync::atomic::Ordering::SeqCst);
                        std::thread::yield_now();
                        held.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(guard);
                    }
                });
            }
        });
        let most = most.into_inner();
        assert!((1..=4).contains(&most), "{most} at once");
    }
}
