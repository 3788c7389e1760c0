//! Text that fits into the columns of a terminal: cut, padded, and numbers as people say them.

use std::time::Duration;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

pub(crate) fn terminal_width() -> Option<usize> {
    if !std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// The text, with spaces behind it up to a width.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

pub(crate) fn seconds(time: Duration) -> String {
    let whole = time.as_secs();
    match whole {
        0..60 => format!("{:.1}s", time.as_secs_f64()),
        60..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
        _ => format!("{}h {:02}m", whole / 3600, whole % 3600 / 60),
    }
}

/// A time that runs on, in whole seconds.
pub(crate) fn elapsed(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        _ => seconds(time),
    }
}

/// A time that nobody knows exactly.
pub(crate) fn about(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3_600 => format!("{}m", seconds.div_ceil(60)),
        seconds => format!("{}h {:02}m", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// How long ago something was, in its largest unit.
pub(crate) fn age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3_600 => format!("{}m", seconds / 60),
        seconds @ 3_600..86_400 => format!("{}h", seconds / 3_600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "one digit behind the point is shown"
)]
pub(crate) fn bytes(count: u64) -> String {
    let mut size = count as f64;
    let mut units = ["KiB", "MiB", "GiB", "TiB"].into_iter();
    if count < 1_024 {
        return format!("{count} B");
    }
    let mut unit = "B";
    while size >= 1_023.95 {
        let Some(larger) = units.next() else { break };
        size /= 1_024.0;
        unit = larger;
    }
    format!("{size:.1} {unit}")
}

/// The text, cut with an ellipsis where it is wider than `width` columns.
pub(crate) fn cut(text: &str, width: usize) -> String {
    // A terminal column holds one character and a few marks on it at most.
    let shown: String = text.chars().take(width.saturating_mul(8)).collect();
    if shown.len() == text.len() && text.width() <= width {
        return shown;
    }
    let Some(limit) = width.checked_sub(1) else {
        return String::new();
    };
    let mut taken = 0;
    let mut start = String::new();
    for c in shown.chars() {
        taken += c.width().unwrap_or(0);
        if taken > limit {
            break;
        }
        start.push(c);
    }
    // Some sequences are wider than their characters one by one.
    while start.width() > limit {
        start.pop();
    }
    start.truncate(start.trim_end().len());
    start.push('…');
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_in_their_largest_unit() {
        for (count, text) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1.0 KiB"),
            (1_048_524, "1023.9 KiB"),
            (1_048_525, "1.0 MiB"),
            (2 << 30, "2.0 GiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
        assert_eq!(age(Duration::from_hours(25)), "1d");
        assert_eq!(about(Duration::from_secs(61)), "2m");
        assert_eq!(seconds(Duration::from_secs(3_700)), "1h 01m");
    }

    #[test]
    fn a_cut_text_is_never_wider_than_asked() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        assert_eq!(cut("表示幅の検査", 6), "表示…");
        assert_eq!(cut("anything", 0), "");
        for width in 0..12 {
            for text in ["❤️❤️❤️❤️", "👩‍👩‍👧 family", "e\u{301}e\u{301}e\u{301}e\u{301}"]
            {
                assert!(cut(text, width).width() <= width, "{text} at {width}");
            }
        }
    }
}
