//! `pleach worktrees`: what is checked out for tasks of this repository, or left over from them.

use anstyle::{AnsiColor, Style};
use pleach_git::git::{CommitId, Git, Store};
use pleach_git::worktree::{ListedWorktree, TreeState, list};
use pleach_system::state_folder::StateFolder;
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::args::WorktreesArgs;
use crate::columns::age;
use crate::failure::{Exit, Failures};
use crate::output::{self, Reader, one_line};
use crate::plan_source::current_folder;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

pub(crate) fn run(arguments: &WorktreesArgs) -> Result<Exit, Failures> {
    let found = find().map_err(|failures| failures.told_to(Reader::from_flag(arguments.json)))?;
    if arguments.json {
        print_json(&found);
    } else if found.is_empty() {
        output::print(format_args!("No worktrees.\n"));
    } else {
        print(&found);
    }
    Ok(Exit::Success)
}

fn find() -> Result<Vec<ListedWorktree>, Failures> {
    let stores = StateFolder::of_user()?.stores();
    let store = Store::existing(Git::find()?, &stores, &current_folder()?)?;
    match store {
        Some(store) => Ok(list(&store)?),
        None => Ok(Vec::new()),
    }
}

/// The last two parts of its path, as `batch-3/task-63`.
fn name(worktree: &ListedWorktree) -> String {
    let parts: Vec<_> = worktree.path.components().rev().take(2).collect();
    let parts = parts
        .iter()
        .rev()
        .map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

fn print(found: &[ListedWorktree]) {
    let names: Vec<String> = found.iter().map(|tree| one_line(&name(tree))).collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    for (worktree, name) in found.iter().zip(&names) {
        let (style, state) = match worktree.state {
            TreeState::InUse => (GREEN, "in use"),
            TreeState::Left => (YELLOW, "left over"),
            TreeState::Resolving => (GREEN, "resolving"),
            TreeState::HalfMade => (YELLOW, "incomplete"),
            TreeState::Going => (DIM, "deleting"),
            TreeState::FolderGone => (YELLOW, "files missing"),
            TreeState::Unregistered => (YELLOW, "unknown to git"),
        };
        let padding = " ".repeat(width - name.width());
        let age = worktree.age.map(age).unwrap_or_default();
        let branch = worktree.branch.as_deref().map(one_line);
        output::print(format_args!(
            "  {BOLD}{name}{BOLD:#}{padding}  {style}{state:<14}{style:#} {age:>5}  {}  {DIM}{}{DIM:#}{}\n",
            branch.unwrap_or_default(),
            one_line(&worktree.path.to_string_lossy()),
            warning(worktree),
        ));
    }
}

/// What whoever goes there should know: a shell prompt that asks git is enough to run what an agent configured.
fn warning(worktree: &ListedWorktree) -> String {
    if worktree.is_safe || !worktree.path.is_dir() {
        return String::new();
    }
    format!("  {YELLOW}unsafe: do not run git here{YELLOW:#}")
}

fn print_json(found: &[ListedWorktree]) {
    let worktrees: Vec<_> = found
        .iter()
        .map(|worktree| {
            json!({
                "id": name(worktree),
                "path": worktree.path,
                "branch": worktree.branch,
                "head": worktree.head.as_ref().map(CommitId::as_str),
                "basis": worktree.basis.as_ref().map(CommitId::as_str),
                "state": state(worktree.state),
                "git_safe": worktree.is_safe,
                "seconds": worktree.age.map(|age| age.as_secs()),
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&json!({ "worktrees": worktrees }));
    let text = text.expect("it is plain data");
    output::print(format_args!("{text}\n"));
}

fn state(state: TreeState) -> &'static str {
    match state {
        TreeState::InUse => "in_use",
        TreeState::Left => "left_over",
        TreeState::Resolving => "resolving",
        TreeState::HalfMade => "half_made",
        TreeState::Going => "going",
        TreeState::FolderGone => "files_gone",
        TreeState::Unregistered => "unregistered",
    }
}
