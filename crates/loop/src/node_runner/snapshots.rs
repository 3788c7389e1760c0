//! Brings what an agent has made so far to its owner now and then, for as long as it works.
//!
//! Knows nothing of what the owner does with that. What does not get there is tried again the next time.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use pleach_git::capture::LiveBundles;

use super::Node;
use crate::attempt::Attempt;
use crate::spool::UnitFolder;

/// Looking takes no more than such a part of the time.
const MOST_OF_THE_TIME: u32 = 4;

/// The number of the last one that is there as a whole.
pub(super) type LastSnapshot = Arc<AtomicU32>;

/// Does something while what it makes in a worktree is brought over again and again.
pub(super) fn bring_while<T>(
    node: &Node,
    attempt: &Attempt,
    last: &LastSnapshot,
    work: impl FnOnce() -> T,
) -> T {
    let pace = node.head.pace.snapshot;
    let file = node.own.join("live.bundle");
    let mut bundles = LiveBundles::new(
        &node.context.store,
        attempt.branch.clone(),
        node.context.keep_name(&attempt.segment, attempt.number),
        node.context.left_out(),
    );
    thread::scope(|scope| {
        let (over, is_over) = channel::<()>();
        let look = move || {
            let (mut due, mut is_news) = (pace, false);
            while is_over.recv_timeout(due) == Err(RecvTimeoutError::Timeout) {
                let began = Instant::now();
                is_news |= bundles.write(&file).unwrap_or(false);
                is_news = is_news && bring(&node.place, &file, last).is_err();
                due = pace.max(began.elapsed() * MOST_OF_THE_TIME);
            }
        };
        // Without a thread for it, only the end is brought over.
        let _ = thread::Builder::new().spawn_scoped(scope, look);
        let done = work();
        drop(over);
        done
    })
}

fn bring(place: &UnitFolder, file: &Path, last: &LastSnapshot) -> io::Result<()> {
    let number = last.load(Ordering::Relaxed) + 1;
    place.put_live_bundle(number, file)?;
    last.store(number, Ordering::Relaxed);
    // Its owner may be reading the one before.
    if let Some(old) = number.checked_sub(2) {
        let _ = fs::remove_file(place.live_bundle(old));
    }
    Ok(())
}
