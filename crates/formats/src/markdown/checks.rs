//! Tells checks from tasks: boxes below VERIFY, and what stands below a heading such as Success Criteria.
//!
//! Part of the reader; knows where it is in the text.

use pleach_domain::id::PhaseNumber;

use super::MarkdownReader;
use super::block::unguarded;
use super::phase_label::{bold_verify_label, is_criteria_label, verify_label};

/// The phase that checks belong to, if it has a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChecksPhase(pub(super) Option<PhaseNumber>);

/// What made a part of the file a list of criteria, and so what ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Criteria {
    /// A heading of this level: its sub-headings belong to it.
    Heading(usize),
    /// A line of text: any heading ends it, and a box with an id is a task all the same.
    Label,
}

impl MarkdownReader<'_> {
    /// Notes that a heading stands here, which may end criteria or begin them.
    pub(super) fn criteria_at_heading(&mut self, level: usize, title: &str) {
        let goes_on =
            |criteria: &Criteria| matches!(criteria, Criteria::Heading(open) if level > *open);
        self.criteria = self.criteria.filter(goes_on);
        if self.criteria.is_none() && is_criteria_label(title) {
            self.criteria = Some(Criteria::Heading(level));
        }
    }

    /// Takes a checkbox without an id as a check, if it is one.
    pub(super) fn is_check(&mut self, title: &str, written: &str) -> bool {
        let bold = bold_verify_label(written);
        let label = bold.map(|(number, check)| (Some(number), check));
        if let Some((named, behind)) = label.or_else(|| verify_label(title)) {
            let checks = ChecksPhase(named.or(self.phase()));
            if behind.is_empty() {
                // It is a label in the form of a checkbox: the checks stand below it.
                self.verifying = Some(checks);
            }
            self.add_check(checks, behind);
            return true;
        }
        if let Some(checks) = self.verifying {
            self.add_check(checks, written);
        }
        self.verifying.is_some()
    }

    pub(super) fn add_check(&mut self, ChecksPhase(phase): ChecksPhase, check: &str) {
        if let Some(phase) = phase.filter(|_| !check.is_empty()) {
            self.gathered.phase(phase).checks.push(unguarded(check));
        }
    }
}
