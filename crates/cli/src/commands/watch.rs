//! Runs a prepared batch to its end while telling what happens, and hears Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pleach_domain::id::BatchNumber;
use pleach_engine::run::{Controls, LoopNotice, Prepared, RunBatch, Summary};

use crate::failure::{Exit, Failure, Failures};
use crate::live::Live;
use crate::output::{Reader, tell};
use crate::report::Reporter;
use crate::{summary, terminal};

/// Runs a prepared batch to its end and prints what became of it; `begun` hears its number.
pub(crate) fn carry_out(
    prepared: Prepared,
    run_batch: RunBatch,
    reader: Reader,
    begun: impl FnOnce(BatchNumber),
) -> Result<Summary, Failures> {
    let summary = follow(prepared, run_batch, reader, begun)?;
    match reader {
        Reader::Person => {
            summary::print(&summary);
            summary::print_why(&summary);
        }
        Reader::Program => summary::print_json(&summary),
    }
    Ok(summary)
}

/// Runs a prepared batch to its end and tells what happens on the way.
pub(crate) fn follow(
    prepared: Prepared,
    run_batch: RunBatch,
    reader: Reader,
    begun: impl FnOnce(BatchNumber),
) -> Result<Summary, Failures> {
    let mut begun = Some(begun);
    follow_and_hear(prepared, run_batch, reader, |told| {
        if let LoopNotice::Event(stored) = told
            && let Some(begun) = begun.take()
        {
            begun(stored.number);
        }
    })
}

pub(crate) fn follow_and_hear(
    prepared: Prepared,
    run_batch: RunBatch,
    reader: Reader,
    mut hear: impl FnMut(&LoopNotice<'_>),
) -> Result<Summary, Failures> {
    let reporter = Reporter::new(reader, &prepared);
    let live = match reader {
        Reader::Person => Live::begin(&prepared),
        Reader::Program => None,
    };
    leave_on_signals(prepared.controls(), reader, live.as_ref().map(Live::ear))?;
    let summary = run_batch(prepared, &mut |told| {
        hear(&told);
        match &live {
            Some(live) => live.tell(&told, reporter.line_above(&told)),
            None => reporter.tell(&told),
        }
    });
    drop(live);
    Ok(summary?)
}

/// The first signal asks what runs to stop and leaves the batch interrupted, the second stops it at once; a terminal that
/// is closed stops nothing.
fn leave_on_signals(
    controls: Controls,
    reader: Reader,
    shown: Option<impl Fn(usize) + Send + 'static>,
) -> Result<(), Failures> {
    on_signals(OnHangup::GoOn, move |before| {
        match before {
            0 => controls.leave(),
            _ => controls.leave_at_once(),
        }
        match &shown {
            Some(show) => show(before),
            None if reader == Reader::Person && before == 0 => tell(format_args!(
                "stopping: agents were asked to stop; Ctrl-C again stops them at once\n"
            )),
            None => {}
        }
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnHangup {
    /// It counts as any other signal.
    Stop,
    /// Nothing: what runs goes on without anybody who looks.
    GoOn,
}

/// Does something whenever somebody wants the program to end, told how often that was so before.
pub(crate) fn on_signals(
    hangup: OnHangup,
    heard: impl Fn(usize) + Send + 'static,
) -> Result<(), Failures> {
    let failed = |error: std::io::Error| {
        Failures::from(Failure::new(
            Exit::Environment,
            "signals",
            format!("could not watch for Ctrl-C: {error}"),
        ))
    };
    let signals = [
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
        signal_hook::consts::SIGQUIT,
    ];
    let mut signals = signal_hook::iterator::Signals::new(signals).map_err(failed)?;
    terminal::leave_signals_to_others();
    let seen = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if signal == signal_hook::consts::SIGHUP && hangup == OnHangup::GoOn {
                continue;
            }
            heard(seen.fetch_add(1, Ordering::SeqCst));
        }
    });
    Ok(())
}
