//! What goes wrong, read from an address, and how often it has gone wrong already.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ModelFault {
    /// A status, and perhaps how many seconds to wait.
    Status(u16, Option<u64>),
    /// The conversation is too long for the model.
    Context,
    /// Not even headers come.
    Hang,
    /// The connection ends in the middle of the answer.
    Cut,
    /// The answer begins, and then tells an error.
    Broken,
    /// The answer never ends.
    Endless,
}

/// What an address asks for.
#[derive(Debug, Clone)]
pub(super) struct FaultPlan {
    pub(super) id: String,
    fault: Option<ModelFault>,
    times: Option<u64>,
    after: u64,
    pub(super) usage: (u64, u64),
}

impl FaultPlan {
    /// Reads `name=value` pairs with commas between them; what it does not know it leaves out.
    pub(super) fn parse(words: &str) -> Self {
        let pairs: HashMap<&str, &str> = words
            .split(',')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.trim(), value.trim()))
            .collect();
        let number = |name: &str| pairs.get(name).and_then(|value| value.parse().ok());
        let usage = pairs.get("usage").and_then(|usage| usage.split_once(':'));
        let tokens = |text: &str, usual| text.parse().unwrap_or(usual);
        let fault = pairs.get("fail").and_then(|kind| match *kind {
            "context" => Some(ModelFault::Context),
            "hang" => Some(ModelFault::Hang),
            "cut" => Some(ModelFault::Cut),
            "sse" => Some(ModelFault::Broken),
            "endless" => Some(ModelFault::Endless),
            status => Some(ModelFault::Status(
                status.parse().ok()?,
                number("retry_after"),
            )),
        });
        Self {
            id: pairs.get("id").copied().unwrap_or_default().to_owned(),
            fault,
            times: number("times"),
            after: number("after").unwrap_or(0),
            usage: usage.map_or((1000, 50), |(into, out)| {
                (tokens(into, 1000), tokens(out, 50))
            }),
        }
    }
}

/// How many requests each run has made.
#[derive(Default)]
pub(super) struct Counters(Mutex<HashMap<String, u64>>);

impl Counters {
    /// Counts a request, and says what goes wrong with it.
    pub(super) fn next(&self, plan: &FaultPlan, place: &str) -> Option<ModelFault> {
        let fault = plan.fault.clone()?;
        let key = format!("{} {:?} {:?} {place}", plan.id, plan.fault, plan.times);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(key).or_insert(0);
        let past = count.checked_sub(plan.after);
        *count += 1;
        let is_due = past.is_some_and(|past| plan.times.is_none_or(|times| past < times));
        is_due.then_some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::{Counters, FaultPlan, ModelFault};

    #[track_caller]
    fn check(words: &str, expected: &str) {
        let (plan, counters) = (FaultPlan::parse(words), Counters::default());
        let told: String = (0..expected.len())
            .map(|_| counters.next(&plan, "").map_or('.', |_| 'x'))
            .collect();
        assert_eq!(told, expected, "{words}");
    }

    #[test]
    fn faults_come_so_often_and_after_so_many_good_answers() {
        check("id=a", "....");
        check("id=a,fail=429", "xxxx");
        check("fail=cut,times=2", "xx..");
        check("fail=hang,times=1,after=2", "..x.");
        check("fail=nonsense", "..");
    }

    #[test]
    fn runs_are_counted_apart() {
        let counters = Counters::default();
        let (one, other) = (
            FaultPlan::parse("id=1,fail=500,times=1"),
            FaultPlan::parse("id=2,fail=500,times=1"),
        );
        assert_eq!(counters.next(&one, ""), Some(ModelFault::Status(500, None)));
        assert_eq!(counters.next(&one, ""), None);
        assert_eq!(
            counters.next(&other, ""),
            Some(ModelFault::Status(500, None))
        );
    }

    #[test]
    fn an_address_says_tokens_and_seconds() {
        let plan = FaultPlan::parse("usage=7:3,fail=429,retry_after=2");
        assert_eq!(plan.usage, (7, 3));
        assert_eq!(plan.fault, Some(ModelFault::Status(429, Some(2))));
        assert_eq!(FaultPlan::parse("").usage, (1000, 50));
    }
}
