//! What one client hears, from where it left off.
//!
//! Made piece by piece as the client takes it, so that nothing waits for it in memory.

use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use pleach_log::database::{Database, DatabaseError};
use pleach_system::pace::paced;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_stream::Stream;

use super::frame::{Filter, Narrators, page, told};
use super::hub::Seat;
use super::ring::{Cursor, Taken};
use crate::answer::Refusal;
use crate::app::{App, Stopping};

/// How long a client waits before it comes back, in milliseconds.
const RETRY: u32 = 1_000;
/// How often a silent stream shows that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How many entries are read from the log at once.
const PAGE: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Now,
    /// After the entry of that number.
    After(u64),
}

/// A client, between two pieces.
struct Client {
    app: App,
    seat: Seat,
    _counted: Counted,
    stopping: watch::Receiver<Stopping>,
    news: watch::Receiver<u64>,
    filter: Filter,
    cursor: Cursor,
    /// The number that the client was told last.
    told: u64,
    beat: Instant,
    past: Option<Past>,
}

/// That somebody listens, for those who count.
struct Counted(App);

impl Counted {
    fn new(app: &App) -> Self {
        app.counts.listeners.fetch_add(1, Ordering::Relaxed);
        Self(app.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.counts.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The log, for a client that is far behind.
struct Past {
    database: Database,
    narrators: Narrators,
}

/// The next piece, and the client that waits for the one after it.
type Next = Pin<Box<dyn Future<Output = Option<(Bytes, Client)>> + Send>>;

/// The pieces of a client's stream.
pub(super) struct Pieces {
    next: Next,
}

impl Pieces {
    /// The stream of a client; looks up where the log is.
    pub(super) async fn begin(
        app: &App,
        seat: Seat,
        filter: Filter,
        start: Start,
    ) -> Result<Self, Refusal> {
        let last = app
            .blocking(|app| Ok(Database::open(&app.state)?.last_seq()?))
            .await?;
        let (seq, is_beyond) = match start {
            Start::Now => (last, false),
            Start::After(seq) => (seq.min(last), seq > last),
        };
        let mut first = format!("retry: {RETRY}\nid: {seq}\n\n").into_bytes();
        if is_beyond {
            first.extend_from_slice(&told(None, "reset", &json!({ "last": last })));
        }
        let client = Client {
            app: app.clone(),
            _counted: Counted::new(app),
            news: seat.news(),
            seat,
            stopping: app.stopping.subscribe(),
            filter,
            cursor: Cursor { seq, live: 0 },
            told: seq,
            beat: Instant::now() + paced(HEARTBEAT),
            past: None,
        };
        let next = Box::pin(async { Some((first.into(), client)) });
        Ok(Self { next })
    }
}

impl Stream for Pieces {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some((piece, client)) = ready!(self.next.as_mut().poll(context)) else {
            self.next = Box::pin(async { None });
            return Poll::Ready(None);
        };
        self.next = Box::pin(client.next());
        Poll::Ready(Some(Ok(piece)))
    }
}

impl Client {
    /// The next piece, once there is one; none when the stream is over.
    async fn next(mut self) -> Option<(Bytes, Self)> {
        loop {
            self.news.borrow_and_update();
            if *self.stopping.borrow_and_update() == Stopping::Over {
                return None;
            }
            match self.seat.take(self.cursor, &self.filter) {
                Taken::Bytes(piece, cursor, count) => {
                    self.cursor = cursor;
                    self.past = None;
                    self.app.counts.frames.fetch_add(count, Ordering::Relaxed);
                    return Some(self.with(piece));
                }
                Taken::Nothing(cursor) => {
                    self.cursor = cursor;
                    self.past = None;
                }
                Taken::Behind => {
                    let piece = self.read_past().await?;
                    if !piece.is_empty() {
                        return Some(self.with(piece));
                    }
                    continue;
                }
            }
            tokio::select! {
                changed = self.news.changed() => changed.ok()?,
                changed = self.stopping.changed() => changed.ok()?,
                () = sleep_until(self.beat) => {
                    let beat = self.heartbeat();
                    return Some(self.with(beat));
                }
            }
        }
    }

    fn with(mut self, piece: Bytes) -> (Bytes, Self) {
        self.beat = Instant::now() + paced(HEARTBEAT);
        (piece, self)
    }

    /// A sign of life; with where the client is, if what it does not hear of brought it on.
    fn heartbeat(&mut self) -> Bytes {
        if self.told == self.cursor.seq {
            return Bytes::from_static(b": still here\n\n");
        }
        self.told = self.cursor.seq;
        format!(": still here\nid: {}\n\n", self.told).into()
    }

    /// Reads on in the log itself; none when it cannot be read, so that the client comes back later.
    async fn read_past(&mut self) -> Option<Bytes> {
        let past = self.past.take();
        let (after, filter) = (self.cursor.seq, self.filter.clone());
        let read = self.app.blocking(move |app| {
            let mut past = match past {
                Some(past) => past,
                None => Past::open(app)?,
            };
            let (piece, reached) = past.read(after, &filter)?;
            Ok((past, piece, reached))
        });
        match read.await {
            // Somebody put another database there.
            Ok((_, _, reached)) if reached == after => None,
            Ok((past, piece, reached)) => {
                self.past = Some(past);
                self.cursor.seq = reached;
                Some(piece)
            }
            Err(refusal) => {
                tracing::warn!(?refusal, "could not read the log for a client");
                None
            }
        }
    }
}

impl Past {
    fn open(app: &App) -> Result<Self, DatabaseError> {
        Ok(Self {
            database: Database::open(&app.state)?,
            narrators: Narrators::default(),
        })
    }

    fn read(&mut self, after: u64, filter: &Filter) -> Result<(Bytes, u64), DatabaseError> {
        let (entries, reached) = page(&self.database, after, PAGE)?;
        let mut piece = Vec::new();
        for entry in entries {
            let frame = self.narrators.frame(&self.database, entry);
            if filter.passes(frame.project.as_deref(), frame.batch) {
                piece.extend_from_slice(&frame.bytes);
            }
        }
        Ok((piece.into(), reached))
    }
}
