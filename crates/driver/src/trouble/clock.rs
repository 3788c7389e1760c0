//! A time of day in words: `resets 3pm (Europe/Berlin)`, `try again at Nov 17th, 2026 3:05 PM`.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, Zoned};

use super::retry_after::leading;

const BEFORE_TIME: &[&str] = &[
    "reset at",
    "resets at",
    "again at",
    "retry at",
    "resets",
    "reset",
];

/// A time that passed so shortly ago is meant to have passed, and is not tomorrow's.
const JUST_PASSED: SignedDuration = SignedDuration::from_mins(5);

const MONTHS: &[&str] = &[
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// The next moment with the time that a text in small letters names.
pub(super) fn next(text: &str, now: &Zoned) -> Option<Timestamp> {
    let mut announced = BEFORE_TIME
        .iter()
        .flat_map(|word| text.match_indices(word).map(|(at, word)| at + word.len()));
    announced.find_map(|at| read(&text[at..], now))
}

fn read(text: &str, now: &Zoned) -> Option<Timestamp> {
    let zone = zone_in(text).unwrap_or_else(|| now.time_zone().clone());
    let now = now.with_time_zone(zone.clone());
    let (date, rest) = match date_at(text.trim_start(), &now) {
        Some((date, rest)) => (Some(date), rest),
        None => (None, text),
    };
    let rest = rest.trim_start_matches([' ', ',']);
    let rest = rest.strip_prefix("at ").unwrap_or(rest);
    let time = time_at(rest);
    let (Some(date), time) = (date, time) else {
        return upcoming(time?, &now);
    };
    let time = time.unwrap_or_default();
    let moment = date.to_datetime(time).to_zoned(zone).ok()?;
    Some(moment.timestamp())
}

/// Today's time, or tomorrow's if it has passed.
fn upcoming(time: Time, now: &Zoned) -> Option<Timestamp> {
    let at = |date: Date| {
        date.to_datetime(time)
            .to_zoned(now.time_zone().clone())
            .ok()
    };
    let today = at(now.date())?;
    if now.timestamp().duration_since(today.timestamp()) <= JUST_PASSED {
        return Some(today.timestamp());
    }
    let tomorrow = now.date().checked_add(Span::new().days(1)).ok()?;
    Some(at(tomorrow)?.timestamp())
}

fn zone_in(text: &str) -> Option<TimeZone> {
    let (_, rest) = text.split_once('(')?;
    let (name, _) = rest.split_once(')')?;
    // Names of zones are found whatever their letters are.
    TimeZone::get(name.trim()).ok()
}

/// A date such as `nov 17th, 2026` or `nov 17` that a text begins with, and the rest.
fn date_at<'t>(text: &'t str, now: &Zoned) -> Option<(Date, &'t str)> {
    let (word, rest) = leading(text, |c| c.is_ascii_alphabetic());
    let month = MONTHS.iter().position(|month| word.starts_with(month))?;
    let month = i8::try_from(month + 1).ok()?;
    let (day, rest) = leading(rest.trim_start(), |c| c.is_ascii_digit());
    let day = day.parse().ok()?;
    let (ending, after) = leading(rest, |c| c.is_ascii_alphabetic());
    let rest = if ["st", "nd", "rd", "th"].contains(&ending) {
        after
    } else {
        rest
    };
    let after = rest.trim_start_matches([' ', ',']);
    let (year, after) = leading(after, |c| c.is_ascii_digit());
    if year.len() == 4 {
        return Some((Date::new(year.parse().ok()?, month, day).ok()?, after));
    }
    let this_year = Date::new(now.year(), month, day).ok()?;
    let yesterday = now.date().checked_sub(Span::new().days(1)).ok()?;
    let date = if this_year < yesterday {
        Date::new(now.year().checked_add(1)?, month, day).ok()?
    } else {
        this_year
    };
    Some((date, rest))
}

/// A time such as `3pm`, `3:05 pm` or `15:30` that a text begins with.
fn time_at(text: &str) -> Option<Time> {
    let (hour, rest) = leading(text, |c| c.is_ascii_digit());
    let hour: i8 = hour.parse().ok()?;
    let (minute, rest) = match rest.strip_prefix(':') {
        Some(rest) => {
            let (minute, rest) = leading(rest, |c| c.is_ascii_digit());
            (Some(minute.parse::<i8>().ok()?), rest)
        }
        None => (None, rest),
    };
    let rest = rest.trim_start();
    let half = if rest.starts_with("am") || rest.starts_with("a.m") {
        Some(0)
    } else if rest.starts_with("pm") || rest.starts_with("p.m") {
        Some(12)
    } else {
        None
    };
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
        // A bare number is no time.
        None => minute.map(|_| hour)?,
    };
    Time::new(hour, minute.unwrap_or(0), 0, 0).ok()
}
