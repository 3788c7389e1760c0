//! What Claude Code has taken so far.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::agent::Usage;

/// What was taken, message by message, until the end tells it better.
#[derive(Debug, Default)]
pub(super) struct Tally {
    messages: BTreeMap<String, Usage>,
    told: Usage,
}

impl Tally {
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
        let sum = self
            .messages
            .values()
            .fold(Usage::default(), |sum, usage| sum_of(sum, *usage));
        self.tell(Usage {
            usd: self.told.usd,
            ..sum
        })
    }

    /// Takes in the end of a turn, which tells what the process took.
    pub(super) fn end(&mut self, result: &Value) -> Option<Usage> {
        let models = result["modelUsage"].as_object();
        let each = models.into_iter().flatten().map(|(_, usage)| {
            let number = |key: &str| usage[key].as_u64().unwrap_or(0);
            let read = number("cacheReadInputTokens");
            let written = number("cacheCreationInputTokens");
            counted(
                [number("inputTokens"), written, read],
                read,
                number("outputTokens"),
            )
        });
        let sum = each.fold(Usage::default(), sum_of);
        // A turn that was broken off is not counted in there.
        let sum = if sum.tokens < self.told.tokens {
            self.told
        } else {
            sum
        };
        let usd = result["total_cost_usd"].as_f64().or(self.told.usd);
        self.tell(Usage { usd, ..sum })
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
        usd: one.usd,
    }
}
