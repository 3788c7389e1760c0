//! What the machine of a unit says: this process is to end soon, and its owner has not asked for it.
//!
//! The queue asks so before it takes a machine back, and when the time of a job is over.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pleach_system::process::Cancel;
use signal_hook::consts::SIGTERM;
use signal_hook::flag;
use signal_hook::iterator::Signals;

/// What runs has no longer to end by itself: clusters kill everything soon after they have asked.
const LONGEST_GRACE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub(super) struct EndingMachine(Arc<AtomicBool>);

impl EndingMachine {
    /// Asks what runs to end when the machine asks us, and ends it if it takes too long.
    pub(super) fn watch(cancel: Cancel, grace: Duration) -> io::Result<Self> {
        let is_ending = Arc::new(AtomicBool::new(false));
        flag::register(SIGTERM, Arc::clone(&is_ending))?;
        let mut signals = Signals::new([SIGTERM])?;
        thread::Builder::new().spawn(move || {
            if signals.forever().next().is_some() {
                cancel.cancel();
                thread::sleep(grace.min(LONGEST_GRACE));
                cancel.cancel_at_once();
            }
        })?;
        Ok(Self(is_ending))
    }

    pub(super) fn is_ending(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
