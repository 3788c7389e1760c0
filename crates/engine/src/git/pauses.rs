//! How often and after how long something is tried again that may yet work.
//!
//! Knows nothing of what is tried.

use std::time::Duration;

/// The pauses between tries: one more try than there are pauses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pauses {
    between: Vec<Duration>,
    /// A server that says when it wants to be asked again is waited for no longer than this.
    longest: Duration,
}

impl Pauses {
    /// Short ones that grow: a server that restarts or a network that changes is outlasted.
    pub fn usual() -> Self {
        let between = [1, 2, 4, 8].map(Duration::from_secs).to_vec();
        Self {
            between,
            longest: Duration::from_secs(90),
        }
    }

    /// Certain ones, the longest of which also bounds how long a server is waited for.
    pub fn of(between: impl IntoIterator<Item = Duration>) -> Self {
        let between: Vec<_> = between.into_iter().collect();
        let longest = between.iter().max().copied().unwrap_or_default();
        Self { between, longest }
    }

    /// Whether it is worth waiting that long for a server.
    pub(crate) fn covers(&self, wait: Duration) -> bool {
        wait <= self.longest
    }

    /// The pauses, one after the other.
    pub(crate) fn each(&self) -> impl Iterator<Item = Duration> {
        self.between.iter().copied()
    }
}

impl Default for Pauses {
    fn default() -> Self {
        Self::usual()
    }
}
