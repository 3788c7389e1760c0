//! What Claude Code has taken so far.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::order::DriverOrder;
use crate::Usage;

/// What was taken, turn by turn, and message by message in a turn that is not over.
///
/// What Claude Code tells as the sum of all has in it what it took before its session was taken up again.
#[derive(Debug, Default)]
pub(super) struct ClaudeUsage {
    goes_on: bool,
    turns: Usage,
    messages: BTreeMap<String, Usage>,
    told: Usage,
}

impl ClaudeUsage {
    pub(super) fn new(order: &DriverOrder) -> Self {
        Self {
            goes_on: order.session.is_some(),
            ..Self::default()
        }
    }

    /// Takes in a message, which comes once for each of its parts; gives what was taken so far, if that is new.
    pub(super) fn message(&mut self, message: &Value) -> Option<Usage> {
        let usage = &message["usage"];
        let number = |key: &str| usage[key].as_u64().unwrap_or(0);
        let read = number("cache_read_input_tokens");
        let written = number("cache_creation_input_tokens");
        let input = [number("input_tokens"), written, read];
        let usage = counted(input, read, number("output_tokens"));
        let id = message["id"].as_str().unwrap_or_default().to_owned();
        self.messages.insert(id, usage);
        self.tell(sum_of(self.turns, self.of_messages()))
    }

    /// Takes in the end of a turn, which tells better what it took.
    pub(super) fn end(&mut self, result: &Value) -> Option<Usage> {
        let is_all = !self.goes_on && self.turns.tokens == 0;
        let models = result["model_usage_since_last_result"].as_object();
        let models = models.or_else(|| result["modelUsage"].as_object().filter(|_| is_all));
        let each = models.into_iter().flatten().map(|(_, usage)| {
            let number = |key: &str| usage[key].as_u64().unwrap_or(0);
            let read = number("cacheReadInputTokens");
            let written = number("cacheCreationInputTokens");
            let input = [number("inputTokens"), written, read];
            let tokens = counted(input, read, number("outputTokens"));
            Usage {
                usd: usage["costUSD"].as_f64(),
                ..tokens
            }
        });
        let told = each.fold(Usage::default(), sum_of);
        let seen = self.of_messages();
        // What was broken off in the middle is not told.
        let turn = if told.tokens < seen.tokens {
            seen
        } else {
            told
        };
        self.messages.clear();
        self.turns = sum_of(self.turns, turn);
        self.tell(self.turns)
    }

    fn of_messages(&self) -> Usage {
        self.messages
            .values()
            .copied()
            .fold(Usage::default(), sum_of)
    }

    fn tell(&mut self, usage: Usage) -> Option<Usage> {
        let is_new = usage != self.told && usage.tokens > 0;
        self.told = usage;
        is_new.then_some(usage)
    }
}

fn counted(input: [u64; 3], cached: u64, output: u64) -> Usage {
    let input = input.into_iter().fold(0, u64::saturating_add);
    Usage {
        tokens: input.saturating_add(output),
        input,
        output,
        cached,
        usd: None,
    }
}

fn sum_of(one: Usage, other: Usage) -> Usage {
    Usage {
        tokens: one.tokens.saturating_add(other.tokens),
        input: one.input.saturating_add(other.input),
        output: one.output.saturating_add(other.output),
        cached: one.cached.saturating_add(other.cached),
        usd: match (one.usd, other.usd) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        },
    }
}
