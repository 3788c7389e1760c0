//! Our program on a machine of a cluster: carries one unit out, as it would be carried out by the owner itself.
//!
//! Knows the folder of its submission and nothing else of its owner. Decides nothing: what ended how is told.

mod ear;
mod locks;
mod tether;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use pleach_domain::batch::AttemptEnding;
use pleach_engine::worktree_programs::AttemptObserver;
use pleach_git::git::{Git, Store};
use pleach_git::worktree::{Included, finish_removals};
use pleach_log::batch_paths::{attempt_folder, probe_folder};
use pleach_system::process::{Cancel, ProcessIdentity, fresh_nonce};
use pleach_system::secrets::Secrets;
use pleach_system::state_folder::{LockedFile, StateFolder, private_folder};
use pleach_system::text::causes::with_causes;

use crate::attempt::{Attempt, AttemptContext, Disposal, Finished, Spares};
use crate::spool::{
    Heartbeat, LogLengths, NodePhase, Orders, OrdersHead, SubmissionFolder, UnitEnding, UnitFolder,
    UnitOrder, UnitResult, UnitWork,
};
use ear::Ear;
use tether::Tether;

/// The variable that tells the second half of a run what the first half claimed its unit with.
const CLAIM: &str = "PLEACH_NODE_CLAIM";

/// The variable in which Slurm says which element of an array a job is.
const ELEMENT: &str = "SLURM_ARRAY_TASK_ID";

/// The variable that says what machine this is, to us and to what we start.
const NODE: &str = "PLEACH_NODE";

/// The variable in which Slurm says it.
const SLURM_NODE: &str = "SLURMD_NODENAME";

/// What is said to have secrets passed on to a unit on the same machine.
pub(crate) const HEAR: &str = "--hear";

/// Somebody else does this unit.
const A_TWIN: u8 = 75;
/// The orders are not there, or nobody here understands them.
const NO_ORDERS: u8 = 65;
/// It could not be done here, and nothing of it was.
const NOT_HERE: u8 = 69;

/// How often the orders are looked for that a network file system may not show yet.
const LOOKS: u32 = 150;
const PAUSE: Duration = Duration::from_millis(200);

/// Carries out a unit of a submission: its folder, and the number of the unit there.
pub fn node_run(words: &[OsString]) -> ExitCode {
    match run(words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => ExitCode::from(code),
    }
}

fn run(words: &[OsString]) -> Result<(), u8> {
    let (folder, unit) = match words {
        [word, fence] if word == HEAR => {
            let fence = fence.to_str().ok_or(NO_ORDERS)?;
            return ear::speak(fence).map_err(|_| NOT_HERE);
        }
        [folder] => (folder, std::env::var_os(ELEMENT).ok_or(NO_ORDERS)?),
        [folder, unit] => (folder, unit.clone()),
        _ => return Err(NO_ORDERS),
    };
    let unit: u32 = { unit.to_str() }
        .and_then(|unit| unit.parse().ok())
        .ok_or(NO_ORDERS)?;
    let submission = SubmissionFolder::at(PathBuf::from(folder));
    let orders = await_orders(&submission).map_err(|_| NO_ORDERS)?;
    let order = orders.units.into_iter().find(|order| order.unit == unit);
    let order = order.ok_or(NO_ORDERS)?;
    let place = submission.unit(unit);
    match std::env::var(CLAIM) {
        Ok(mark) if place.is_claimed_by(&mark) => {}
        _ => return Err(begin_anew(folder, &order, &place, &orders.head)),
    }
    let node = Node::new(orders.head, order, place, submission).map_err(|_| NOT_HERE)?;
    node.carry_out().map_err(|_| NOT_HERE)
}

fn await_orders(submission: &SubmissionFolder) -> io::Result<Orders> {
    let mut last = Err(io::ErrorKind::NotFound.into());
    for _ in 0..LOOKS {
        last = submission.orders();
        match &last {
            Err(error) if error.kind() == io::ErrorKind::NotFound => thread::sleep(PAUSE),
            _ => break,
        }
    }
    last
}

/// Claims the unit, and is called once more with the environment that it is to have; returns only if that fails.
fn begin_anew(folder: &OsStr, order: &UnitOrder, place: &UnitFolder, head: &OrdersHead) -> u8 {
    let claimed = fresh_nonce().and_then(|mark| Ok(place.claim(&mark)?.then_some(mark)));
    let mark = match claimed {
        Ok(Some(mark)) => mark,
        Ok(None) => return A_TWIN,
        Err(_) => return NOT_HERE,
    };
    let Ok(secrets) = hear_secrets(order, place, head) else {
        return NOT_HERE;
    };
    let mut again = Command::new("/proc/self/exe");
    again.arg0("pleach").arg("node-run");
    again.arg(folder).arg(order.unit.to_string());
    // What the machine says of its own disks counts for it alone.
    let own = std::env::var_os("TMPDIR").map(|folder| ("TMPDIR", folder));
    again.env_clear().envs(head.env.iter().cloned()).envs(own);
    again.envs(secrets);
    let _ = again.env(NODE, host_name()).env(CLAIM, mark).exec();
    NOT_HERE
}

/// Waits for what is written nowhere, if there is any; whoever stays silent for a lease is not there any more.
fn hear_secrets(
    order: &UnitOrder,
    place: &UnitFolder,
    head: &OrdersHead,
) -> io::Result<Vec<(String, String)>> {
    if head.secrets.is_empty() {
        return Ok(Vec::new());
    }
    let ear = Ear::open(&order.fence)?;
    place.beat(&Heartbeat {
        beat: 0,
        fence: order.fence.clone(),
        phase: NodePhase::Hearing,
        node: host_name(),
        logs: LogLengths::new(),
    })?;
    let mut secrets = ear.hear(head.pace.lease)?;
    secrets.retain(|(name, _)| head.secrets.contains(name));
    Ok(secrets)
}

/// One unit on this machine.
struct Node {
    head: OrdersHead,
    order: UnitOrder,
    place: UnitFolder,
    submission: SubmissionFolder,
    /// What is of this unit alone, on a disk of this machine.
    own: PathBuf,
    context: AttemptContext,
    cancel: Cancel,
    host: String,
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
    fn new(
        head: OrdersHead,
        order: UnitOrder,
        place: UnitFolder,
        submission: SubmissionFolder,
    ) -> Result<Self, String> {
        let told = |error: &dyn std::error::Error| with_causes(error);
        let host = host_name();
        let root = on_this_machine(&head.scratch)
            .join(format!("pleach-{}", rustix::process::getuid().as_raw()));
        let units = root.join("units");
        let own = units.join(&order.fence);
        for folder in [&root, &own] {
            private_folder(folder).map_err(|error| told(&error))?;
        }
        let alive = locks::sign_of_life(&units, &own).map_err(|error| told(&error))?;
        let state = StateFolder::at(&root.join("state")).map_err(|error| told(&error))?;
        let git = Git::find().map_err(|error| told(&error))?;
        let store = Store::borrowing(git, &own.join("store"), head.project.clone());
        let store = store.map_err(|error| told(&error))?;
        let program = std::env::current_exe().map_err(|error| told(&error))?;
        let secrets = Secrets::of_environment(&head.settings.passed_on());
        let trees = root.join("trees").join(&head.project_name);
        let trees = trees.join(format!("batch-{}", head.batch));
        private_folder(&trees).map_err(|error| told(&error))?;
        let context = AttemptContext {
            agent: head.settings.agent.agent(&program),
            folder: own.join("batch"),
            trees,
            node: Some(host.clone()),
            shared_folder: None,
            number: head.batch,
            settings: head.settings.clone(),
            included: Included::default(),
            wrapper: PathBuf::from("/proc/self/exe"),
            spares: Spares::new(0),
            hider: secrets.hider(),
            secrets,
            program,
            state,
            store,
        };
        Ok(Self {
            cancel: Cancel::new().map_err(|error| told(&error))?,
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

    fn carry_out(self) -> io::Result<()> {
        let handed_over = self.work_and_tell();
        finish_removals();
        // What could not be kept is in a worktree, which stays where it is.
        let removed = std::fs::remove_dir_all(&self.own);
        handed_over.and(removed)
    }

    fn work_and_tell(&self) -> io::Result<()> {
        let tether = Tether::begin(self)?;
        let (ended, has_bundle) = match &self.order.work {
            UnitWork::Attempt(attempt) => self.attend(attempt),
            UnitWork::Probe(probe) => {
                let judged = self.context.judge(probe, &NodeObserver(&self.cancel));
                (UnitEnding::Judged(Box::new(judged)), false)
            }
        };
        // The logs are whole on the other side before the result is there.
        tether.flush()?;
        self.place.put_result(&UnitResult {
            fence: self.order.fence.clone(),
            node: self.host.clone(),
            ended,
            has_bundle,
        })?;
        tether.finish()
    }

    fn attend(&self, ordered: &Attempt) -> (UnitEnding, bool) {
        let usual = self.context.tree_path(&ordered.segment);
        let place = locks::take_place(&usual, &self.order.fence, self.head.pace.lease);
        let (path, _held) = match place {
            Ok(place) => place,
            Err(error) => {
                let why = format!("its folder could not be made: {error}");
                let lost = Finished::new(ordered, AttemptEnding::Lost(why));
                return (UnitEnding::Finished(Box::new(lost)), false);
            }
        };
        let attempt = Attempt {
            path,
            ..ordered.clone()
        };
        let observer = NodeObserver(&self.cancel);
        let (mut finished, tree) = self.context.carry_out(&attempt, &observer);
        let notes = self.context.dispose(&attempt, tree, Disposal::Remove);
        finished.notes.extend(notes);
        let bundle = self
            .context
            .store
            .bundle(&self.place.bundle(), &attempt.basis);
        let has_bundle = bundle.unwrap_or_else(|error| {
            let why = with_causes(&error);
            finished
                .notes
                .push(format!("could not hand its work over: {why}"));
            false
        });
        (UnitEnding::Finished(Box::new(finished)), has_bundle)
    }

    /// Where the programs of this unit write their logs on this machine.
    fn logs(&self) -> PathBuf {
        match &self.order.work {
            UnitWork::Attempt(attempt) => {
                attempt_folder(&self.context.folder, &attempt.segment, attempt.number)
            }
            UnitWork::Probe(probe) => probe_folder(&self.context.folder, probe.number),
        }
    }
}

/// A folder that may be said by a variable of this machine, such as `$TMPDIR`.
fn on_this_machine(scratch: &Path) -> PathBuf {
    let named = scratch.to_str().and_then(|text| text.strip_prefix('$'));
    match named {
        Some(name) => std::env::var_os(name).map_or_else(std::env::temp_dir, PathBuf::from),
        None => scratch.to_owned(),
    }
}

/// As the cluster calls this machine, or as it calls itself.
fn host_name() -> String {
    let said = [NODE, SLURM_NODE]
        .into_iter()
        .find_map(|name| std::env::var(name).ok());
    if let Some(said) = said {
        return said;
    }
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}
