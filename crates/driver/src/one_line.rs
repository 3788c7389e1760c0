//! Something long on one short line.

/// So many characters are left of it.
const LONGEST: usize = 120;

pub(super) fn on_one_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let line = lines.next().unwrap_or_default();
    if lines.next().is_none() && line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    let mut cut: String = line.chars().take(LONGEST).collect();
    // Half of a secret would not be known for one.
    if cut.len() < line.len()
        && let Some(gap) = cut.rfind(char::is_whitespace)
    {
        cut.truncate(gap);
    }
    cut + " …"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_marked() {
        assert_eq!(on_one_line("  one\n"), "one");
        assert_eq!(on_one_line("one\ntwo"), "one …");
        assert_eq!(on_one_line(&"ü".repeat(200)).chars().count(), LONGEST + 2);
        assert_eq!(on_one_line(""), "");
    }

    #[test]
    fn no_word_is_left_in_part_if_there_are_others() {
        let before = "x".repeat(LONGEST - 10);
        let line = format!("{before} some-long-secret y");
        assert_eq!(on_one_line(&line), format!("{before} …"));
    }
}
