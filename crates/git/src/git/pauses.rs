//! How often and after how long something is tried again that may yet work.
//!
//! Knows nothing of what is tried.

use std::thread;
use std::time::Duration;

use pleach_system::pace::paced;
use pleach_system::process::Cancel;

/// The pauses between tries: one more try than there are pauses.
#[derive(Debug, Clone)]
pub struct Pauses {
    between: Vec<Duration>,
    /// A server that says when it wants to be asked again is waited for no longer than this.
    longest: Duration,
    stop: Option<Cancel>,
}

impl Pauses {
    /// Short ones that grow: a server that restarts or a network that changes is outlasted.
    pub fn usual() -> Self {
        let between = [1, 2, 4, 8].map(Duration::from_secs);
        Self {
            between: between.map(paced).to_vec(),
            longest: Duration::from_secs(90),
            stop: None,
        }
    }

    /// Certain ones, the longest of which also bounds how long a server is waited for.
    pub fn of(between: impl IntoIterator<Item = Duration>) -> Self {
        let between: Vec<_> = between.into_iter().collect();
        let longest = between.iter().max().copied().unwrap_or_default();
        Self {
            between,
            longest,
            stop: None,
        }
    }

    /// The same, until somebody cancels: then what is tried ends, and nothing is tried again.
    #[must_use]
    pub fn until(self, stop: Cancel) -> Self {
        let stop = Some(stop);
        Self { stop, ..self }
    }

    pub(crate) fn stop(&self) -> Option<&Cancel> {
        self.stop.as_ref()
    }

    /// Sleeps; tells whether there should be another try.
    pub fn rest(&self, pause: Duration) -> bool {
        if let Some(stop) = &self.stop {
            stop.sleep(pause);
            return !stop.is_cancelled();
        }
        thread::sleep(pause);
        true
    }

    /// Whether it is worth waiting that long for a server.
    pub fn covers(&self, wait: Duration) -> bool {
        wait <= self.longest
    }

    pub fn each(&self) -> impl Iterator<Item = Duration> {
        self.between.iter().copied()
    }
}

impl Default for Pauses {
    fn default() -> Self {
        Self::usual()
    }
}
