//! Takes `(depends: 1.1, 1.3)` out of a text.
//!
//! Knows the brackets; what stands in them is read elsewhere.

/// A `(depends: …)` list, and how many lines below the start of its block it stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DependsList {
    pub(super) list: String,
    pub(super) lines_down: u32,
}

/// Takes every `(depends: …)` out of a text and returns the lists.
pub(super) fn without_depends(text: &str) -> (String, Vec<DependsList>) {
    let mut kept = String::new();
    let mut lists = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('(') {
        let inside = &rest[open + 1..];
        let is_depends = inside
            .get(..7)
            .is_some_and(|word| word.eq_ignore_ascii_case("depends"));
        if let Some(close) = inside.find(')').filter(|close| is_depends && *close >= 7) {
            kept.push_str(rest[..open].trim_end_matches(' '));
            let list = inside[7..close].trim_start();
            let list = list.strip_prefix("on").unwrap_or(list);
            let above = kept.bytes().filter(|byte| *byte == b'\n').count();
            lists.push(DependsList {
                list: list.trim_start_matches([':', ' ']).replace('\n', " "),
                lines_down: u32::try_from(above).unwrap_or(0),
            });
            rest = &inside[close + 1..];
        } else {
            kept.push_str(&rest[..=open]);
            rest = inside;
        }
    }
    kept.push_str(rest);
    (kept, lists)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kept: &str, lists: &[(&str, u32)]) {
        let found = without_depends(text);
        let found_lists: Vec<(&str, u32)> = found
            .1
            .iter()
            .map(|found| (found.list.as_str(), found.lines_down))
            .collect();
        assert_eq!((found.0.as_str(), found_lists.as_slice()), (kept, lists));
    }

    #[test]
    fn lists_are_taken_out_and_counted_down() {
        check("Text (depends: 1.1, 1.3)", "Text", &[("1.1, 1.3", 0)]);
        check("Text (Depends on 1.1) more", "Text more", &[("1.1", 0)]);
        check("a (b)\nc (depends: 2,\n3) d", "a (b)\nc d", &[("2, 3", 1)]);
        check("f(depends", "f(depends", &[]);
        check("(depends)", "", &[("", 0)]);
        check("(dépendances: 1)", "(dépendances: 1)", &[]);
    }
}
