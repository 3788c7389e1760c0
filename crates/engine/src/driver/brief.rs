//! Something long on one short line.

/// So many characters are left of it.
const LONGEST: usize = 120;

/// The beginning of the first line.
pub(super) fn brief(text: &str) -> String {
    let mut lines = text.trim().lines();
    let line = lines.next().unwrap_or_default();
    if lines.next().is_none() && line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    let cut: String = line.chars().take(LONGEST).collect();
    cut + " …"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_marked() {
        assert_eq!(brief("  one\n"), "one");
        assert_eq!(brief("one\ntwo"), "one …");
        assert_eq!(brief(&"ü".repeat(200)).chars().count(), LONGEST + 2);
        assert_eq!(brief(""), "");
    }
}
