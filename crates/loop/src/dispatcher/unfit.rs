//! Machines on which nothing can be done: after a few failures they are avoided, for they are always free.

use std::collections::HashMap;
use std::mem;

use pleach_domain::bisect::TestResult;
use pleach_engine::validate::RunEnding;

use super::Dispatcher;
use crate::executor::LoopHandle;
use crate::loop_input::LoopInput;
use crate::spool::UnitWork;

/// So many units fail on a machine before it is avoided.
const MOST_FAILURES: u32 = 2;

/// How often units failed on machines through no fault of theirs.
#[derive(Debug, Default)]
pub(super) struct UnfitNodes(HashMap<String, u32>);

impl UnfitNodes {
    /// Notes a failure; tells whether the machine is avoided from now on.
    fn blame(&mut self, node: &str) -> bool {
        let failures = self.0.entry(node.to_owned()).or_default();
        *failures += 1;
        *failures == MOST_FAILURES
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        let unfit = self
            .0
            .iter()
            .filter(|(_, failures)| **failures >= MOST_FAILURES);
        unfit.map(|(node, _)| node)
    }
}

impl Dispatcher {
    /// The machines that something must not be on: whoever tests something once more does it elsewhere.
    pub(super) fn avoided(&self, work: &UnitWork) -> Vec<String> {
        let mut avoid: Vec<String> = self.unfit.all().cloned().collect();
        if let UnitWork::Probe(probe) = work {
            avoid.extend(self.red_on.get(probe.tree.as_str()).cloned());
        }
        avoid.sort_unstable();
        avoid.dedup();
        avoid
    }

    /// Notes where the tests failed on what.
    pub(super) fn note_red(&mut self, input: &LoopInput, node: String) {
        if let LoopInput::Judged(judged) = input
            && judged.ending == RunEnding::Ran(TestResult::Failed)
        {
            self.red_on.insert(judged.tree.to_string(), node);
        }
    }

    /// Notes that a unit could not be done on a machine.
    pub(super) fn blame(&mut self, node: &str, why: &str, handle: &LoopHandle) {
        if self.unfit.blame(node) {
            let name = self.cluster_name;
            let avoided = format!(
                "{name}: avoiding node {node} from now on: {MOST_FAILURES} units failed there ({why})"
            );
            handle.tell(LoopInput::Noted(avoided));
            // What waits might be given to it.
            self.take_back(|_| true);
        }
    }

    /// Has the loop send out later what waits in the queue.
    ///
    /// Passed on later: that may end units, and somebody may be going through them.
    pub(super) fn take_back(&mut self, is_meant: impl Fn(&UnitWork) -> bool) {
        for unit in &mut self.units {
            if unit.is_waiting() && is_meant(&unit.work) {
                self.wants_a_look |= !mem::replace(&mut unit.is_taken_back, true);
            }
        }
    }
}
