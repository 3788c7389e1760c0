//! `pleach worktrees`: what is checked out for tasks of this repository, here or on nodes, or left over from them.

use anstyle::{AnsiColor, Style};
use pleach_engine::stored_batch::{NodeWorktree, StoredBatch};
use pleach_git::git::{CommitId, Git, Store};
use pleach_git::worktree::{ListedWorktree, TreeState, list};
use pleach_log::batch_paths::project_name;
use pleach_log::database::{BatchFilter, BatchScope, Database, now};
use pleach_system::state_folder::StateFolder;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::args::WorktreesArgs;
use crate::columns::{age, padded};
use crate::failure::{Exit, Failures};
use crate::output::{self, Reader, one_line};
use crate::plan_source::current_folder;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// What there is of one repository.
#[derive(Default)]
struct FoundWorktrees {
    here: Vec<ListedWorktree>,
    on_nodes: Vec<NodeWorktree>,
}

pub(crate) fn run(arguments: &WorktreesArgs) -> Result<Exit, Failures> {
    let found = find().map_err(|failures| failures.told_to(Reader::from_flag(arguments.json)))?;
    if arguments.json {
        print_json(&found);
    } else if found.here.is_empty() && found.on_nodes.is_empty() {
        output::print(format_args!("No worktrees.\n"));
    } else {
        print(&found);
    }
    Ok(Exit::Success)
}

fn find() -> Result<FoundWorktrees, Failures> {
    let state = StateFolder::of_user()?;
    let store = Store::existing(Git::find()?, &state.stores(), &current_folder()?)?;
    let Some(store) = store else {
        return Ok(FoundWorktrees::default());
    };
    Ok(FoundWorktrees {
        here: list(&store)?,
        on_nodes: on_nodes(&Database::open(&state)?, &project_name(&store))?,
    })
}

fn on_nodes(database: &Database, project: &str) -> Result<Vec<NodeWorktree>, Failures> {
    let open = database.batches(BatchFilter {
        project: Some(project),
        among: BatchScope::Open,
    })?;
    let mut found = Vec::new();
    for row in open {
        found.extend(StoredBatch::load(database, row.id)?.on_nodes(now()));
    }
    Ok(found)
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

fn print(found: &FoundWorktrees) {
    let here = found.here.iter().map(TreeRow::of_this_machine);
    let rows: Vec<TreeRow> = here
        .chain(found.on_nodes.iter().map(TreeRow::of_node))
        .collect();
    let widest = |text: fn(&TreeRow) -> &str| rows.iter().map(|row| text(row).width()).max();
    let width = widest(|row| &row.name).unwrap_or(0);
    let node_width = widest(|row| &row.node).unwrap_or(0);
    for row in &rows {
        let name = padded(&row.name, width);
        let node = match node_width {
            0 => String::new(),
            width => format!("{}  ", padded(&row.node, width)),
        };
        let TreeRow {
            state: (style, state),
            age,
            branch,
            path,
            warning,
            ..
        } = row;
        output::print(format_args!(
            "  {BOLD}{name}{BOLD:#}  {style}{state:<14}{style:#} {age:>5}  {node}{branch}  {DIM}{path}{DIM:#}{warning}\n",
        ));
    }
}

/// A worktree as it is printed.
struct TreeRow {
    name: String,
    state: (Style, &'static str),
    age: String,
    node: String,
    branch: String,
    path: String,
    warning: String,
}

impl TreeRow {
    fn of_this_machine(worktree: &ListedWorktree) -> Self {
        let state = match worktree.state {
            TreeState::InUse => (GREEN, "in use"),
            TreeState::Left => (YELLOW, "left over"),
            TreeState::Resolving => (GREEN, "resolving"),
            TreeState::HalfMade => (YELLOW, "incomplete"),
            TreeState::Going => (DIM, "deleting"),
            TreeState::FolderGone => (YELLOW, "files missing"),
            TreeState::Unregistered => (YELLOW, "unknown to git"),
        };
        let branch = worktree.branch.as_deref().map(one_line);
        Self {
            name: one_line(&name(worktree)),
            state,
            age: worktree.age.map(age).unwrap_or_default(),
            node: String::new(),
            branch: branch.unwrap_or_default(),
            path: one_line(&worktree.path.to_string_lossy()),
            warning: warning(worktree),
        }
    }

    fn of_node(worktree: &NodeWorktree) -> Self {
        Self {
            name: one_line(&worktree.id),
            state: (GREEN, "in use"),
            age: worktree.age.map(age).unwrap_or_default(),
            node: one_line(&worktree.node),
            branch: one_line(&worktree.branch),
            path: one_line(&worktree.path),
            warning: String::new(),
        }
    }
}

/// What whoever goes there should know: a shell prompt that asks git is enough to run what an agent configured.
fn warning(worktree: &ListedWorktree) -> String {
    if worktree.is_safe || !worktree.path.is_dir() {
        return String::new();
    }
    format!("  {YELLOW}unsafe: do not run git here{YELLOW:#}")
}

fn print_json(found: &FoundWorktrees) {
    let here = found.here.iter().map(|worktree| {
        json!({
            "id": name(worktree),
            "path": worktree.path,
            "branch": worktree.branch,
            "head": worktree.head.as_ref().map(CommitId::as_str),
            "basis": worktree.basis.as_ref().map(CommitId::as_str),
            "state": state(worktree.state),
            "git_safe": worktree.is_safe,
            "seconds": worktree.age.map(|age| age.as_secs()),
            "node": null,
        })
    });
    let on_nodes = found.on_nodes.iter().map(|worktree| {
        json!({
            "id": worktree.id,
            "path": worktree.path,
            "branch": worktree.branch,
            "head": null,
            "basis": null,
            "state": state(TreeState::InUse),
            "git_safe": false,
            "seconds": worktree.age.map(|age| age.as_secs()),
            "node": worktree.node,
        })
    });
    let worktrees: Vec<Value> = here.chain(on_nodes).collect();
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
