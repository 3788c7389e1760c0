//! What the commands on one batch share: the batch that is meant, what can be asked of it, and what they say when it is done.

use std::path::PathBuf;

use pleach_domain::id::BatchNumber;
use pleach_engine::control::Control;
use pleach_log::database::Database;
use pleach_log::view::BatchView;
use pleach_system::state_folder::StateFolder;
use serde_json::json;

use super::run::own_program;
use super::status::find_batch;
use crate::failure::{Exit, Failures};
use crate::output::{Reader, one_line, print};

pub(super) struct ControlledBatch {
    pub(super) state: StateFolder,
    pub(super) id: u32,
    pub(super) program: PathBuf,
}

impl ControlledBatch {
    pub(super) fn find(number: BatchNumber) -> Result<Self, Failures> {
        let state = StateFolder::of_user()?;
        let id = find_batch(&state, number)?;
        Self::new(state, id)
    }

    pub(super) fn new(state: StateFolder, id: u32) -> Result<Self, Failures> {
        let program = own_program()?;
        Ok(Self { state, id, program })
    }

    pub(super) fn control(&self) -> Control<'_> {
        Control {
            state: &self.state,
            batch: self.id,
            program: &self.program,
        }
    }

    pub(super) fn tell_done(&self, message: &str, reader: Reader) -> Result<Exit, Failures> {
        match reader {
            Reader::Person => print(format_args!("{}\n", one_line(message))),
            Reader::Program => {
                let database = Database::open(&self.state)?;
                let view = BatchView::load(&self.state, &database, self.id)?;
                let answer = json!({"message": message, "batch": view});
                print(format_args!("{answer:#}\n"));
            }
        }
        Ok(Exit::Success)
    }
}
