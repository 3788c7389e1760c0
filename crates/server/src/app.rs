//! What all requests share, and how what blocks is kept off the threads that serve.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pleach_engine::agent::Versions;
use pleach_engine::control::Control;
use pleach_engine::host::Host;
use pleach_engine::operator::{Consent, Operator};
use pleach_engine::run::LoopNotice;
use pleach_engine::run::RunBatch;
use pleach_system::state_folder::StateFolder;
use tokio::sync::{Semaphore, watch};

use crate::answer::Refusal;
use crate::counts::Counts;
use crate::door::Door;

/// So many calls of the engine at once; further ones wait for their turn.
const MOST_AT_WORK: usize = 32;

#[derive(Debug, Clone)]
pub(crate) struct App(Arc<AppState>);

#[derive(Debug)]
pub(crate) struct AppState {
    pub(crate) state: StateFolder,
    /// Pleach's own program, which git calls back and which wraps agents.
    pub(crate) program: PathBuf,
    /// Whether whoever started the server consents to what steers agents.
    pub(crate) consent: Consent,
    pub(crate) host: Host,
    pub(crate) door: Arc<Door>,
    pub(crate) counts: Counts,
    pub(crate) versions: Versions,
    pub(crate) began: Instant,
    pub(crate) stopping: watch::Sender<Stopping>,
    at_work: Arc<Semaphore>,
}

fn log_note(batch: Option<u32>, told: &LoopNotice<'_>) {
    if let LoopNotice::Note(note) = told {
        tracing::info!(batch, note, "told");
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stopping {
    No,
    /// Nothing new starts; what runs is waited for.
    Draining,
    /// What runs is asked to stop.
    Leaving,
    /// Streams end and nothing is answered any more.
    Over,
}

pub(crate) async fn over(mut stopping: watch::Receiver<Stopping>) {
    // A server that is gone is over as well.
    let _ = stopping
        .wait_for(|stopping| *stopping == Stopping::Over)
        .await;
}

impl App {
    pub(crate) fn new(
        state: StateFolder,
        program: PathBuf,
        run_batch: RunBatch,
        consent: Consent,
        door: Door,
    ) -> Self {
        Self(Arc::new(AppState {
            versions: Versions::asked_by(program.clone()),
            state,
            program,
            consent,
            host: Host::new(run_batch, log_note),
            door: Arc::new(door),
            counts: Counts::default(),
            began: Instant::now(),
            stopping: watch::Sender::new(Stopping::No),
            at_work: Arc::new(Semaphore::new(MOST_AT_WORK)),
        }))
    }

    /// Does something that waits for disks, git or other processes, away from the threads that serve.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let app = self.clone();
        let turn = Arc::clone(&self.at_work).acquire_owned().await;
        let work = move || {
            // Held by the work itself, which goes on when whoever asked for it is gone.
            let _turn = turn;
            work(&app)
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|_| Err(Refusal::bug()))
    }

    pub(crate) fn operator(&self) -> Operator<'_> {
        Operator {
            state: &self.state,
            program: &self.program,
            host: &self.host,
            consent: self.consent,
        }
    }

    pub(crate) fn control(&self, batch: u32) -> Control<'_> {
        self.operator().control(batch)
    }
}

impl std::ops::Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}
