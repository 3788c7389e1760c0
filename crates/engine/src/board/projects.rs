//! Projects: added by folder or by address, listed, renamed, hidden.
//!
//! Looks at folders and never writes to them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pleach_git::git::{Git, Store};
use pleach_log::database::board::BoardTables;
use pleach_log::database::projects::{CloneState, ProjectRow};
use pleach_log::database::{BoardEvent, now};
use pleach_system::text::moment::rfc3339;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::cloning::{self, Cloning};
use super::limits;
use super::shown::plan_name;
use super::{Board, BoardError, FieldProblem};
use crate::plan_in_use::{self, project_folder};

/// A repository or a folder that Pleach works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// The id of the project.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// Its folder.
    #[schema(value_type = String)]
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// The URL it was cloned from.
    pub url: Option<String>,
    /// Whether it is a git repository; a plain folder has no branches.
    pub is_repository: bool,
    /// Whether it is ready to use.
    pub status: ProjectStatus,
    /// Why it could not be cloned.
    pub error: Option<String>,
    /// The plan files that are kept in sync with the board, relative to the folder.
    pub plan_files: Vec<String>,
    /// The plan that `pleach run` would use, if no file has been imported; it can be imported by this path.
    pub found_plan: Option<String>,
    /// Why an imported file is not in sync with the board.
    pub plan_error: Option<String>,
    /// Whether it has an execution plan.
    pub has_plan: bool,
    /// When it was added.
    pub added_at: String,
}

/// Whether a project is ready to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProjectStatus {
    /// It is being cloned.
    Cloning,
    /// It is ready.
    Ready,
    /// Cloning failed.
    Failed,
}

fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// The folder that a project is, though a batch may have been started further below.
pub(super) fn top_of(row: &ProjectRow) -> PathBuf {
    match row.url {
        Some(_) => row.folder.clone(),
        None => project_folder(&row.folder),
    }
}

impl Board {
    /// All projects that are not hidden, the oldest first.
    pub fn projects(&self) -> Result<Vec<Project>, BoardError> {
        self.database.look_at_boards(|tables| {
            let rows = tables.projects()?.into_iter();
            let shown = rows.filter(|row| !row.is_hidden);
            shown.map(|row| self.drawn(tables, &row)).collect()
        })
    }

    /// A project that is not hidden.
    pub fn project(&self, id: &str) -> Result<Project, BoardError> {
        self.database
            .look_at_boards(|tables| self.drawn(tables, &known(tables, id)?))
    }

    /// Adds the project that a folder is in; one that was hidden comes back.
    pub fn add_folder(&mut self, folder: &Path) -> Result<Project, BoardError> {
        let (id, folder) = self.name_and_top(folder)?;
        let database = &mut self.database;
        database.change_boards(|tables| -> Result<(), BoardError> {
            let row = match tables.project(&id)? {
                Some(row) => ProjectRow {
                    is_hidden: false,
                    ..row
                },
                None => new_row(&id, folder),
            };
            put(tables, &row)
        })?;
        self.project(&id)
    }

    /// Adds the repository at an address; what is returned besides brings it, if it is not here yet.
    pub fn add_url(&mut self, url: &str) -> Result<(Project, Option<Cloning>), BoardError> {
        let cloning = Cloning::to(&self.state, url)?;
        let id = cloning.id().to_owned();
        let is_here = cloning.is_here();
        let begun = if is_here { None } else { cloning.begin()? };
        let database = &mut self.database;
        database.change_boards(|tables| -> Result<(), BoardError> {
            let mut row = match tables.project(&id)? {
                Some(row) => row,
                None => new_row(&id, cloning.folder().to_owned()),
            };
            row.is_hidden = false;
            row.url = Some(cloning.url().to_owned());
            row.clone = if is_here {
                CloneState::Ready
            } else {
                CloneState::UnderWay
            };
            put(tables, &row)
        })?;
        let project = self.project(&id)?;
        Ok((project, begun.map(|lock| cloning.holding(lock))))
    }

    pub fn rename_project(&mut self, id: &str, name: &str) -> Result<Project, BoardError> {
        limits::check(|problems| limits::line("name", name, 100, problems))?;
        self.database
            .change_boards(|tables| -> Result<(), BoardError> {
                let mut row = known(tables, id)?;
                row.name = Some(name.trim().to_owned());
                put(tables, &row)
            })?;
        self.project(id)
    }

    /// Hides a project; nothing is deleted, and adding it again brings it back.
    pub fn hide_project(&mut self, id: &str) -> Result<(), BoardError> {
        self.database.change_boards(|tables| {
            let mut row = known(tables, id)?;
            if let Some(batch) = tables.open_batch(id)? {
                return Err(BoardError::ProjectBusy { batch });
            }
            row.is_hidden = true;
            put(tables, &row)
        })
    }

    fn name_and_top(&self, folder: &Path) -> Result<(String, PathBuf), BoardError> {
        let folder = real_folder(folder)?;
        let git = Git::find()?;
        if Store::is_plain(&git, &folder) {
            return Ok((Store::plain_name(&folder), folder));
        }
        let name = Store::name_of(&git, &self.state.stores(), &folder)?;
        Ok((name, project_folder(&folder)))
    }

    fn drawn(&self, tables: BoardTables<'_>, row: &ProjectRow) -> Result<Project, BoardError> {
        let path = top_of(row);
        let called = || path.file_name().unwrap_or(path.as_os_str());
        let (status, error) = match &row.clone {
            CloneState::Ready => (ProjectStatus::Ready, None),
            CloneState::UnderWay if cloning::is_under_way(&self.state, &row.folder) => {
                (ProjectStatus::Cloning, None)
            }
            CloneState::UnderWay => {
                let error = "the clone was interrupted".to_owned();
                (ProjectStatus::Failed, Some(error))
            }
            CloneState::Failed(error) => (ProjectStatus::Failed, Some(error.clone())),
        };
        let url_name = row.url.as_deref().and_then(cloning::name_in);
        let mirrored = tables.mirrored(&row.id)?;
        let files = mirrored.iter();
        let is_unplanned = status == ProjectStatus::Ready && mirrored.is_empty();
        Ok(Project {
            id: row.id.clone(),
            name: row
                .name
                .clone()
                .or(url_name)
                .unwrap_or_else(|| called().to_string_lossy().into_owned()),
            url: row.url.clone(),
            is_repository: path.ancestors().any(|above| above.join(".git").exists())
                || row.url.is_some(),
            status,
            error,
            plan_files: files
                .filter_map(|file| plan_name(&file.path, &path))
                .collect(),
            found_plan: is_unplanned.then(|| plan_in(&path)).flatten(),
            plan_error: mirrored.iter().find_map(|file| file.error.clone()),
            has_plan: tables.plan(&row.id)?.is_some(),
            added_at: rfc3339(row.added_at),
            path,
        })
    }
}

/// The plan in use of a folder, if it is a file inside.
fn plan_in(folder: &Path) -> Option<String> {
    let plan = plan_in_use::find(folder).ok()?;
    let is_inside = plan.is_relative() && folder.join(&plan).is_file();
    is_inside.then(|| plan.to_str().map(str::to_owned))?
}

/// Stores a project, and tells of it if it is another one than before.
pub(super) fn put(tables: BoardTables<'_>, row: &ProjectRow) -> Result<(), BoardError> {
    let is_same = tables.project(&row.id)?.as_ref() == Some(row);
    tables.put_project(row)?;
    if !is_same {
        tables.note(&row.id, &BoardEvent::ProjectUpdated {})?;
    }
    Ok(())
}

fn new_row(id: &str, folder: PathBuf) -> ProjectRow {
    ProjectRow {
        id: id.to_owned(),
        folder,
        url: None,
        name: None,
        added_at: now(),
        is_hidden: false,
        clone: CloneState::Ready,
    }
}

/// The row of a project that is not hidden.
pub(super) fn known(tables: BoardTables<'_>, id: &str) -> Result<ProjectRow, BoardError> {
    let row = tables.project(id)?.filter(|row| !row.is_hidden);
    row.ok_or_else(|| BoardError::NoProject(id.to_owned()))
}

fn real_folder(path: &Path) -> Result<PathBuf, BoardError> {
    let shown = path.display();
    let wrong = |message, hint: String| {
        let problem = FieldProblem::new("path", "not_a_folder", message).hint(hint);
        Err(BoardError::Fields(vec![problem]))
    };
    if !path.is_absolute() {
        let hint = "pass an absolute path".to_owned();
        return wrong(format!("{shown} is not an absolute path"), hint);
    }
    match path.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(real) => {
            let above = real.parent().unwrap_or(&real).display();
            wrong(
                format!("{shown} is not a folder"),
                format!("{above} is a folder"),
            )
        }
        Err(error) => {
            let above = path.ancestors().find(|above| above.is_dir());
            let above = above.unwrap_or(Path::new("/")).display();
            let hint = if error.kind() == ErrorKind::PermissionDenied {
                format!("the server has no permission to read {above}")
            } else {
                format!("on the server's machine, only {above} exists")
            };
            wrong(format!("could not find {shown}: {error}"), hint)
        }
    }
}
