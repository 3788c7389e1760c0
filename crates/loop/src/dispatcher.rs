//! The owner's side of a cluster: gives it what the loop sends out, follows that, and tells the loop what came of it.
//!
//! Carries bytes and says what it saw. Decides nothing about a batch, and believes no unit but by its fence.

mod follow;
mod last_state;
mod lose;
mod send;
mod take;
mod unfit;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pleach_engine::batch_record::{BatchRecord, ClusterSettings};
use pleach_engine::run::RunError;
use pleach_log::batch_paths::project_name;
use pleach_log::database::SubmittedUnit;
use pleach_system::pace::paced;
use pleach_system::state_folder::{StateFolder, private_folder};
use pleach_system::text::hash::hash;

use crate::attempt::{Attempt, AttemptContext, Probe};
use crate::cluster::Cluster;
use crate::executor::{Executor, LoopHandle};
use crate::spool::{Control, NodePace, SubmissionFolder, UnitWork};
use crate::unit_secrets::SecretsRoute;
use follow::FollowedUnit;
use send::UnsentSubmission;
use unfit::UnfitNodes;

/// How often the folders of submissions are looked at.
const TICK: Duration = Duration::from_secs(1);

/// How often a node says that it lives.
const BEAT: Duration = Duration::from_secs(5);

/// How often a node looks what its agent has made, where the radar does not say it.
const SNAPSHOT: Duration = Duration::from_mins(1);

/// What is sent out within this time goes out at once.
const GATHER: Duration = Duration::from_millis(50);

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
}

impl ClusterPlace {
    /// Makes what has to be there before anything is sent: the folder of submissions, and our program.
    pub(crate) fn prepare(
        settings: &ClusterSettings,
        record: &BatchRecord,
        context: &AttemptContext,
    ) -> Result<Self, RunError> {
        let share = &settings.share;
        let home = share.join(home_name(&context.state));
        let failed = RunError::io("prepare the share");
        let made = private_folder(&home).map_err(std::io::Error::other);
        let program = made.and_then(|()| bring_program(&context.program, &share.join("bin")));
        let project = project_name(&context.store);
        Ok(Self {
            home,
            depot: share.join(&project).join("depot.git"),
            program: program.map_err(failed)?,
            scratch: PathBuf::from(&settings.scratch),
            project,
            look: settings.look,
            pace: NodePace {
                beat: paced(BEAT),
                lease: paced(settings.lease),
                snapshot: paced(record.radar.unwrap_or(SNAPSHOT)),
            },
            secrets: SecretsRoute::Channel,
            min_free_disk: record.min_free_disk,
        })
    }
}

impl ClusterPlace {
    /// The name of this installation on the share, and in the queue.
    pub(crate) fn home_name(&self) -> String {
        let name = self.home.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// What tells the submissions of this installation from those of others that use the same share.
fn home_name(state: &StateFolder) -> String {
    let host = rustix::system::uname();
    let parts = [
        host.nodename().to_bytes(),
        state.path().as_os_str().as_encoded_bytes(),
    ];
    hash(parts)[..12].to_owned()
}

/// Copies our own program to where nodes find it, under a name that no other build has.
fn bring_program(program: &Path, folder: &Path) -> std::io::Result<PathBuf> {
    let bytes = fs::read(program)?;
    let name = format!("pleach-{}", hash([&bytes]));
    let place = folder.join(&name);
    if place.exists() {
        return Ok(place);
    }
    fs::create_dir_all(folder)?;
    let aside = folder.join(format!(".{name}.{}", std::process::id()));
    let mut options = File::options();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o755)
        .open(&aside)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&aside, &place)?;
    Ok(place)
}

/// Has a cluster carry out what the loop sends out.
#[derive(Debug)]
pub(crate) struct ClusterExecutor {
    line: Option<Sender<ForDispatcher>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for ClusterExecutor {
    fn drop(&mut self) {
        // It hears of everything that is stored, and clears up, before the process may end.
        self.line = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[derive(Debug)]
enum ForDispatcher {
    Send(Errand),
    /// What came of it is stored.
    Forget(String),
    /// Nobody wants what it does.
    Abandon(SubmittedUnit),
    /// No attempt is to begin.
    TakeBack,
}

/// Something to have carried out, and who hears of it.
#[derive(Debug)]
struct Errand {
    work: UnitWork,
    handle: LoopHandle,
    /// Where it is, if it was sent before.
    sent: Option<SubmittedUnit>,
}

impl Executor for ClusterExecutor {
    fn attend(&self, attempt: Box<Attempt>, handle: LoopHandle) {
        self.send(UnitWork::Attempt(attempt), handle, None);
    }

    fn judge(&self, probe: Box<Probe>, handle: LoopHandle) {
        self.send(UnitWork::Probe(probe), handle, None);
    }

    fn follow(&self, attempt: Box<Attempt>, handle: LoopHandle, sent: SubmittedUnit) {
        self.send(UnitWork::Attempt(attempt), handle, Some(sent));
    }

    fn forget(&self, fence: String) {
        // A dispatcher that broke off leaves folders to whoever clears up.
        self.say(ForDispatcher::Forget(fence));
    }

    fn abandon(&self, sent: SubmittedUnit) {
        self.say(ForDispatcher::Abandon(sent));
    }

    fn take_back(&self) {
        self.say(ForDispatcher::TakeBack);
    }

    fn is_elsewhere(&self) -> bool {
        true
    }
}

impl ClusterExecutor {
    pub(crate) fn start(
        cluster: Box<dyn Cluster>,
        place: ClusterPlace,
        context: Arc<AttemptContext>,
    ) -> std::io::Result<Self> {
        let (line, inbox) = channel();
        let dispatcher = Dispatcher {
            cluster,
            place,
            context,
            inbox,
            units: Vec::new(),
            told: Vec::new(),
            unsent: Vec::new(),
            looked: None,
            wants_a_look: false,
            has_complained: false,
            lost_tests: 0,
            unfit: UnfitNodes::default(),
            red_on: HashMap::new(),
        };
        let thread = std::thread::Builder::new().name("dispatcher".to_owned());
        let thread = thread.spawn(move || dispatcher.work())?;
        Ok(Self {
            line: Some(line),
            thread: Some(thread),
        })
    }

    fn say(&self, what: ForDispatcher) {
        if let Some(line) = &self.line {
            let _ = line.send(what);
        }
    }

    fn send(&self, work: UnitWork, handle: LoopHandle, sent: Option<SubmittedUnit>) {
        let errand = Errand { work, handle, sent };
        // A dispatcher that broke off says no more; that is a bug, and the batch waits for a person.
        self.say(ForDispatcher::Send(errand));
    }
}

struct Dispatcher {
    cluster: Box<dyn Cluster>,
    place: ClusterPlace,
    context: Arc<AttemptContext>,
    inbox: Receiver<ForDispatcher>,
    units: Vec<FollowedUnit>,
    /// What was told to the loop, and is not stored yet.
    told: Vec<FollowedUnit>,
    /// What the cluster did not take yet.
    unsent: Vec<UnsentSubmission>,
    /// When the cluster was asked last.
    looked: Option<Instant>,
    /// Whether somebody waits for what it says.
    wants_a_look: bool,
    /// Whether it was told that secrets do not reach a node.
    has_complained: bool,
    /// How many runs of the tests were lost with their nodes.
    lost_tests: u32,
    unfit: UnfitNodes,
    /// The machine on which the tests failed last on a tree.
    red_on: HashMap<String, String>,
}

impl Dispatcher {
    fn work(mut self) {
        loop {
            let mut errands = Vec::new();
            let mut wait = paced(TICK);
            loop {
                match self.inbox.recv_timeout(wait) {
                    Ok(ForDispatcher::Send(errand)) => {
                        errands.push(errand);
                        wait = GATHER;
                    }
                    Ok(ForDispatcher::Forget(fence)) => self.forget(&fence),
                    Ok(ForDispatcher::Abandon(sent)) => self.abandon(&sent),
                    Ok(ForDispatcher::TakeBack) => {
                        self.take_back(|work| matches!(work, UnitWork::Attempt(_)));
                    }
                    Err(RecvTimeoutError::Timeout) => break,
                    // Whoever goes on with the batch finds everything in the database and on the share.
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
            self.take_on(errands);
            self.send_again();
            self.follow_all();
            self.look();
        }
    }

    fn take_on(&mut self, errands: Vec<Errand>) {
        let (sent, new): (Vec<_>, Vec<_>) = errands
            .into_iter()
            .partition(|errand| errand.sent.is_some());
        for Errand { work, handle, sent } in sent {
            if let Some(sent) = sent {
                let folder = SubmissionFolder::at(self.place.home.join(&sent.submission));
                let unit = FollowedUnit::new(work, handle, sent, folder);
                self.units.push(unit.going_on(&self.context));
            }
        }
        if !new.is_empty() {
            self.send_out(new);
        }
    }

    /// Has a unit end that another process sent, and whose result nobody would know what to do with.
    fn abandon(&mut self, sent: &SubmittedUnit) {
        let folder = SubmissionFolder::at(self.place.home.join(&sent.submission));
        // Where it is gone already, it hears the same.
        let _ = folder.say(sent.unit, Control::StopAtOnce);
        let is_beside = |other: &FollowedUnit| other.sent.submission == sent.submission;
        if !self.units.iter().chain(&self.told).any(is_beside) {
            let _ = folder.remove();
        }
    }

    /// What came of a unit is stored: with the last one of a submission its folder goes, and with that the hope of
    /// whoever still works there.
    fn forget(&mut self, fence: &str) {
        let is_it = |unit: &FollowedUnit| unit.sent.fence == fence;
        let Some(position) = self.told.iter().position(is_it) else {
            return;
        };
        let unit = self.told.remove(position);
        let is_beside = |other: &FollowedUnit| other.sent.submission == unit.sent.submission;
        if !self.units.iter().chain(&self.told).any(is_beside) {
            // What cannot go now is found when somebody clears up.
            let _ = unit.folder.remove();
        }
    }
}
