//! Reads the labels of phases and of checks: `Phase 2: Title`, `VERIFY Phase 2:`, `Success criteria`.
//!
//! Knows one line at a time.

use pleach_domain::id::PhaseNumber;

use super::leading_id::{IdSeparator, leading_id};

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
    let title = title.trim_start_matches(BEFORE_TITLE);
    Some((PhaseNumber(number), title))
}

/// `3. Phase 2: Title`, a phase in a file whose headings are all numbered.
pub(super) fn numbered_phase_title(text: &str) -> Option<(PhaseNumber, &str)> {
    let found = leading_id(text).filter(|found| found.set_off == IdSeparator::Mark)?;
    let (number, title) = phase_title(found.rest)?;
    let label = found.rest[..found.rest.len() - title.len()].trim_end();
    // `12. Phase 2 of the move` is a task about a phase.
    let is_label = title.is_empty()
        || title.starts_with(['(', '['])
        || !label.ends_with(|c: char| c.is_ascii_digit());
    is_label.then_some((number, title))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PhaseName<'t> {
    /// `Phase 1.5` or `Phase 2B` is a part of that phase.
    PartOf(PhaseNumber),
    /// `Phase A`, `Phase N` or `Final Phase` comes after those before it.
    Word(&'t str),
}

/// `Phase B: Title`, `Phase 1.5: Title` or `Final Phase: Title`.
pub(super) fn named_phase_title(text: &str) -> Option<(PhaseName<'_>, &str)> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let behind = |words: &str| {
        let (start, rest) = text.split_at_checked(words.len())?;
        start.eq_ignore_ascii_case(words).then_some(rest)
    };
    let (name, rest) = match behind("phase ") {
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.');
            let (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
            (name.trim_end_matches('.'), rest)
        }
        None => ("N", behind("final phase")?),
    };
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let is_letter = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '.';
    let word = if digits > 0 {
        name.trim_end_matches(|c: char| c.is_ascii_lowercase())
    } else {
        name
    };
    let is_name = (1..=4).contains(&name.len()) && word.chars().all(is_letter);
    if !is_name || rest.trim_start().starts_with(char::is_alphanumeric) {
        return None;
    }
    let number = name[..digits].parse().map(PhaseNumber);
    let name = number.map_or(PhaseName::Word(name), PhaseName::PartOf);
    Some((name, rest.trim_start_matches(BEFORE_TITLE)))
}

/// What stands between the number of a phase and its title.
const BEFORE_TITLE: [char; 8] = [':', '：', '.', '-', '–', '—', ' ', ')'];

/// `VERIFY Phase 2: text` or `VERIFY: text`: the phase if it is named, and the text.
pub(super) fn verify_label(text: &str) -> Option<(Option<PhaseNumber>, &str)> {
    let behind = text.strip_prefix("VERIFY")?.trim_start();
    if let Some(check) = behind.strip_prefix(':') {
        return Some((None, check.trim()));
    }
    let (label, check) = behind.split_once(':').unwrap_or((behind, ""));
    let number = numbered(label)?;
    Some((Some(number), check.trim()))
}

/// `**VERIFY 2** text` in Markdown: the phase, and the text behind the bold label.
pub(super) fn bold_verify_label(markdown: &str) -> Option<(PhaseNumber, &str)> {
    let (label, check) = ["**", "__"]
        .iter()
        .find_map(|bold| markdown.strip_prefix(bold)?.split_once(bold))?;
    let label = label.trim().trim_end_matches(':');
    let number = numbered(label.strip_prefix("VERIFY")?)?;
    Some((number, check.trim_start_matches([':', ' ', '-', '–', '—'])))
}

fn has_phase_word(label: &str) -> bool {
    let word = label.split_whitespace().next();
    word.is_some_and(|word| word.eq_ignore_ascii_case("phase"))
}

/// The number of `Phase 2` or `2` alone.
fn numbered(label: &str) -> Option<PhaseNumber> {
    let mut words = label.split_whitespace();
    if has_phase_word(label) {
        words.next();
    }
    let number = words.next()?.parse().ok()?;
    words.next().is_none().then_some(PhaseNumber(number))
}

const CRITERIA_WORDS: [&str; 24] = [
    "acceptance",
    "and",
    "checklist",
    "checks",
    "code",
    "completion",
    "criteria",
    "definition",
    "done",
    "exit",
    "final",
    "functional",
    "of",
    "overall",
    "performance",
    "phase",
    "quality",
    "review",
    "self",
    "steps",
    "success",
    "technical",
    "validation",
    "verification",
];

/// Names of criteria that have none of the words by which the others are known.
const CRITERIA_NAMES: [&str; 3] = ["definition of done", "review checklist", "self review"];

/// Whether a heading or a label opens a list of what must be true in the end.
pub(super) fn is_criteria_label(text: &str) -> bool {
    let label = text.split('(').next().unwrap_or(text).to_ascii_lowercase();
    let words = || {
        let words = label.split(|c: char| !c.is_alphanumeric());
        words.filter(|word| !word.is_empty())
    };
    let is_number = |word: &str| word.parse::<u32>().is_ok();
    let is_known = |word: &str| CRITERIA_WORDS.contains(&word) || is_number(word);
    // Nearly all headings are something else, which their first word says.
    if words().next().is_none_or(is_number) || !words().all(is_known) {
        return false;
    }
    let joined = words().collect::<Vec<_>>().join(" ");
    words().any(|word| matches!(word, "criteria" | "acceptance" | "verification"))
        || CRITERIA_NAMES.iter().any(|name| joined.contains(name))
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
    fn phases_without_a_number_have_names() {
        let part = |number| PhaseName::PartOf(PhaseNumber(number));
        for (text, expected) in [
            ("Phase 1.5: Half", Some((part(1), "Half"))),
            ("Phase 2B (weeks 5-12)", Some((part(2), "(weeks 5-12)"))),
            ("Phase 2b — Later", Some((part(2), "Later"))),
            ("Phase N: Polish", Some((PhaseName::Word("N"), "Polish"))),
            (
                "Final Phase: Polish",
                Some((PhaseName::Word("N"), "Polish")),
            ),
            ("🚧 Phase II", Some((PhaseName::Word("II"), ""))),
            ("Phase Details", None),
            ("Phase A tests", None),
            ("Phase completion", None),
            ("Phases A: x", None),
            ("Final", None),
        ] {
            assert_eq!(named_phase_title(text), expected, "{text}");
        }
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
        assert_eq!(
            verify_label("VERIFY 1: it runs"),
            Some((Some(PhaseNumber(1)), "it runs"))
        );
        assert_eq!(verify_label("VERIFY 2"), Some((Some(PhaseNumber(2)), "")));
        assert_eq!(verify_label("VERIFY 2 things"), None);
        assert_eq!(
            bold_verify_label("**VERIFY 2** `it` runs"),
            Some((PhaseNumber(2), "`it` runs"))
        );
        assert_eq!(
            bold_verify_label("**VERIFY Phase 2:** all"),
            Some((PhaseNumber(2), "all"))
        );
        assert_eq!(bold_verify_label("**VERIFY** the login"), None);
    }

    #[test]
    fn lists_of_criteria_are_known_by_their_names() {
        assert!(
            is_criteria_label("Success Criteria:") && is_criteria_label("🎯 Acceptance criteria")
        );
        for label in [
            "Acceptance",
            "Verification",
            "Final Verification Checklist",
            "Definition of Done (DoD)",
            "Self-Review",
            "Code Review Checklist",
            "Phase 2 Exit Criteria",
        ] {
            assert!(is_criteria_label(label), "{label}");
        }
        for heading in [
            "5. Verification",
            "Goals",
            "Acceptance Tests",
            "Code Review",
            "Testing & Validation",
            "Validation",
        ] {
            assert!(!is_criteria_label(heading), "{heading}");
        }
        assert!(
            !is_criteria_label("Success") && !is_criteria_label("Write the acceptance criteria")
        );
    }
}
