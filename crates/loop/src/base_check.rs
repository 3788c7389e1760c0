//! Runs the tests on the base beside the first agents, so that a red one is known before it has cost anything.
//!
//! Blames and stops nobody; a search at the end finds out for itself what the base is worth then.

use pleach_domain::batch::{BatchStatus, Message, Proof};
use pleach_domain::bisect::TestResult;
use pleach_domain::event::BatchEvent;
use pleach_git::weave::tree_of;

use super::run_loop::Loop;
use super::{LoopNotice, RunError};
use crate::attempt::{Probe, ProbeEnded};
use pleach_engine::validate::RunEnding;

/// The variable by which tests that count runs do without this one: `off`.
pub const BASE_CHECK: &str = "PLEACH_BASE_CHECK";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaseCheck {
    Due,
    /// They were, or need not be.
    Begun,
}

impl Loop<'_> {
    /// Begins once the first agent is at work; takes no slot from them.
    pub(super) fn check_base(&mut self) -> Result<(), RunError> {
        let is_off = std::env::var_os(BASE_CHECK).is_some_and(|said| said == "off");
        let is_wanted = self.context.tests().is_some() && !self.record.is_in_place();
        let is_first = self.batch.test_runs.is_empty() && self.wants_base_check();
        let before = std::mem::replace(&mut self.base_check, BaseCheck::Begun);
        if before == BaseCheck::Begun || is_off || !is_wanted || !is_first {
            return Ok(());
        }
        let tree = tree_of(&self.context.store, &self.base)?;
        if self.green_since(&tree, &self.judge())?.is_some() {
            return Ok(());
        }
        self.run_on_base()
    }

    pub(super) fn wants_base_check(&self) -> bool {
        self.batch.status == BatchStatus::Running
            && !matches!(self.batch.proof, Proof::Searching(_))
    }

    fn run_on_base(&mut self) -> Result<(), RunError> {
        let probe = Probe {
            number: self.runs + 1,
            tasks: Vec::new(),
            commit: self.base.clone(),
            tree: tree_of(&self.context.store, &self.base)?,
        };
        self.send_probe(probe, None, None);
        Ok(())
    }

    /// Takes in what the tests say of the base; red is believed when it is repeated.
    pub(super) fn take_in_base_check(&mut self, ended: ProbeEnded) -> Result<(), RunError> {
        let base = self.base.as_str()[..12].to_owned();
        match ended.ending {
            RunEnding::Ran(run) => {
                let judged = self.judged(ended, run);
                if !self.decide(Message::BaseTestsRan(judged)) || run == TestResult::Passed {
                    return Ok(());
                }
                if !self.batch.is_base_red() {
                    return self.run_on_base();
                }
                // First what happened, then what it means.
                self.flush()?;
                let note = format!(
                    "the tests already fail on the base ({base}): no task is blamed for that, and nothing is ticked or \
                     lands unless they pass on the result; `pleach cancel {}` cancels the batch",
                    self.context.number
                );
                (self.told)(LoopNotice::Note(note));
            }
            RunEnding::Trouble(why) => {
                let note = format!("could not run the tests on the base ({base}): {why}");
                (self.told)(LoopNotice::Note(note));
            }
            RunEnding::Stopped => {}
        }
        Ok(())
    }

    pub(super) fn judged(&self, ended: ProbeEnded, run: TestResult) -> BatchEvent {
        BatchEvent::TestsRan {
            tasks: ended.tasks,
            tree: ended.tree.to_string(),
            judge: self.judge(),
            run,
            number: Some(self.batch.next_run()),
            log: Some(ended.number),
            took: ended.took,
            proved_at: None,
        }
    }
}
