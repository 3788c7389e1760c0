//! Moments as text.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A time in milliseconds since 1970 as RFC 3339 writes it: `2026-01-31T23:59:59.999Z`.
pub fn rfc3339(milliseconds: u64) -> String {
    format!("{:.3}", timestamp(milliseconds))
}

/// The same as a person reads a clock here; with the date, if that is not today.
pub fn clock_time(milliseconds: u64) -> String {
    let zone = TimeZone::system();
    let at = timestamp(milliseconds).to_zoned(zone.clone());
    let today = Timestamp::now().to_zoned(zone).date();
    let pattern = if at.date() == today {
        "%H:%M"
    } else {
        "%a %d %b %Y %H:%M"
    };
    at.strftime(pattern).to_string()
}

/// The day and the time here of a time as RFC 3339 writes it.
pub fn local_time(rfc3339: &str) -> String {
    let Ok(at) = rfc3339.parse::<Timestamp>() else {
        return rfc3339.to_owned();
    };
    let at = at.to_zoned(TimeZone::system());
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// Beyond what a calendar holds, its last moment.
fn timestamp(milliseconds: u64) -> Timestamp {
    let milliseconds = i64::try_from(milliseconds).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::MAX)
}

/// Seconds as a time is counted here.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate is neither negative nor longer than a life"
)]
pub fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1_000.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_utc() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_399, "2000-02-28T23:59:59.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (951_868_800, "2000-03-01T00:00:00.007Z"),
            (1_767_225_599, "2025-12-31T23:59:59.007Z"),
            (1_793_976_481, "2026-11-06T14:48:01.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
        ] {
            assert_eq!(rfc3339(seconds * 1000 + 7), text);
        }
    }
}
