//! Takes `(size: large)` out of a text.
//!
//! Knows its form; which sizes there are is not the plan's business.

use pleach_domain::task::SizeChoice;

/// Takes every `(size: …)` out of a guarded text; the first one counts, by how many lines below the start it stands.
pub(super) fn without_sizes(text: &str) -> (String, Option<SizeChoice>) {
    let mut kept = String::new();
    let mut found = None;
    let mut rest = text;
    while let Some(open) = rest.find('(') {
        let inside = &rest[open + 1..];
        if let Some((name, behind)) = name_in(inside) {
            kept.push_str(rest[..open].trim_end_matches(' '));
            let above = kept.bytes().filter(|byte| *byte == b'\n').count();
            found.get_or_insert_with(|| SizeChoice {
                name: name.to_owned(),
                line: u32::try_from(above).unwrap_or(0),
            });
            rest = behind;
        } else {
            kept.push_str(&rest[..=open]);
            rest = inside;
        }
    }
    kept.push_str(rest);
    (kept, found)
}

/// The name, and what is behind the closing bracket.
fn name_in(inside: &str) -> Option<(&str, &str)> {
    let (word, behind) = inside.split_once(':')?;
    let (name, behind) = behind.split_once(')')?;
    let name = name.trim();
    let is_size = word.trim().eq_ignore_ascii_case("size") && is_name(name);
    is_size.then_some((name, behind))
}

/// Whether a text can be the name of a size.
pub(super) fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kept: &str, size: Option<(&str, u32)>) {
        let (found_kept, found) = without_sizes(text);
        let found = found.as_ref().map(|size| (size.name.as_str(), size.line));
        assert_eq!((found_kept.as_str(), found), (kept, size));
    }

    #[test]
    fn the_first_size_counts_and_none_stays() {
        check("Text (size: large)", "Text", Some(("large", 0)));
        check("a\nb (Size:x-2) c", "a\nb c", Some(("x-2", 1)));
        check("a (size: s) (size: l)", "a", Some(("s", 0)));
        check("a (b (size: l))", "a (b)", Some(("l", 0)));
        check("a (b) (size: l", "a (b) (size: l", None);
        check("Make it (size: 3 or 4)", "Make it (size: 3 or 4)", None);
        check("f(size) (sizes: l)", "f(size) (sizes: l)", None);
        check("(größe: l)", "(größe: l)", None);
    }
}
