//! Who is connected: few who have not shown a token, the oldest of which goes when another one comes, and many who have.
//!
//! So nobody without a token can take up the places of those who have one.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Connections that have shown a token or a pass; a browser has a handful, and each client of events one.
const MOST_KNOWN: usize = 384;
/// Those that have not, or not yet.
const MOST_STRANGERS: usize = 256;

#[derive(Debug)]
pub(crate) struct Connections {
    /// In the order in which they came.
    strangers: Mutex<VecDeque<Arc<Connection>>>,
    known: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Connection {
    /// The place among those who are known.
    place: OnceLock<OwnedSemaphorePermit>,
    must_go: Notify,
}

/// A connection for as long as it is there.
#[derive(Debug)]
pub(crate) struct ConnectionGuard {
    crowd: Arc<Connections>,
    guest: Arc<Connection>,
}

/// The address that the other end of a connection knows us by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalAddress(pub(crate) SocketAddr);

/// What the door says of a connection.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionAuth(Arc<Connections>, Arc<Connection>);

impl Connections {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            strangers: Mutex::default(),
            known: Arc::new(Semaphore::new(MOST_KNOWN)),
        })
    }

    /// Takes in a new connection, for the oldest stranger if there are too many.
    pub(crate) fn enter(self: &Arc<Self>) -> ConnectionGuard {
        let guest = Arc::new(Connection::default());
        let mut strangers = self.strangers();
        if strangers.len() >= MOST_STRANGERS
            && let Some(oldest) = strangers.pop_front()
        {
            oldest.must_go.notify_one();
        }
        strangers.push_back(Arc::clone(&guest));
        drop(strangers);
        ConnectionGuard {
            crowd: Arc::clone(self),
            guest,
        }
    }

    fn strangers(&self) -> MutexGuard<'_, VecDeque<Arc<Connection>>> {
        self.strangers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn forget_stranger(&self, guest: &Arc<Connection>) {
        self.strangers().retain(|known| !Arc::ptr_eq(known, guest));
    }
}

impl ConnectionAuth {
    /// The connection has shown a token or a pass. Where too many have, it stays among the strangers.
    pub(crate) fn is_known(&self) {
        let Self(crowd, guest) = self;
        if guest.place.get().is_some() {
            return;
        }
        if let Ok(place) = Arc::clone(&crowd.known).try_acquire_owned() {
            // One that was given by another request of the same connection is as good.
            let _ = guest.place.set(place);
            crowd.forget_stranger(guest);
        }
    }
}

impl ConnectionGuard {
    pub(crate) fn introduction(&self) -> ConnectionAuth {
        ConnectionAuth(Arc::clone(&self.crowd), Arc::clone(&self.guest))
    }

    /// Waits until another one needs the place.
    pub(crate) async fn until_it_must_go(&self) {
        self.guest.must_go.notified().await;
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.crowd.forget_stranger(&self.guest);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn must_go(stay: &ConnectionGuard) -> bool {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().build().unwrap();
        let waited =
            async { tokio::time::timeout(Duration::from_millis(1), stay.until_it_must_go()).await };
        runtime.block_on(waited).is_ok()
    }

    #[test]
    fn the_oldest_stranger_goes_and_those_who_are_known_stay() {
        let crowd = Connections::new();
        let known = crowd.enter();
        known.introduction().is_known();
        let strangers: Vec<ConnectionGuard> = (0..MOST_STRANGERS).map(|_| crowd.enter()).collect();
        assert!(!must_go(&known) && !must_go(&strangers[0]));
        let _next = crowd.enter();
        assert!(must_go(&strangers[0]));
        assert!(!must_go(&strangers[1]) && !must_go(&known));
    }

    #[test]
    fn a_place_that_was_left_is_free() {
        let crowd = Connections::new();
        for _ in 0..2 * MOST_KNOWN {
            let stay = crowd.enter();
            stay.introduction().is_known();
            assert!(stay.guest.place.get().is_some());
        }
        assert!(crowd.strangers().is_empty());
        let all: Vec<ConnectionGuard> = (0..=MOST_KNOWN).map(|_| crowd.enter()).collect();
        for stay in &all {
            stay.introduction().is_known();
        }
        assert!(all[MOST_KNOWN].guest.place.get().is_none());
    }
}
