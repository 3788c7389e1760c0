//! Which changes are named to a person, and which are only counted: never what sets or runs something.

use pleach_engine::consent::{ChangeKind, SteeringChange};

use crate::output::one_line;

/// So many files of a folder are named that neither set nor run anything.
const MOST_IN_FOLDER: usize = 3;

/// So many folders of such files are told apart.
const MOST_FOLDERS: usize = 20;

pub(super) fn word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::New => "new",
        ChangeKind::Changed => "changed",
        ChangeKind::Gone => "gone",
        ChangeKind::Unseen => "unseen",
    }
}

/// So many names are told where there is one line for them.
const FEW: usize = 3;

/// The first names of a list, which has those first that can do most, and how many more there are.
pub(crate) fn few_names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let more = names.len().saturating_sub(FEW);
    let few: Vec<String> = names.take(FEW).map(one_line).collect();
    let few = few.join(", ");
    if more > 0 {
        format!("{few} and {more} more")
    } else {
        few
    }
}

/// Files that are counted in place of being named.
pub(super) struct Folded {
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
pub(super) fn fold(changes: &[SteeringChange]) -> (Vec<&SteeringChange>, Vec<Folded>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_engine::consent::Role;

    #[test]
    fn what_sets_or_runs_something_is_always_named() {
        let file = |path: String, role| SteeringChange::of_file(path, ChangeKind::New, role);
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
