//! What can be wrong with a plan or a request, as a value that every surface can show.
//!
//! Knows codes, places and hints; not how they are printed.

use serde::{Serialize, Serializer};

use crate::id::TaskId;

/// A stable word for a kind of problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProblemCode {
    BadSelection,
    TaskNotFound,
    AlreadyComplete,
    Cycle,
    SelfDependency,
    /// Two tasks have one id, or one text where the text is the identity.
    DuplicateId,
    UnknownDependency,
    /// A task wants a size that is not configured.
    UnknownSize,
    /// A dependency is open and not selected.
    MissingDependencies,
    BadPlan,
    /// A checkbox has no id although others have one.
    NoId,
    PhaseNotOpen,
    /// A task is in progress, whoever works on it.
    InProgress,
    /// A task that its plan calls blocked was left out.
    Blocked,
}

impl ProblemCode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadSelection => "bad_selection",
            Self::TaskNotFound => "task_not_found",
            Self::AlreadyComplete => "already_complete",
            Self::Cycle => "cycle",
            Self::SelfDependency => "self_dependency",
            Self::DuplicateId => "duplicate_id",
            Self::UnknownDependency => "unknown_dependency",
            Self::UnknownSize => "unknown_size",
            Self::MissingDependencies => "missing_dependencies",
            Self::BadPlan => "bad_plan",
            Self::NoId => "no_id",
            Self::PhaseNotOpen => "phase_not_open",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
        }
    }
}

impl Serialize for ProblemCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub code: ProblemCode,
    /// What is wrong, lower-case and without a full stop.
    pub message: String,
    /// The line of the plan, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The tasks it is about, to tell whether a selection reaches it.
    #[serde(skip)]
    pub tasks: Vec<TaskId>,
}

impl Problem {
    pub fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            line: None,
            hint: None,
            tasks: Vec::new(),
        }
    }

    #[must_use]
    pub fn at(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn about(mut self, tasks: impl IntoIterator<Item = TaskId>) -> Self {
        self.tasks.extend(tasks);
        self
    }
}

/// The id that looks most like `wanted`, if any does; numbers that look alike have nothing in common.
pub fn nearest_id<'a>(wanted: &str, ids: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let is_number = !wanted.contains(|c: char| c.is_alphabetic());
    if is_number {
        return None;
    }
    nearest(wanted, ids)
}

/// The candidate that looks most like `wanted`, if any looks like it at all.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| {
            (
                strsim::normalized_damerau_levenshtein(wanted, candidate),
                candidate,
            )
        })
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, candidate)| candidate)
}
