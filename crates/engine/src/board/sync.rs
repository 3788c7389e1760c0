//! Keeps mirrored plan files and their tasks in step while people go on editing the files.
//!
//! A file that cannot be read for now changes nothing; that it cannot is noted for people to see.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use pleach_domain::graph::{Graph, Strictness};
use pleach_formats::Document;
use pleach_log::database::BoardEvent;
use pleach_log::database::board::BoardTables;
use pleach_log::database::projects::MirroredRow;

use super::in_step::{bring_in_step, leaves_any_out};
use super::projects::top_of;
use super::shown::plan_name;
use super::{Board, BoardError, limits};
use crate::mentioned_files::declare_mentioned;
use crate::plan_file::PlanFile;

/// A file that was written so lately may be written again without looking another one from outside.
const SETTLED: Duration = Duration::from_millis(100);

/// How often a file that may be half written is looked at before it is left for the next time.
const MOST_LOOKS: u32 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SyncOutcome {
    /// The tasks are those of the file, or it is noted why not.
    Done,
    /// Tasks seem to be gone, and whoever writes it may not have come to them yet.
    MayBeHalf,
}

impl Board {
    pub fn projects_with_files(&self) -> Result<Vec<String>, BoardError> {
        self.database
            .look_at_boards(|tables| Ok(tables.projects_with_files()?))
    }

    /// Reads the mirrored plan files of a project that changed, and brings their tasks in step.
    pub fn sync(&mut self, project: &str) -> Result<(), BoardError> {
        let mirrored = self
            .database
            .look_at_boards(|tables| Ok::<_, BoardError>(tables.mirrored(project)?))?;
        for file in mirrored {
            if look(Path::new(&file.path)).is_some_and(|seen| seen == file.seen) {
                continue;
            }
            for _ in 0..MOST_LOOKS {
                let read = |tables: BoardTables<'_>| read_again(tables, project, &file.path);
                if self.database.change_boards(read)? == SyncOutcome::Done {
                    break;
                }
                std::thread::sleep(SETTLED);
            }
        }
        Ok(())
    }
}

/// Reads a file while nobody else can bring tasks in step, so that the last reading is of the last text.
fn read_again(
    tables: BoardTables<'_>,
    project: &str,
    path: &str,
) -> Result<SyncOutcome, BoardError> {
    let Some(row) = tables.project(project)? else {
        return Ok(SyncOutcome::Done);
    };
    let mut mirrored = tables.mirrored(project)?.into_iter();
    let Some(before) = mirrored.find(|file| file.path == path) else {
        return Ok(SyncOutcome::Done);
    };
    let top = top_of(&row);
    let seen = look(Path::new(path));
    let now = match read(Path::new(path), &top) {
        Ok(document) => {
            // Some editors empty a file before they write it: its tasks would come back as others.
            if seen.is_none() && leaves_any_out(tables, project, path, &document)? {
                return Ok(SyncOutcome::MayBeHalf);
            }
            bring_in_step(tables, project, path, &document)?;
            MirroredRow {
                path: path.to_owned(),
                seen: seen.unwrap_or_default(),
                error: None,
            }
        }
        Err(error) => MirroredRow {
            path: path.to_owned(),
            seen: seen.unwrap_or_default(),
            error: Some(error),
        },
    };
    if now != before {
        tables.put_mirrored(project, &now)?;
        if now.error != before.error {
            tables.note(project, &BoardEvent::ProjectUpdated {})?;
        }
    }
    Ok(SyncOutcome::Done)
}

/// The plan in a file, or what is wrong with it in words that name the place.
fn read(path: &Path, top: &Path) -> Result<Document, String> {
    let name = plan_name(&path.to_string_lossy(), top).unwrap_or_default();
    let inside = path.canonicalize();
    if inside.is_ok_and(|inside| inside != path) {
        return Err(format!("{name} is a symbolic link now"));
    }
    let file = PlanFile::load(path).map_err(|error| error.to_string())?;
    let mut document = pleach_formats::read(file.text());
    declare_mentioned(&mut document.plan, top);
    if document.plan.tasks.len() > limits::TASKS {
        return Err(format!("{name} has more than {} tasks", limits::TASKS));
    }
    let graph = Graph::new(&document.plan, Strictness::AsWritten);
    match graph.errors().first() {
        None => Ok(document),
        Some(problem) => Err(match problem.line {
            Some(line) => format!("{name}:{line}: {}", problem.message),
            None => format!("{name}: {}", problem.message),
        }),
    }
}

/// How a file looks from outside; nothing if that says too little.
pub(super) fn look(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    let age = SystemTime::now().duration_since(found.modified().ok()?);
    if age.is_ok_and(|age| age < SETTLED) {
        return None;
    }
    Some(format!(
        "{}.{:09} {}.{:09} {} {}",
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec(),
        found.size(),
        found.ino()
    ))
}
