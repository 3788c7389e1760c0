//! The kinds of values that keys take: how each is read, written, and described to people.
//!
//! Knows nothing of which key takes which.

mod cluster;
mod parallel;
mod paths;

use std::marker::PhantomData;
use std::path::Path;
use std::time::Duration;

use pleach_domain::choice::{Choice, SandboxChoice};
use pleach_domain::phase::Threshold;
use pleach_domain::problem::nearest;
use toml_edit::{Array, Value};

pub(super) use cluster::{MemorySize, SbatchOptions, TimeBetween};
pub(super) use parallel::Parallel;
pub(super) use paths::{CachedPaths, PathList, PathValue};

use super::error::ConfigError;

pub(super) trait ValueKind {
    type Value: Clone;

    /// What is wanted, as in `retries must be …`.
    fn wanted() -> String;

    fn read(value: &Value) -> Option<Self::Value>;

    fn write(value: &Self::Value) -> Value;

    /// How a variable or a word of a command line says it; text stays text where text is wanted.
    fn of_text(text: &str) -> Value {
        let literal = Value::from(text);
        if Self::read(&literal).is_some() {
            return literal;
        }
        let parsed: Option<Value> = text.trim().parse().ok();
        match parsed.filter(|value| Self::read(value).is_some()) {
            Some(mut value) => {
                value.decor_mut().clear();
                value
            }
            None => literal,
        }
    }

    fn nearest(_: &Value) -> Option<String> {
        None
    }

    /// Whether it takes a key without a default away, whatever lower layers say.
    fn is_nothing(_: &Self::Value) -> bool {
        false
    }

    fn meant(value: Self::Value, _: &Path) -> Result<Self::Value, ConfigError> {
        Ok(value)
    }
}

/// What is asked of a value, whatever its kind.
#[derive(Debug)]
pub(super) struct ValueRules {
    pub(super) wanted: fn() -> String,
    pub(super) of_text: fn(&str) -> Value,
    pub(super) is_fit: fn(&Value) -> bool,
    pub(super) nearest: fn(&Value) -> Option<String>,
}

impl ValueRules {
    pub(super) const fn of<K: ValueKind>() -> Self {
        Self {
            wanted: K::wanted,
            of_text: K::of_text,
            is_fit: |value| K::read(value).is_some(),
            nearest: K::nearest,
        }
    }
}

pub(super) struct FreeText;

impl ValueKind for FreeText {
    type Value = String;

    fn wanted() -> String {
        "a string in quotes".to_owned()
    }

    fn read(value: &Value) -> Option<String> {
        value.as_str().map(str::to_owned)
    }

    fn write(value: &String) -> Value {
        value.into()
    }

    fn is_nothing(value: &String) -> bool {
        value.is_empty()
    }
}

pub(super) struct Shell;

impl ValueKind for Shell {
    type Value = String;

    fn wanted() -> String {
        FreeText::wanted()
    }

    fn read(value: &Value) -> Option<String> {
        FreeText::read(value)
    }

    fn write(value: &String) -> Value {
        FreeText::write(value)
    }

    fn is_nothing(value: &String) -> bool {
        value.trim().is_empty()
    }
}

pub(super) struct List;

impl ValueKind for List {
    type Value = Vec<String>;

    fn wanted() -> String {
        "a list of strings, as in [\"one\", \"two\"]".to_owned()
    }

    fn read(value: &Value) -> Option<Vec<String>> {
        let words = value.as_array()?.iter();
        words.map(|word| Some(word.as_str()?.to_owned())).collect()
    }

    fn write(value: &Vec<String>) -> Value {
        value.iter().collect::<Array>().into()
    }
}

pub(super) struct Count<N, const LEAST: i64, const MOST: i64>(PhantomData<N>);

impl<N, const LEAST: i64, const MOST: i64> ValueKind for Count<N, LEAST, MOST>
where
    N: TryFrom<i64> + Copy,
    i64: TryFrom<N>,
{
    type Value = N;

    fn wanted() -> String {
        if MOST == i64::MAX {
            format!("a number, {LEAST} or more")
        } else {
            format!("a number from {LEAST} to {MOST}")
        }
    }

    fn read(value: &Value) -> Option<N> {
        let number = value.as_integer()?;
        let fits = (LEAST..=MOST).contains(&number);
        fits.then(|| N::try_from(number).ok())?
    }

    fn write(value: &N) -> Value {
        i64::try_from(*value).unwrap_or(i64::MAX).into()
    }
}

/// Yes or no.
pub(super) struct Switch;

impl ValueKind for Switch {
    type Value = bool;

    fn wanted() -> String {
        "true or false".to_owned()
    }

    fn read(value: &Value) -> Option<bool> {
        value.as_bool()
    }

    fn write(value: &bool) -> Value {
        (*value).into()
    }

    fn of_text(text: &str) -> Value {
        match text.trim() {
            "true" | "yes" | "on" | "1" => true.into(),
            "false" | "no" | "off" | "0" => false.into(),
            _ => text.into(),
        }
    }
}

pub(super) struct OneOf<C>(PhantomData<C>);

impl<C: Choice> ValueKind for OneOf<C> {
    type Value = C;

    fn wanted() -> String {
        let words: Vec<&str> = C::WORDS.iter().map(|(word, _)| *word).collect();
        format!("one of {}", words.join(", "))
    }

    fn read(value: &Value) -> Option<C> {
        let text = value.as_str()?;
        let (_, meant) = C::WORDS.iter().find(|(word, _)| *word == text)?;
        Some(meant.clone())
    }

    fn write(value: &C) -> Value {
        let word = C::WORDS.iter().find(|(_, meant)| meant == value);
        word.map_or("", |(word, _)| *word).into()
    }

    fn nearest(value: &Value) -> Option<String> {
        let words = C::WORDS.iter().map(|(word, _)| *word);
        nearest(value.as_str()?, words).map(str::to_owned)
    }
}

pub(super) struct Time;

impl ValueKind for Time {
    type Value = Duration;

    fn wanted() -> String {
        "a time such as \"90s\", \"30m\" or \"500ms\"".to_owned()
    }

    fn read(value: &Value) -> Option<Duration> {
        value.as_str().and_then(duration)
    }

    fn write(value: &Duration) -> Value {
        let all = u64::try_from(value.as_millis()).unwrap_or(u64::MAX);
        in_largest_unit(all, &UNITS_OF_TIME).into()
    }
}

/// The longest wait for a usage limit that anybody may set: limits of agents last a week at most.
pub(crate) const MOST_LIMIT_WAIT: Duration = Duration::from_hours(7 * 24);

/// The one that holds if nobody sets it.
pub(crate) const USUAL_LIMIT_WAIT: Duration = Duration::from_hours(6);

/// A time with its unit that is at most `MOST_LIMIT_WAIT`.
pub(super) struct UpToAWeek;

impl ValueKind for UpToAWeek {
    type Value = Duration;

    fn wanted() -> String {
        "a time of at most \"7d\", such as \"90s\" or \"12h\"".to_owned()
    }

    fn read(value: &Value) -> Option<Duration> {
        Time::read(value).filter(|time| *time <= MOST_LIMIT_WAIT)
    }

    fn write(value: &Duration) -> Value {
        Time::write(value)
    }
}

pub(super) struct TimeOrOff;

impl ValueKind for TimeOrOff {
    type Value = Duration;

    fn wanted() -> String {
        "a time such as \"30s\", or \"off\"".to_owned()
    }

    fn read(value: &Value) -> Option<Duration> {
        match value.as_str() {
            Some("off") => Some(Duration::ZERO),
            _ => Time::read(value),
        }
    }

    fn write(value: &Duration) -> Value {
        if value.is_zero() {
            "off".into()
        } else {
            Time::write(value)
        }
    }
}

/// A number of bytes; nothing at all is one too.
pub(super) struct Size;

impl ValueKind for Size {
    type Value = u64;

    fn wanted() -> String {
        "a size such as \"2GiB\" or \"500MiB\"".to_owned()
    }

    fn read(value: &Value) -> Option<u64> {
        match value.as_str() {
            Some(text) => number_with_unit(text, &UNITS_OF_SIZE),
            None => u64::try_from(value.as_integer()?).ok(),
        }
    }

    fn write(value: &u64) -> Value {
        in_largest_unit(*value, &UNITS_OF_SIZE).into()
    }
}

/// Dollars, as millionths of one.
pub(super) struct Dollars;

impl ValueKind for Dollars {
    type Value = u64;

    fn wanted() -> String {
        "dollars, such as 5 or 2.50".to_owned()
    }

    fn read(value: &Value) -> Option<u64> {
        let text = match value {
            Value::Integer(dollars) => dollars.value().to_string(),
            Value::Float(dollars) => dollars.value().to_string(),
            _ => return None,
        };
        millionths(&text).filter(|money| *money > 0)
    }

    fn write(value: &u64) -> Value {
        let (whole, part) = (value / 1_000_000, value % 1_000_000);
        let text = format!("{whole}.{part:06}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        text.parse().unwrap_or_else(|_| text.into())
    }
}

pub(super) struct Share;

impl ValueKind for Share {
    type Value = Threshold;

    fn wanted() -> String {
        "a share from 0 to 1, such as 0.8".to_owned()
    }

    fn read(value: &Value) -> Option<Threshold> {
        let whole = || {
            value
                .as_integer()
                .and_then(|share| i32::try_from(share).ok())
        };
        Threshold::new(value.as_float().or_else(|| whole().map(f64::from))?)
    }

    fn write(value: &Threshold) -> Value {
        value.share().into()
    }
}

/// What holds programs: a word, or a command.
pub(super) struct Sandbox;

impl ValueKind for Sandbox {
    type Value = SandboxChoice;

    fn wanted() -> String {
        format!(
            "{}, or a command of at least one word, as in [\"bwrap\", \"--ro-bind\"]",
            OneOf::<SandboxChoice>::wanted()
        )
    }

    fn read(value: &Value) -> Option<SandboxChoice> {
        if value.is_array() {
            let words = List::read(value)?;
            return (!words.is_empty()).then_some(SandboxChoice::Wrapper(words));
        }
        OneOf::read(value)
    }

    fn write(value: &SandboxChoice) -> Value {
        match value {
            SandboxChoice::Wrapper(words) => List::write(words),
            named => OneOf::write(named),
        }
    }

    fn nearest(value: &Value) -> Option<String> {
        OneOf::<SandboxChoice>::nearest(value)
    }
}

const UNITS_OF_TIME: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

const UNITS_OF_SIZE: [(&str, u64); 6] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
    ("", 1),
];

fn in_largest_unit(number: u64, units: &[(&str, u64)]) -> String {
    let unit = units
        .iter()
        .find(|(_, factor)| number >= *factor && number.is_multiple_of(*factor));
    let (unit, factor) = unit.unwrap_or(&("", 1));
    format!("{}{unit}", number / factor)
}

fn number_with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// Reads dollars with up to six digits after the point.
fn millionths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 6 || !is_number(whole) || !is_number(part) {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(1_000_000)?;
    whole.checked_add(format!("{part:0<6}").parse().ok()?)
}

/// Reads `500ms`, `90s`, `30m`, `1h`, `2d`; nothing is no time.
pub fn duration(text: &str) -> Option<Duration> {
    let total = number_with_unit(text, &UNITS_OF_TIME)?;
    (total > 0).then(|| Duration::from_millis(total))
}
