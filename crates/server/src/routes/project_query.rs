//! Whose `pleach.toml` counts for an answer, as calls say it.

use std::path::PathBuf;

use pleach_engine::board::Board;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::answer::Refusal;
use crate::app::App;
use crate::input::{Id, check_id};

/// The project that is meant, if any.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ProjectQuery {
    /// The id of a project, to include its `pleach.toml`
    #[param(value_type = Option<Id>, inline)]
    project: Option<String>,
}

impl ProjectQuery {
    /// The folder whose `pleach.toml` counts; the state folder has none.
    pub(super) fn folder(&self, app: &App) -> Result<PathBuf, Refusal> {
        match &self.project {
            Some(project) => {
                check_id(project)?;
                Ok(Board::open(&app.state)?.project(project)?.path)
            }
            None => Ok(app.state.path().to_owned()),
        }
    }
}
