//! What is sent to a cluster to have one of its nodes looked at: prepared here, sent by whoever can.

use std::path::{Path, PathBuf};

use pleach_domain::choice::Where;
use pleach_git::git::{CommitId, Git, Store};
use pleach_log::batch_paths::WorkPlace;
use pleach_system::state_folder::StateFolder;

use super::{DoctorCheck, NodeNeeds};
use crate::agent::{Presence, choose};
use crate::batch_record::{AttemptSettings, ClusterSettings};
use crate::config::{Config, Settings};
use crate::fault::Faults;
use crate::plan_in_use::project_folder;
use crate::run::RunError;
use crate::run::usual_cluster_settings;
use crate::start::GRACE;

/// A look at a node, ready to be sent.
#[derive(Debug)]
pub struct NodeVisit {
    pub cluster: ClusterSettings,
    pub attempts: AttemptSettings,
    pub needs: NodeNeeds,
    /// The names of variables that any agent would get besides the usual ones.
    pub passed_on: Vec<String>,
    pub store: Store,
    /// What a batch would start from.
    pub base: CommitId,
    pub state: StateFolder,
    pub program: PathBuf,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct NodeReport {
    /// The node, if one began.
    pub node: Option<String>,
    pub findings: Vec<DoctorCheck>,
}

/// Sends it and waits; what it waits for is told meanwhile.
pub type ExamineNode = fn(&NodeVisit, &mut dyn FnMut(&str)) -> NodeReport;

impl NodeVisit {
    /// The same for somebody who stands in `folder`; nothing if batches would run on this machine.
    pub fn prepare(folder: &Path, program: &Path, place: Where) -> Result<Option<Self>, Faults> {
        let flags = Config {
            place: Some(place),
            ..Config::default()
        };
        let settings = Settings::load(&project_folder(folder), flags)?;
        let cluster = usual_cluster_settings(&settings, WorkPlace::Worktrees);
        let cluster = cluster.map_err(RunError::from)?;
        let Some(cluster) = cluster else {
            return Ok(None);
        };
        let agent = choose(&settings)?;
        let attempts = AttemptSettings::of(&settings, agent.clone(), GRACE);
        let all = Presence::all(&settings).into_iter();
        let mut passed_on: Vec<String> = all.flat_map(|agent| agent.passed_on).collect();
        passed_on.extend(attempts.passed_on());
        passed_on.sort();
        passed_on.dedup();
        let state = StateFolder::of_user()?;
        let store = Store::open(Git::find()?, &state.stores(), folder)?;
        Ok(Some(Self {
            base: store.resolve_base(settings.base.as_deref())?,
            needs: NodeNeeds::of(&settings, agent),
            program: program.to_owned(),
            cluster,
            attempts,
            passed_on,
            store,
            state,
        }))
    }
}
