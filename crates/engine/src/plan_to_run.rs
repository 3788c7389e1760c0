//! A plan that tasks are to be run of, wherever it is kept.

use std::path::PathBuf;

use pleach_formats::Document;

/// A plan as it is handed to a run.
#[derive(Debug)]
pub struct PlanToRun {
    /// Where it is kept, and where it is said how far its tasks are.
    pub origin: PlanOrigin,
    /// Its text; empty for the board, which has none.
    pub text: String,
    /// The plan, and where its marks stand.
    pub document: Document,
}

/// Where a plan is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanOrigin {
    /// A file, which is marked while its tasks run.
    File(PathBuf),
    /// The database; the tasks of one project that are in no file.
    Board,
}

impl PlanOrigin {
    /// The name of the board among the plans of a project; no path is that short without a slash.
    pub const BOARD: &'static str = "board";
}
