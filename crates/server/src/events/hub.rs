//! Looks for what is new in the log and in what agents say, once for all clients.
//!
//! Looks only while somebody listens. Clients have cursors and no queues: one that is slow costs nothing.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use pleach_log::database::{Database, DatabaseError};
use pleach_log::tails::Tails;
use pleach_system::state_folder::StateFolder;
use tokio::sync::watch;

use super::frame::{Filter, Narrators, page};
use super::ring::{Cursor, Ring, Taken};

/// How often there is a look at the log.
const TICK: Duration = Duration::from_millis(20);
/// How often there is a look at what agents say.
const LIVE_TICK: Duration = Duration::from_millis(250);
/// How long to wait after a look that failed.
const PAUSE: Duration = Duration::from_secs(1);
/// How many entries are read at once.
const PAGE: usize = 1_000;
/// How many entries are there for those who come back right after a start.
const FIRST_FRAMES: u64 = 2_000;
pub(super) const MOST_CLIENTS: usize = 256;

/// The events of a server; clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Hub(Arc<Owner>);

/// Has the thread end that looks, once nobody has the hub any more.
#[derive(Debug)]
struct Owner {
    shared: Arc<Shared>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _looker = lock(&self.shared.looker);
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.shared.wake.notify_all();
    }
}

#[derive(Debug)]
struct Shared {
    state: StateFolder,
    ring: RwLock<Ring>,
    /// Changes when there may be something new.
    news: watch::Sender<u64>,
    clients: AtomicUsize,
    is_over: AtomicBool,
    /// Whether the thread that looks is there, and what wakes it.
    looker: Mutex<bool>,
    wake: Condvar,
}

/// A client's place among the listeners, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    hub: Hub,
}

impl Seat {
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.hub.0.shared.news.subscribe()
    }

    pub(super) fn take(&self, cursor: Cursor, filter: &Filter) -> Taken {
        let ring = self.hub.0.shared.ring.read();
        ring.unwrap_or_else(PoisonError::into_inner)
            .take(cursor, filter)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.hub.0.shared.clients.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Hub {
    pub(crate) fn new(state: &StateFolder) -> Self {
        let shared = Shared {
            state: state.clone(),
            ring: RwLock::new(Ring::after(0)),
            news: watch::Sender::new(0),
            clients: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            looker: Mutex::new(false),
            wake: Condvar::new(),
        };
        let shared = Arc::new(shared);
        Self(Arc::new(Owner { shared }))
    }

    /// A seat, if one is free.
    pub(super) fn sit_down(&self) -> Option<Seat> {
        let clients = &self.0.shared.clients;
        let more = |count: usize| (count < MOST_CLIENTS).then_some(count + 1);
        clients
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, more)
            .ok()?;
        let seat = Seat { hub: self.clone() };
        self.wake_looker();
        Some(seat)
    }

    fn wake_looker(&self) {
        let shared = &self.0.shared;
        let mut is_there = lock(&shared.looker);
        if !*is_there {
            let shared = Arc::clone(shared);
            let looker = std::thread::Builder::new().name("events".into());
            // Tried again with the next client; this one hears of nothing until then.
            *is_there = looker.spawn(move || shared.look_again_and_again()).is_ok();
        }
        shared.wake.notify_all();
    }
}

impl Shared {
    fn tell(&self) {
        self.news.send_modify(|version| *version += 1);
    }

    /// Waits until somebody listens; tells whether anybody ever will.
    fn wait_for_clients(&self) -> bool {
        let mut looker = lock(&self.looker);
        while self.clients.load(Ordering::SeqCst) == 0 && !self.is_over.load(Ordering::SeqCst) {
            let waited = self.wake.wait(looker);
            looker = waited.unwrap_or_else(PoisonError::into_inner);
        }
        !self.is_over.load(Ordering::SeqCst)
    }

    fn look_again_and_again(&self) {
        while self.wait_for_clients() {
            let mut look = match Look::begin(self) {
                Ok(look) => look,
                Err(error) => {
                    complain(&error);
                    continue;
                }
            };
            while self.clients.load(Ordering::SeqCst) > 0 && !self.is_over.load(Ordering::SeqCst) {
                match look.once(self) {
                    Ok(()) => std::thread::sleep(TICK),
                    Err(error) => complain(&error),
                }
            }
            // Nobody looks from now on; who comes next is told how things stand then.
            self.with_ring(Ring::forget_how_things_stand);
        }
    }

    fn with_ring<T>(&self, work: impl FnOnce(&mut Ring) -> T) -> T {
        let ring = self.ring.write();
        work(&mut ring.unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the thread has while somebody listens.
struct Look {
    database: Database,
    version: Option<u64>,
    narrators: Narrators,
    tails: Tails,
    looked_at_tails: Option<Instant>,
}

impl Look {
    fn begin(shared: &Shared) -> Result<Self, DatabaseError> {
        let database = Database::open(&shared.state)?;
        let last = database.last_seq()?;
        shared.with_ring(|ring| {
            // What happened while nobody listened is only worth reading if it is little.
            if last < ring.last() || last - ring.last() > FIRST_FRAMES {
                ring.restart_after(last.saturating_sub(FIRST_FRAMES));
            }
        });
        Ok(Self {
            database,
            version: None,
            narrators: Narrators::default(),
            tails: Tails::new(&shared.state),
            looked_at_tails: None,
        })
    }

    fn once(&mut self, shared: &Shared) -> Result<(), DatabaseError> {
        let version = self.database.data_version()?;
        if self.version != Some(version) {
            while self.read_page(shared)? {}
            self.version = Some(version);
        }
        let is_due = self
            .looked_at_tails
            .is_none_or(|last| last.elapsed() >= LIVE_TICK);
        if is_due {
            self.looked_at_tails = Some(Instant::now());
            let news = self.tails.look(&self.database)?;
            shared.with_ring(|ring| ring.look(&news));
            if !news.is_empty() {
                shared.tell();
            }
        }
        Ok(())
    }

    /// Reads the next entries; tells whether there may be more.
    fn read_page(&mut self, shared: &Shared) -> Result<bool, DatabaseError> {
        let after = shared.with_ring(|ring| ring.last());
        let (entries, reached) = page(&self.database, after, PAGE)?;
        if reached == after {
            return Ok(false);
        }
        let database = &self.database;
        let frames = entries
            .into_iter()
            .map(|entry| self.narrators.frame(database, entry))
            .collect();
        shared.with_ring(|ring| ring.push(frames, reached));
        shared.tell();
        Ok(true)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn complain(error: &DatabaseError) {
    let causes = pleach_system::text::causes::with_causes(error);
    tracing::warn!("could not read events: {causes}");
    std::thread::sleep(PAUSE);
}
