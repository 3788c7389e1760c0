//! How long and how many the parts of a task may be, and what they may name.

use super::{BoardError, FieldProblem};
use crate::config::Settings;

const TITLE: usize = 500;
const DESCRIPTION: usize = 100_000;
const LABELS: usize = 50;
const LABEL: usize = 50;
pub(super) const DEPENDENCIES: usize = 200;
/// A plan that is put or imported as a whole.
pub(super) const TASKS: usize = 10_000;
pub(super) const FILES: usize = 1_000;
const FILE: usize = 4_096;
const KEY: usize = 100;

/// Collects everything that is wrong, and fails if anything is.
pub(super) fn check(look: impl FnOnce(&mut Vec<FieldProblem>)) -> Result<(), BoardError> {
    let mut problems = Vec::new();
    look(&mut problems);
    if problems.is_empty() {
        Ok(())
    } else {
        Err(BoardError::Fields(problems))
    }
}

/// A text of one line that is not blank.
pub(super) fn line(path: &str, text: &str, most: usize, problems: &mut Vec<FieldProblem>) {
    let length = text.chars().count();
    let message = if text.trim().is_empty() {
        format!("{path} is empty")
    } else if length > most {
        format!("{path} has {length} characters; the maximum is {most}")
    } else if text.chars().any(char::is_control) {
        format!("{path} contains line breaks or other control characters")
    } else {
        return;
    };
    let hint = format!("use 1 to {most} characters on one line");
    problems.push(FieldProblem::new(path, "out_of_range", message).hint(hint));
}

pub(super) fn title(path: &str, text: &str, problems: &mut Vec<FieldProblem>) {
    line(path, text, TITLE, problems);
}

pub(super) fn key(path: &str, text: &str, problems: &mut Vec<FieldProblem>) {
    line(path, text, KEY, problems);
}

pub(super) fn size(path: &str, name: &str, settings: &Settings, problems: &mut Vec<FieldProblem>) {
    if settings.size_names().all(|known| known != name) {
        let message = format!("the size {name:?} is not configured");
        let problem = FieldProblem::new(path, "unknown_size", message);
        problems.push(problem.hint(settings.size_hint(name)));
    }
}

pub(super) fn description(path: &str, text: &str, problems: &mut Vec<FieldProblem>) {
    if text.len() > DESCRIPTION {
        let message = format!(
            "{path} has {} bytes; the maximum is {DESCRIPTION}",
            text.len()
        );
        let hint = "put the rest into a file of the project and refer to it";
        problems.push(FieldProblem::new(path, "out_of_range", message).hint(hint));
    }
    if text.contains('\0') {
        let message = format!("{path} contains a NUL character");
        problems.push(FieldProblem::new(path, "out_of_range", message).hint("remove it"));
    }
}

pub(super) fn labels(path: &str, labels: &[String], problems: &mut Vec<FieldProblem>) {
    many(path, labels.len(), LABELS, problems);
    for (place, label) in labels.iter().enumerate() {
        line(&format!("{path}[{place}]"), label, LABEL, problems);
    }
}

pub(super) fn files(path: &str, files: &[String], problems: &mut Vec<FieldProblem>) {
    many(path, files.len(), FILES, problems);
    for (place, file) in files.iter().enumerate() {
        line(&format!("{path}[{place}]"), file, FILE, problems);
    }
}

pub(super) fn many(path: &str, count: usize, most: usize, problems: &mut Vec<FieldProblem>) {
    if count > most {
        let message = format!("{path} has {count} entries; the maximum is {most}");
        let hint = format!("pass at most {most}");
        problems.push(FieldProblem::new(path, "out_of_range", message).hint(hint));
    }
}

/// The same words, each once and in their order.
pub(super) fn once(words: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        let word = word.trim();
        if !kept.iter().any(|known| known == word) {
            kept.push(word.to_owned());
        }
    }
    kept
}
