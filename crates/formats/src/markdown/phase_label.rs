//! Reads the labels of phases: `Phase 2: Title` and `VERIFY Phase 2:`.
//!
//! Knows one line at a time.

use pleach_domain::id::PhaseNumber;

/// `Phase 2: Title`, whatever ornament stands before it.
pub(crate) fn phase_title(text: &str) -> Option<(PhaseNumber, &str)> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let rest = text
        .get(..6)
        .filter(|word| word.eq_ignore_ascii_case("phase "))?;
    let rest = text[rest.len()..].trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    let title = &rest[digits..];
    let parts = |c: char| c.is_alphanumeric();
    if title.starts_with(parts)
        || title
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(parts))
    {
        return None;
    }
    let title = title.trim_start_matches([':', '.', '-', '–', '—', ' ', ')']);
    Some((PhaseNumber(number), title))
}

/// The phase that a label such as `VERIFY Phase 2:` names.
pub(super) fn named_phase(text: &str) -> Option<PhaseNumber> {
    let label = text.split(':').next().unwrap_or(text);
    let mut words = label.split_whitespace();
    words.find(|word| word.eq_ignore_ascii_case("phase"))?;
    words.next()?.parse().ok().map(PhaseNumber)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_numbered_and_titled() {
        assert_eq!(
            phase_title("Phase 2: Title"),
            Some((PhaseNumber(2), "Title"))
        );
        assert_eq!(
            phase_title("🚧 PHASE 10 - Ship it"),
            Some((PhaseNumber(10), "Ship it"))
        );
        assert_eq!(phase_title("Phase 0"), Some((PhaseNumber(0), "")));
        assert_eq!(phase_title("Phase two"), None);
        assert_eq!(phase_title("Phase 1.5: Half"), None);
        assert_eq!(phase_title("Phases 1"), None);
        assert_eq!(phase_title("Phaße 1"), None);
    }

    #[test]
    fn a_verify_label_may_name_its_phase() {
        assert_eq!(
            named_phase("VERIFY Phase 2: all of it"),
            Some(PhaseNumber(2))
        );
        assert_eq!(named_phase("VERIFY: phase 2"), None);
    }
}
