//! When one may try again, by the words in which that is told.

use std::time::Duration;

use jiff::{Timestamp, Zoned};

use super::clock;

/// Nothing makes one wait longer; a number that says so is something else.
const LONGEST: Duration = Duration::from_hours(24 * 62);

const BEFORE_SPAN: &[&str] = &[
    "retry-after",
    "retry_after",
    "retry after",
    "retrydelay",
    "retry in",
    "again in",
    "again after",
    "reset after",
    "resets after",
    "reset in",
    "resets in",
    "wait",
];

pub(in super::super) fn retry_after(text: &str, now: &Zoned) -> Option<Duration> {
    let text = text.to_lowercase();
    let moment = || epoch(&text, now).or_else(|| timestamp(&text));
    let until = |moment: Timestamp| {
        let pause = moment.duration_since(now.timestamp());
        // A time that has passed is now.
        Duration::try_from(pause).unwrap_or_default()
    };
    let pause = span(&text)
        .or_else(|| moment().map(until))
        .or_else(|| clock::next(&text, now).map(until))?;
    (pause <= LONGEST).then_some(pause)
}

/// A span that comes after words that announce one.
fn span(text: &str) -> Option<Duration> {
    let mut announced = BEFORE_SPAN
        .iter()
        .flat_map(|word| text.match_indices(word).map(|(at, word)| at + word.len()));
    announced.find_map(|at| span_at(&text[at..]))
}

/// The span that a text begins with: `20s`, `1m26.4s`, `2 days 3 hours and 5 minutes`, or `: 30`, which is seconds.
fn span_at(text: &str) -> Option<Duration> {
    let mut rest = text.trim_start_matches([' ', ':', '"', '=', '~', '\\']);
    let mut seconds: Option<f64> = None;
    loop {
        let (number, after) = leading(rest, |c| c.is_ascii_digit() || c == '.');
        let Ok(number) = number.trim_end_matches('.').parse::<f64>() else {
            break;
        };
        let after = after.trim_start();
        let (unit, after) = leading(after, |c| c.is_ascii_alphabetic());
        let Some(length) = length_of(unit) else {
            // A bare number counts seconds, but not the 3 of "3:05" nor a number after units.
            let is_bare = seconds.is_none() && !after.starts_with([':', '-', '/']);
            seconds = if is_bare && unit.is_empty() {
                Some(number)
            } else {
                seconds
            };
            break;
        };
        seconds = Some(seconds.unwrap_or_default() + number * length);
        rest = after.trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest).trim_start();
    }
    Duration::try_from_secs_f64(seconds?).ok()
}

/// The seconds of a unit.
fn length_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" | "milliseconds" | "millisecond" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        "w" | "week" | "weeks" => 604_800.0,
        _ => return None,
    })
}

/// A moment in seconds or milliseconds since 1970.
fn epoch(text: &str, now: &Zoned) -> Option<Timestamp> {
    let numbers = text.split(|c: char| !c.is_ascii_alphanumeric());
    let mut moments = numbers.filter_map(|word| {
        let number: i64 = word.parse().ok()?;
        match word.len() {
            10 => Timestamp::from_second(number).ok(),
            13 => Timestamp::from_millisecond(number).ok(),
            _ => None,
        }
    });
    // Ids look like that too.
    let is_near = |moment: &Timestamp| {
        let distance = moment.duration_since(now.timestamp()).unsigned_abs();
        distance <= LONGEST
    };
    moments.find(is_near)
}

/// A moment as RFC 3339 writes it.
fn timestamp(text: &str) -> Option<Timestamp> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-:.+".contains(c)));
    let mut moments = words.filter(|word| word.len() >= "2026-01-31t14:05z".len());
    moments.find_map(|word| word.trim_end_matches('.').to_uppercase().parse().ok())
}

/// What a text begins with, and the rest.
pub(super) fn leading(text: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    text.split_at(end)
}
