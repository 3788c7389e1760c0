//! Where submissions go, and what has to be there before anything is sent.
//!
//! Knows nothing of the cluster.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_engine::batch_record::ClusterSettings;
use pleach_engine::run::RunError;
use pleach_engine::share::{PROGRAMS, depot, home_name, introduce};
use pleach_git::git::Store;
use pleach_log::batch_paths::project_name;
use pleach_system::pace::paced;
use pleach_system::state_folder::{StateFolder, private_folder};
use pleach_system::text::hash::hash;

use crate::attempt::AttemptContext;
use crate::spool::NodePace;
use crate::unit_secrets::SecretsRoute;

/// How often a node says that it lives.
const BEAT: Duration = Duration::from_secs(5);

/// How often a node looks what its agent has made, where the radar does not say it.
const SNAPSHOT: Duration = Duration::from_mins(1);

/// Where submissions go, and how they are followed.
#[derive(Debug, Clone)]
pub(crate) struct ClusterPlace {
    /// The folder of all submissions of this installation, on the share.
    pub(crate) home: PathBuf,
    /// The git folder whose objects nodes borrow.
    pub(crate) depot: PathBuf,
    /// Our own program, where nodes find it.
    pub(crate) program: PathBuf,
    /// The folder on the nodes' own disks.
    pub(crate) scratch: PathBuf,
    pub(crate) project: String,
    /// How often the cluster is asked.
    pub(crate) look: Duration,
    pub(crate) pace: NodePace,
    /// How nodes come by what orders do not hold.
    pub(crate) secrets: SecretsRoute,
    /// How much room a node's own disk must have.
    pub(crate) min_free_disk: u64,
    /// How many units the cluster may have at once, over all batches.
    pub(crate) most: usize,
}

/// What of an installation and a project a place on a cluster depends on.
#[derive(Debug)]
pub(crate) struct PlaceInput<'a> {
    pub(crate) state: &'a StateFolder,
    pub(crate) store: &'a Store,
    /// Our own program as it runs, even if its file was replaced.
    pub(crate) program: &'a Path,
    /// How often coming conflicts are looked for, if at all.
    pub(crate) radar: Option<Duration>,
    pub(crate) min_free_disk: u64,
}

impl ClusterPlace {
    /// Makes what has to be there before anything is sent: the folder of submissions, and our program.
    pub(crate) fn prepare(
        settings: &ClusterSettings,
        input: &PlaceInput<'_>,
    ) -> Result<Self, RunError> {
        let share = &settings.share;
        let home = share.join(home_name(input.state));
        let failed = RunError::io("prepare the share");
        let made = private_folder(&home).map_err(io::Error::other);
        let made = made.and_then(|()| introduce(&home, input.state));
        let program = made.and_then(|()| bring_program(input.program, &share.join(PROGRAMS)));
        let project = project_name(input.store);
        Ok(Self {
            home,
            depot: depot(share, &project),
            program: program.map_err(failed)?,
            scratch: PathBuf::from(&settings.scratch),
            project,
            look: settings.look,
            pace: NodePace {
                beat: paced(BEAT),
                lease: paced(settings.lease),
                snapshot: paced(input.radar.unwrap_or(SNAPSHOT)),
            },
            secrets: SecretsRoute::of(settings.secrets),
            min_free_disk: input.min_free_disk,
            most: settings.most,
        })
    }

    /// Brings our program once more, should somebody have cleared it away.
    pub(super) fn bring_program(&self, context: &AttemptContext) -> io::Result<PathBuf> {
        if self.program.exists() {
            return Ok(self.program.clone());
        }
        let folder = self.program.parent().unwrap_or(Path::new("/"));
        bring_program(&context.wrapper, folder)
    }
}

/// Copies our own program to where nodes find it, under a name that no other build has.
fn bring_program(program: &Path, folder: &Path) -> io::Result<PathBuf> {
    let bytes = fs::read(program)?;
    let name = format!("pleach-{}", hash([&bytes]));
    let place = folder.join(&name);
    if place.exists() {
        return Ok(place);
    }
    fs::create_dir_all(folder)?;
    let aside = folder.join(format!(".{name}.{}", std::process::id()));
    // A file system that can share what is the same does.
    fs::copy(program, &aside)?;
    File::open(&aside)?.sync_all()?;
    fs::rename(&aside, &place)?;
    Ok(place)
}
