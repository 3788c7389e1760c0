//! Whether a batch can be given to a cluster, looked at before anything is made.

use std::fs;
use std::path::{Path, PathBuf};

use pleach_domain::choice::Where;
use pleach_git::git::find_program;
use pleach_log::batch_paths::WorkPlace;
use pleach_system::stand_in::has_stand_in;

use super::RunError;
use crate::batch_record::ClusterSettings;
use crate::config::Settings;

/// The programs of Slurm that are called.
const PROGRAMS: [&str; 4] = ["sbatch", "squeue", "scancel", "srun"];

/// Why a batch cannot be given to a cluster.
#[derive(Debug, thiserror::Error)]
pub enum NoCluster {
    #[error("Slurm is not installed here: {program} is not on the path")]
    Missing { program: &'static str },
    #[error("a cluster needs a folder that all its machines see, and cluster.share is not set")]
    NoShare,
    #[error("cannot use the share {}: {because}", path.display())]
    BadShare { path: PathBuf, because: String },
    #[error("tasks that work in this very folder cannot run on a cluster")]
    InPlace,
}

impl NoCluster {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "no_cluster",
            Self::NoShare | Self::BadShare { .. } => "share_unusable",
            Self::InPlace => "no_cluster_in_place",
        }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "run Pleach where jobs are submitted, or use --where local",
            Self::NoShare => {
                "set it to a folder under the same path on this machine and on the nodes: \
                 pleach config set cluster.share /scratch/me/pleach"
            }
            Self::BadShare { .. } => "create the folder, or set cluster.share to another one",
            Self::InPlace => "run `git init` and commit something, or use --where local",
        }
    }

    pub(crate) fn is_users(&self) -> bool {
        matches!(self, Self::InPlace)
    }
}

/// What a batch with these settings needs of a cluster; nothing if it runs on this machine.
pub(super) fn settings_of(
    settings: &Settings,
    place: WorkPlace,
) -> Result<Option<ClusterSettings>, RunError> {
    match settings.place {
        Where::Local => return Ok(None),
        Where::Slurm => {}
    }
    if place == WorkPlace::InPlace {
        return Err(NoCluster::InPlace.into());
    }
    let share = settings.cluster_share.clone().ok_or(NoCluster::NoShare)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_missing = |program: &&&str| find_program(&path, program).is_none();
    if let Some(program) = PROGRAMS.iter().find(is_missing).filter(|_| !has_stand_in()) {
        return Err(NoCluster::Missing { program }.into());
    }
    check_share(&share).map_err(|error| NoCluster::BadShare {
        because: error.to_string(),
        path: share.clone(),
    })?;
    Ok(Some(ClusterSettings {
        share,
        scratch: settings.cluster_scratch.clone(),
        look: settings.cluster_look,
        lease: settings.cluster_lease,
        secrets: settings.cluster_secrets,
    }))
}

/// Whether the share is a folder, or can be made one, and can be written to.
fn check_share(share: &Path) -> std::io::Result<()> {
    fs::create_dir_all(share)?;
    tempfile::Builder::new()
        .prefix(".pleach-")
        .tempfile_in(share)
        .map(drop)
}
