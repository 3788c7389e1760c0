//! What the queue of a cluster says to a process on one of its machines: it is to end soon.
//!
//! That comes before a machine is taken back, and when the time of a job is over. Knows nothing of what runs.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::SIGTERM;
use signal_hook::flag;
use signal_hook::iterator::Signals;

use super::Cancel;

/// What runs has no longer to end by itself: clusters kill everything soon after they have asked.
const LONGEST_GRACE: Duration = Duration::from_secs(10);

/// Whether this process was told to end.
#[derive(Debug, Clone)]
pub struct Eviction(Arc<AtomicBool>);

impl Eviction {
    /// Asks what runs to end when this process is asked, and ends it if it takes too long.
    pub fn watch(cancel: Cancel, grace: Duration) -> io::Result<Self> {
        let is_asked = Arc::new(AtomicBool::new(false));
        flag::register(SIGTERM, Arc::clone(&is_asked))?;
        let mut signals = Signals::new([SIGTERM])?;
        thread::Builder::new().spawn(move || {
            if signals.forever().next().is_some() {
                cancel.cancel();
                thread::sleep(grace.min(LONGEST_GRACE));
                cancel.cancel_at_once();
            }
        })?;
        Ok(Self(is_asked))
    }

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
