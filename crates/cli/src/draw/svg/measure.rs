//! Guesses how wide text is in a system font, on the wide side, and makes it fit.

use unicode_width::UnicodeWidthChar as _;

/// The width of a text in pixels.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(char_width).sum::<f64>() * size
}

/// The width of a character, as a share of the font's size.
fn char_width(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' | '!' | '.' | ',' | ':' | ';' => 0.28,
        ' ' | 'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '/' | '-' | '`' | '·' => 0.37,
        'm' | 'w' => 0.84,
        'M' | 'W' | '@' | '%' | '…' | '—' | '→' => 0.96,
        'A'..='Z' | '&' | '+' | '=' | '<' | '>' | '#' => 0.71,
        c => match c.width() {
            Some(0) | None => 0.0,
            Some(1) => 0.58,
            Some(_) => 1.05,
        },
    }
}

/// The text, cut with an ellipsis where it is too wide.
pub(super) fn fit(text: &str, width: f64, size: f64) -> String {
    let room = width / size;
    let mut used = 0.0;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        if used + char_width('…') <= room {
            end = at;
        }
        used += char_width(c);
        if used > room {
            let start = text[..end].trim_end();
            return format!("{start}…");
        }
    }
    text.to_owned()
}

/// The text in lines of whole words; the last line takes what is left and is cut.
pub(super) fn lines(text: &str, width: f64, size: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let is_full = lines.len() == most;
        match lines.last_mut() {
            Some(line)
                if is_full
                    || text_width(line, size) + text_width(word, size) + 0.37 * size <= width =>
            {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| fit(line, width, size)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_is_left_alone() {
        assert_eq!(fit("short", 100.0, 10.0), "short");
        assert_eq!(fit("", 0.0, 10.0), "");
    }

    #[test]
    fn a_cut_text_is_no_wider_than_its_room() {
        for text in ["a long line of words", "WWWWWWWWWWWW", "表示幅の検査のため"] {
            let fitted = fit(text, 60.0, 10.0);
            assert!(fitted.ends_with('…'), "{fitted}");
            assert!(text_width(&fitted, 10.0) <= 60.0, "{fitted}");
        }
    }

    #[test]
    fn titles_are_broken_between_words() {
        let title = "Read the plan file with places for every task of it";
        let broken = lines(title, 120.0, 13.0, 2);
        assert_eq!(broken, ["Read the plan file", "with places for e…"]);
        assert_eq!(lines("short", 120.0, 13.0, 2), ["short"]);
    }
}
