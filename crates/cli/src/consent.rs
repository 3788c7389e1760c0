//! Gets a person's consent to what steers agents and Pleach, once for each state of a project.
//!
//! What was consented to is remembered by the engine; the keyboard is read by the preview.

use std::io::IsTerminal as _;

use anstyle::Style;
use pleach_engine::consent::{Change, ChangeKind, What};
use pleach_engine::run::Prepared;

use crate::failure::{Exit, Failure, Failures};
use crate::output::{Reader, one_line, tell_error};
use crate::preview::asks;

const DIM: Style = Style::new().dimmed();

/// So many files of a folder are named that neither set nor run anything.
const MOST_IN_FOLDER: usize = 3;

/// So many folders of such files are told apart.
const MOST_FOLDERS: usize = 20;

/// Prints the names of all steering files.
const LISTS_ALL: &str = "pleach run --dry-run --json";

/// The longest text of a setting that is shown.
const LONGEST: usize = 200;

/// How a run came to be consented to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Exactly this was consented to before.
    Known,
    /// It was given just now.
    Given,
}

/// Gets consent to what a run is steered by, or fails; with `yes` it is given.
pub(crate) fn obtain(
    prepared: &mut Prepared,
    yes: bool,
    reader: Reader,
) -> Result<Consent, Failures> {
    let changes = prepared.unconsented()?;
    let is_known = changes.is_empty();
    if yes {
        if !is_known {
            prepared.consent()?;
        }
        return Ok(Consent::Given);
    }
    if reader == Reader::Program || !std::io::stdin().is_terminal() {
        return nobody_to_ask(prepared, &changes);
    }
    if is_known {
        return Ok(Consent::Known);
    }
    show(&changes);
    if asks("Consent and run?") != Some(true) {
        return Err(
            Failure::new(Exit::Environment, "no_consent", "nothing was run")
                .hint("answer y to consent")
                .into(),
        );
    }
    prepared.consent()?;
    Ok(Consent::Given)
}

fn nobody_to_ask(prepared: &Prepared, changes: &[Change]) -> Result<Consent, Failures> {
    let hint = "add --yes to consent to the agent and to the files that steer it";
    let message = if !changes.is_empty() {
        let (shown, folded) = fold(changes);
        let mut names: Vec<String> = shown.into_iter().map(named).collect();
        names.extend(folded.iter().map(ToString::to_string));
        format!(
            "nobody is there to consent to this run, which needs it for {}",
            names.join(", ")
        )
    } else if prepared.design().tasks.len() > 1 {
        "nobody is there to consent to this run".to_owned()
    } else {
        return Ok(Consent::Known);
    };
    let failure = Failure::new(Exit::Environment, "no_consent", message);
    Err(failure.hint(hint).into())
}

/// A change in a few words.
fn named(change: &Change) -> String {
    let (What::Setting(name) | What::File(name)) = &change.what;
    format!("{} ({})", one_line(name), word(change.kind))
}

fn word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::New => "new",
        ChangeKind::Changed => "changed",
        ChangeKind::Gone => "gone",
        ChangeKind::Unseen => "unseen",
    }
}

/// Files that are counted in place of being named.
struct Folded {
    count: usize,
    place: String,
}

impl std::fmt::Display for Folded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let files = if self.count == 1 { "file" } else { "files" };
        write!(f, "{} more {files} in {}", self.count, self.place)
    }
}

/// What is named, and what is only counted, folder by folder: never what sets or runs something.
fn fold(changes: &[Change]) -> (Vec<&Change>, Vec<Folded>) {
    let mut shown = Vec::new();
    let mut folders: Vec<(&str, usize)> = Vec::new();
    for change in changes {
        let Some(folder) = change.folder() else {
            shown.push(change);
            continue;
        };
        let known = folders.iter().position(|(known, _)| *known == folder);
        let place = known.unwrap_or_else(|| {
            folders.push((folder, 0));
            folders.len() - 1
        });
        folders[place].1 += 1;
        if place < MOST_FOLDERS && folders[place].1 <= MOST_IN_FOLDER {
            shown.push(change);
        }
    }
    let far = folders.split_off(folders.len().min(MOST_FOLDERS));
    let mut folded: Vec<Folded> = folders
        .into_iter()
        .filter(|(_, count)| *count > MOST_IN_FOLDER)
        .map(|(folder, count)| Folded {
            count: count - MOST_IN_FOLDER,
            place: one_line(folder),
        })
        .collect();
    if !far.is_empty() {
        folded.push(Folded {
            count: far.iter().map(|(_, count)| count).sum(),
            place: format!("{} other folders", far.len()),
        });
    }
    (shown, folded)
}

/// Lists what steers this run and was not consented to in this state.
fn show(changes: &[Change]) {
    tell_error(format_args!(
        "  what steers agents or Pleach here needs your consent:\n"
    ));
    let (shown, folded) = fold(changes);
    for change in shown {
        let (What::Setting(name) | What::File(name)) = &change.what;
        let kind = word(change.kind);
        let because = change.because.as_deref().map(one_line);
        let because = because.map(|text| format!("  {DIM}{text}{DIM:#}"));
        tell_error(format_args!(
            "    {DIM}{kind:<8}{DIM:#}{}{}\n",
            one_line(name),
            because.unwrap_or_default()
        ));
        let texts = [("was", &change.before), ("is", &change.now)];
        for (label, text) in texts {
            let Some(text) = text else { continue };
            let text: String = one_line(text).chars().take(LONGEST).collect();
            tell_error(format_args!("            {DIM}{label:<4}{DIM:#}{text}\n"));
        }
    }
    for files in &folded {
        tell_error(format_args!("            {files}\n"));
    }
    if !folded.is_empty() {
        tell_error(format_args!(
            "            {DIM}all of them{DIM:#}  {LISTS_ALL}\n"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_engine::consent::Role;

    #[test]
    fn what_sets_or_runs_something_is_always_named() {
        let file = |path: String, role| Change::of_file(path, ChangeKind::New, role);
        let mut changes = Vec::new();
        for number in 0..60 {
            changes.push(file(format!(".claude/hooks/{number}.sh"), Role::Hooks));
        }
        for number in 0..100 {
            changes.push(file(format!(".cursor/{number}.md"), Role::Other));
        }
        for number in 0..30 {
            changes.push(file(format!("{number}/.cursor/a.md"), Role::Other));
        }
        let (shown, folded) = fold(&changes);
        let hooks = shown.iter().filter(|change| change.role == Role::Hooks);
        assert_eq!(hooks.count(), 60);
        assert_eq!(shown.len(), 60 + MOST_IN_FOLDER + MOST_FOLDERS - 1);
        let folded: Vec<String> = folded.iter().map(ToString::to_string).collect();
        assert_eq!(
            folded,
            [
                "97 more files in .cursor/",
                "11 more files in 11 other folders"
            ]
        );
    }
}
