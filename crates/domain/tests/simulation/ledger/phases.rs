//! What an earlier phase means for the tasks behind it, counted anew.

use pleach_domain::event::TaskEvent;
use pleach_domain::id::PhaseNumber;

use super::{BASIS_CONFLICTS, FailedStage, Ledger, NO_BASIS, NO_CONSENT};
use crate::account::Now;

impl Ledger<'_> {
    /// Whether the task follows its phase, and less than 80 % of an earlier one that is over is done.
    pub(super) fn is_behind_a_phase_that_fell_short(&self, at: usize) -> bool {
        let own = &self.design.tasks[at];
        let Some(PhaseNumber(phase)) = own.phase.filter(|_| own.follows_phase) else {
            return false;
        };
        (0..phase).any(|earlier| self.fell_short(PhaseNumber(earlier)))
    }

    fn fell_short(&self, phase: PhaseNumber) -> bool {
        let others = self.design.others.iter().filter(|(of, _)| *of == phase);
        let tasks = self.tasks.iter().zip(&self.design.tasks);
        let here: Vec<Now> = tasks
            .filter(|(_, design)| design.phase == Some(phase))
            .map(|(task, _)| task.now)
            .collect();
        let is_done = |now: &&Now| now.is_success() || **now == Now::Cancelled;
        let done = here.iter().filter(is_done).count()
            + others
                .clone()
                .filter(|(_, status)| status.is_settled())
                .count();
        let all = here.len() + others.count();
        here.iter().all(|now| now.is_end()) && done * 5 < all * 4
    }

    /// A task is blocked by what it cannot do without, or by a person.
    pub(super) fn check_reason_to_block(&self, at: usize, event: &TaskEvent) {
        if let TaskEvent::Blocked { because } = event {
            let by_a_person = because == NO_CONSENT;
            let no_basis = because == NO_BASIS && self.design.tasks[at].no_basis.is_some();
            let no_basis = no_basis || because == BASIS_CONFLICTS;
            let may_be = by_a_person || no_basis || self.has_reason_to_block(at);
            assert!(may_be, "{at} is blocked for nothing");
        }
    }

    /// Whether something that a task cannot do without did not make it.
    fn has_reason_to_block(&self, at: usize) -> bool {
        let own = &self.design.tasks[at];
        let lacks_need = own.needs.iter().any(|need| {
            let now = self.tasks[*need].now;
            !now.is_success() && (now.is_end() || self.tasks[at].now == Now::Built)
        });
        let stops = self.design.failed_stage == FailedStage::StopsThePlan;
        let stage_failed = (0..own.stage.unwrap_or(0))
            .any(|stage| stops && self.stage_is_over(stage) && !self.stage_went_well(stage));
        lacks_need || stage_failed || self.is_behind_a_phase_that_fell_short(at)
    }
}
