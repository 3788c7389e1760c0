//! Counts what an agent took, from what the agents tell of it, which is never the same.
//!
//! Some tell the sum of the turn, some only their last question to the model, some both by and by.

use serde_json::Value;

use crate::{Usage, known_agent};

/// So many bytes are about one token, where nobody counts.
const BYTES_PER_TOKEN: u64 = 4;

#[derive(Debug, Default)]
pub(super) struct AcpUsage {
    bytes: u64,
    /// Where answers of the model ended, in those bytes.
    ends: Vec<u64>,
    answers: bool,
    /// Whether the model answered since its context was told.
    is_fresh: bool,
    /// How long the context was last.
    context: u64,
    /// How often a context was told after an answer, and the sum of them.
    told: (u32, u64),
    /// What the session cost before, which is not known of one that is taken up again until it is told.
    cost_before: Option<f64>,
    /// Whether the end of a turn is known to tell of the last answer only.
    tells_the_last: bool,
    /// What turns took that are over.
    earlier: Usage,
    usage: Usage,
}

impl AcpUsage {
    pub(super) fn meet(&mut self, agent: &str) {
        let agent = agent.to_lowercase();
        self.tells_the_last = known_agent(&agent).is_some_and(|known| known.tells_last_usage);
    }

    /// Begins with a session that cost nothing yet.
    pub(super) fn begin(&mut self) {
        self.cost_before = Some(0.0);
    }

    pub(super) fn answer(&mut self, bytes: usize) {
        self.answers = true;
        self.is_fresh = true;
        self.bytes += bytes as u64;
    }

    /// A tool has ended and said so much, which goes to the model.
    pub(super) fn tool(&mut self, bytes: usize) {
        if std::mem::take(&mut self.answers) {
            self.ends.push(self.bytes);
        }
        self.bytes += bytes as u64;
    }

    /// What a session told before it went on.
    pub(super) fn before(&mut self, update: &Value) {
        if let Some(cost) = cost(update) {
            self.cost_before = Some(cost);
        }
    }

    /// Takes in how long the context is and what it cost, and says whether that changes anything.
    pub(super) fn update(&mut self, update: &Value) -> Option<Usage> {
        let before = self.usage;
        if let (Some(cost), Some(cost_before)) = (cost(update), self.cost_before) {
            let cost = cost - cost_before;
            self.usage.usd = (cost > 0.0).then_some(cost);
        }
        if let Some(used) = update["used"].as_u64() {
            self.context = used;
            if std::mem::take(&mut self.is_fresh) {
                self.told.0 += 1;
                self.told.1 = self.told.1.saturating_add(used);
                // With others, a context is what they think of it, and the end of the turn knows better.
                if self.tells_the_last {
                    self.set(self.told.1, 0, 0);
                }
            }
        }
        (self.usage != before).then(|| self.sum())
    }

    /// Takes in what one answer took, where that is told beside it.
    pub(super) fn add(&mut self, usage: &Value) -> Option<Usage> {
        let counts = TurnUsage::parse(usage)?;
        let sum = &mut self.usage;
        sum.tokens = sum.tokens.saturating_add(counts.total);
        sum.output = sum.output.saturating_add(counts.output);
        sum.cached = sum.cached.saturating_add(counts.cached);
        sum.input = sum.tokens.saturating_sub(sum.output);
        Some(self.sum())
    }

    /// Takes in what the end of a turn says, and says whether that changes anything.
    pub(super) fn end(&mut self, result: &Value) -> Option<Usage> {
        let before = self.usage;
        let quota = &result["_meta"]["quota"]["token_count"];
        if let Some(counts) = TurnUsage::parse(&result["usage"]) {
            let total = if self.is_last_only(&counts) {
                self.all_answers(counts.total)
            } else {
                counts.total
            };
            self.set(total, counts.output, counts.cached);
        } else if let Some(counts) = TurnUsage::parse(quota) {
            self.set(counts.total, counts.output, counts.cached);
        }
        (self.usage != before).then(|| self.sum())
    }

    /// Another turn begins, which tells of itself alone.
    pub(super) fn next_turn(&mut self) {
        let usage = Usage {
            usd: self.usage.usd,
            ..Usage::default()
        };
        *self = Self {
            earlier: self.sum(),
            usage,
            context: self.context,
            cost_before: self.cost_before,
            tells_the_last: self.tells_the_last,
            ..Self::default()
        };
    }

    fn sum(&self) -> Usage {
        let (earlier, now) = (self.earlier, self.usage);
        Usage {
            tokens: earlier.tokens.saturating_add(now.tokens),
            input: earlier.input.saturating_add(now.input),
            output: earlier.output.saturating_add(now.output),
            cached: earlier.cached.saturating_add(now.cached),
            usd: now.usd,
        }
    }

    /// Whether the end of a turn says that no answer of the model was whole.
    pub(super) fn is_broken(result: &Value) -> bool {
        let counts = TurnUsage::parse(&result["_meta"]["quota"]["token_count"]);
        counts.is_some_and(|counts| counts.total == 0)
    }

    /// Whether the counts are those of the last answer, and there were more.
    fn is_last_only(&self, counts: &TurnUsage) -> bool {
        let answers = self.ends.len() + usize::from(self.answers);
        let many = answers > 1 || self.told.0 > 1;
        let input = counts.total.saturating_sub(counts.output);
        let is_context = self.context == counts.total || self.context == input;
        many && (self.tells_the_last || is_context)
    }

    /// The sum of all answers: as it was told, or as long as each context was, seen from the last.
    fn all_answers(&self, last: u64) -> u64 {
        if self.told.0 > 1 {
            return self.told.1;
        }
        let earlier = self.ends.iter().filter(|end| **end < self.bytes);
        let earlier = earlier.map(|end| {
            let later = (self.bytes - end) / BYTES_PER_TOKEN;
            last.saturating_sub(later)
        });
        earlier.fold(last, u64::saturating_add)
    }

    fn set(&mut self, tokens: u64, output: u64, cached: u64) {
        // Nothing that was spent comes back.
        self.usage.tokens = tokens.max(self.usage.tokens);
        self.usage.output = output;
        self.usage.input = self.usage.tokens.saturating_sub(output);
        self.usage.cached = cached;
    }
}

/// The cost of a session so far, in dollars.
fn cost(update: &Value) -> Option<f64> {
    let cost = &update["cost"];
    let is_dollars = cost["currency"].as_str().is_none_or(|name| name == "USD");
    cost["amount"].as_f64().filter(|_| is_dollars)
}

/// Tokens as they are told at the end of a turn.
struct TurnUsage {
    total: u64,
    output: u64,
    cached: u64,
}

impl TurnUsage {
    fn parse(usage: &Value) -> Option<Self> {
        let number = |names: [&str; 2]| names.iter().find_map(|name| usage[*name].as_u64());
        let input = number(["inputTokens", "input_tokens"]);
        let output = number(["outputTokens", "output_tokens"]);
        let told = number(["totalTokens", "total_tokens"]);
        if input.is_none() && output.is_none() && told.is_none() {
            return None;
        }
        let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
        let cached = number(["cachedReadTokens", "cached_tokens"]).unwrap_or(0);
        let written = number(["cachedWriteTokens", "cache_write_tokens"]).unwrap_or(0);
        // Without a total, what came from a cache is taken for a part of the input only if it fits into it.
        let stored = cached.saturating_add(written);
        let beside = if stored > input { stored } else { 0 };
        let sum = input.saturating_add(output).saturating_add(beside);
        Some(Self {
            total: told.unwrap_or(0).max(sum),
            output,
            cached,
        })
    }
}
