//! What is known of a batch before it runs here, for whoever shows it.
//!
//! Reads and changes nothing.

use std::collections::HashMap;
use std::time::Duration;

use pleach_domain::id::TaskId;
use pleach_git::git::Unpushed;
use pleach_log::batch_paths::project_name;
use pleach_log::database::StoredEvent;
use pleach_log::earlier::BuildsOn;

use super::{Opening, Prepared, RunError};
use crate::plan_to_run::by_id_in_batch;

impl Prepared {
    pub fn id(&self) -> Option<u32> {
        match &self.opening {
            Opening::Fresh => None,
            Opening::TakenUp { id, .. } => Some(*id),
        }
    }

    /// What happened to it before, in order.
    pub fn events(&self) -> &[StoredEvent] {
        match &self.opening {
            Opening::Fresh => &[],
            Opening::TakenUp { events, .. } => events,
        }
    }

    /// The batches that its tasks build on and that are not in its base.
    pub fn builds_on(&self) -> Vec<BuildsOn> {
        self.record.builds_on()
    }

    /// How long tasks of its plans took when they were last done.
    pub fn past_durations(&self) -> Result<HashMap<TaskId, Duration>, RunError> {
        let project = project_name(&self.store);
        let homes = self.record.tasks.iter();
        let homes = homes.filter_map(|task| Some((&task.id, task.home.clone()?)));
        let look_up = |plan: &str| self.database.past_durations(&project, plan);
        Ok(by_id_in_batch(&self.record.plan, homes, look_up)?)
    }

    /// What of the repository and of the user's git is not followed, for whoever shows it; what nobody takes is told when
    /// the batch runs.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// The user's own commits that its result would take along to the server, as far as they are known.
    pub fn unpushed(&self) -> Option<Unpushed> {
        let pushes = self.record.design.settings.landing.pushes();
        let base = self.record.base.parse().ok().filter(|_| pushes)?;
        let unpushed = self.store.unpushed(&base, self.record.target.as_deref());
        unpushed.unwrap_or_default()
    }
}
