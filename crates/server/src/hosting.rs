//! Batches inside the server: those that others left are gone on with, and all are left in order when it stops.
//!
//! Runs none itself; the engine's host does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use pleach_engine::host::{HostError, TO_THE_END};
use pleach_engine::run::{RunError, take_up};
use pleach_log::database::{BatchFilter, BatchScope, Database, DatabaseError};
use pleach_system::text::causes::with_causes;
use tokio::sync::oneshot;

use crate::answer::Refusal;
use crate::app::{App, Stopping};

/// How long agents may take to stop: what they are given themselves, and some time to keep their work.
const LEAVING: Duration = Duration::from_mins(2);

/// Takes up every batch that nobody is at and whose folder is there.
pub(crate) fn go_on_with_what_was_interrupted(app: &App) {
    let app = app.clone();
    let work = move || {
        if let Err(error) = take_up_all(&app) {
            tracing::warn!(error = with_causes(&error), "could not look up batches");
        }
    };
    spawn("take-up", work);
}

fn take_up_all(app: &App) -> Result<(), DatabaseError> {
    let open = Database::open(&app.state)?.batches(BatchFilter {
        project: None,
        among: BatchScope::Open,
    })?;
    for row in open.iter().rev().filter(|row| row.repository.is_dir()) {
        let batch = row.id;
        match take_up(&app.state, batch, &app.program, None) {
            Ok(Some(prepared)) => match app.host.run(prepared) {
                Ok(_) => tracing::info!(batch, "resuming an interrupted batch"),
                Err(HostError::Leaving) => return Ok(()),
                Err(error) => {
                    tracing::warn!(
                        batch,
                        error = with_causes(&error),
                        "could not resume an interrupted batch"
                    );
                }
            },
            // Somebody is at it, or has just ended it.
            Ok(None) | Err(RunError::Over(_)) => {}
            Err(error) => {
                tracing::warn!(
                    batch,
                    error = with_causes(&error),
                    "could not resume an interrupted batch"
                );
            }
        }
    }
    Ok(())
}

/// Begins nothing new, and ends the server when what runs has ended.
pub(crate) fn drain(app: &App) {
    tracing::info!("stopping: waiting for running batches to finish");
    app.stopping.send_replace(Stopping::Draining);
    app.host.begin_no_more();
    end_when_idle(app, TO_THE_END);
}

/// Has everything stop with its work kept, then ends the server.
pub(crate) fn leave(app: &App) {
    tracing::info!("stopping: running batches are paused and resume when a server starts");
    app.stopping.send_replace(Stopping::Leaving);
    app.host.leave();
    end_when_idle(app, LEAVING);
}

fn end_when_idle(app: &App, patience: Duration) {
    let app = app.clone();
    let work = move || {
        if !app.host.wait_until_idle(patience) {
            tracing::warn!("some batches did not stop; they resume when a server starts");
        }
        app.stopping.send_replace(Stopping::Over);
    };
    spawn("stop", work);
}

pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name(name.to_owned());
    if let Err(error) = thread.spawn(work) {
        tracing::error!(%error, name, "could not start a thread");
    }
}

/// What is done within some time, or goes on behind the scenes.
pub(crate) enum Settled<T> {
    Done(T),
    GoesOn,
}

/// So many effects may be on their way; whoever asks for more has asked for the same ones again.
const MOST_UNDER_WAY: usize = 128;
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// One of the effects that are on their way.
pub(crate) struct Turn;

impl Turn {
    pub(crate) fn take() -> Result<Self, Refusal> {
        let turn = Self;
        if UNDER_WAY.fetch_add(1, Ordering::SeqCst) < MOST_UNDER_WAY {
            return Ok(turn);
        }
        Err(Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "busy",
            "too many requests are in progress",
            "try again in a moment",
        ))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Does something that may wait for the network, however long that takes, without a turn that others wait for.
pub(crate) async fn aside<T: Send + 'static>(
    app: &App,
    work: impl FnOnce(&App) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    match within(app, TO_THE_END, work).await? {
        Settled::Done(done) => Ok(done),
        Settled::GoesOn => Err(Refusal::bug()),
    }
}

/// Does something that may take long on a thread of its own, and waits for it so long.
pub(crate) async fn within<T: Send + 'static>(
    app: &App,
    patience: Duration,
    work: impl FnOnce(&App) -> Result<T, Refusal> + Send + 'static,
) -> Result<Settled<T>, Refusal> {
    let turn = Turn::take()?;
    let (say, done) = oneshot::channel();
    let app = app.clone();
    let work = move || {
        let _turn = turn;
        if let Err(Err(refusal)) = say.send(work(&app)) {
            // Whoever asked was told that it goes on.
            tracing::warn!(code = refusal.told(), "the request did not take effect");
        }
    };
    let thread = std::thread::Builder::new().name("control".to_owned());
    thread.spawn(work).map_err(|_| Refusal::bug())?;
    match tokio::time::timeout(patience, done).await {
        Ok(Ok(result)) => result.map(Settled::Done),
        Ok(Err(_)) => Err(Refusal::bug()),
        Err(_) => Ok(Settled::GoesOn),
    }
}
