//! Batches that run in this process, each on a thread of its own.
//!
//! Knows which of them are under way; what they do is theirs.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pleach_system::text::causes::with_causes;

use crate::fault::{Blame, Fault, Faults};
use crate::run::{Controls, LoopNotice, Prepared, RunBatch, Summary};

#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error("Pleach is shutting down and starts no new batches")]
    Leaving,
    #[error("could not start a thread for the batch")]
    NoThread(#[source] std::io::Error),
}

/// Longer than any batch takes.
pub const TO_THE_END: Duration = Duration::from_hours(10_000);

impl From<HostError> for Faults {
    fn from(error: HostError) -> Self {
        let message = with_causes(&error);
        match error {
            HostError::Leaving => {
                let stopping = Fault::new(Blame::Environment, "stopping", "the server is stopping");
                stopping.hint("try again once it has restarted").into()
            }
            HostError::NoThread(_) => Fault::new(Blame::Pleach, "bug", message).into(),
        }
    }
}

fn broke_off() -> Faults {
    Fault::new(Blame::Pleach, "bug", "the thread of the batch broke off").into()
}

type NoticeListener = dyn Fn(Option<u32>, &LoopNotice<'_>) + Send + Sync;

/// Where batches run; every clone is the same place.
#[derive(Clone)]
pub struct Host {
    place: Arc<HostState>,
}

struct HostState {
    batches: Mutex<RunningBatches>,
    fewer: Condvar,
    run_batch: RunBatch,
    listener: Box<NoticeListener>,
}

#[derive(Default)]
struct RunningBatches {
    under_way: HashMap<u64, Controls>,
    turns: u64,
    is_leaving: bool,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let under_way = self.place.batches().under_way.len();
        formatter
            .debug_struct("Host")
            .field("under_way", &under_way)
            .finish_non_exhaustive()
    }
}

impl HostState {
    fn batches(&self) -> MutexGuard<'_, RunningBatches> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a batch from those under way, even if its thread breaks off.
struct RunningGuard {
    place: Arc<HostState>,
    turn: u64,
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.place.batches().under_way.remove(&self.turn);
        self.place.fewer.notify_all();
    }
}

impl Host {
    /// A place for batches; `listener` hears what each of them tells, with its number once it has one.
    pub fn new(
        run_batch: RunBatch,
        listener: impl Fn(Option<u32>, &LoopNotice<'_>) + Send + Sync + 'static,
    ) -> Self {
        let place = HostState {
            batches: Mutex::default(),
            fewer: Condvar::new(),
            run_batch,
            listener: Box::new(listener),
        };
        Self {
            place: Arc::new(place),
        }
    }

    /// Runs a batch on a thread of its own.
    pub fn run(&self, mut prepared: Prepared) -> Result<Running, HostError> {
        let mut batches = self.place.batches();
        if batches.is_leaving {
            return Err(HostError::Leaving);
        }
        batches.turns += 1;
        let turn = batches.turns;
        batches.under_way.insert(turn, prepared.controls());
        drop(batches);
        let leaving = RunningGuard {
            place: Arc::clone(&self.place),
            turn,
        };
        let running = Running::default();
        let (known, begun) = (prepared.id(), prepared.begun());
        let heard = running.clone();
        let told = move || {
            // A batch that never begins drops the other end.
            if let Ok(number) = begun.recv() {
                heard.tell(|facts| facts.number = Some(number));
            }
        };
        let thread = || std::thread::Builder::new().name("batch".to_owned());
        let teller = thread().spawn(told).map_err(HostError::NoThread)?;
        let followed = running.clone();
        let follow = move || {
            let _gone = EndNotice(&followed);
            followed.follow(prepared, known, &leaving);
            // It has said that the batch began before anybody hears that it is gone.
            let _ = teller.join();
        };
        // A thread that does not come to be drops what it was to hold.
        thread().spawn(follow).map_err(HostError::NoThread)?;
        Ok(running)
    }

    /// Runs a batch here; known by its id once it has begun.
    pub fn begin(&self, prepared: Prepared) -> Result<(u32, Running), Faults> {
        let running = self.run(prepared)?;
        match running.begun(TO_THE_END) {
            Some(Begun::Number(number)) => Ok((number, running)),
            Some(Begun::Never(Some(faults))) => Err(faults),
            Some(Begun::Never(None)) | None => Err(broke_off()),
        }
    }

    pub fn check_is_open(&self) -> Result<(), HostError> {
        if self.is_leaving() {
            Err(HostError::Leaving)
        } else {
            Ok(())
        }
    }

    /// Has every batch stop its agents, keep their work and stay interrupted; begins no other.
    pub fn leave(&self) {
        let mut batches = self.place.batches();
        batches.is_leaving = true;
        for controls in batches.under_way.values() {
            controls.leave();
        }
    }

    /// Begins no further batch; those that run go on.
    pub fn begin_no_more(&self) {
        self.place.batches().is_leaving = true;
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.place.batches().is_leaving
    }

    pub fn is_idle(&self) -> bool {
        self.place.batches().under_way.is_empty()
    }

    /// Waits until no batch is under way; tells whether it came to that.
    pub fn wait_until_idle(&self, patience: Duration) -> bool {
        let batches = self.place.batches();
        let busy = |batches: &mut RunningBatches| !batches.under_way.is_empty();
        let waited = self.place.fewer.wait_timeout_while(batches, patience, busy);
        let (batches, _) = waited.unwrap_or_else(PoisonError::into_inner);
        batches.under_way.is_empty()
    }
}

/// How a batch ended that ran here, for everybody who wants to know.
pub type BatchResult = Result<Arc<Summary>, Faults>;

/// A batch that runs here; every clone is the same one.
#[derive(Debug, Clone, Default)]
pub struct Running {
    known: Arc<SharedFacts>,
}

#[derive(Debug, Default)]
struct SharedFacts {
    facts: Mutex<RunFacts>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct RunFacts {
    number: Option<u32>,
    ended: Option<BatchResult>,
    is_gone: bool,
}

#[derive(Debug, Clone)]
pub enum Begun {
    /// It has this number, and what was said to it first is done.
    Number(u32),
    /// It ended without; why, unless its thread broke off.
    Never(Option<Faults>),
}

impl Running {
    /// How it began, if it does within that time.
    pub fn begun(&self, patience: Duration) -> Option<Begun> {
        let facts = self.wait_while(patience, |facts| facts.number.is_none() && !facts.is_gone);
        match facts.number {
            Some(number) => Some(Begun::Number(number)),
            None if facts.is_gone => {
                let why = facts.ended.clone().and_then(Result::err);
                Some(Begun::Never(why))
            }
            None => None,
        }
    }

    /// How it ended, if it does within that time.
    pub fn wait(&self, patience: Duration) -> Option<BatchResult> {
        let facts = self.wait_while(patience, |facts| !facts.is_gone);
        facts.ended.clone()
    }

    /// How it ended, however long that takes.
    pub fn end(&self) -> BatchResult {
        self.wait(TO_THE_END).unwrap_or_else(|| Err(broke_off()))
    }

    fn wait_while(
        &self,
        patience: Duration,
        goes_on: impl Fn(&mut RunFacts) -> bool,
    ) -> MutexGuard<'_, RunFacts> {
        let facts = self.known.facts.lock();
        let facts = facts.unwrap_or_else(PoisonError::into_inner);
        let waited = self.known.more.wait_timeout_while(facts, patience, goes_on);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn tell(&self, fact: impl FnOnce(&mut RunFacts)) {
        let facts = self.known.facts.lock();
        fact(&mut facts.unwrap_or_else(PoisonError::into_inner));
        self.known.more.notify_all();
    }

    fn follow(&self, prepared: Prepared, mut number: Option<u32>, leaving: &RunningGuard) {
        let run_batch = leaving.place.run_batch;
        let ended = run_batch(prepared, &mut |told| {
            if let LoopNotice::Event(stored) = &told {
                number = Some(stored.batch);
            }
            (leaving.place.listener)(number, &told);
        });
        if let Err(error) = &ended {
            let why = with_causes(error);
            let note = format!("the batch was interrupted and can be resumed: {why}");
            (leaving.place.listener)(number, &LoopNotice::Note(note));
        }
        let ended = ended.map(Arc::new).map_err(Faults::from);
        self.tell(|facts| facts.ended = Some(ended));
    }
}

/// Tells whoever waits that nothing more is said, also of a thread that broke off.
struct EndNotice<'r>(&'r Running);

impl Drop for EndNotice<'_> {
    fn drop(&mut self) {
        self.0.tell(|facts| facts.is_gone = true);
    }
}
