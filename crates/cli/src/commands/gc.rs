//! `pleach gc`: removes what is no longer needed, after showing it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anstyle::Style;
use pleach_engine::config::{Config, Settings};
use pleach_engine::gc::{
    Garbage, GarbageCollector, GarbageKind, GarbageRemoved, Repacked, empty_folders,
    unused_on_shares,
};
use pleach_engine::plan_in_use::project_folder;
use pleach_git::git::{Git, Store};
use pleach_log::database::{BatchScope, Database};
use pleach_log::scope::Scope;
use pleach_system::state_folder::StateFolder;
use pleach_system::text::causes::with_causes;
use serde_json::{Value, json};

use crate::args::GcArgs;
use crate::columns::{age, bytes, cut, terminal_width};
use crate::failure::{Exit, Failures};
use crate::output::{Reader, one_line, print, tell_error};
use crate::plan_source::current_folder;
use crate::preview::count;
use crate::questions::confirmed;
use crate::waiting_line::WaitingLine;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

pub(crate) fn run(arguments: &GcArgs) -> Result<Exit, Failures> {
    clear_up(arguments).map_err(|failures| failures.told_to(Reader::from_flag(arguments.json)))
}

struct Project {
    name: String,
    store: Store,
    keep: Duration,
}

fn clear_up(arguments: &GcArgs) -> Result<Exit, Failures> {
    let state = StateFolder::of_user()?;
    let database = Database::open(&state)?;
    let projects = projects(&state, &database, arguments.keep)?;
    let collectors: Vec<GarbageCollector<'_>> = projects
        .iter()
        .map(|project| GarbageCollector {
            state: &state,
            database: &database,
            store: &project.store,
            project: &project.name,
            keep: project.keep,
        })
        .collect();
    let looking = WaitingLine::tell("looking for what can be removed".to_owned());
    let mut found = Vec::new();
    for collector in &collectors {
        found.push(collector.look()?);
    }
    drop(looking);
    // They are of no project; the first one takes them along.
    if let (Some(first), Some(collector)) = (found.first_mut(), collectors.first()) {
        first.extend(empty_folders(&state, &database)?);
        first.extend(unused_on_shares(&state, &database, collector.keep)?);
    }
    let all: Vec<&Garbage> = found.iter().flatten().collect();
    if !arguments.json {
        show(&all);
    }
    if arguments.dry_run {
        if arguments.json {
            print_json(&all, &[], &[], true);
        }
        return Ok(Exit::Success);
    }
    if !arguments.yes && !all.is_empty() && !is_wanted()? {
        return Ok(Exit::Success);
    }
    let mut removed = GarbageRemoved::default();
    let mut repacked = Vec::new();
    for (collector, finds) in collectors.iter().zip(&found) {
        let _waiting = WaitingLine::tell("removing".to_owned());
        let gone = collector.remove(finds);
        removed.finds.extend(gone.finds);
        removed.notes.extend(gone.notes);
        match collector.repack() {
            Ok(Some(sizes)) => repacked.push(sizes),
            Ok(None) => removed
                .notes
                .push("the store was not packed: it is in use".to_owned()),
            Err(error) => removed
                .notes
                .push(format!("the store was not packed: {}", with_causes(&error))),
        }
    }
    if arguments.json {
        let gone: Vec<&Garbage> = removed.finds.iter().collect();
        print_json(&gone, &removed.notes, &repacked, false);
    } else {
        report(&removed, &repacked);
    }
    Ok(Exit::Success)
}

/// The project around, or all of this user that can still be found.
fn projects(
    state: &StateFolder,
    database: &Database,
    keep: Option<Duration>,
) -> Result<Vec<Project>, Failures> {
    let here = current_folder()?;
    let scope = Scope::of_folder(state, &here)?;
    let mut folders: BTreeMap<String, PathBuf> = BTreeMap::new();
    match scope {
        Scope::Project(name) => {
            folders.insert(name, here);
        }
        Scope::User => {
            for row in scope.batches(database, BatchScope::All)? {
                folders.entry(row.project).or_insert(row.repository);
            }
        }
    }
    let is_only = folders.len() == 1;
    let mut projects = Vec::new();
    for (name, folder) in folders {
        let store = match Store::existing(Git::find()?, &state.stores(), &folder) {
            Ok(store) => store,
            Err(error) if is_only => return Err(error.into()),
            Err(error) => {
                let (name, what) = (one_line(&name), one_line(&with_causes(&error)));
                tell_error(format_args!("note: skipped {name}: {what}\n"));
                continue;
            }
        };
        let settings = Settings::load(&project_folder(&folder), Config::default())?;
        projects.extend(store.map(|store| Project {
            name,
            store,
            keep: keep.unwrap_or(settings.keep_work),
        }));
    }
    Ok(projects)
}

fn is_wanted() -> Result<bool, Failures> {
    let hint = "pass --yes to remove without asking, or --dry-run to only list";
    let is_wanted = confirmed("Remove this?", hint)?;
    if !is_wanted {
        tell_error(format_args!("Nothing was removed.\n"));
    }
    Ok(is_wanted)
}

fn show(finds: &[&Garbage]) {
    if finds.is_empty() {
        print(format_args!("Nothing to remove.\n"));
        return;
    }
    let width = terminal_width().unwrap_or(usize::MAX);
    for find in finds {
        let batch = find
            .number
            .map_or_else(String::new, |batch| format!("batch {batch}  "));
        let old = find.age.map(age).unwrap_or_default();
        let size = find.bytes.filter(|size| *size > 0).map(bytes);
        let rest = format!("{batch}{}", one_line(&find.name));
        let rest = cut(&rest, width.saturating_sub(36));
        print(format_args!(
            "  {:<12} {old:>5}  {:>9}  {BOLD}{rest}{BOLD:#}\n",
            find.what.as_str(),
            size.unwrap_or_default(),
        ));
    }
    if finds.iter().any(|find| {
        matches!(
            find.what,
            GarbageKind::Worktree { .. } | GarbageKind::Resolution { .. }
        )
    }) {
        print(format_args!(
            "{DIM}Files in worktrees are kept first; `pleach recover` restores them.{DIM:#}\n"
        ));
    }
}

fn report(removed: &GarbageRemoved, repacked: &[Repacked]) {
    for note in &removed.notes {
        tell_error(format_args!("note: {}\n", one_line(note)));
    }
    let freed: u64 = removed.finds.iter().filter_map(|find| find.bytes).sum();
    if !removed.finds.is_empty() {
        print(format_args!(
            "removed {}, freed {}\n",
            count(removed.finds.len(), "item"),
            bytes(freed)
        ));
    }
    for sizes in repacked {
        print(format_args!(
            "packed the store: {} → {}\n",
            bytes(sizes.before),
            bytes(sizes.after)
        ));
    }
}

fn print_json(finds: &[&Garbage], notes: &[String], repacked: &[Repacked], is_dry: bool) {
    let list: Vec<Value> = finds.iter().map(|find| entry(find)).collect();
    let freed: u64 = finds.iter().filter_map(|find| find.bytes).sum();
    let stores: Vec<_> = repacked
        .iter()
        .map(|sizes| json!({"bytesBefore": sizes.before, "bytesAfter": sizes.after}))
        .collect();
    let key = if is_dry { "wouldRemove" } else { "removed" };
    let answer = json!({key: list, "bytes": freed, "stores": stores, "notes": notes});
    print(format_args!("{answer:#}\n"));
}

fn entry(find: &Garbage) -> Value {
    let reference = match &find.what {
        GarbageKind::KeptWork { name, .. } | GarbageKind::Branch { name, .. } => Some(name),
        _ => None,
    };
    let path = match &find.what {
        GarbageKind::Worktree { path, .. }
        | GarbageKind::Resolution { path, .. }
        | GarbageKind::Socket { path }
        | GarbageKind::OnShare { path } => Some(path),
        GarbageKind::Transcripts { folder }
        | GarbageKind::EmptyFolder { folder }
        | GarbageKind::Damaged { folder } => Some(folder),
        _ => None,
    };
    json!({
        "kind": find.what.as_str().replace(' ', "_"),
        "batchId": find.batch,
        "number": find.number,
        "name": find.name,
        "ref": reference,
        "path": path,
        "seconds": find.age.map(|age| age.as_secs()),
        "bytes": find.bytes,
    })
}
