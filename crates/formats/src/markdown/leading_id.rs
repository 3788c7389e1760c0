//! Finds the id that a line of text opens with: `2.1 Text`, `63. Title`, `#12`, `ENG-7: …`.
//!
//! Knows the shapes of ids, not which tasks exist.

/// Words that look like an id of a tracker and are names of standards.
const NOT_TRACKERS: [&str; 22] = [
    "AES", "BASE", "CP", "ES", "GPT", "HTTP", "HTTPS", "IEC", "IEEE", "IPV", "ISO", "LATIN", "MD",
    "PEP", "RFC", "RSA", "SHA", "TLS", "UCS", "UTF", "WCAG", "X",
];

/// The text after an id, and whether a mark such as `.` or `:` set it off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LeadingId<'t> {
    /// Symbols before the id, such as an emoji.
    pub(super) ornament: &'t str,
    pub(super) id: &'t str,
    pub(super) rest: &'t str,
    pub(super) set_off: IdSeparator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IdSeparator {
    TaskWord,
    /// By `.`, `:`, `)`, a dash or brackets.
    Mark,
    Space,
}

pub(super) fn leading_id(line: &str) -> Option<LeadingId<'_>> {
    let line = line.trim();
    let first = line.find(|c: char| c.is_ascii() && !c.is_ascii_whitespace())?;
    let (ornament, text) = line.split_at(first);
    if ornament.chars().any(char::is_alphanumeric) {
        return None;
    }
    let (word, text) = match without_task_word(text) {
        Some(text) => (true, text),
        None => (false, text),
    };
    let bracketed = text.strip_prefix('[').and_then(|text| {
        let (id, rest) = text.split_once(']')?;
        (id_length(id) == id.len() && !id.is_empty()).then_some((id, rest))
    });
    let (id, rest) = bracketed.unwrap_or_else(|| text.split_at(id_length(text)));
    if id.is_empty() {
        return None;
    }
    let (marked, rest) = set_off(rest)?;
    let set_off = if word {
        IdSeparator::TaskWord
    } else if marked || bracketed.is_some() {
        IdSeparator::Mark
    } else {
        IdSeparator::Space
    };
    let is_bare_number = id.bytes().all(|byte| byte.is_ascii_digit());
    // `GPIO_4 is low` is about a name, `OC_4. Title` is not.
    let is_name = id.contains('_') || names_a_standard(id);
    if set_off == IdSeparator::Space && (is_bare_number || is_name) {
        return None;
    }
    Some(LeadingId {
        ornament: ornament.trim(),
        id,
        rest,
        set_off,
    })
}

/// The number that a line opens with, set off by nothing but white space: an id only among others.
pub(super) fn bare_number(line: &str) -> Option<&str> {
    let word = line.split_whitespace().next()?;
    let is_number = word.len() <= 6 && word.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(word)
}

/// The word that a line opens with, if people mean ids by such words and none of ours is written so.
pub(super) fn lookalike(line: &str) -> Option<&str> {
    let word = line.split_whitespace().next()?;
    let word = word.trim_end_matches(['.', ':', ')']);
    let word = word.trim_start_matches('(');
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbered_letter = word
        .strip_prefix(['T', 't'])
        .is_some_and(|number| digits(number) && number.len() < 6);
    let lettered_number = word
        .strip_suffix(|c: char| c.is_ascii_lowercase() && c != 'x')
        .is_some_and(|number| number.split('.').all(digits));
    let tracker = word.rsplit_once('-').is_some_and(|(name, number)| {
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        is_name && digits(number) && !names_a_standard(&name.to_ascii_uppercase())
    });
    (bare_number(word).is_some() || numbered_letter || lettered_number || tracker).then_some(word)
}

pub(super) fn is_id_shaped(text: &str) -> bool {
    !text.is_empty() && id_length(text) == text.len()
}

fn without_task_word(text: &str) -> Option<&str> {
    let (word, rest) = text.split_once(' ')?;
    let is_task = word.eq_ignore_ascii_case("task");
    (is_task && id_length(rest.trim_start()) > 0).then(|| rest.trim_start())
}

/// Takes the mark behind an id away; nothing if the id runs on into other text.
fn set_off(rest: &str) -> Option<(bool, &str)> {
    let Some(first) = rest.chars().next() else {
        return Some((false, rest));
    };
    let mut marked = false;
    let mut text = rest;
    if matches!(first, '.' | ':' | ')') {
        marked = true;
        text = &rest[1..];
        if text.starts_with(|c: char| !c.is_whitespace()) {
            return None;
        }
    } else if !first.is_whitespace() {
        return None;
    }
    let text = text.trim_start();
    for dash in ["- ", "– ", "— ", ": "] {
        if let Some(behind) = text.strip_prefix(dash) {
            return Some((true, behind.trim_start()));
        }
    }
    Some((marked, text))
}

fn names_a_standard(id: &str) -> bool {
    let word = id.split(['-', '_']).next().unwrap_or(id);
    NOT_TRACKERS.contains(&word)
}

/// The length of the id at the start of a text, or 0.
fn id_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    match bytes.first() {
        Some(b'0'..=b'9') => dotted_number_length(bytes),
        Some(b'#') if digits(1) > 0 => 1 + digits(1),
        Some(b'A'..=b'Z') => {
            let word = bytes
                .iter()
                .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
            let word = word.count();
            let number = digits_behind_joint(bytes, word);
            let is_numbered_t = bytes[0] == b'T' && word >= 4 && digits(1) == word - 1;
            match number {
                Some(number) if bytes[..word].iter().any(u8::is_ascii_uppercase) => {
                    word + 1 + number
                }
                _ if is_numbered_t => word + usize::from(is_lettered(&bytes[word..])),
                _ => 0,
            }
        }
        _ => 0,
    }
}

/// Whether one small letter stands alone, as in `T033a`.
fn is_lettered(bytes: &[u8]) -> bool {
    let is_small = bytes.first().is_some_and(u8::is_ascii_lowercase);
    is_small && !bytes.get(1).is_some_and(u8::is_ascii_alphanumeric)
}

/// The length of a number such as `2` or `2.1.3`, or 0.
fn dotted_number_length(bytes: &[u8]) -> usize {
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut length = digits(0);
    while length > 0 && bytes.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    length
}

fn digits_behind_joint(bytes: &[u8], word: usize) -> Option<usize> {
    let (b'-' | b'_', rest) = bytes.get(word..)?.split_first()? else {
        return None;
    };
    let length = dotted_number_length(rest);
    let runs_on = rest.get(length).is_some_and(u8::is_ascii_alphanumeric);
    (length > 0 && !runs_on).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(&str, &str)>) {
        let found = leading_id(line).map(|found| (found.id, found.rest));
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn ids_are_told_from_text() {
        check("2.1 Text", Some(("2.1", "Text")));
        check("1.1.2 Deep", Some(("1.1.2", "Deep")));
        check("2.1. Text", Some(("2.1", "Text")));
        check("2.1: Text", Some(("2.1", "Text")));
        check("2.1 - Text", Some(("2.1", "Text")));
        check("63. Title", Some(("63", "Title")));
        check("63) Title", Some(("63", "Title")));
        check("#12 Fix", Some(("#12", "Fix")));
        check("ENG-7 Fix", Some(("ENG-7", "Fix")));
        check("ENG-7: Fix", Some(("ENG-7", "Fix")));
        check("[ENG-7] Fix", Some(("ENG-7", "Fix")));
        check("OC_135. Fix", Some(("OC_135", "Fix")));
        check("T-1.2 Fix", Some(("T-1.2", "Fix")));
        check("T033a [P] Fix", Some(("T033a", "[P] Fix")));
        check("T001 [P] Make it", Some(("T001", "[P] Make it")));
        check("Task 2.1: Text", Some(("2.1", "Text")));
        check("🚀 2.1 Launch", Some(("2.1", "Launch")));
        check("2.1", Some(("2.1", "")));
    }

    #[test]
    fn words_that_look_like_ids_are_known() {
        for word in ["7", "(7)", "T7", "7a", "1.2b", "auth-14"] {
            let expected = word.trim_matches(['(', ')']);
            assert_eq!(lookalike(&format!("{word} Text")), Some(expected));
        }
        for text in [
            "Fix 7",
            "3.x upgrade",
            "utf-8 names",
            "S3 upload",
            "100% of it",
            "2024-01-01",
        ] {
            assert_eq!(lookalike(text), None, "{text}");
        }
    }

    #[test]
    fn text_that_merely_looks_like_an_id_stays_text() {
        check("3 apples", None);
        check("UTF-8 names", None);
        check("SHA-256 sums", None);
        check("GPIO_4 is low", None);
        check("2024-01-01 release", None);
        check("3.x upgrade", None);
        check("100% coverage", None);
        check("Task force", None);
        check("Fix ENG-7", None);
        check("", None);
        check("étude 2.1", None);
    }
}
