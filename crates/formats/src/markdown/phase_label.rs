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

/// `VERIFY Phase 2: text` or `VERIFY: text`: the phase if it is named, and the text.
pub(super) fn verify_label(text: &str) -> Option<(Option<PhaseNumber>, &str)> {
    let behind = text.strip_prefix("VERIFY")?.trim_start();
    if let Some(check) = behind.strip_prefix(':') {
        return Some((None, check.trim()));
    }
    let (label, check) = behind.split_once(':').unwrap_or((behind, ""));
    let mut words = label.split_whitespace();
    let is_phase = words
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("phase"));
    let number = words.next()?.parse().ok()?;
    (is_phase && words.next().is_none()).then_some((Some(PhaseNumber(number)), check.trim()))
}

/// Whether a heading or a label opens a list of what must be true in the end.
pub(super) fn is_criteria_label(text: &str) -> bool {
    let label = text.trim_matches(|c: char| !c.is_alphanumeric());
    [
        "success criteria",
        "acceptance criteria",
        "definition of done",
        "exit criteria",
    ]
    .iter()
    .any(|known| label.eq_ignore_ascii_case(known))
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
            verify_label("VERIFY Phase 2: all of it"),
            Some((Some(PhaseNumber(2)), "all of it"))
        );
        assert_eq!(
            verify_label("VERIFY Phase 2"),
            Some((Some(PhaseNumber(2)), ""))
        );
        assert_eq!(verify_label("VERIFY: phase 2"), Some((None, "phase 2")));
        assert_eq!(verify_label("VERIFY the login works"), None);
        assert_eq!(verify_label("VERIFY"), None);
    }

    #[test]
    fn lists_of_criteria_are_known_by_their_names() {
        assert!(
            is_criteria_label("Success Criteria:") && is_criteria_label("🎯 Acceptance criteria")
        );
        assert!(
            !is_criteria_label("Success") && !is_criteria_label("Write the acceptance criteria")
        );
    }
}
