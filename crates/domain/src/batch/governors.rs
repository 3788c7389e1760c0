//! What holds a batch back: how many run at once, what may be spent, what a person must consent to.
//!
//! Knows numbers and reasons; who measures them is elsewhere.

use super::{Batch, Budget, Design, Mode, Spent};
use crate::event::{BatchEvent, Event, TaskEvent};
use crate::task_state::TaskState;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotsNow {
    pub now: usize,
    /// And never more than these.
    pub most: usize,
    /// How many attempts had begun when there were too many last.
    pub(super) shrunk_at: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetExceeded {
    Task(String),
    Batch(String),
}

impl SlotsNow {
    pub(super) fn new(design: &Design) -> Self {
        let slots = design.settings.mode.slots();
        Self {
            now: slots,
            most: slots,
            shrunk_at: 0,
        }
    }
}

impl Budget {
    fn used_up_by(&self, spent: Spent, whose: &str) -> Option<String> {
        let over = |limit: Option<u64>, spent: u64| limit.filter(|limit| spent >= *limit);
        if let Some(limit) = over(self.micro_usd, spent.micro_usd) {
            let (limit, spent) = (dollars(limit), dollars(spent.micro_usd));
            return Some(format!("{whose} budget of {limit} is used up ({spent})"));
        }
        let limit = over(self.tokens, spent.tokens)?;
        let spent = spent.tokens;
        Some(format!(
            "{whose} budget of {limit} tokens is used up ({spent})"
        ))
    }
}

/// Millionths of a dollar, as people write dollars.
pub fn dollars(micro_usd: u64) -> String {
    let (whole, part) = (micro_usd / 1_000_000, micro_usd % 1_000_000);
    let part = format!("{part:06}");
    let shown = part.trim_end_matches('0');
    format!("${whole}.{shown:0<2}")
}

impl Batch {
    pub(crate) fn slots(&self) -> usize {
        self.slots.now.min(self.slots.most).max(1)
    }

    /// What all attempts that are over took.
    pub fn spent(&self) -> Spent {
        self.tasks.iter().map(|task| task.spent).sum()
    }

    /// Whose budget is used up when a running attempt has taken so much, and all of them together so much.
    pub fn over_budget(
        &self,
        position: usize,
        attempt: Spent,
        running: Spent,
    ) -> Option<BudgetExceeded> {
        let of_task = self
            .over_task_budget(position, attempt)
            .map(BudgetExceeded::Task);
        of_task.or_else(|| self.over_batch_budget(running).map(BudgetExceeded::Batch))
    }

    pub(super) fn over_task_budget(&self, position: usize, more: Spent) -> Option<String> {
        let task = &self.tasks[position];
        let mut spent = task.spent - task.spent_before;
        spent += more;
        self.design.settings.task_budget.used_up_by(spent, "its")
    }

    /// How it is said that the budget of the batch is used up, with so much more than what is stored.
    pub(crate) fn over_batch_budget(&self, more: Spent) -> Option<String> {
        let mut spent = self.spent() - self.spent_before;
        spent += more;
        self.design.settings.budget.used_up_by(spent, "the batch's")
    }

    pub(super) fn hold(&self, because: Option<String>) -> Vec<Event> {
        if self.held == because || self.status.is_over() {
            return Vec::new();
        }
        vec![Event::Batch(match because {
            Some(because) => BatchEvent::Paused { because },
            None => BatchEvent::Unpaused,
        })]
    }

    pub(super) fn advised(&self, most: usize, because: String) -> Vec<Event> {
        let most = most.max(1);
        let is_parallel = matches!(self.design.settings.mode, Mode::Parallel { .. });
        if most == self.slots.most || !is_parallel || self.status.is_over() {
            return Vec::new();
        }
        // What was shrunk for another reason grows back by itself.
        let slots = if self.slots.now == self.slots.most {
            most
        } else {
            self.slots.now.min(most)
        };
        vec![Event::Batch(BatchEvent::SlotsChanged {
            slots,
            most,
            because,
        })]
    }

    pub(super) fn slots_changed(&self, slots: usize, because: String) -> Event {
        Event::Batch(BatchEvent::SlotsChanged {
            slots,
            most: self.slots.most,
            because,
        })
    }

    /// One more at once after a success, as long as there were more once.
    pub(super) fn grown(&self) -> Option<Event> {
        let now = self.slots.now;
        let because = "an agent succeeded".to_owned();
        (now < self.slots.most).then(|| self.slots_changed(now + 1, because))
    }

    pub(super) fn apply_to_governors(&mut self, event: &BatchEvent) {
        match event {
            BatchEvent::Paused { because } => self.held = Some(because.clone()),
            BatchEvent::Unpaused => self.held = None,
            BatchEvent::SlotsChanged { slots, most, .. } => {
                if *slots < self.slots.now {
                    self.slots.shrunk_at = self.starts;
                    self.overloads_in_a_row = 0;
                }
                (self.slots.now, self.slots.most) = (*slots, *most);
            }
            _ => {}
        }
    }

    /// Counts what tells whether there are too many at once.
    pub(super) fn count(&mut self, position: usize, event: &TaskEvent) {
        match event {
            TaskEvent::Started { .. } => {
                self.starts += 1;
                self.tasks[position].started_as = self.starts;
            }
            // One that says nothing new must not make old those that began in the meantime.
            TaskEvent::Limited { .. } if self.is_news(position) => {
                self.limits_in_a_row += 1;
                self.limited_at = self.starts;
            }
            // Those that were under way when the number was halved tell of the time before.
            TaskEvent::Overloaded { .. } => {
                let is_news = self.tasks[position].started_as > self.slots.shrunk_at;
                self.overloads_in_a_row += u32::from(is_news);
            }
            TaskEvent::Built { .. } | TaskEvent::Unchanged { .. } => {
                self.limits_in_a_row = 0;
                self.overloads_in_a_row = 0;
            }
            TaskEvent::Approved => {
                if let TaskState::Waiting {
                    consent: Some(consent),
                } = &self.tasks[position].state
                {
                    self.consented.extend(consent.files.iter().cloned());
                }
            }
            _ => {}
        }
    }
}
