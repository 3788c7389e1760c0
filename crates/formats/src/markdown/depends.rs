//! Takes `(depends: 1.1, 1.3)` out of a text.
//!
//! Knows the brackets; what stands in them is read elsewhere.

use super::block::unguarded;

/// A `(depends: …)` list, and how many lines below the start of its block it stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DependsList {
    pub(super) list: String,
    pub(super) lines_down: u32,
}

/// Takes every `(depends: …)` out of a guarded text and returns the lists.
pub(super) fn without_depends(text: &str) -> (String, Vec<DependsList>) {
    let mut kept = String::new();
    let mut lists = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('(') {
        let inside = &rest[open + 1..];
        let list = inside
            .get(..7)
            .filter(|word| word.eq_ignore_ascii_case("depends"));
        let close = list.and_then(|_| closing_bracket(inside));
        if let Some(close) = close.filter(|close| *close >= 7) {
            kept.push_str(rest[..open].trim_end_matches(' '));
            let list = inside[7..close].trim_start();
            let on = list.get(..2).filter(|word| word.eq_ignore_ascii_case("on"));
            let list = list[on.map_or(0, str::len)..].trim_start_matches([':', ' ']);
            let above = kept.bytes().filter(|byte| *byte == b'\n').count();
            lists.push(DependsList {
                list: unguarded(list).replace('\n', " "),
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

fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.bytes().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return true,
            b')' => depth -= 1,
            _ => {}
        }
        false
    })
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
        check(
            "T (Depends On: 1.1) (dependsOn: 2)",
            "T",
            &[("1.1", 0), ("2", 0)],
        );
        check(
            "T (depends: 1.1 (parser), 1.2) x",
            "T x",
            &[("1.1 (parser), 1.2", 0)],
        );
        check("f(depends", "f(depends", &[]);
        check("(depends)", "", &[("", 0)]);
        check("(dépendances: 1)", "(dépendances: 1)", &[]);
    }
}
