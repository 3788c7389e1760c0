//! `pleach recover`: lists the work that is kept, or brings it back as branches, or as folders where there is no repository.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anstyle::{AnsiColor, Style};
use pleach_domain::id::BatchNumber;
use pleach_engine::kept::{
    KeptError, KeptSelector, KeptWork, OtherCopy, RecoveredTo, RecoveredWork, list, recover,
};
use pleach_engine::stored_batch::StoredBatch;
use pleach_git::git::{CommitId, Git, Store};
use pleach_log::database::Database;
use pleach_log::ownership::is_owned;
use pleach_system::state_folder::StateFolder;
use pleach_system::text::shell_words::quoted;
use serde_json::json;

use super::status::find_batch;
use crate::args::RecoverArgs;
use crate::columns::{age, cut, padded, terminal_width};
use crate::failure::{Exit, Failures};
use crate::output::{Reader, one_line, print, tell_error};
use crate::plan_source::current_folder;
use crate::preview::count;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();

pub(crate) fn run(arguments: &RecoverArgs) -> Result<Exit, Failures> {
    let reader = Reader::from_flag(arguments.json);
    let answer = StateFolder::of_user()
        .map_err(Failures::from)
        .and_then(|state| match arguments.batch {
            None => list_kept(&state, arguments),
            Some(batch) => bring_back(&state, batch, arguments),
        });
    answer.map_err(|failures| failures.told_to(reader))
}

fn list_kept(state: &StateFolder, arguments: &RecoverArgs) -> Result<Exit, Failures> {
    let store = Store::existing(Git::find()?, &state.stores(), &current_folder()?)?;
    let mut all = match &store {
        Some(store) => list(store, &Database::open(state)?)?,
        None => Vec::new(),
    };
    let merged = all
        .iter()
        .filter(|work| work.also == OtherCopy::Merged)
        .count();
    if !arguments.all {
        all.retain(|work| work.also != OtherCopy::Merged);
    }
    // What stood on a branch is mostly what an attempt left.
    let of_attempts: HashSet<CommitId> = all
        .iter()
        .filter(|work| work.attempt().is_some())
        .map(|work| work.commit.clone())
        .collect();
    all.retain(|work| work.attempt().is_some() || !of_attempts.contains(&work.commit));
    // Newest first.
    all.sort_by_key(|work| std::cmp::Reverse(work.kept_at));
    let mut works = Vec::new();
    for work in all {
        let files = match &store {
            Some(store) => work.count_files(store)?,
            None => None,
        };
        works.push((work, files));
    }
    if arguments.json {
        print_json(&works);
        return Ok(Exit::Success);
    }
    if works.is_empty() {
        print(format_args!("No unmerged work is kept.\n"));
    }
    print_list(&works);
    if merged > 0 && !arguments.all {
        print(format_args!(
            "{DIM}{} more {} already merged; --all lists {}{DIM:#}\n",
            merged,
            if merged == 1 { "is" } else { "are" },
            if merged == 1 { "it" } else { "them" },
        ));
    }
    if let Some(origin) = works.iter().find_map(|(work, _)| work.origin.as_ref()) {
        print(format_args!(
            "\nrestore  pleach recover {} {}\n",
            origin.batch,
            one_line(&quoted(origin.task.as_str()))
        ));
    }
    Ok(Exit::Success)
}

fn print_list(works: &[(KeptWork, Option<usize>)]) {
    let width = terminal_width().unwrap_or(usize::MAX);
    let names: Vec<String> = works.iter().map(|(work, _)| name(work)).collect();
    let column = names.iter().map(|name| name.chars().count()).max();
    let column = column.unwrap_or(0).min(40);
    for ((work, files), name) in works.iter().zip(names) {
        let old = old(work).map(age).unwrap_or_default();
        let files = files.map_or_else(String::new, |files| count(files, "file"));
        let also = match &work.also {
            OtherCopy::Nowhere => String::new(),
            OtherCopy::Branch(branch) => format!("in {}", one_line(branch)),
            OtherCopy::Merged => "merged".to_owned(),
        };
        let commit: String = work.commit.as_str().chars().take(10).collect();
        let rest = format!("{old:>5}  {files:<9}  {commit}  {also}");
        let rest = cut(rest.trim_end(), width.saturating_sub(column + 4));
        print(format_args!(
            "  {BOLD}{}{BOLD:#}  {rest}\n",
            padded(&cut(&name, column), column)
        ));
    }
}

fn name(work: &KeptWork) -> String {
    match &work.origin {
        Some(origin) => {
            let attempt = origin.attempt;
            let attempt = match attempt {
                Some(attempt) => format!("attempt {attempt}"),
                None if origin.by_hand => "by hand".to_owned(),
                None => "branch".to_owned(),
            };
            let task = one_line(origin.task.as_str());
            format!("batch {}  {task}  {attempt}", origin.batch)
        }
        None => one_line(work.name.trim_start_matches("refs/pleach/keep/")),
    }
}

fn old(work: &KeptWork) -> Option<Duration> {
    let kept = SystemTime::UNIX_EPOCH + Duration::from_millis(work.kept_at?);
    Some(SystemTime::now().duration_since(kept).unwrap_or_default())
}

fn print_json(works: &[(KeptWork, Option<usize>)]) {
    let kept: Vec<_> = works
        .iter()
        .map(|(work, files)| {
            let origin = work.origin.as_ref();
            json!({
                "ref": work.name,
                "commit": work.commit.as_str(),
                "batchId": origin.map(|origin| origin.batch_id),
                "number": origin.map(|origin| origin.batch),
                "key": origin.map(|origin| origin.task.as_str()),
                "attempt": origin.and_then(|origin| origin.attempt),
                "byHand": origin.is_some_and(|origin| origin.by_hand),
                "keptAt": work.kept_at.map(pleach_system::text::moment::rfc3339),
                "files": files,
                "merged": work.also == OtherCopy::Merged,
                "branch": match &work.also {
                    OtherCopy::Branch(branch) => Some(branch),
                    _ => None,
                },
            })
        })
        .collect();
    print(format_args!("{:#}\n", json!({ "kept": kept })));
}

fn bring_back(
    state: &StateFolder,
    batch: BatchNumber,
    arguments: &RecoverArgs,
) -> Result<Exit, Failures> {
    let database = Database::open(state)?;
    let id = find_batch(state, batch)?;
    let stored = StoredBatch::load(&database, id)?;
    let is_live = is_owned(&state.batch(id)).map_err(KeptError::from)?;
    if !stored.batch.status.is_over() && !is_live {
        tell_error(format_args!(
            "batch {batch} is interrupted; `pleach resume {batch}` resumes it\n"
        ));
    }
    let task = arguments.task.as_ref();
    let which = match arguments.attempt {
        Some(attempt) => KeptSelector::Attempt(attempt),
        None if arguments.by_hand => KeptSelector::ByHand,
        None => KeptSelector::Last,
    };
    let recovered = recover(state, &database, &stored, task, which)?;
    if arguments.json {
        let branches: Vec<_> = recovered
            .iter()
            .map(|work| {
                json!({
                    "key": work.task.as_str(),
                    "attempt": work.attempt,
                    "branch": match &work.back {
                        RecoveredTo::Branch(branch) => Some(branch),
                        RecoveredTo::Folder(_) | RecoveredTo::Unchanged => None,
                    },
                    "folder": match &work.back {
                        RecoveredTo::Branch(_) | RecoveredTo::Unchanged => None,
                        RecoveredTo::Folder(folder) => Some(folder.to_string_lossy()),
                    },
                    "commit": work.commit.as_str(),
                    "basis": work.basis.as_ref().map(CommitId::as_str),
                })
            })
            .collect();
        let answer = json!({"batchId": id, "number": batch, "repository": stored.folder(), "recovered": branches});
        print(format_args!("{answer:#}\n"));
        return Ok(Exit::Success);
    }
    for work in &recovered {
        print_recovered(work, stored.folder());
    }
    Ok(Exit::Success)
}

fn print_recovered(work: &RecoveredWork, original: &Path) {
    let (back, look) = match &work.back {
        RecoveredTo::Unchanged => {
            let task = one_line(work.task.as_str());
            print(format_args!(
                "  task {task}, {}  changed no files, so no branch was created\n",
                by(work)
            ));
            return;
        }
        RecoveredTo::Branch(branch) => {
            let look = look_at_branch(&one_line(&quoted(branch)), work);
            (one_line(branch), look)
        }
        RecoveredTo::Folder(folder) => {
            let shown = |path: &Path| one_line(&quoted(&path.to_string_lossy()));
            let look = format!("diff -r {} {}", shown(original), shown(folder));
            (one_line(&folder.to_string_lossy()), look)
        }
    };
    let by = by(work);
    print(format_args!(
        "{GREEN}✓{GREEN:#} task {}, {by}  → {BOLD}{back}{BOLD:#}\n    {DIM}view{DIM:#}  {look}\n",
        one_line(work.task.as_str()),
    ));
}

fn by(work: &RecoveredWork) -> String {
    match work.attempt {
        Some(attempt) => format!("attempt {attempt}"),
        None => "by hand".to_owned(),
    }
}

fn look_at_branch(branch: &str, work: &RecoveredWork) -> String {
    let basis = work.basis.as_ref().map(CommitId::as_str);
    let basis: String = basis.unwrap_or_default().chars().take(10).collect();
    if basis.is_empty() {
        format!("git show {branch}")
    } else {
        format!("git diff {basis} {branch}")
    }
}
