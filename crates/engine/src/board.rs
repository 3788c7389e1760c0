//! Projects, the tasks on their boards, and plan files that are mirrored there.
//!
//! Everything that changes is logged in the transaction that changes it. Runs nothing.

mod cloning;
mod error;
mod execution_plan;
mod import;
mod in_step;
mod limits;
mod marking;
mod projects;
mod shown;
mod sync;
mod tasks;
mod to_run;

use pleach_domain::plan::Plan;
use rustix::rand::{GetRandomFlags, getrandom};

pub use cloning::Cloning;
pub(crate) use error::BoardErrorKind;
pub use error::{BoardError, FieldProblem};
pub use execution_plan::{ExecutionPlan, IdText, PlannedBatch, PlannedTask};
pub use import::Imported;
pub use marking::mark_on_board;
pub use projects::{Project, ProjectStatus};
pub use shown::{BoardTask, LastBatch};
pub use tasks::{NewTask, TaskChange};
pub use to_run::TasksToRun;

use pleach_system::state_folder::StateFolder;

use pleach_log::database::Database;
use pleach_log::database::board::{BoardTables, TaskRow};

/// The boards of all projects; whoever needs them opens their own.
#[derive(Debug)]
pub struct Board {
    database: Database,
    state: StateFolder,
}

impl Board {
    pub fn open(state: &StateFolder) -> Result<Self, BoardError> {
        Ok(Self {
            database: Database::open(state)?,
            state: state.clone(),
        })
    }
}

fn fresh_id() -> Result<String, BoardError> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut bytes = [0_u8; 16];
    // So few bytes come whole, or not at all.
    getrandom(&mut bytes[..], GetRandomFlags::empty())
        .map_err(|error| BoardError::NoId(error.into()))?;
    let letters = bytes.iter().map(|byte| LETTERS[usize::from(byte % 32)]);
    Ok(letters.map(char::from).collect())
}

/// Rows as a plan without phases, notes and stages of its own.
fn plan_of_rows<'r>(rows: impl IntoIterator<Item = &'r TaskRow>) -> Plan {
    Plan {
        tasks: rows.into_iter().map(to_run::task_of).collect(),
        ..Plan::default()
    }
}

fn last_position(tables: BoardTables<'_>, project: &str) -> Result<f64, BoardError> {
    let rows = tables.tasks(project)?;
    Ok(rows.last().map_or(0.0, |row| row.position))
}
