//! The radar's thread: tells it what is under way, lets it look now and then, and hears what it sees.
//!
//! Knows when to look, and nothing of merging.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pleach_domain::event::PredictedConflict;
use pleach_domain::task_state::TaskState;

use super::LoopInput;
use crate::attempt::AttemptContext;

use pleach_git::git::CommitId;
use pleach_git::radar::{LiveTask, Radar, RadarInput, WovenTask};
use pleach_log::batch_paths::task_branch;
use pleach_system::process::Cancel;
use pleach_system::text::causes::with_causes;

use super::run_loop::Loop;

/// After the end of a task it looks sooner, by so much.
const SOONER: u32 = 10;
/// Looking takes no more than such a part of the time.
const MOST_OF_THE_TIME: u32 = 4;

/// How often it looks whether it is stopped, while the loop is at something else.
const BEAT: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub(super) struct RadarHandle {
    /// Says that a task has ended.
    line: Option<Sender<()>>,
    thread: Option<(JoinHandle<()>, Cancel)>,
}

impl RadarHandle {
    pub(super) fn hurry(&self) {
        if let Some(line) = &self.line {
            // A radar that broke off hears nothing, and nothing hangs on it.
            let _ = line.send(());
        }
    }
}

impl Drop for RadarHandle {
    fn drop(&mut self) {
        self.line = None;
        if let Some((thread, stop)) = self.thread.take() {
            stop.cancel_at_once();
            // What it leaves behind goes with it, so it is waited for; a bug of its own ends here.
            let _ = thread.join();
        }
    }
}

/// What the radar is told before a look: what is under way, and what was foreseen so far.
pub(super) type RadarAnswer = (RadarInput, Vec<PredictedConflict>);

impl Loop<'_> {
    pub(super) fn start_radar(&mut self) {
        let Some(pace) = self.record.radar else {
            return;
        };
        let stop = Cancel::default();
        let (line, hints) = channel();
        let sweep = RadarThread {
            context: Arc::clone(&self.context),
            pace,
            stop: stop.clone(),
            inbox: self.sender.clone(),
        };
        let thread = std::thread::Builder::new().spawn(move || sweep.go_round(&hints));
        // Without a thread for it, conflicts show when they come.
        self.watch = RadarHandle {
            line: Some(line),
            thread: thread.ok().map(|thread| (thread, stop)),
        };
    }

    pub(super) fn take_in_foreseen(&mut self, pairs: Vec<PredictedConflict>) {
        for event in self.batch.predict(pairs) {
            self.take_in(event);
        }
    }

    pub(super) fn answer_radar(&self, reply: &Sender<RadarAnswer>) {
        // It does not wait for the answer once it is stopped.
        let _ = reply.send((self.situation(), self.batch.predicted.clone()));
    }

    fn situation(&self) -> RadarInput {
        let tasks = self.batch.tasks.iter().enumerate();
        let live = tasks.filter_map(|(position, task)| {
            let (attempt, built) = match &task.state {
                TaskState::Running { attempt } => (*attempt, None),
                // It goes on in the same worktree.
                TaskState::Limited { .. } => (task.attempts, None),
                TaskState::Built { commit } => (task.attempts, Some(commit.0.parse().ok()?)),
                _ => return None,
            };
            let snapshot = self.snapshots.get(&position);
            let snapshot = snapshot.filter(|(of, _)| *of == attempt);
            Some(LiveTask {
                bundle: snapshot.map(|(_, bundle)| bundle.clone()),
                task: task.design.id.clone(),
                position,
                attempt,
                branch: task_branch(self.context.number, &self.segment(position)),
                basis: self.started_from(position)?,
                built,
                comes_after: self.batch.comes_after(position),
            })
        });
        let live = live.collect();
        let mut positions = self.batch.woven.clone();
        positions.sort_unstable();
        let woven = positions.into_iter().filter_map(|position| {
            Some(WovenTask {
                task: self.id(position),
                position,
                commit: self.task_commit(position)?,
                basis: self.started_from(position)?,
            })
        });
        RadarInput {
            live,
            woven: woven.collect(),
            tip: self.tip.clone(),
        }
    }

    fn started_from(&self, task: usize) -> Option<CommitId> {
        let basis = self.batch.tasks[task].basis.as_ref()?;
        basis.0.parse().ok()
    }
}

struct RadarThread {
    context: Arc<AttemptContext>,
    pace: Duration,
    stop: Cancel,
    inbox: Sender<LoopInput>,
}

impl RadarThread {
    /// Looks round after round, until nobody listens.
    fn go_round(&self, hints: &Receiver<()>) {
        let left_out = self.context.left_out();
        let mut radar = Radar::new(&self.context.store, left_out, self.stop.clone());
        let mut has_complained = false;
        let mut last = Instant::now();
        let mut due = last + self.pace;
        loop {
            match hints.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(()) => {
                    due = due.min(last + self.pace / SOONER);
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let began = Instant::now();
            let Some((situation, told)) = self.ask() else {
                return;
            };
            if situation.is_worth_a_look() {
                match radar.look(&situation) {
                    Ok(None) => return,
                    Ok(Some(found)) if found != told => self.say(LoopInput::Foreseen(found)),
                    Err(error) if !has_complained => {
                        has_complained = true;
                        let why = with_causes(&error);
                        let note = format!("could not check for likely conflicts: {why}");
                        self.say(LoopInput::Noted(note));
                    }
                    Ok(Some(_)) | Err(_) => {}
                }
            }
            last = Instant::now();
            due = last + self.pace.max(began.elapsed() * MOST_OF_THE_TIME);
        }
    }

    /// A loop that is over hears nothing, and stops this too.
    fn say(&self, heard: LoopInput) {
        let _ = self.inbox.send(heard);
    }

    /// What is under way; nothing, if it is stopped meanwhile.
    fn ask(&self) -> Option<RadarAnswer> {
        let (reply, answer) = channel();
        self.say(LoopInput::RadarAsks(reply));
        loop {
            match answer.recv_timeout(BEAT) {
                Ok(told) => return Some(told),
                Err(RecvTimeoutError::Timeout) if !self.stop.is_cancelled() => {}
                Err(_) => return None,
            }
        }
    }
}
