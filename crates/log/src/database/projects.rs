//! Projects as rows, with the plan files that are mirrored and the execution plan of each.
//!
//! Knows columns; whether a folder is there is looked at elsewhere.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use pleach_domain::id::BatchNumber;
use rusqlite::{OptionalExtension as _, Row, params};

use super::DatabaseError;
use super::board::BoardTables;
use super::read::{path_in, unsigned_in};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRow {
    /// The name of its store.
    pub id: String,
    pub folder: PathBuf,
    /// Where it was cloned from, without a login.
    pub url: Option<String>,
    /// What a person calls it, if not by its folder.
    pub name: Option<String>,
    pub added_at: u64,
    pub is_hidden: bool,
    pub clone: CloneState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloneState {
    /// It is here, or was never elsewhere.
    Ready,
    /// Somebody was at it when this was written.
    UnderWay,
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirroredRow {
    pub path: String,
    /// How the file looked from outside when it was read last; empty if it is to be read again.
    pub seen: String,
    /// Why its tasks are not those of the file as it stands.
    pub error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanRow {
    /// Tasks of the board, as JSON.
    OfBoard(String),
    /// The plan file of that path.
    OfFile(String),
}

const COLUMNS: &str = "id, folder, url, name, added_at, hidden, clone, clone_error";

impl BoardTables<'_> {
    pub fn projects(self) -> Result<Vec<ProjectRow>, DatabaseError> {
        let sql = format!("SELECT {COLUMNS} FROM project ORDER BY added_at, id");
        self.ask("list projects", |connection| {
            let mut select = connection.prepare(&sql)?;
            let rows = select.query_map([], project_row)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    pub fn project(self, id: &str) -> Result<Option<ProjectRow>, DatabaseError> {
        let sql = format!("SELECT {COLUMNS} FROM project WHERE id = ?1");
        self.ask("find a project", |connection| {
            Ok(connection.query_row(&sql, [id], project_row).optional()?)
        })
    }

    /// Adds a project, or brings it to what is given.
    pub fn put_project(self, row: &ProjectRow) -> Result<(), DatabaseError> {
        let (clone, error) = match &row.clone {
            CloneState::Ready => ("ready", None),
            CloneState::UnderWay => ("cloning", None),
            CloneState::Failed(error) => ("failed", Some(error)),
        };
        let sql = format!(
            "INSERT INTO project ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (id) DO UPDATE SET folder = ?2, url = ?3, name = ?4, hidden = ?6,
             clone = ?7, clone_error = ?8"
        );
        self.ask("store a project", |connection| {
            connection.execute(
                &sql,
                params![
                    row.id,
                    row.folder.as_os_str().as_bytes(),
                    row.url,
                    row.name,
                    row.added_at.cast_signed(),
                    row.is_hidden,
                    clone,
                    error,
                ],
            )?;
            Ok(())
        })
    }

    pub fn open_batch(self, project: &str) -> Result<Option<BatchNumber>, DatabaseError> {
        self.ask("look up batches", |connection| {
            let sql =
                "SELECT max(number) FROM batch_state AS state JOIN batch ON batch.id = state.batch
                       WHERE state.project = ?1 AND ended_at IS NULL";
            let number: Option<u32> = connection.query_row(sql, [project], |row| row.get(0))?;
            Ok(number.map(BatchNumber))
        })
    }

    pub fn mirrored(self, project: &str) -> Result<Vec<MirroredRow>, DatabaseError> {
        self.ask("list plan files", |connection| {
            let sql =
                "SELECT path, seen, error FROM mirrored_plan WHERE project = ?1 ORDER BY rowid";
            let mut select = connection.prepare(sql)?;
            let rows = select.query_map([project], |row| {
                Ok(MirroredRow {
                    path: row.get(0)?,
                    seen: row.get(1)?,
                    error: row.get(2)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The projects that have mirrored plan files and are shown.
    pub fn projects_with_files(self) -> Result<Vec<String>, DatabaseError> {
        self.ask("list plan files", |connection| {
            let sql = "SELECT DISTINCT project FROM mirrored_plan
                       JOIN project ON project.id = mirrored_plan.project WHERE NOT hidden";
            let mut select = connection.prepare(sql)?;
            let rows = select.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    pub fn put_mirrored(self, project: &str, row: &MirroredRow) -> Result<(), DatabaseError> {
        self.ask("store a plan file", |connection| {
            let sql =
                "INSERT INTO mirrored_plan (project, path, seen, error) VALUES (?1, ?2, ?3, ?4)
                       ON CONFLICT (project, path) DO UPDATE SET seen = ?3, error = ?4";
            connection.execute(sql, params![project, row.path, row.seen, row.error])?;
            Ok(())
        })
    }

    pub fn plan(self, project: &str) -> Result<Option<PlanRow>, DatabaseError> {
        Ok(self.plan_with_revision(project)?.map(|(plan, _)| plan))
    }

    /// The same with its revision, which is another one each time a plan is set.
    pub fn plan_with_revision(
        self,
        project: &str,
    ) -> Result<Option<(PlanRow, String)>, DatabaseError> {
        self.ask("find an execution plan", |connection| {
            let sql = "SELECT json, path, revision FROM execution_plan WHERE project = ?1";
            let found = connection.query_row(sql, [project], |row| {
                let path: Option<String> = row.get(1)?;
                let plan = match path {
                    Some(path) => PlanRow::OfFile(path),
                    None => PlanRow::OfBoard(row.get(0)?),
                };
                Ok((plan, row.get(2)?))
            });
            Ok(found.optional()?)
        })
    }

    pub fn put_plan(self, project: &str, plan: &PlanRow) -> Result<(), DatabaseError> {
        let (json, path) = match plan {
            PlanRow::OfBoard(json) => (Some(json), None),
            PlanRow::OfFile(path) => (None, Some(path)),
        };
        self.ask("store an execution plan", |connection| {
            let sql = "INSERT OR REPLACE INTO execution_plan (project, json, path, revision)
                       VALUES (?1, ?2, ?3, lower(hex(randomblob(8))))";
            connection.execute(sql, params![project, json, path])?;
            Ok(())
        })
    }
}

fn project_row(row: &Row<'_>) -> rusqlite::Result<ProjectRow> {
    let clone: String = row.get(6)?;
    let error: Option<String> = row.get(7)?;
    Ok(ProjectRow {
        id: row.get(0)?,
        folder: path_in(row, 1)?,
        url: row.get(2)?,
        name: row.get(3)?,
        added_at: unsigned_in(row, 4)?,
        is_hidden: row.get(5)?,
        clone: match clone.as_str() {
            "cloning" => CloneState::UnderWay,
            "failed" => CloneState::Failed(error.unwrap_or_default()),
            _ => CloneState::Ready,
        },
    })
}
