//! Reads a plan file and rewrites it while people go on saving it.
//!
//! Knows bytes, names and inodes, and nothing of Markdown.

mod aside;
mod displaced;
mod draft;
mod error;
mod merge;
mod open_files;
mod retry;
mod rewrite_lock;
mod source;
mod swap;

use std::path::{Path, PathBuf};

pub use displaced::{Displaced, DisplacedOutcome};
pub use error::{PlanFileError, RewriteError};
pub use source::SIZE_LIMIT;
pub use swap::{RewriteOutcome, Swap};

use swap::Writer;

/// The text of a plan file as it stood when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFile {
    path: PathBuf,
    text: String,
}

/// What a rewrite did, and the watch over the text it displaced.
#[derive(Debug)]
#[must_use = "dropping it checks the displaced text at once, without waiting for slow writers"]
pub struct Rewritten {
    pub outcome: RewriteOutcome,
    /// The files that were the plan until now and may still be written to.
    pub displaced: Displaced,
}

impl PlanFile {
    /// Reads the plan at `path`, through a symlink if it is one.
    pub fn load(path: &Path) -> Result<Self, PlanFileError> {
        let text = source::load_text(path)?;
        Ok(Self {
            path: path.to_owned(),
            text,
        })
    }

    /// The whole file, a byte order mark included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The path it was loaded from, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the plan at `path` by what `edit` makes of it, and never a text `edit` has not seen.
    ///
    /// `edit` runs again on the newer text whenever somebody saves in between, and may then meet its own
    /// change; it answers `None` for a text that needs none.
    pub fn rewrite<E>(
        path: &Path,
        edit: impl FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<Rewritten, RewriteError<E>> {
        Self::rewrite_by(Swap::Exchange, path, edit)
    }

    /// As [`PlanFile::rewrite`], with a chosen way to put the new text in place.
    pub fn rewrite_by<E>(
        swap: Swap,
        path: &Path,
        mut edit: impl FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<Rewritten, RewriteError<E>> {
        aside::sweep(path);
        let mut writer = Writer::new(path, swap);
        let result = writer.rewrite(&mut edit);
        let displaced = Displaced::new(writer);
        match result {
            Ok(outcome) => Ok(Rewritten { outcome, displaced }),
            Err(error) => {
                // A round that was undone has shown its text to others, who may be writing into it.
                displaced.settle()?;
                Err(error)
            }
        }
    }

    /// Deletes what killed processes left next to the plan and what holds nobody else's text, as soon as it may go.
    pub fn clear_leftovers(path: &Path) {
        aside::sweep_patiently(path);
    }

    /// Files next to the plan that a killed process left and that may hold what somebody saved.
    pub fn leftovers(path: &Path) -> Vec<PathBuf> {
        aside::unexplained(path)
    }
}
