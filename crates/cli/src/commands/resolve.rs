//! `pleach resolve`: a person resolves a conflict, and the batch goes on with the result.

use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use pleach_domain::task_state::Ending;
use pleach_engine::control::ControlOutcome;
use pleach_engine::resolve::{
    OpenedConflict, Resolution, ResolutionStart, ResolveError, ResolvedConflict,
};
use pleach_engine::run::{Prepared, RunBatch, Summary};
use pleach_engine::stored_batch::StoredBatch;
use pleach_log::database::Database;
use pleach_system::detach;
use pleach_system::state_folder::StateFolder;
use pleach_system::text::shell_words::quoted;
use serde_json::json;

use super::control::ControlledBatch;
use super::run::{exit, start_detached};
use super::status::find_batch;
use super::watch::carry_out;
use super::weave::in_words;
use crate::args::ResolveArgs;
use crate::editor;
use crate::failure::{Exit, Failure, Failures};
use crate::output::{Reader, one_line, print, tell_error};
use crate::preview::count;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Does what the flags say; without one, lays the conflict out.
pub(crate) fn run(arguments: &ResolveArgs, run_batch: RunBatch) -> Result<Exit, Failures> {
    let reader = Reader::from_flag(arguments.json);
    let answer = StateFolder::of_user()
        .map_err(Failures::from)
        .and_then(|state| {
            let person = ResolveSession {
                state: &state,
                id: find_batch(&state, arguments.batch)?,
                arguments,
                run_batch,
                reader,
            };
            if arguments.done {
                person.finish()
            } else if arguments.abort {
                person.abort()
            } else {
                person.start()
            }
        });
    answer.map_err(|failures| failures.told_to(reader))
}

struct ResolveSession<'a> {
    state: &'a StateFolder,
    id: u32,
    arguments: &'a ResolveArgs,
    run_batch: RunBatch,
    reader: Reader,
}

impl ResolveSession<'_> {
    fn resolution(&self) -> Result<Resolution<'_>, Failures> {
        let task = &self.arguments.task;
        Resolution::find(self.state, self.id, task).map_err(unresolved)
    }

    fn start(&self) -> Result<Exit, Failures> {
        // Nothing is laid out that could not be opened then.
        let editor = if self.arguments.edit {
            Some(editor::find().ok_or_else(|| {
                Failure::new(Exit::Environment, "no_editor", "no editor is set")
                    .hint("set EDITOR, or omit --edit and edit the files yourself")
            })?)
        } else {
            None
        };
        let started = self.resolution()?.start().map_err(unresolved)?;
        if let Some(editor) = editor {
            edit(&editor, &started)?;
        }
        match self.reader {
            Reader::Program => self.print_json(&started),
            Reader::Person => self.print(&started),
        }
        Ok(Exit::Success)
    }

    fn print(&self, started: &OpenedConflict) {
        let ResolveArgs { batch, task, .. } = self.arguments;
        let task = one_line(task.as_str());
        let what = match started.files.len() {
            0 => "it merges cleanly now; nothing to resolve".to_owned(),
            files => format!("{} to resolve", count(files, "file")),
        };
        let again = match started.begun {
            ResolutionStart::Now => "",
            ResolutionStart::Before => ", already started",
        };
        print(format_args!(
            "Task {BOLD}{task}{BOLD:#} of batch {batch}: {what}{again}\n  {}\n",
            one_line(&started.path.to_string_lossy())
        ));
        for (path, kind) in &started.files {
            let path = one_line(&path.to_string_lossy());
            print(format_args!(
                "    {YELLOW}{path}{YELLOW:#}  {DIM}{}{DIM:#}\n",
                in_words(*kind)
            ));
        }
        let task = one_line(&quoted(self.arguments.task.as_str()));
        let edit = if self.arguments.edit || started.files.is_empty() {
            String::new()
        } else {
            format!("  {DIM}edit{DIM:#}       pleach resolve {batch} {task} --edit\n")
        };
        print(format_args!(
            "{edit}  {DIM}weave{DIM:#}      pleach resolve {batch} {task} --done\n  \
             {DIM}leave out{DIM:#}  pleach resolve {batch} {task} --abort\n"
        ));
    }

    fn print_json(&self, started: &OpenedConflict) {
        let files = started.files.iter();
        let files: Vec<_> = files
            .map(|(path, kind)| json!({"path": path.to_string_lossy(), "kind": kind.as_str()}))
            .collect();
        let answer = json!({
            "batchId": self.id,
            "number": self.arguments.batch,
            "key": self.arguments.task.as_str(),
            "path": started.path,
            "files": files,
            "begunBefore": started.begun == ResolutionStart::Before,
        });
        print(format_args!("{answer:#}\n"));
    }

    fn finish(&self) -> Result<Exit, Failures> {
        let batch = ControlledBatch::new(self.state.clone(), self.id)?;
        if self.arguments.in_background {
            detach::leave_terminal();
        }
        let resolved = self.resolution()?.finish().map_err(unresolved)?;
        for path in &resolved.left_out {
            let path = one_line(&path.to_string_lossy());
            tell_error(format_args!(
                "note: changes to {path} are left out: it is the plan file\n"
            ));
        }
        match batch.control().resolve(&self.arguments.task, &resolved)? {
            ControlOutcome::Done { message } => {
                batch.tell_done(&message, self.reader)?;
                self.outcome()
            }
            ControlOutcome::Run(prepared) if self.arguments.detach => {
                // It lets go of the batch, for whoever goes on in the background.
                drop(prepared);
                start_detached(self.state, &batch.program, &[], self.reader)
            }
            ControlOutcome::Run(prepared) => self.go_on(*prepared, &resolved),
        }
    }

    /// Runs the batch to its end, with the result in it.
    fn go_on(&self, prepared: Prepared, resolved: &ResolvedConflict) -> Result<Exit, Failures> {
        let summary = carry_out(prepared, self.run_batch, self.reader, |number| {
            if self.arguments.in_background {
                detach::announce(&number.to_string());
            }
        })?;
        if self.was_passed_over(&summary, resolved) {
            let ResolveArgs { batch, task, .. } = self.arguments;
            let message =
                format!("batch {batch} was already finishing and did not use the resolution");
            let task = quoted(task.as_str());
            let hint = format!("run `pleach resolve {batch} {task} --done` again");
            return Err(Failure::new(Exit::SomeTaskFailed, "too_late", message)
                .hint(hint)
                .into());
        }
        Ok(exit(&summary))
    }

    fn was_passed_over(&self, summary: &Summary, resolved: &ResolvedConflict) -> bool {
        let task = summary
            .tasks
            .iter()
            .find(|task| task.id == self.arguments.task);
        let ending = task.and_then(|task| task.ending.as_ref());
        matches!(ending, Some(Ending::Conflicted { commit, .. }) if commit.0 != resolved.commit.as_str())
    }

    /// What the shell is told of a task that somebody else wove.
    fn outcome(&self) -> Result<Exit, Failures> {
        let stored = StoredBatch::load(&Database::open(self.state)?, self.id)?;
        let position = stored.position(&self.arguments.task)?;
        let ending = stored.batch.tasks[position].state.ending();
        Ok(match ending {
            Some(ending) if !ending.is_success() => Exit::SomeTaskFailed,
            _ => Exit::Success,
        })
    }

    fn abort(&self) -> Result<Exit, Failures> {
        let cleared = self.resolution()?.abort().map_err(unresolved)?;
        let ResolveArgs { batch, task, .. } = self.arguments;
        let commit = cleared.kept.as_ref().map(ToString::to_string);
        if self.reader == Reader::Program {
            let answer = json!({
                "batchId": self.id, "number": batch, "key": task.as_str(), "path": cleared.path, "kept": commit,
            });
            print(format_args!("{answer:#}\n"));
            return Ok(Exit::Success);
        }
        let kept = match commit {
            Some(commit) => {
                let short: String = commit.chars().take(10).collect();
                format!("; the files of its worktree are kept as {short}")
            }
            None => String::new(),
        };
        let task = one_line(task.as_str());
        print(format_args!("task {task} remains left out{kept}\n"));
        Ok(Exit::Success)
    }
}

fn edit(editor: &str, started: &OpenedConflict) -> Result<(), Failures> {
    let is_there = |path: &&PathBuf| started.path.join(path).is_file();
    let files = started.files.iter().map(|(path, _)| path);
    let files: Vec<PathBuf> = files.filter(is_there).map(|path| below(path)).collect();
    if files.is_empty() {
        return Ok(());
    }
    let shown = one_line(editor);
    let message = match editor::open(editor, &started.path, &files) {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("the editor {shown} failed with {status}"),
        Err(error) => format!("could not start the editor {shown}: {error}"),
    };
    let hint = format!("edit the files in {} yourself", started.path.display());
    Err(Failure::new(Exit::Environment, "editor", message)
        .hint(hint)
        .into())
}

/// A path that no program takes for an option.
fn below(path: &Path) -> PathBuf {
    Path::new(".").join(path)
}

/// A conflict with something left to decide is a result, and no wrong call.
fn unresolved(error: ResolveError) -> Failures {
    let is_unfinished = matches!(error, ResolveError::Unfinished { .. });
    let failures = Failures::from(error);
    if is_unfinished {
        failures.exiting(Exit::SomeTaskFailed)
    } else {
        failures
    }
}
