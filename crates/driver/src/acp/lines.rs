//! The lines by which a text differs from another, as a patch.
//!
//! Made for people to look at: a few lines around each change, and no more than fits.

use std::fmt::Write;

/// So many lines around a change are shown.
const AROUND: usize = 3;

/// Texts of more lines are compared only by their beginning and end.
const MOST_COMPARED: usize = 1000;

/// A patch is no longer than this.
const LONGEST: usize = 16 << 10;

/// One line of both texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step<'t> {
    Same(&'t str),
    Gone(&'t str),
    New(&'t str),
}

/// The hunks that make the new text of the old one; none if they are the same.
pub(super) fn hunks(old: &str, new: &str) -> Option<String> {
    let steps = steps(old, new);
    let is_change = |step: &Step<'_>| !matches!(step, Step::Same(_));
    let mut changes = (0..steps.len()).filter(|at| is_change(&steps[*at]));
    let first = changes.next()?;
    let mut hunks = vec![(first, first)];
    for at in changes {
        match hunks.last_mut() {
            Some((_, end)) if at <= *end + 2 * AROUND + 1 => *end = at,
            _ => hunks.push((at, at)),
        }
    }
    let mut text = String::new();
    for (start, end) in hunks {
        let start = start.saturating_sub(AROUND);
        let end = (end + AROUND + 1).min(steps.len());
        hunk(&steps, start, end, &mut text);
        if text.len() > LONGEST {
            text.truncate(text.floor_char_boundary(LONGEST));
            text.push_str("…\n");
            break;
        }
    }
    Some(text)
}

fn hunk(steps: &[Step<'_>], start: usize, end: usize, text: &mut String) {
    let counts = |steps: &[Step<'_>]| {
        let old = steps.iter().filter(|step| !matches!(step, Step::New(_)));
        let new = steps.iter().filter(|step| !matches!(step, Step::Gone(_)));
        (old.count(), new.count())
    };
    let before = counts(&steps[..start]);
    let (old, new) = counts(&steps[start..end]);
    // A side without lines is named by the line before it.
    let place = |before: usize, count: usize| before + usize::from(count > 0);
    let (old_at, new_at) = (place(before.0, old), place(before.1, new));
    let _ = writeln!(text, "@@ -{old_at},{old} +{new_at},{new} @@");
    for step in &steps[start..end] {
        let (mark, line) = match step {
            Step::Same(line) => (' ', line),
            Step::Gone(line) => ('-', line),
            Step::New(line) => ('+', line),
        };
        let _ = writeln!(text, "{mark}{line}");
    }
}

fn steps<'t>(old: &'t str, new: &'t str) -> Vec<Step<'t>> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let pairs = old.iter().zip(&new);
    let head = pairs.take_while(|(old, new)| old == new).count();
    let pairs = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = pairs.take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut steps: Vec<_> = old[..head].iter().map(|line| Step::Same(line)).collect();
    middle(&old[head..old_end], &new[head..new_end], &mut steps);
    steps.extend(old[old_end..].iter().map(|line| Step::Same(line)));
    steps
}

/// What differs, by the longest common subsequence of lines.
fn middle<'t>(old: &[&'t str], new: &[&'t str], steps: &mut Vec<Step<'t>>) {
    let mut at = (0, 0);
    if old.len() <= MOST_COMPARED && new.len() <= MOST_COMPARED {
        let width = new.len() + 1;
        let mut common = vec![0_u16; (old.len() + 1) * width];
        for (row, old) in old.iter().enumerate().rev() {
            for (column, new) in new.iter().enumerate().rev() {
                let below = common[(row + 1) * width + column];
                let beside = common[row * width + column + 1];
                let both = common[(row + 1) * width + column + 1];
                let best = if old == new {
                    both + 1
                } else {
                    below.max(beside)
                };
                common[row * width + column] = best;
            }
        }
        while at.0 < old.len() && at.1 < new.len() {
            let (row, column) = at;
            if old[row] == new[column] {
                steps.push(Step::Same(old[row]));
                at = (row + 1, column + 1);
            } else if common[(row + 1) * width + column] >= common[row * width + column + 1] {
                steps.push(Step::Gone(old[row]));
                at.0 += 1;
            } else {
                steps.push(Step::New(new[column]));
                at.1 += 1;
            }
        }
    }
    steps.extend(old[at.0..].iter().map(|line| Step::Gone(line)));
    steps.extend(new[at.1..].iter().map(|line| Step::New(line)));
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

    proptest! {
        #[test]
        fn a_patch_turns_the_old_text_into_the_new_one(
            old in "([ab]\n){0,12}",
            new in "([ab]\n){0,12}",
        ) {
            let steps = super::steps(&old, &new);
            let side = |is_new: bool| -> String {
                steps.iter().filter_map(|step| match step {
                    super::Step::Same(line) => Some(line),
                    super::Step::Gone(line) => (!is_new).then_some(line),
                    super::Step::New(line) => is_new.then_some(line),
                }).flat_map(|line| [line, "\n"]).collect()
            };
            prop_assert_eq!(side(false), old.as_str());
            prop_assert_eq!(side(true), new.as_str());
        }
    }
}
