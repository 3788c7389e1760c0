//! How long an agent may ask its model once more by itself, before that is cut short.
//!
//! Agents wait for minutes with nobody seeing it; whoever runs them waits better, for it knows of all tasks.

use std::time::Duration;

use super::protocol::ProtocolOutput;
use super::trouble;
use crate::{Conclusion, Entry, Trouble};

/// A limit that lasts longer is not waited for by the agent.
const LONGEST_LIMIT: Duration = Duration::from_mins(1);

/// How much longer than it should an agent may take to ask once more.
const GRACE: Duration = Duration::from_secs(5);

/// So many times in a row it may be told that it has to wait.
const MOST_IN_A_ROW: u32 = 3;

/// So many times in a row it may find nobody at the other end; some agents would try for ever.
const MOST_BROKEN_IN_A_ROW: u32 = 12;

/// A wait that is longer was told by what it talks to; a shorter one is what the agent thinks.
const LONGEST_OWN_WAIT: Duration = Duration::from_secs(5);

/// What is left of the patience with an agent that asks its model once more.
#[derive(Debug, Default)]
pub(super) struct RetryBudget {
    in_a_row: u32,
    broken_in_a_row: u32,
    last: Option<Conclusion>,
    over: Option<Conclusion>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelRetry {
    /// Which time this is, as the agent counts.
    pub(super) attempt: u32,
    pub(super) trouble: Trouble,
    pub(super) message: String,
    pub(super) delay: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryVerdict {
    GoOn,
    /// It has to be interrupted now. Said once.
    GiveUp,
}

impl RetryBudget {
    /// Takes in that the agent asks once more, and prints it.
    pub(super) fn again(&mut self, again: ModelRetry, out: &mut ProtocolOutput) -> RetryVerdict {
        let told = trouble::pause(&again.message).map(Duration::from_millis);
        let wait = told.or(again.delay.filter(|delay| *delay > LONGEST_OWN_WAIT));
        out.print(Entry::Retry {
            attempt: again.attempt,
            trouble: again.trouble,
            message: again.message.clone(),
            delay_ms: again.delay.map(trouble::millis),
        });
        let is_over = match again.trouble {
            Trouble::Login => true,
            Trouble::Limit | Trouble::Overload => {
                self.in_a_row += 1;
                let is_long = wait.is_some_and(|wait| wait > LONGEST_LIMIT);
                self.in_a_row >= MOST_IN_A_ROW || (is_long && again.trouble == Trouble::Limit)
            }
            _ => {
                self.broken_in_a_row += 1;
                self.broken_in_a_row >= MOST_BROKEN_IN_A_ROW
            }
        };
        let mut over = Conclusion::failed(again.trouble, again.message);
        if matches!(again.trouble, Trouble::Limit | Trouble::Overload) {
            over.retry_after_ms = wait.map(trouble::millis);
            // Some wait for hours, and say nothing.
            out.listen = Some(wait.unwrap_or_default().max(LONGEST_LIMIT) + GRACE);
        }
        self.last = Some(over);
        if is_over {
            return self.give_up();
        }
        RetryVerdict::GoOn
    }

    /// Takes in that the agent is not waited for any longer.
    pub(super) fn give_up(&mut self) -> RetryVerdict {
        match self.last.take() {
            Some(last) if self.over.is_none() => {
                self.over = Some(last);
                RetryVerdict::GiveUp
            }
            _ => RetryVerdict::GoOn,
        }
    }

    /// Takes in that the model answered.
    pub(super) fn progress(&mut self) {
        self.last = None;
        self.in_a_row = 0;
        self.broken_in_a_row = 0;
    }

    /// What is to be said of it at the end, if it had to be interrupted.
    pub(super) fn over(&self) -> Option<&Conclusion> {
        self.over.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(trouble: Trouble, delay: u64) -> ModelRetry {
        ModelRetry {
            attempt: 1,
            trouble,
            message: "no".to_owned(),
            delay: Some(Duration::from_secs(delay)),
        }
    }

    /// What is told, with seconds; `Other` is an answer. Gives after how many the patience was over, and the pause.
    #[track_caller]
    fn check(told: &[(Trouble, u64)], expected: Option<(usize, Option<u64>)>) {
        let mut patience = RetryBudget::default();
        let mut out = ProtocolOutput::default();
        let mut over = None;
        for (at, (trouble, delay)) in told.iter().enumerate() {
            if *trouble == Trouble::Other {
                patience.progress();
            } else if patience.again(again(*trouble, *delay), &mut out) == RetryVerdict::GiveUp {
                assert_eq!(over, None, "it is said once");
                let pause = patience.over().unwrap().retry_after_ms;
                over = Some((at + 1, pause));
            }
        }
        assert_eq!(over, expected);
    }

    #[test]
    fn a_missing_login_is_the_end_at_once() {
        check(&[(Trouble::Login, 1), (Trouble::Login, 1)], Some((1, None)));
    }

    #[test]
    fn a_long_limit_is_the_end_at_once() {
        check(&[(Trouble::Limit, 61)], Some((1, Some(61_000))));
        check(&[(Trouble::Overload, 61)], None);
    }

    #[test]
    fn the_third_wait_in_a_row_is_the_end() {
        let short = (Trouble::Overload, 1);
        check(&[short, short], None);
        check(&[short, short, short], Some((3, None)));
        let told = (Trouble::Limit, 20);
        check(&[told, told, told, told], Some((3, Some(20_000))));
    }

    #[test]
    fn an_answer_in_between_gives_new_patience() {
        let short = (Trouble::Limit, 1);
        let answer = (Trouble::Other, 0);
        check(&[short, short, answer, short, short], None);
    }

    #[test]
    fn a_broken_connection_is_left_to_the_agent_but_not_for_ever() {
        check(&[(Trouble::Network, 1); 11], None);
        check(&[(Trouble::Network, 1); 20], Some((12, None)));
    }
}
