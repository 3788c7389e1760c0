//! `pleach weave`: weaves any branches of any repository into one.

mod proof;

use anstyle::{AnsiColor, Style};
use pleach_git::git::{BranchPut, CommitId, Git, NamedCommit, Repository};
use pleach_git::weave::{
    Conflict, ConflictKind, Strand, StrandOutcome, Weave, WeaveFolder, foresee,
};
use pleach_system::text::hidden::is_hidden;
use pleach_system::text::shell_words::quoted;
use serde_json::{Value, json};

use crate::args::{OnBranchConflict, WeaveArgs};
use crate::failure::{Exit, Failure, Failures};
use crate::output::{self, Reader, one_line, tell_error};
use crate::plan_source::current_folder;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();

/// More branches than this are counted and not listed.
const MOST_LISTED: usize = 40;

pub(crate) fn run(arguments: &WeaveArgs) -> Result<Exit, Failures> {
    answer(arguments).map_err(|failures| failures.told_to(Reader::from_flag(arguments.json)))
}

fn answer(arguments: &WeaveArgs) -> Result<Exit, Failures> {
    let repository = Repository::find(Git::find()?, &current_folder()?)?;
    if let Some(name) = &arguments.name {
        repository.check_branch(name)?;
    }
    let onto = repository.resolve_base(arguments.onto.as_deref())?;
    let strands = strands(&repository, &arguments.branches)?;
    let weave_folder = WeaveFolder::of_repository(&repository)?;
    let strategy = arguments.merge;
    let first = foresee(&weave_folder, &onto, &strands, strategy)?;
    let conflicts = first.weave.outcomes.iter().any(is_left_out);
    let is_refused = arguments.on_conflict == OnBranchConflict::Fail && conflicts;
    let (foreseen, fates, tests) = match &arguments.validate {
        Some(command) if !is_refused => {
            let proof = proof::prove(command, arguments, &onto, &strands, &first.weave.outcomes)?;
            let (woven, fates) =
                proof.weave_again(&weave_folder, &onto, &strands, strategy, &first)?;
            (woven, fates, Some(command.as_str()))
        }
        _ => {
            let outcomes = first.weave.outcomes.iter().cloned();
            let fates = outcomes.map(BranchOutcome::Woven).collect();
            (first, fates, None)
        }
    };
    let is_whole = fates.iter().all(BranchOutcome::is_in);
    let (woven, put) = match &arguments.name {
        Some(name) if !arguments.dry_run && !is_refused => {
            let woven = foreseen.store()?;
            let put = repository.put_branch(name, &woven.tip)?;
            (woven, Some(put))
        }
        _ => (foreseen.weave, None),
    };
    let report = WeaveReport {
        arguments,
        onto: &onto,
        woven: &woven,
        fates: &fates,
        tests,
        put,
    };
    if arguments.json {
        let text = serde_json::to_string_pretty(&report.json()).expect("it is plain data");
        output::print(format_args!("{text}\n"));
    } else {
        report.print();
    }
    if is_refused {
        tell_error(format_args!("nothing was written (--on-conflict fail)\n"));
    }
    Ok(if is_whole {
        Exit::Success
    } else {
        Exit::SomeTaskFailed
    })
}

pub(super) fn is_left_out(outcome: &StrandOutcome) -> bool {
    matches!(outcome, StrandOutcome::Conflict(_))
}

fn strands(repository: &Repository, names: &[String]) -> Result<Vec<Strand>, Failures> {
    let commits = repository.resolve(names)?;
    let mut strands = Vec::with_capacity(names.len());
    let mut unknown = Vec::new();
    for (name, commit) in names.iter().zip(commits) {
        let name_as = |what: &str| format!("{what} '{}'", one_line(name));
        let found = match commit {
            Some(NamedCommit::Branch(commit)) => Some((name_as("branch"), commit)),
            Some(NamedCommit::Other(commit)) => Some((name_as("commit"), commit)),
            None => None,
        };
        match found {
            Some((subject, commit)) => strands.push(Strand {
                subject,
                commit,
                basis: None,
            }),
            None => unknown.push(
                Failure::new(
                    Exit::Usage,
                    "branch_not_found",
                    format!("{name:?} is not a branch, tag or commit of this repository"),
                )
                .hint("`git branch --all` lists the branches"),
            ),
        }
    }
    Failures::check(unknown)?;
    Ok(strands)
}

pub(super) enum BranchOutcome {
    Woven(StrandOutcome),
    /// The tests fail with it.
    Invalid,
}

impl BranchOutcome {
    fn is_in(&self) -> bool {
        matches!(self, Self::Woven(outcome) if !is_left_out(outcome))
    }
}

struct WeaveReport<'r> {
    arguments: &'r WeaveArgs,
    onto: &'r CommitId,
    woven: &'r Weave,
    fates: &'r [BranchOutcome],
    tests: Option<&'r str>,
    put: Option<BranchPut>,
}

impl WeaveReport<'_> {
    fn each(&self) -> impl Iterator<Item = (&String, &BranchOutcome)> {
        self.arguments.branches.iter().zip(self.fates)
    }

    fn onto_name(&self) -> &str {
        let name = self.arguments.onto.as_deref();
        name.unwrap_or(short(self.onto))
    }

    fn partner(&self, place: Option<usize>) -> &str {
        place.map_or(self.onto_name(), |place| &self.arguments.branches[place])
    }

    fn json(&self) -> Value {
        let merged: Vec<_> = self
            .each()
            .filter(|(_, fate)| fate.is_in())
            .map(|(branch, _)| branch)
            .collect();
        let invalid = self
            .each()
            .filter(|(_, fate)| matches!(fate, BranchOutcome::Invalid));
        let invalid: Vec<_> = invalid.map(|(branch, _)| branch).collect();
        let conflicted = self.each().filter_map(|(branch, fate)| {
            let BranchOutcome::Woven(StrandOutcome::Conflict(conflict)) = fate else {
                return None;
            };
            let kinds = conflict
                .files
                .iter()
                .map(|file| json!({"file": file.path, "kind": file.kind.as_str()}));
            Some(json!({
                "branch": branch,
                "files": conflict.paths(),
                "with": conflict.with.iter().map(|place| self.partner(*place)).collect::<Vec<_>>(),
                "kinds": kinds.collect::<Vec<_>>(),
                "show": self.show_command(branch, conflict),
            }))
        });
        json!({
            "tip": self.woven.tip.as_str(),
            "tree": self.woven.tree.as_str(),
            "onto": self.onto.as_str(),
            "as": self.put.and(self.arguments.name.as_ref()),
            "merged": merged,
            "conflicted": conflicted.collect::<Vec<_>>(),
            "invalid": invalid,
            "validated": self.tests,
        })
    }

    fn print(&self) {
        let is_listed = self.arguments.branches.len() <= MOST_LISTED;
        for (branch, fate) in self.each() {
            let branch = one_line(branch);
            match fate {
                BranchOutcome::Woven(StrandOutcome::Merged) if is_listed => {
                    output::print(format_args!("  {GREEN}✓{GREEN:#} {branch}\n"));
                }
                BranchOutcome::Woven(StrandOutcome::AlreadyIn) if is_listed => output::print(
                    format_args!("  {GREEN}·{GREEN:#} {branch}  {DIM}already contained{DIM:#}\n"),
                ),
                BranchOutcome::Woven(StrandOutcome::Merged | StrandOutcome::AlreadyIn) => {}
                BranchOutcome::Woven(StrandOutcome::Conflict(conflict)) => {
                    self.print_conflict(&branch, conflict);
                }
                BranchOutcome::Invalid => output::print(format_args!(
                    "  {RED}✗{RED:#} {branch}  {RED}left out{RED:#}, the tests fail with it\n"
                )),
            }
        }
        let all = self.fates.len();
        let left_out = self.fates.iter().filter(|fate| !fate.is_in()).count();
        let woven = match left_out {
            0 => format!("{} woven", branches(all)),
            _ => format!("{} of {} woven", all - left_out, branches(all)),
        };
        let left_out = match left_out {
            0 => String::new(),
            number => format!(", {number} left out"),
        };
        let where_to = match (self.put, &self.arguments.name) {
            (Some(put), Some(name)) => {
                let how = match put {
                    BranchPut::Created => "",
                    BranchPut::Advanced => " (advanced)",
                    BranchPut::Unchanged => " (unchanged)",
                };
                format!(" into {BOLD}{}{BOLD:#}{how}", one_line(name))
            }
            _ => " (nothing was written)".to_owned(),
        };
        let onto = short(self.onto);
        let (tip, tree) = (short(&self.woven.tip), &self.woven.tree.as_str()[..10]);
        let proved = match self.tests {
            Some(_) => "; the tests pass",
            None => "",
        };
        output::print(format_args!(
            "{woven}{where_to}{left_out}; based on {onto}{proved}  {DIM}tip {tip}, tree {tree}{DIM:#}\n"
        ));
    }

    fn print_conflict(&self, branch: &str, conflict: &Conflict) {
        let with: Vec<String> = conflict
            .with
            .iter()
            .map(|place| one_line(self.partner(*place)))
            .collect();
        let with = match with.as_slice() {
            [] => String::new(),
            [one] => format!(", conflicts with {BOLD}{one}{BOLD:#}"),
            several => format!(", conflicts with {BOLD}{}{BOLD:#}", several.join(", ")),
        };
        output::print(format_args!(
            "  {RED}✗{RED:#} {branch}  {RED}left out{RED:#}{with}\n"
        ));
        for file in &conflict.files {
            let (path, kind) = (one_line(&file.path), in_words(file.kind));
            output::print(format_args!("      {path}  {DIM}{kind}{DIM:#}\n"));
        }
        if let Some(command) = self.show_command(branch, conflict) {
            output::print(format_args!("      {DIM}view{DIM:#} {command}\n"));
        }
    }

    /// The command that shows what collides, for files with lines in the file itself.
    fn show_command(&self, branch: &str, conflict: &Conflict) -> Option<String> {
        let first = conflict.files.first()?;
        if first.kind == ConflictKind::Unrelated {
            return None;
        }
        let partner = match conflict.with.as_slice() {
            [one] => self.partner(*one),
            // With several, the result itself is the other side.
            _ => match &self.arguments.name {
                Some(name) if self.put.is_some() => name,
                _ => conflict
                    .with
                    .last()
                    .map_or(self.onto_name(), |p| self.partner(*p)),
            },
        };
        let merge = format!(
            "git merge-tree --write-tree {} {}",
            quoted(partner),
            quoted(branch)
        );
        let content = conflict
            .files
            .iter()
            .find(|file| file.kind == ConflictKind::Content);
        Some(match content {
            // A name that a terminal would act on, or that is not shown as it is, is not printed.
            Some(file) if !file.path.contains(is_unprintable) => {
                format!("git show \"$({merge} | head -n 1)\":{}", quoted(&file.path))
            }
            _ => merge,
        })
    }
}

fn branches(number: usize) -> String {
    match number {
        1 => "1 branch".to_owned(),
        _ => format!("{number} branches"),
    }
}

pub(crate) fn in_words(kind: ConflictKind) -> &'static str {
    match kind {
        ConflictKind::Content => "both changed the same lines",
        ConflictKind::ModifyDelete => "one changed it, the other deleted it",
        ConflictKind::Rename => "it or its folder was renamed",
        ConflictKind::Mode => "its mode was changed differently",
        ConflictKind::Submodule => "both moved the submodule",
        ConflictKind::Binary => "both changed a binary file",
        ConflictKind::FileAndFolder => "a file on one side, a folder on the other",
        ConflictKind::Unrelated => "the histories are unrelated",
        ConflictKind::GitAborted => "git aborted with an internal error",
        ConflictKind::Other => "it does not merge",
    }
}

fn short(commit: &CommitId) -> &str {
    &commit.as_str()[..10]
}

fn is_unprintable(c: char) -> bool {
    c.is_control() || is_hidden(c) || c == char::REPLACEMENT_CHARACTER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_hidden_characters_is_in_no_command_to_copy() {
        assert!("a\u{202e}b".contains(is_unprintable));
        assert!("a\u{1b}b".contains(is_unprintable));
        assert!(!"ä b/c.rs".contains(is_unprintable));
    }
}
