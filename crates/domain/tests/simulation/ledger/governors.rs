//! What the ledger knows of what holds a batch back.

use pleach_domain::event::BatchEvent;

use super::{ADVICE, Ledger};

impl Ledger<'_> {
    pub(super) fn take_of_governors(&mut self, event: &BatchEvent) {
        match event {
            BatchEvent::SlotsChanged {
                slots,
                most,
                because,
            } => {
                let is_step = *slots == self.slots + 1 || *slots == (self.slots / 2).max(1);
                let is_told = is_step || because == ADVICE;
                assert!(is_told && *slots <= *most, "{} becomes {slots}", self.slots);
                self.slots = *slots;
            }
            BatchEvent::Paused { .. } => self.held = true,
            BatchEvent::Unpaused => self.held = false,
            _ => {}
        }
    }

    pub(super) fn tokens(&self) -> u64 {
        self.tasks.iter().map(|task| task.tokens).sum()
    }

    pub(super) fn check_governors(&self, at: usize) {
        let limited = self.tasks.iter().any(|task| task.limited);
        assert!(!limited, "{at} starts although its agent is limited");
        assert!(!self.held, "{at} starts although nothing may");
        let settings = &self.design.settings;
        let spent = self.tokens() - self.tokens_before;
        let over = settings.budget.tokens.is_some_and(|most| spent >= most);
        assert!(!over, "{at} starts although nothing is left to spend");
        let task = &self.tasks[at];
        let spent = task.tokens - task.tokens_before;
        let over = settings
            .task_budget
            .tokens
            .is_some_and(|most| spent >= most);
        assert!(!over, "{at} starts although it has spent its share");
    }
}
