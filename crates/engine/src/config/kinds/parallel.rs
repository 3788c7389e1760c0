//! The kind of value that says how many tasks run at once.

use toml_edit::Value;

use super::{Count, ValueKind};
use crate::config::MaxParallel;

/// Here and on clusters; what is more than this machine bears is refused once it is known where a batch runs.
type Number = Count<usize, 1, 10_000>;

pub(in crate::config) struct Parallel;

impl ValueKind for Parallel {
    type Value = MaxParallel;

    fn wanted() -> String {
        format!("{}, or \"auto\"", Count::<usize, 1, 64>::wanted())
    }

    fn read(value: &Value) -> Option<MaxParallel> {
        match value.as_str() {
            Some("auto") => Some(MaxParallel::Auto),
            Some(_) => None,
            None => Number::read(value).map(MaxParallel::AtMost),
        }
    }

    fn write(value: &MaxParallel) -> Value {
        match value {
            MaxParallel::Auto => "auto".into(),
            MaxParallel::AtMost(number) => Number::write(number),
        }
    }
}
