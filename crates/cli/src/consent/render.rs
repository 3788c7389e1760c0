//! Shows what a person consents to: settings whole, files by their names and by what is different in them.
//!
//! Whatever is in a text, each of its rows begins with a sign: none can pass for another entry of the list.

use anstyle::{AnsiColor, Style};
use pleach_engine::consent::{SteeringChange, SteeringSubject};
use pleach_system::text::shell_words::quoted;
use unicode_width::UnicodeWidthChar as _;

use super::fold::{fold, word};
use crate::output::{exact_line, one_line, tell_error};
use crate::terminal::TerminalSize;

const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default();
const GREEN: Style = AnsiColor::Green.on_default();

/// What stands before a value: the width of the columns to its left.
const INDENT: usize = 12;

/// So many columns a value gets on the narrowest terminal.
const NARROWEST: usize = 20;

/// The longest value that is shown whole, in characters.
const LONGEST: usize = 4_000;

/// So many lines of a file are shown that are different, and so many of all files.
const MOST_LINES: usize = 12;
const MOST_LINES_OF_ALL: usize = 100;

const LONGEST_LINE: usize = 500;

/// Lists changes on standard error; `all` is the command that names all of them, `see` the one that shows a file.
pub(crate) fn show(heading: &str, changes: &[SteeringChange], all: &str, see: Option<&str>) {
    let width = TerminalSize::of(std::io::stderr()).width();
    tell_error(format_args!("  {}\n", one_line(heading)));
    for line in list(changes, all, width) {
        tell_error(format_args!("{line}\n"));
    }
    if let Some(see) = see {
        tell_error(format_args!("    {DIM}view one{DIM:#}  {see}\n"));
    }
}

/// The command that prints a file of a commit, with the first of the files as an example.
pub(crate) fn git_show(commit: &str, changes: &[SteeringChange]) -> Option<String> {
    let short = commit.get(..12)?;
    let mut files = changes.iter().filter_map(|change| match &change.what {
        SteeringSubject::File(path) if change.is_there() => Some(path),
        _ => None,
    });
    // A name that is not shown as it is would be another one in a shell.
    let path = files.find(|path| exact_line(path) == **path && !path.contains('\\'))?;
    Some(format!("git show {}", quoted(&format!("{short}:{path}"))))
}

fn list(changes: &[SteeringChange], all: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(INDENT + 6).max(NARROWEST);
    let (shown, folded) = fold(changes);
    let mut lines = Vec::new();
    let mut lines_left = MOST_LINES_OF_ALL;
    for change in shown {
        let (SteeringSubject::Setting(name) | SteeringSubject::File(name)) = &change.what;
        let because = change.because.as_deref().map(one_line);
        let because = because.map(|text| format!("  {DIM}{text}{DIM:#}"));
        lines.push(format!(
            "    {DIM}{:<8}{DIM:#}{}{}",
            word(change.kind),
            one_line(name),
            because.unwrap_or_default()
        ));
        let details = match &change.what {
            SteeringSubject::Setting(name) => setting(name, change, room),
            SteeringSubject::File(_) => file(change, room, &mut lines_left),
        };
        let indent = " ".repeat(INDENT);
        lines.extend(details.into_iter().map(|row| format!("{indent}{row}")));
    }
    let indent = " ".repeat(INDENT);
    lines.extend(folded.iter().map(|files| format!("{indent}{files}")));
    if !folded.is_empty() {
        lines.push(format!("{indent}{DIM}list all{DIM:#}  {all}"));
    }
    lines
}

fn setting(name: &str, change: &SteeringChange, room: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for (label, text) in [("was", &change.before), ("is", &change.now)] {
        let Some(text) = text else { continue };
        let mut label = label;
        for row in value(name, text, room) {
            rows.push(format!("{DIM}{label:<4}│{DIM:#} {row}"));
            label = "";
        }
    }
    rows
}

/// A value in rows; of a very long one the beginning and the end.
fn value(name: &str, text: &str, room: usize) -> Vec<String> {
    let count = text.chars().count();
    if count <= LONGEST {
        return rows(text, room);
    }
    let half = LONGEST / 2;
    let begin: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    let more = count - 2 * half;
    let all = match name {
        "prompt" => "`pleach config` shows its file",
        _ => "`pleach config --json` shows all of it",
    };
    let mut shown = rows(&begin, room);
    shown.push(format!("{DIM}… {more} more characters; {all} …{DIM:#}"));
    shown.extend(rows(&end, room));
    shown
}

/// A text in rows of at most so many columns, with everything in it made visible.
fn rows(text: &str, room: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for line in text.lines() {
        let mut row = String::new();
        let mut taken = 0;
        for c in exact_line(line).chars() {
            let wide = c.width().unwrap_or(0);
            if taken + wide > room {
                rows.push(std::mem::take(&mut row));
                taken = 0;
            }
            taken += wide;
            row.push(c);
        }
        rows.push(row);
    }
    rows
}

/// The lines of a file that are different, if they are few; otherwise how many they are.
fn file(change: &SteeringChange, room: usize, lines_left: &mut usize) -> Vec<String> {
    if change.is_cut {
        return vec![format!("{DIM}too long to show, or not text{DIM:#}")];
    }
    let (before, now) = match (&change.before, &change.now) {
        (None, None) => return Vec::new(),
        (before, now) => (
            before.as_deref().unwrap_or_default(),
            now.as_deref().unwrap_or_default(),
        ),
    };
    let (removed, added) = different(before, now);
    let count = removed.len() + added.len();
    let is_short = |line: &&str| line.chars().count() <= LONGEST_LINE;
    let are_short = removed.iter().all(is_short) && added.iter().all(is_short);
    if count > MOST_LINES.min(*lines_left) || !are_short {
        let (added, removed) = (added.len(), removed.len());
        return vec![format!("{DIM}lines: +{added} −{removed}{DIM:#}")];
    }
    *lines_left -= count;
    let removed = removed.into_iter().map(|line| ("−", RED, line));
    let added = added.into_iter().map(|line| ("+", GREEN, line));
    let all = removed.chain(added);
    all.flat_map(|(sign, style, line)| {
        let rows = rows(line, room);
        rows.into_iter()
            .map(move |row| format!("{style}{sign}{style:#} {row}"))
    })
    .collect()
}

/// The lines from the first to the last one that is different.
fn different<'t>(before: &'t str, now: &'t str) -> (Vec<&'t str>, Vec<&'t str>) {
    let (mut before, mut now): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), now.lines().collect());
    while !before.is_empty() && !now.is_empty() && before.last() == now.last() {
        before.pop();
        now.pop();
    }
    let mut both = before.iter().zip(&now);
    let same = both.position(|(one, other)| one != other);
    let same = same.unwrap_or(before.len().min(now.len()));
    (before.split_off(same), now.split_off(same))
}

#[cfg(test)]
mod tests {
    use pleach_engine::consent::{ChangeKind, Role};

    use super::*;

    fn change(what: SteeringSubject, before: Option<&str>, now: &str) -> SteeringChange {
        let mut change =
            SteeringChange::of_file(String::new(), ChangeKind::Changed, Role::Settings);
        change.what = what;
        change.before = before.map(str::to_owned);
        change.now = Some(now.to_owned());
        change
    }

    fn plain(changes: &[SteeringChange], width: usize) -> String {
        let lines = list(changes, "pleach diff 1", width).join("\n");
        anstream::adapter::strip_str(&lines).to_string()
    }

    #[test]
    fn a_value_is_shown_to_its_end_and_cannot_pass_for_another_entry() {
        let setup = format!("make {}; curl evil", "x".repeat(190));
        let what = SteeringSubject::Setting("setup".to_owned());
        let forged = "true\n    new     AGENTS.md\u{1b}[2K\u{202e}";
        let shown = plain(
            &[
                change(what.clone(), None, &setup),
                change(what, None, forged),
            ],
            80,
        );
        insta::assert_snapshot!(shown, @r"
            changed setup
                    is  │ make xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
                        │ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
                        │ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
                        │ xxxxxxxxx; curl evil
            changed setup
                    is  │ true
                        │     new     AGENTS.md⟨U+001B⟩[2K⟨U+202E⟩
        ");
    }

    #[test]
    fn of_a_very_long_value_both_ends_are_shown_with_how_much_is_between() {
        let text = format!("begin {} end", "x".repeat(10_000));
        let what = SteeringSubject::Setting("validate".to_owned());
        let shown = plain(&[change(what, None, &text)], 80);
        assert!(shown.contains("begin x"), "{shown}");
        assert!(shown.contains("x end"), "{shown}");
        let told = "… 6010 more characters; `pleach config --json` shows all of it …";
        assert!(shown.contains(told), "{shown}");
    }

    #[test]
    fn of_a_file_the_lines_that_are_different_are_shown_if_they_are_few() {
        let what = SteeringSubject::File("AGENTS.md".to_owned());
        let before = "one\ntwo\nthree\n";
        let few = change(what.clone(), Some(before), "one\n2\nthree\n");
        let many = change(what.clone(), Some(before), &"x\n".repeat(100));
        let mut cut = SteeringChange::of_file("b".to_owned(), ChangeKind::Changed, Role::Settings);
        cut.is_cut = true;
        insta::assert_snapshot!(plain(&[few, many, cut], 80), @r"
            changed AGENTS.md
                    − two
                    + 2
            changed AGENTS.md
                    lines: +100 −3
            changed b
                    too long to show, or not text
        ");
    }

    #[test]
    fn the_command_that_shows_a_file_can_be_pasted() {
        let commit = "0123456789abcdef";
        let file = |path: &str| change(SteeringSubject::File(path.to_owned()), None, "");
        let setting = change(SteeringSubject::Setting("setup".to_owned()), None, "make");
        let all = [setting, file("a\u{202e}b"), file("my docs/a;b.md")];
        let command = git_show(commit, &all);
        let expected = "git show '0123456789ab:my docs/a;b.md'";
        assert_eq!(command.as_deref(), Some(expected));
    }
}
