//! Watches the files a rewrite displaced, and brings into the plan what is still saved into them.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use super::aside::digest;
use super::error::PlanFileError;
use super::merge::{Overlap, merge};
use super::open_files::is_open;
use super::retry::PAUSES;
use super::rewrite_lock::RewriteLock;
use super::source::load_text;
use super::swap::Writer;

pub(super) const SLOWEST_WRITER: Duration = Duration::from_secs(2);
/// The wait for writers whose open files cannot be looked at: those of other users, and of other containers.
const UNSEEN_WRITER: Duration = Duration::from_millis(200);
/// The pause between two looks at who has a file open.
const LOOK: Duration = Duration::from_millis(50);
const MOST_PASSES: u32 = 16;

/// A file that was the plan for a while: somebody may hold it open and write to it.
#[derive(Debug)]
pub(super) struct DisplacedFile {
    path: PathBuf,
    text: String,
    since: Instant,
    /// Digest of the text that took its place, if that was made from its own.
    replaced_by: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisplacedOutcome {
    Quiet,
    /// Somebody did, and it is in the plan now; where both changed the same line theirs stands, so the
    /// rewrite is worth repeating.
    Merged,
}

/// The displaced files of one rewrite; dropping it checks them once, at once.
#[derive(Debug)]
#[must_use = "dropping it checks the displaced text at once, without waiting for slow writers"]
pub struct Displaced {
    writer: Option<Writer>,
}

impl Displaced {
    pub(super) fn new(writer: Writer) -> Self {
        Self {
            writer: Some(writer),
        }
    }

    /// Waits until a writer that had the old file open is surely done, then checks and deletes it.
    pub fn settle(self) -> Result<DisplacedOutcome, PlanFileError> {
        self.settle_after(SLOWEST_WRITER)
    }

    /// As [`Displaced::settle`], with a wait of its own, counted from the moment of displacement.
    pub fn settle_after(mut self, wait: Duration) -> Result<DisplacedOutcome, PlanFileError> {
        self.writer
            .take()
            .map_or(Ok(DisplacedOutcome::Quiet), |mut writer| {
                writer.settle(wait)
            })
    }

    /// Waits and checks as [`Displaced::settle`] does, but once: what it brought into the plan displaced
    /// files in turn, and those come back to be settled later.
    pub fn settle_once(mut self) -> Result<Option<Self>, PlanFileError> {
        if let Some(mut writer) = self.writer.take() {
            writer.check_asides(SLOWEST_WRITER)?;
            self.writer = (!writer.asides.is_empty()).then_some(writer);
        }
        Ok(self.writer.is_some().then_some(self))
    }
}

impl Drop for Displaced {
    fn drop(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            // On failure the file stays where it is, so nothing is lost for want of a caller to tell.
            let _ = writer.settle(Duration::ZERO);
        }
    }
}

impl Writer {
    /// Brings into the plan what was saved into the asides up to now, and goes on watching them.
    pub(super) fn absorb(&mut self) -> Result<(), PlanFileError> {
        let mut next = 0;
        while let Some(mut aside) = self.asides.remove(next) {
            let merged = aside.late_save().and_then(|save| match save {
                None => Ok(()),
                Some(text) => {
                    let merged = self.merge_in(&aside, &text);
                    merged.map(|()| aside.take_over(text))
                }
            });
            self.asides.insert(next, aside);
            merged?;
            next += 1;
        }
        Ok(())
    }

    fn settle(&mut self, wait: Duration) -> Result<DisplacedOutcome, PlanFileError> {
        let mut failure = None;
        let mut passes = 0;
        while !self.asides.is_empty() && passes < MOST_PASSES {
            failure = failure.or(self.check_asides(wait).err());
            passes += 1;
        }
        if let Some(aside) = self.asides.pop_front() {
            failure = failure.or(Some(self.kept(aside, self.busy())));
        }
        match failure {
            Some(error) => Err(error),
            None if passes <= 1 => Ok(DisplacedOutcome::Quiet),
            None => Ok(DisplacedOutcome::Merged),
        }
    }

    /// Deletes each aside that is as it was, and brings the change of each other one into the plan.
    fn check_asides(&mut self, wait: Duration) -> Result<(), PlanFileError> {
        let mut failure = None;
        // Merging displaces files as well, which join the end of the line.
        for _ in 0..self.asides.len() {
            let Some(mut aside) = self.asides.pop_front() else {
                break;
            };
            aside.wait_for_writers(wait);
            match aside.late_save() {
                Ok(None) => aside.remove(),
                Ok(Some(text)) => match self.merge_in_turn(&aside, &text) {
                    Ok(()) => {
                        aside.take_over(text);
                        self.asides.push_back(aside);
                    }
                    Err(error) => failure = failure.or(Some(self.kept(aside, error))),
                },
                Err(error) => failure = failure.or(Some(self.kept(aside, error))),
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn kept(&self, aside: DisplacedFile, source: PlanFileError) -> PlanFileError {
        PlanFileError::Kept {
            path: self.path.clone(),
            aside: aside.path,
            source: Box::new(source),
        }
    }

    fn merge_in_turn(&mut self, aside: &DisplacedFile, saved: &str) -> Result<(), PlanFileError> {
        let _turn = RewriteLock::wait_for(&self.path);
        self.merge_in(aside, saved)
    }

    fn merge_in(&mut self, aside: &DisplacedFile, saved: &str) -> Result<(), PlanFileError> {
        self.apply(&mut |current| {
            // Our own change gives way to a person's, but one person's never to another's.
            let is_ours = aside.replaced_by == Some(digest(current.as_bytes()));
            let overlap = if is_ours {
                Overlap::Theirs
            } else {
                Overlap::Both
            };
            merge(&aside.text, saved, current, overlap)
        })
    }
}

impl DisplacedFile {
    /// A file that showed `text` for a while.
    pub(super) fn new(path: PathBuf, text: String) -> Self {
        Self {
            path,
            text,
            since: Instant::now(),
            replaced_by: None,
        }
    }

    /// A file with the text that `new` was made from and that gave its place to it.
    pub(super) fn replaced(path: PathBuf, text: String, new: &str) -> Self {
        Self {
            replaced_by: Some(digest(new.as_bytes())),
            ..Self::new(path, text)
        }
    }

    pub(super) fn remove(self) {
        // One that cannot be deleted is swept by a later rewrite.
        let _ = fs::remove_file(self.path);
    }

    /// Waits as long as somebody who had the file open may still write to it; nobody else can reach it any more.
    fn wait_for_writers(&self, longest: Duration) {
        let shortest = longest.min(UNSEEN_WRITER);
        thread::sleep((self.since + shortest).saturating_duration_since(Instant::now()));
        while self.since.elapsed() < longest && is_open(&self.path) {
            thread::sleep(LOOK);
        }
    }

    fn late_save(&self) -> Result<Option<String>, PlanFileError> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let saved = match load_text(&self.path) {
                Ok(text) if text == self.text => return Ok(None),
                Err(PlanFileError::Missing { .. }) => return Ok(None),
                saved => saved,
            };
            let text = saved.as_deref().unwrap_or_default();
            match pauses.next() {
                // An editor that empties the file before it writes is not done yet.
                Some(pause) if self.text.starts_with(text) => thread::sleep(pause),
                // Nothing can be lost that was in an emptied file.
                _ => return saved.map(|text| (!text.is_empty()).then_some(text)),
            }
        }
    }

    fn take_over(&mut self, saved: String) {
        *self = Self::new(std::mem::take(&mut self.path), saved);
    }
}
