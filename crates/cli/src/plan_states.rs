//! What the database knows of the tasks of a plan file.
//!
//! Every command that shows or starts tasks goes this way, so that all of them say the same of a task.

use pleach_domain::plan::Plan;
use pleach_engine::database::Database;
use pleach_engine::outlook::{Recall, Setting, recall};
use pleach_engine::scope::Scope;
use pleach_engine::state_folder::StateFolder;

use crate::failure::Failures;
use crate::plan_source::{PlanSource, current_folder};

/// The database of a plan whose project is known.
pub(crate) struct PlanStates {
    state: StateFolder,
    pub(crate) database: Database,
    pub(crate) project: String,
    /// The plan's name in the database.
    pub(crate) plan: String,
}

impl PlanStates {
    /// What is known so far; nothing where there is no database yet, or no project.
    pub(crate) fn find(source: &PlanSource) -> Result<Option<Self>, Failures> {
        let state = StateFolder::imagined()?;
        if !state.database().exists() {
            return Ok(None);
        }
        Self::open(state, source)
    }

    /// The same, with a database made where there is none.
    pub(crate) fn make(source: &PlanSource) -> Result<Option<Self>, Failures> {
        Self::open(StateFolder::of_user()?, source)
    }

    fn open(state: StateFolder, source: &PlanSource) -> Result<Option<Self>, Failures> {
        let scope = Scope::of(&state, &current_folder()?)?;
        let plan = source.path.canonicalize().ok();
        let (Some(project), Some(plan)) = (scope.project(), plan) else {
            return Ok(None);
        };
        Ok(Some(Self {
            database: Database::open(&state)?,
            project: project.to_owned(),
            plan: plan.to_string_lossy().into_owned(),
            state,
        }))
    }

    /// Gives the tasks of a plan the states that are known.
    pub(crate) fn recall(&self, plan: &mut Plan, what: Recall) -> Result<(), Failures> {
        let setting = Setting {
            state: &self.state,
            database: &self.database,
            project: Some(&self.project),
            plan: Some(&self.plan),
            at_once: 1,
        };
        Ok(recall(plan, &setting, what)?)
    }
}

/// Gives the tasks of a plan file the states that are known, if any are.
pub(crate) fn recall_states(source: &mut PlanSource, what: Recall) -> Result<(), Failures> {
    if let Some(states) = PlanStates::find(source)? {
        states.recall(&mut source.document.plan, what)?;
    }
    Ok(())
}
