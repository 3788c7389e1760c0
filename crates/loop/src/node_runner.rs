//! Our program on a machine of a cluster: carries one unit out, as it would be carried out by the owner itself.
//!
//! Knows the folder of its submission and nothing else of its owner. Decides nothing: what ended how is told.

mod deliver;
mod locks;
mod own_program;
mod secrets_listener;
mod snapshots;
mod tether;
mod unit;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use pleach_system::crash_point::{CrashPoint, DIE_AT, crash_point};
use pleach_system::process::fresh_nonce;

use crate::spool::{
    Heartbeat, LogLengths, NodePhase, Orders, OrdersHead, SubmissionFolder, UnitFolder, UnitOrder,
};
use crate::unit_secrets::{SecretsRoute, UnitSecrets};
use secrets_listener::SecretsListener;
use unit::Node;

/// The variable that tells the second half of a run what the first half claimed its unit with.
const CLAIM: &str = "PLEACH_NODE_CLAIM";

/// The variable in which Slurm says which element of an array a job is.
const ELEMENT: &str = "SLURM_ARRAY_TASK_ID";

/// The variable in which Slurm says what job it is.
const JOB: &str = "SLURM_JOB_ID";

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
            return secrets_listener::speak(fence).map_err(|_| NOT_HERE);
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
        _ => return Err(begin_anew(&order, &place, &submission, &orders.head)),
    }
    let (fence, pause) = (order.fence.clone(), orders.head.pace.beat);
    match Node::new(orders.head, order, place.clone(), submission) {
        Ok(node) => node.carry_out(),
        Err(why) => deliver::tell_unfit(&place, fence, why, pause),
    }
    .map_err(|_| NOT_HERE)
}

fn await_orders(submission: &SubmissionFolder) -> io::Result<Orders> {
    let mut last = Err(io::ErrorKind::NotFound.into());
    for _ in 0..LOOKS {
        last = submission.orders();
        match &last {
            // Nor may it show all of them.
            Err(_) => thread::sleep(PAUSE),
            Ok(_) => break,
        }
    }
    last
}

/// Claims the unit, and is called once more with the environment that it is to have; returns only if that fails.
fn begin_anew(
    order: &UnitOrder,
    place: &UnitFolder,
    submission: &SubmissionFolder,
    head: &OrdersHead,
) -> u8 {
    let claimed = fresh_nonce().and_then(|mark| Ok(place.claim(&mark)?.then_some(mark)));
    let mark = match claimed {
        Ok(Some(mark)) => mark,
        Ok(None) => return A_TWIN,
        Err(_) => return NOT_HERE,
    };
    crash_point(CrashPoint::ClaimMade);
    let Ok(secrets) = take_secrets(order, place, submission, head) else {
        return NOT_HERE;
    };
    let Ok(files) = secrets.files_in_memory() else {
        return NOT_HERE;
    };
    crash_point(CrashPoint::SecretsHeard);
    // Where no disk takes it, the second half says so.
    let program = own_program::on_this_disk(head);
    let program = program.unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let mut again = Command::new(program);
    again.arg0("pleach").arg("node-run");
    again.arg(submission.path()).arg(order.unit.to_string());
    again.env_clear().envs(head.env.iter().cloned());
    // What the machine says of its own disks counts for it alone.
    for name in ["TMPDIR", DIE_AT]
        .into_iter()
        .chain(named_variable(&head.scratch))
    {
        again.envs(std::env::var_os(name).map(|folder| (name, folder)));
    }
    again.envs(secrets.variables).stdin(files);
    let _ = again.env(NODE, host_name()).env(CLAIM, mark).exec();
    NOT_HERE
}

/// Comes by what orders do not hold, if there is any, the way that they say.
fn take_secrets(
    order: &UnitOrder,
    place: &UnitFolder,
    submission: &SubmissionFolder,
    head: &OrdersHead,
) -> io::Result<UnitSecrets> {
    match head.secrets {
        SecretsRoute::Nothing => Ok(UnitSecrets::default()),
        SecretsRoute::File => UnitSecrets::parse(submission.take_secrets(order.unit)?.as_bytes()),
        SecretsRoute::Channel => {
            let listener = SecretsListener::open(&order.fence)?;
            place.beat(&Heartbeat {
                beat: 0,
                fence: order.fence.clone(),
                phase: NodePhase::Hearing,
                node: host_name(),
                job: std::env::var(JOB).ok(),
                logs: LogLengths::new(),
                live: 0,
            })?;
            // Whoever stays silent for a lease is not there any more.
            listener.hear(head.pace.lease)
        }
    }
}

/// A folder that may be said by a variable of this machine, such as `$TMPDIR`.
fn on_this_machine(scratch: &Path) -> PathBuf {
    match named_variable(scratch) {
        Some(name) => std::env::var_os(name).map_or_else(std::env::temp_dir, PathBuf::from),
        None => scratch.to_owned(),
    }
}

fn named_variable(scratch: &Path) -> Option<&str> {
    scratch.to_str()?.strip_prefix('$')
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
