//! One unit on this machine: looks whether it can be done here, does it, and hands over what came of it.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use pleach_domain::batch::AttemptEnding;
use pleach_engine::doctor::examine_node;
use pleach_engine::validate::RunEnding;
use pleach_engine::worktree_programs::AttemptObserver;
use pleach_git::git::{Git, Store};
use pleach_git::worktree::{Included, finish_removals};
use pleach_log::batch_paths::{attempt_folder, probe_folder};
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::files::stored_path::StoredPath;
use pleach_system::machine::free_disk;
use pleach_system::process::{Cancel, Eviction, ProcessIdentity};
use pleach_system::secrets::Secrets;
use pleach_system::state_folder::{LockedFile, StateFolder, private_folder};
use pleach_system::text::causes::with_causes;

use super::deliver::until_taken;
use super::snapshots::{LastSnapshot, bring_while};
use super::tether::Tether;
use super::{host_name, locks, on_this_machine};
use crate::attempt::{
    Attempt, AttemptContext, Disposal, Finished, NodePlace, Probe, ProbeEnded, Spares,
};
use crate::spool::{
    Control, NodeWork, OrdersHead, SubmissionFolder, UnitEnding, UnitFolder, UnitOrder, UnitResult,
    UnitWork,
};

/// How often a unit that only waits for a word of its owner looks for it.
const WORD_PAUSE: Duration = Duration::from_millis(200);

pub(super) struct Node {
    pub(super) head: OrdersHead,
    pub(super) order: UnitOrder,
    pub(super) place: UnitFolder,
    pub(super) submission: SubmissionFolder,
    /// What is of this unit alone, on a disk of this machine.
    pub(super) own: PathBuf,
    pub(super) context: AttemptContext,
    pub(super) cancel: Cancel,
    pub(super) host: String,
    eviction: Eviction,
    /// Why nothing of this batch may run here.
    refusal: Option<String>,
    #[expect(dead_code, reason = "holding it is its use")]
    alive: LockedFile,
}

/// Nobody but the owner notes anything, and it reads the logs.
struct NodeObserver<'a>(&'a Cancel);

impl AttemptObserver for NodeObserver<'_> {
    fn launched(&self, _: &ProcessIdentity) -> bool {
        true
    }

    fn cancel(&self) -> &Cancel {
        self.0
    }
}

impl Node {
    /// Takes up a unit; an error says why this machine cannot.
    pub(super) fn new(
        head: OrdersHead,
        order: UnitOrder,
        place: UnitFolder,
        submission: SubmissionFolder,
    ) -> Result<Self, String> {
        let told = |error: &dyn std::error::Error| with_causes(error);
        let host = host_name();
        let root = root(&head)?;
        let units = root.join("units");
        let own = units.join(&order.fence);
        private_folder(&own).map_err(|error| told(&error))?;
        let alive = locks::sign_of_life(&units, &own).map_err(|error| told(&error))?;
        let (context, refusal) = context_of((&head, &order.work), &root, &own, &host)?;
        let cancel = Cancel::default();
        let eviction = Eviction::watch(cancel.clone(), head.settings.grace);
        Ok(Self {
            eviction: eviction.map_err(|error| told(&error))?,
            cancel,
            refusal,
            alive,
            host,
            head,
            order,
            place,
            submission,
            own,
            context,
        })
    }

    pub(super) fn carry_out(self) -> io::Result<()> {
        let handed_over = self.work_and_tell();
        finish_removals();
        // What could not be kept is in a worktree, which stays where it is.
        let removed = std::fs::remove_dir_all(&self.own);
        handed_over.and(removed)
    }

    fn work_and_tell(&self) -> io::Result<()> {
        let live = LastSnapshot::default();
        let tether = Tether::begin(self, &live)?;
        crash_point(CrashPoint::NodeRunBegan);
        let word = self.submission.heard(self.order.unit);
        let is_wanted = !matches!(word, Ok(Control::Stop | Control::StopAtOnce));
        let (ended, bundle) = match &self.order.work {
            // It was taken back while it waited, and began all the same.
            _ if !is_wanted => {
                let stopped = (AttemptEnding::Stopped, RunEnding::Stopped);
                (self.not_begun(stopped), None)
            }
            NodeWork::Look { look, variables } => {
                let (context, trees) = (&self.context, &self.context.trees);
                let found = examine_node(&context.program, look, trees, variables);
                (UnitEnding::Looked(found), None)
            }
            _ if let Some(why) = self.refusal.clone() => {
                let refused = (
                    AttemptEnding::Hopeless(why.clone()),
                    RunEnding::Trouble(why),
                );
                (self.not_begun(refused), None)
            }
            NodeWork::Unit(UnitWork::Attempt(attempt)) => self.attend(attempt, &live),
            NodeWork::Unit(UnitWork::Probe(probe)) => (self.judge(probe), None),
        };
        let pause = self.head.pace.beat;
        // The logs are whole on the other side before the result is there.
        until_taken(pause, || tether.flush())?;
        if let Some(bundle) = &bundle {
            until_taken(pause, || self.place.put_bundle(bundle))?;
        }
        crash_point(CrashPoint::WorkBundled);
        let result = UnitResult {
            fence: self.order.fence.clone(),
            node: self.host.clone(),
            ended,
            has_bundle: bundle.is_some(),
            was_evicted: self.eviction.is_asked(),
        };
        until_taken(pause, || self.place.put_result(&result))?;
        crash_point(CrashPoint::ResultWritten);
        until_taken(pause, || tether.finish())?;
        if is_limited(&result.ended) {
            self.hold_place();
        }
        tether.end()
    }

    /// Stays until its owner has taken back what waits: whoever got this place meanwhile would be limited as well.
    fn hold_place(&self) {
        let until = Instant::now() + self.head.pace.lease;
        let is_unanswered = || matches!(self.submission.heard(self.order.unit), Ok(Control::Go));
        while Instant::now() < until && !self.eviction.is_asked() && is_unanswered() {
            thread::sleep(WORD_PAUSE);
        }
    }

    fn not_begun(&self, (attempt, run): (AttemptEnding, RunEnding)) -> UnitEnding {
        match &self.order.work {
            NodeWork::Look { .. } => UnitEnding::Looked(Vec::new()),
            NodeWork::Unit(UnitWork::Attempt(tried)) => {
                UnitEnding::Finished(Box::new(Finished::new(tried, attempt)))
            }
            NodeWork::Unit(UnitWork::Probe(probe)) => {
                UnitEnding::Judged(Box::new(ProbeEnded::new(probe, run)))
            }
        }
    }

    fn judge(&self, probe: &Probe) -> UnitEnding {
        let mut judged = self.context.judge(probe, &NodeObserver(&self.cancel));
        if self.eviction.is_asked() {
            // Whatever the tests said, they may have said it because they were ended.
            judged.ending = RunEnding::Stopped;
        }
        UnitEnding::Judged(Box::new(judged))
    }

    fn attend(&self, ordered: &Attempt, live: &LastSnapshot) -> (UnitEnding, Option<PathBuf>) {
        let usual = self.context.tree_path(&ordered.segment);
        let place = locks::take_place(&usual, &self.order.fence, self.head.pace.lease);
        let (path, _held) = match place {
            Ok(place) => place,
            Err(error) => {
                let why = format!("its folder could not be made: {error}");
                return (UnitEnding::Unfit(why), None);
            }
        };
        let attempt = Attempt {
            path,
            ..ordered.clone()
        };
        let observer = NodeObserver(&self.cancel);
        let (mut finished, tree) = bring_while(self, &attempt, live, || {
            self.context.carry_out(&attempt, &observer)
        });
        if let AttemptEnding::NoWorktree(why) = finished.ending {
            return (UnitEnding::Unfit(why), None);
        }
        if self.eviction.is_asked() {
            lose(&mut finished);
        }
        let notes = self.context.dispose(&attempt, tree, Disposal::Remove);
        finished.notes.extend(notes);
        let bundle = self.own.join("work.bundle");
        let bundled = self.context.store.bundle(&bundle, &attempt.basis);
        let has_bundle = bundled.unwrap_or_else(|error| {
            let why = with_causes(&error);
            finished
                .notes
                .push(format!("could not hand its work over: {why}"));
            false
        });
        let ended = UnitEnding::Finished(Box::new(finished));
        (ended, has_bundle.then_some(bundle))
    }

    /// Where the programs of this unit write their logs on this machine.
    pub(super) fn logs(&self) -> PathBuf {
        match &self.order.work {
            NodeWork::Look { .. } => self.context.folder.clone(),
            NodeWork::Unit(UnitWork::Attempt(attempt)) => {
                attempt_folder(&self.context.folder, &attempt.segment, attempt.number)
            }
            NodeWork::Unit(UnitWork::Probe(probe)) => {
                probe_folder(&self.context.folder, probe.number)
            }
        }
    }
}

/// What attempts need here, and why none may run here if they cannot be held as they should be.
fn context_of(
    (head, work): (&OrdersHead, &NodeWork),
    root: &Path,
    own: &Path,
    host: &str,
) -> Result<(AttemptContext, Option<String>), String> {
    let told = |error: &dyn std::error::Error| with_causes(error);
    let state = StateFolder::at(&root.join("state")).map_err(|error| told(&error))?;
    let git = Git::find().map_err(|error| told(&error))?;
    let store = Store::borrowing(git, &own.join("store"), head.project.clone());
    let store = store.map_err(|error| told(&error))?;
    let program = std::env::current_exe().map_err(|error| told(&error))?;
    let cache = root.join("cache").join(&head.project_name);
    private_folder(&cache).map_err(|error| told(&error))?;
    let mut settings = head.settings.clone();
    let wish = settings.sandbox.clone().chosen_here(&program);
    let refusal = wish.as_ref().err().map(|why| format!("on {host}: {why}"));
    if let Ok(sandbox) = wish {
        // What other units have here is closed as well.
        let closed = head
            .closed
            .iter()
            .cloned()
            .chain([StoredPath(root.to_owned())]);
        settings.sandbox = sandbox.writing(cache.clone()).closing(closed);
    }
    let included = included_files(&own.join("included")).map_err(|error| told(&error))?;
    let mut secrets = Secrets::of_environment(&head.settings.passed_on());
    for file in included.files() {
        secrets.add_file(&file);
    }
    let trees = match work {
        // There will be none, and no folder is made for them.
        NodeWork::Look { .. } => root.to_owned(),
        NodeWork::Unit(_) => {
            let trees = root.join("trees").join(&head.project_name);
            trees.join(format!("batch-{}", head.batch))
        }
    };
    private_folder(&trees).map_err(|error| told(&error))?;
    let context = AttemptContext {
        agent: head.settings.agent.agent(&program),
        folder: own.join("batch"),
        trees,
        node: Some(NodePlace {
            name: host.to_owned(),
            cache,
        }),
        shared_folder: None,
        number: head.batch,
        settings,
        included,
        wrapper: PathBuf::from("/proc/self/exe"),
        spares: Spares::new(0),
        hider: secrets.hider(),
        secrets,
        program,
        state,
        store,
    };
    Ok((context, refusal))
}

/// The ignored files that every worktree gets, put where it finds them; the first half of us has them as our input.
fn included_files(folder: &Path) -> io::Result<Included> {
    let mut packed = Vec::new();
    io::stdin().read_to_end(&mut packed)?;
    private_folder(folder).map_err(io::Error::other)?;
    Included::unpack(serde_json::from_slice(&packed)?, folder)
}

fn is_limited(ended: &UnitEnding) -> bool {
    match ended {
        UnitEnding::Finished(finished) => matches!(finished.ending, AttemptEnding::Limited(..)),
        _ => false,
    }
}

/// What an agent did that was ended with its machine is half done, whatever it says.
fn lose(finished: &mut Finished) {
    let ending = AttemptEnding::Lost("its machine was taken from it".to_owned());
    if let AttemptEnding::Built { commit, .. } = std::mem::replace(&mut finished.ending, ending) {
        finished.kept = commit.0.parse().ok();
    }
}

/// Our folder on a disk of this machine, if there is such a disk with room.
pub(super) fn root(head: &OrdersHead) -> Result<PathBuf, String> {
    let scratch = on_this_machine(&head.scratch);
    let shown = scratch.display();
    make_folder(&scratch).map_err(|error| format!("cannot use its scratch {shown}: {error}"))?;
    if free_disk(&scratch).is_ok_and(|free| free < head.min_free_disk) {
        return Err(format!("too little free disk for {shown} (min_free_disk)"));
    }
    let user = rustix::process::getuid().as_raw();
    let root = scratch.join(format!("pleach-{user}"));
    private_folder(&root).map_err(|error| with_causes(&error))?;
    Ok(root)
}

/// Makes a folder where the one above it is there: a disk that is not mounted has none.
fn make_folder(path: &Path) -> io::Result<()> {
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}
