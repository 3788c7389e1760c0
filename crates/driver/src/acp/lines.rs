//! The lines by which a text differs from another, as a patch.
//!
//! Made for people to look at: a few lines around each change, and no more than fits.

use std::fmt::Write;
use std::time::Duration;

use similar::TextDiff;

/// So many lines around a change are shown.
const AROUND: usize = 3;

/// The time for one patch is bounded, because two long texts without a common line take the square of their length;
/// after it, what is not compared yet is all replaced.
const LONGEST_SEARCH: Duration = Duration::from_millis(200);

/// A patch is no longer than this.
const LONGEST: usize = 16 << 10;

/// The hunks that make the new text of the old one; none if they are the same.
pub(super) fn hunks(old: &str, new: &str) -> Option<String> {
    // By slices of lines, so that neither CRLF nor a missing last line break is a difference.
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let diff = TextDiff::configure()
        .timeout(LONGEST_SEARCH)
        .diff_slices(&old, &new);
    let mut text = String::new();
    for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
        let _ = write!(text, "{hunk}");
        if text.len() > LONGEST {
            text.truncate(text.floor_char_boundary(LONGEST));
            text.push_str("…\n");
            break;
        }
    }
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::hunks;
    use proptest::prelude::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let lines = |text: &str| text.replace(' ', "\n");
        let hunks = hunks(&lines(old), &lines(new)).unwrap_or_default();
        assert_eq!(hunks.trim_end().replace('\n', " "), expected);
    }

    #[test]
    fn a_patch_shows_what_changed() {
        check("a b c", "a x c", "@@ -1,3 +1,3 @@  a -b +x  c");
        check("", "a b", "@@ -0,0 +1,2 @@ +a +b");
        check("a b", "", "@@ -1,2 +0,0 @@ -a -b");
        check("a b", "a b", "");
    }

    #[test]
    fn far_changes_are_two_hunks() {
        let old = "1 2 3 4 5 6 7 8 9 10 11 12";
        let new = "x 2 3 4 5 6 7 8 9 10 11 y";
        check(
            old,
            new,
            "@@ -1,4 +1,4 @@ -1 +x  2  3  4 @@ -9,4 +9,4 @@  9  10  11 -12 +y",
        );
    }

    #[test]
    fn line_breaks_alone_are_no_change() {
        assert_eq!(hunks("a\r\nb\r\n", "a\nb"), None);
    }

    #[test]
    fn texts_that_have_nothing_in_common_take_no_longer_than_others() {
        let text = |side: &str| {
            let lines: Vec<_> = (0..100_000).map(|n| format!("{side}{n}")).collect();
            lines.join("\n")
        };
        let patch = hunks(&text("a"), &text("b")).unwrap();
        assert!(patch.starts_with("@@ -1,100000 +1,100000 @@\n-a0\n"));
        assert!(patch.ends_with("…\n") && patch.len() < 17 << 10);
    }

    /// The old and the new text, where a patch is one hunk over all of their lines.
    fn sides(patch: &str) -> (String, String) {
        let side = |gone: char| {
            let lines = patch.lines().skip(1).filter(|line| !line.starts_with(gone));
            lines.flat_map(|line| [&line[1..], "\n"]).collect()
        };
        (side('+'), side('-'))
    }

    proptest! {
        #[test]
        fn a_patch_turns_the_old_text_into_the_new_one(
            old in "([ab]\n){0,12}",
            new in "([ab]\n){0,12}",
        ) {
            // The first line and every fourth one differ, so that all lines are in one hunk.
            let spread = |text: &str, mark: &str| -> String {
                let lines = text.lines().collect::<Vec<_>>();
                let parts = lines.chunks(4).map(|four| four.join("\n") + "\n" + mark + "\n");
                parts.fold(mark.to_owned() + "\n", |whole, part| whole + &part)
            };
            let (old, new) = (spread(&old, "-"), spread(&new, "+"));
            prop_assert_eq!(sides(&hunks(&old, &new).unwrap()), (old, new));
        }
    }
}
