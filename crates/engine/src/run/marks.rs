//! Marks the plan while a batch runs: what began, what is done, and everything else as it was.
//!
//! Collects changes and writes those of one moment together; a failed write is told and the run goes on.

use std::collections::HashMap;
use std::path::PathBuf;
use std::thread::JoinHandle;

use pleach_domain::task_state::Ending;
use pleach_formats::{Change, Document, Marker, set_markers};

use super::Told;
use crate::plan_file::{PlanFile, PlanFileError, RewriteError, Settled};

/// How often marks are made again at the end of a run.
const MOST_REPEATS: usize = 5;

/// The marks of one plan.
pub(super) struct Marks<'r> {
    path: PathBuf,
    text: &'r str,
    document: &'r Document,
    begun: HashMap<usize, String>,
    waiting: Vec<Change>,
    /// The last change of each task that was written.
    written: Vec<Change>,
    /// One thread a write, each looking a moment later for people who were just saving.
    settling: Vec<JoinHandle<Result<Settled, PlanFileError>>>,
}

impl<'r> Marks<'r> {
    pub(super) fn new(path: &std::path::Path, text: &'r str, document: &'r Document) -> Self {
        Self {
            path: path.to_owned(),
            text,
            document,
            begun: HashMap::new(),
            waiting: Vec::new(),
            written: Vec::new(),
            settling: Vec::new(),
        }
    }

    /// A task began; positions are those in the plan.
    pub(super) fn started(&mut self, position: usize) {
        if self
            .document
            .refuses(position, &Marker::InProgress)
            .is_some()
        {
            return;
        }
        if let Some(text) = self.document.marker_text(self.text, position) {
            self.begun.insert(position, text.to_owned());
            self.waiting
                .push(self.document.change(position, Marker::InProgress));
        }
    }

    /// A task ended.
    pub(super) fn ended(&mut self, position: usize, ending: &Ending) {
        let before = self.begun.remove(&position);
        let marker = if ending.is_success() {
            Marker::Completed
        } else if let Some(text) = before {
            Marker::Restored(text)
        } else {
            return;
        };
        if self.document.refuses(position, &marker).is_none() {
            let change = self.document.change(position, marker);
            // What began and ended at once is written once.
            self.waiting.retain(|other| other.id != change.id);
            self.waiting.push(change);
        }
    }

    /// Writes what has come together.
    pub(super) fn write(&mut self, told: &mut dyn FnMut(Told<'_>)) {
        while !self.waiting.is_empty() {
            let result = PlanFile::rewrite(&self.path, |text| set_markers(text, &self.waiting));
            match result {
                Ok(written) => {
                    let displaced = written.displaced;
                    self.settling
                        .push(std::thread::spawn(|| displaced.settle()));
                    let again =
                        |change: &Change| self.waiting.iter().any(|new| new.id == change.id);
                    self.written.retain(|change| !again(change));
                    self.written.append(&mut self.waiting);
                }
                Err(RewriteError::Edit(error)) => {
                    let id = error.task().clone();
                    told(Told::Note(format!("the plan was not marked: {error}")));
                    self.waiting.retain(|change| change.id != id);
                }
                Err(RewriteError::File(error)) => {
                    told(Told::Note(format!(
                        "the plan was not marked: {error}; {}",
                        error.hint()
                    )));
                    self.waiting.clear();
                }
            }
        }
    }

    /// Waits for the last looks, and marks again where a person's save undid a mark.
    pub(super) fn settle(&mut self, told: &mut dyn FnMut(Told<'_>)) {
        for _ in 0..MOST_REPEATS {
            let mut undone = false;
            for look in std::mem::take(&mut self.settling) {
                match look.join() {
                    Ok(Ok(settled)) => undone |= settled == Settled::Merged,
                    Ok(Err(error)) => told(Told::Note(format!("{error}; {}", error.hint()))),
                    Err(_) => told(Told::Note(
                        "Pleach has a bug: a look at the plan broke off".to_owned(),
                    )),
                }
            }
            if !undone {
                return;
            }
            self.waiting = std::mem::take(&mut self.written);
            self.write(told);
        }
    }
}
