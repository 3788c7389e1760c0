//! Whether a batch can be given to a cluster: looked at before it is asked about, and asked before it begins.
//!
//! Whatever a repository may have said of the cluster is acted on only after that was consented to.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pleach_domain::choice::{Choice as _, Where};
use pleach_git::git::find_program;
use pleach_log::batch_paths::WorkPlace;
use pleach_system::files::stored_path::StoredPath;
use pleach_system::stand_in::has_stand_in;
use pleach_system::text::causes::with_causes;

use super::{RunError, RunRequest};
use crate::batch_record::{BatchRecord, ClusterSettings};
use crate::cluster::{SizeSurvey, SlurmSettings, UnitRequest, UnitSize, cluster_of};
use crate::config::{DEFAULT_SIZE, Settings, SizeConfig};
use crate::consent::{SteeringChange, SteeringSubject};

/// The programs of Slurm that are called.
const PROGRAMS: [&str; 5] = ["sbatch", "squeue", "scancel", "srun", "scontrol"];

/// Why a batch cannot be given to a cluster.
#[derive(Debug, thiserror::Error)]
pub enum NoCluster {
    #[error("Slurm is not installed here: {program} is not {place}")]
    Missing {
        program: &'static str,
        place: String,
    },
    #[error("a cluster needs a folder that all its machines see, and cluster.share is not set")]
    NoShare,
    #[error("cannot use the share {}: {because}", path.display())]
    BadShare { path: PathBuf, because: String },
    #[error("tasks that work in the folder itself cannot run on a cluster")]
    InPlace,
    #[error("the size {name} is not configured")]
    UnknownSize { name: String, hint: String },
    #[error("the cluster does not answer: {because}")]
    NoAnswer { because: String },
    /// Each with what the cluster says of it.
    #[error("the cluster refuses {}", in_words(.0))]
    Refused(Vec<(String, String)>),
}

fn in_words(refused: &[(String, String)]) -> String {
    let each = refused.iter();
    let each = each.map(|(size, because)| format!("the size {size}: {because}"));
    each.collect::<Vec<_>>().join("; ")
}

impl NoCluster {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "no_cluster",
            Self::NoShare | Self::BadShare { .. } => "share_unusable",
            Self::InPlace => "no_cluster_in_place",
            Self::UnknownSize { .. } => "unknown_size",
            Self::NoAnswer { .. } | Self::Refused(_) => "cluster_refused",
        }
    }

    pub fn hint(&self) -> String {
        let hint = match self {
            Self::Missing { .. } => {
                "run Pleach where jobs are submitted, set slurm.bin to the folder of Slurm's programs, or use \
                 --where local"
            }
            Self::NoShare => {
                "set it to a folder under the same path on this machine and on the nodes: \
                 pleach config set cluster.share /scratch/me/pleach"
            }
            Self::BadShare { .. } => {
                "create a folder there that you can write to, or name another one: \
                 pleach config set cluster.share /scratch/me/pleach"
            }
            Self::InPlace => "run `git init` and commit something, or use --where local",
            Self::UnknownSize { hint, .. } => hint,
            Self::NoAnswer { .. } => "try `sinfo`; --where local runs the tasks on this machine",
            Self::Refused(refused) => {
                let size = refused.first().map_or(DEFAULT_SIZE, |(size, _)| size);
                return format!("change [sizes.{size}] or [slurm]; `sinfo` shows what there is");
            }
        };
        hint.to_owned()
    }

    pub(crate) fn is_users(&self) -> bool {
        matches!(self, Self::InPlace | Self::UnknownSize { .. })
    }
}

/// What a batch needs of a cluster; nothing if it runs on this machine. Runs nothing and makes nothing.
pub(super) fn settings_of(
    request: &RunRequest,
    place: WorkPlace,
) -> Result<Option<ClusterSettings>, RunError> {
    let Some(settings) = usual_settings(&request.settings, place)? else {
        return Ok(None);
    };
    Ok(Some(ClusterSettings {
        sizes: sizes_of(request)?,
        ..settings
    }))
}

/// The same for units of any size.
pub(crate) fn usual_settings(
    settings: &Settings,
    place: WorkPlace,
) -> Result<Option<ClusterSettings>, NoCluster> {
    match settings.place {
        Where::Local => return Ok(None),
        Where::Slurm => {}
    }
    if place == WorkPlace::InPlace {
        return Err(NoCluster::InPlace);
    }
    Ok(Some(ClusterSettings {
        share: share_of(settings)?,
        scratch: settings.cluster_scratch.clone(),
        look: settings.cluster_look,
        lease: settings.cluster_lease,
        secrets: settings.cluster_secrets,
        most: settings.cluster_most,
        slurm: slurm_settings(settings),
        sizes: { settings.size_names() }
            .map(|name| size_of(settings, name))
            .collect::<Result<_, _>>()?,
        validate_size: settings.validate_size.clone(),
    }))
}

/// What batches with these settings can be given to, each with why not; nothing is made to find out.
pub fn places(settings: &Settings) -> Vec<(Where, Result<(), NoCluster>)> {
    let found = |place| match place {
        Where::Local => Ok(()),
        Where::Slurm => share_of(settings).map(drop),
    };
    let words = Where::WORDS.iter();
    words.map(|(_, place)| (*place, found(*place))).collect()
}

/// The folder that is configured, where the programs of the cluster are here.
fn share_of(settings: &Settings) -> Result<PathBuf, NoCluster> {
    check_programs(settings.slurm_bin.as_deref())?;
    settings.cluster_share.clone().ok_or(NoCluster::NoShare)
}

fn check_programs(bin: Option<&Path>) -> Result<(), NoCluster> {
    if has_stand_in() {
        return Ok(());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_missing = |program: &&&str| match bin {
        Some(bin) => !bin.join(program).is_file(),
        None => find_program(&path, program).is_none(),
    };
    match PROGRAMS.iter().find(is_missing) {
        None => Ok(()),
        Some(program) => Err(NoCluster::Missing {
            program,
            place: bin.map_or_else(
                || "on the path".to_owned(),
                |bin| format!("in {} (slurm.bin)", bin.display()),
            ),
        }),
    }
}

fn slurm_settings(settings: &Settings) -> SlurmSettings {
    let named = [
        ("partition", &settings.slurm_partition),
        ("account", &settings.slurm_account),
        ("qos", &settings.slurm_qos),
        ("constraint", &settings.slurm_constraint),
        ("reservation", &settings.slurm_reservation),
    ];
    let named = named.into_iter();
    let words = named.filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?)));
    SlurmSettings {
        bin: settings.slurm_bin.clone().map(StoredPath),
        words: words.chain(settings.slurm_args.iter().cloned()).collect(),
    }
}

/// The sizes that the chosen tasks and the tests want.
fn sizes_of(request: &RunRequest) -> Result<Vec<UnitSize>, NoCluster> {
    let settings = &request.settings;
    let tests = settings.validate.as_ref();
    let mut names: Vec<&str> = tests
        .map(|_| settings.validate_size.as_str())
        .into_iter()
        .collect();
    names.extend(wanted(request));
    names.sort_unstable();
    names.dedup();
    let sizes = names.into_iter().map(|name| size_of(settings, name));
    sizes.collect()
}

/// The sizes of the chosen tasks, by their names.
fn wanted(request: &RunRequest) -> impl Iterator<Item = &str> {
    let tasks = &request.plan.document.plan.tasks;
    let sizes = { request.chosen.iter() }.map(|position| tasks[*position].size.as_ref());
    sizes.map(|size| size.map_or(DEFAULT_SIZE, |size| size.name.as_str()))
}

fn size_of(settings: &Settings, name: &str) -> Result<UnitSize, NoCluster> {
    if settings.size_names().all(|known| known != name) {
        return Err(NoCluster::UnknownSize {
            name: name.to_owned(),
            hint: settings.size_hint(name),
        });
    }
    let said = settings.sizes.get(name).cloned().unwrap_or_default();
    let SizeConfig {
        cpus,
        memory,
        gpus,
        time,
        slurm,
    } = said;
    Ok(UnitSize {
        name: name.to_owned(),
        cpus,
        memory,
        gpus,
        time,
        slurm: slurm.unwrap_or_default(),
    })
}

/// What of the settings means nothing where programs run on nodes.
pub(super) fn note(settings: &Settings) -> Option<String> {
    let unheeded = ["keep_failed", "cache"];
    let mut said = settings.said.clone();
    said.retain(|key| unheeded.contains(key));
    let verb = if said.len() > 1 { "have" } else { "has" };
    let is_told = settings.place != Where::Local && !said.is_empty();
    is_told.then(|| {
        format!(
            "{} {verb} no effect on a cluster's nodes",
            said.join(" and ")
        )
    })
}

/// Asks the cluster of a batch whether it takes what will be submitted; nothing was stored of the batch yet.
pub(super) fn survey(record: &BatchRecord) -> Result<(), RunError> {
    let Some(settings) = &record.cluster else {
        return Ok(());
    };
    let sizes = ask(settings, &record.unit_requests())?.into_iter();
    let refused = sizes.filter_map(|size| Some((size.size, size.answer.err()?)));
    let refused: Vec<(String, String)> = refused.collect();
    if !refused.is_empty() {
        return Err(NoCluster::Refused(refused).into());
    }
    // Nothing is made where the cluster refuses.
    let checked = check_share(&settings.share);
    checked.map_err(|error| NoCluster::BadShare {
        because: error.to_string(),
        path: settings.share.clone(),
    })?;
    Ok(())
}

fn ask(settings: &ClusterSettings, requests: &[UnitRequest]) -> Result<Vec<SizeSurvey>, NoCluster> {
    let survey = cluster_of(&settings.slurm, &settings.share).survey(requests);
    let survey = survey.map_err(|error| NoCluster::NoAnswer {
        because: with_causes(&error),
    })?;
    Ok(survey.sizes)
}

/// Whether the share is a folder, or can be made one, and can be written to.
fn check_share(share: &Path) -> io::Result<()> {
    if share.exists() && !share.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    fs::create_dir_all(share)?;
    tempfile::Builder::new()
        .prefix(".pleach-")
        .tempfile_in(share)
        .map(drop)
}

/// What would be submitted for tasks of one size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedSubmission {
    pub size: String,
    /// How many tasks want it.
    pub tasks: usize,
    pub options: Vec<String>,
    /// What the cluster says to that; nothing where it may not be asked before a person consents.
    pub answer: Option<Result<String, String>>,
}

/// What a batch would be submitted as; nothing is made, and nothing is run that needs consent first.
pub(super) fn rehearse(
    request: &RunRequest,
    settings: &ClusterSettings,
    consent: &[SteeringChange],
) -> Result<Vec<PlannedSubmission>, RunError> {
    let attempts = super::request::attempt_settings(request);
    let requests = settings.sizes.iter().map(|size| UnitRequest {
        time: attempts.for_size(size).unit_time(),
        size: size.clone(),
    });
    let requests: Vec<UnitRequest> = requests.collect();
    let mut tasks: BTreeMap<&str, usize> = BTreeMap::new();
    for name in wanted(request) {
        *tasks.entry(name).or_default() += 1;
    }
    let needs_consent = consent.iter().any(|change| may_run_something(&change.what));
    let planned = |size: String, options, answer| PlannedSubmission {
        tasks: tasks.get(size.as_str()).copied().unwrap_or_default(),
        size,
        options,
        answer,
    };
    if needs_consent {
        let sizes = settings.sizes.iter();
        let sizes = sizes.map(|size| planned(size.name.clone(), Vec::new(), None));
        return Ok(sizes.collect());
    }
    let sizes = ask(settings, &requests)?.into_iter();
    Ok(sizes
        .map(|size| planned(size.size, size.options, Some(size.answer)))
        .collect())
}

/// Whether a setting says which programs are called to ask the cluster, or with what words of its own.
fn may_run_something(what: &SteeringSubject) -> bool {
    let SteeringSubject::Setting(name) = what else {
        return false;
    };
    let is_of_size =
        || name.split('.').next() == Some("sizes") && name.split('.').next_back() == Some("slurm");
    matches!(name.as_str(), "slurm.bin" | "slurm.args") || is_of_size()
}
