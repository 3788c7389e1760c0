//! Small repositories made by hand, each with one thing that makes merging hard.
//!
//! Knows what git makes of each, so that a case cannot lose its point unseen.

mod contents;
mod histories;
mod names;
mod renames;
mod shapes;

use std::collections::BTreeMap;

use crate::tangle::stream::{Entry, FastImport, Mark, Mode, Snapshot};
use crate::tangle::{EmptyRepo, Form, Tangled};

/// A case with a name.
pub struct MergeCase {
    /// What happens in it.
    pub name: &'static str,
    /// The repository with its base and its branches in order.
    pub repo: Tangled,
    /// The branches that git leaves out.
    pub left_out: Vec<&'static str>,
}

pub fn cases() -> Vec<MergeCase> {
    GROUPS.iter().flat_map(|group| made(group)).collect()
}

const GROUPS: [&[Case]; 5] = [
    &renames::CASES,
    &shapes::CASES,
    &contents::CASES,
    &names::CASES,
    &histories::CASES,
];

fn made(group: &[Case]) -> Vec<MergeCase> {
    let cases = group.iter();
    cases
        .map(|(name, tell)| CaseBuilder::told(name, *tell))
        .collect()
}

/// A case's name and how it comes about.
type Case = (&'static str, fn(&mut CaseBuilder));

/// A case while it is told.
#[derive(Default)]
struct CaseBuilder {
    commits: Vec<Commit>,
    tips: BTreeMap<&'static str, usize>,
    branches: Vec<&'static str>,
    left_out: Vec<&'static str>,
    settings: Vec<(&'static str, &'static str, &'static str)>,
}

struct Commit {
    branch: &'static str,
    parents: Vec<usize>,
    snapshot: Snapshot,
}

impl CaseBuilder {
    fn told(name: &'static str, tell: fn(&mut Self)) -> MergeCase {
        let mut story = Self::default();
        tell(&mut story);
        let repo = EmptyRepo::new(Form::CheckedOut, None);
        repo.set(&story.settings);
        let mut stream = FastImport::into(&repo.path);
        story.write(&mut stream);
        stream.finish();
        let branches = story.branches.iter().map(|&name| name.to_owned());
        MergeCase {
            name,
            repo: repo.tangled(branches.collect()),
            left_out: story.left_out,
        }
    }

    fn write(&self, stream: &mut FastImport) {
        let nothing = Snapshot::default();
        let mut marks: Vec<Mark> = Vec::new();
        for commit in &self.commits {
            let first = commit.parents.first();
            let before = first.map_or(&nothing, |&at| &self.commits[at].snapshot);
            let parents: Vec<Mark> = commit.parents.iter().map(|&at| marks[at]).collect();
            let changes = commit.snapshot.changes_since(before);
            marks.push(stream.commit(commit.branch, &parents, changes));
        }
        for (name, at) in &self.tips {
            stream.branch(name, marks[*at]);
        }
    }

    /// One more commit on `main`; the last one is the base.
    fn base(&mut self) -> &mut Snapshot {
        let parents: &[&str] = if self.tips.contains_key("main") {
            &["main"]
        } else {
            &[]
        };
        self.commit("main", parents)
    }

    /// A branch with one commit on `main` as it is now, to be merged.
    fn branch(&mut self, name: &'static str) -> &mut Snapshot {
        self.branch_on(name, &["main"])
    }

    /// A branch with one commit on the tips of others as they are now, to be merged.
    fn branch_on(&mut self, name: &'static str, parents: &[&str]) -> &mut Snapshot {
        self.branches.push(name);
        self.commit(name, parents)
    }

    /// A branch at the tip of another one, to be merged.
    fn same(&mut self, name: &'static str, as_other: &str) {
        self.branches.push(name);
        self.tips.insert(name, self.tips[as_other]);
    }

    /// A commit that starts with the files of its first parent and moves a branch.
    fn commit(&mut self, branch: &'static str, parents: &[&str]) -> &mut Snapshot {
        let parents: Vec<usize> = parents.iter().map(|name| self.tips[name]).collect();
        let first = parents.first().map(|&at| self.commits[at].snapshot.clone());
        self.tips.insert(branch, self.commits.len());
        self.commits.push(Commit {
            branch,
            parents,
            snapshot: first.unwrap_or_default(),
        });
        let last = self.commits.last_mut().expect("one was just pushed");
        &mut last.snapshot
    }

    fn leaves_out(&mut self, branches: &[&'static str]) {
        self.left_out = branches.to_vec();
    }
}

/// Twenty lines that no other tag has.
fn text(tag: &str) -> String {
    lines(tag, 20)
}

fn lines(tag: &str, count: usize) -> String {
    let line = |n| format!("{tag} has a line {n} of its own\n");
    (1..=count).map(line).collect()
}

/// A text with one line replaced, counted from one.
fn edited(text: &str, line: usize, by: &str) -> String {
    let edit = |(index, old)| {
        let line_now = if index + 1 == line { by } else { old };
        format!("{line_now}\n")
    };
    text.lines().enumerate().map(edit).collect()
}

fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

fn program(content: impl AsRef<[u8]>) -> Entry {
    Entry::new(Mode::Program, content)
}

fn link(target: &str) -> Entry {
    Entry::new(Mode::Link, target)
}

/// A submodule at a made-up commit.
fn module(digit: char) -> Entry {
    Entry::new(Mode::Module, digit.to_string().repeat(40))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::gate_or_night;
    use crate::merge_loop::{merge_loop, merge_tree_loop};
    use std::collections::BTreeSet;

    /// That the slow way gives the same is tried at night: it is what weaving is compared with in the gate.
    #[track_caller]
    fn all_end_as_told(group: &[Case]) {
        let mut wrong = Vec::new();
        for case in made(group) {
            let Tangled { base, branches, .. } = &case.repo;
            let quick = merge_tree_loop(case.repo.path(), base, branches);
            if gate_or_night(false, true) {
                let slow = merge_loop(case.repo.path(), base, branches);
                if slow != quick {
                    wrong.push(format!("{}: {slow:?} but {quick:?}", case.name));
                }
            }
            if quick.left_out != case.left_out {
                wrong.push(format!("{}: leaves out {:?}", case.name, quick.left_out));
            }
            let count = quick.merged.len() + quick.left_out.len();
            assert!(count > 0 && count == branches.len(), "{}", case.name);
        }
        assert_eq!(wrong, [""; 0], "{}", wrong.join("\n"));
    }

    #[test]
    fn moved_files_and_folders_end_as_told_whichever_way_they_are_merged() {
        all_end_as_told(&renames::CASES);
    }

    #[test]
    fn paths_of_changing_kind_end_as_told_whichever_way_they_are_merged() {
        all_end_as_told(&shapes::CASES);
    }

    #[test]
    fn contents_end_as_told_whichever_way_they_are_merged() {
        all_end_as_told(&contents::CASES);
    }

    #[test]
    fn odd_names_end_as_told_whichever_way_they_are_merged() {
        all_end_as_told(&names::CASES);
    }

    #[test]
    fn odd_histories_end_as_told_whichever_way_they_are_merged() {
        all_end_as_told(&histories::CASES);
    }

    #[test]
    fn every_case_has_a_name_of_its_own() {
        let names: Vec<_> = GROUPS.concat().iter().map(|(name, _)| *name).collect();
        let distinct: BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }
}
