//! Joins the ends of ranges that people write with spaces or words: `3.1 - 3.4`, `61 through 63`.
//!
//! Knows the shapes of ids, not which tasks exist.

use std::borrow::Cow;

use super::leading_id::is_id_shaped;

/// The text with every range in the form `3.1-3.4`.
pub(super) fn with_ranges_joined(text: &str) -> Cow<'_, str> {
    let is_plain = |word: &str| text.contains(word);
    let hints = ["–", "—", " - ", " to ", " through ", " thru "];
    if !hints.into_iter().any(is_plain) {
        return Cow::Borrowed(text);
    }
    let text = text.replace(['–', '—'], "-");
    let mut joined: Vec<String> = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let before = joined.last().map_or("", String::as_str);
        let before = before.rsplit([',', '(']).next().unwrap_or("");
        let next = words.peek().copied().unwrap_or("");
        let next = next.trim_end_matches([',', ')', '.', ';', ':']);
        let is_link = matches!(word, "-" | "to" | "through" | "thru");
        if is_link && is_id_shaped(before) && is_id_shaped(next) {
            let end = words.next().unwrap_or("");
            if let Some(start) = joined.last_mut() {
                start.push('-');
                start.push_str(end);
            }
        } else {
            joined.push(word.to_owned());
        }
    }
    Cow::Owned(joined.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_joined_and_other_text_stays() {
        assert_eq!(with_ranges_joined("3.1 - 3.4"), "3.1-3.4");
        assert_eq!(with_ranges_joined("61–63, 70 through 72"), "61-63, 70-72");
        assert_eq!(with_ranges_joined("1, 3.1 to 3.4, 9"), "1, 3.1-3.4, 9");
        assert_eq!(
            with_ranges_joined("61 - needed to start"),
            "61 - needed to start"
        );
        assert_eq!(with_ranges_joined("61, 62"), "61, 62");
    }
}
