//! Runs the project's tests on a commit: a clean worktree, setup, the command, a verdict, and the worktree away again.
//!
//! Knows nothing of batches, nor of why that commit is judged.

mod alone;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::bisect::TestResult;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::process::{Ending, ProcessRecord};
use pleach_system::sandbox::SandboxPolicy;
use pleach_system::text::causes::with_causes;
use pleach_system::text::hash::hash;
use pleach_system::text::last_line::{last_line, tail};
use serde::{Deserialize, Serialize};

use crate::agent::environment;
use crate::worktree_programs::{AttemptObserver, NotRun, Program, ProgramHost};
use pleach_git::git::CommitId;
use pleach_git::worktree::{Worktree, WorktreeError, WorktreeSpec};

pub use alone::{JudgedTree, NoProof, ProvedTree, StandaloneProof, prove_alone};

pub const VALIDATE_LOG: &str = "validate.log";

/// Less room than this on the disk, and a failure says nothing about the tasks.
const NO_ROOM: u64 = 1 << 20;

/// Shells report a program that a signal ended by this and the signal's number, of which there are 64.
const BY_SIGNAL: i32 = 128;
const LAST_SIGNAL: i32 = BY_SIGNAL + 64;

#[derive(Debug, Clone)]
pub struct Tests {
    pub command: String,
    pub timeout: Duration,
    /// Names of environment variables that it gets besides the usual ones.
    pub env: Vec<String>,
    pub setup: Option<String>,
    pub sandbox: SandboxPolicy,
}

impl Tests {
    /// A short name for the command and everything of ours that its verdict may depend on.
    pub fn name(&self) -> String {
        let setup = self.setup.as_deref().unwrap_or_default();
        let mut parts: Vec<OsString> = vec![(&self.command).into(), setup.into()];
        parts.extend(self.sandbox.parts());
        // Another toolchain is another judge.
        for name in self.env.iter().map(String::as_str).chain(["PATH"]) {
            parts.push(name.into());
            parts.push(std::env::var_os(name).unwrap_or_default());
        }
        hash(parts.iter().map(|part| part.as_encoded_bytes()))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnding {
    Ran(TestResult),
    /// In a way that says nothing about what it ran on.
    Trouble(String),
    /// Because nobody wants to know any more.
    Stopped,
}

#[derive(Debug, Clone, Copy)]
pub struct TestBench<'a> {
    pub host: ProgramHost<'a>,
    pub tests: &'a Tests,
}

#[derive(Debug, Clone)]
pub struct TestPlace {
    pub tree: PathBuf,
    /// The branch of the store that is checked out there.
    pub branch: String,
    pub folder: PathBuf,
    /// What the command is told besides.
    pub said: Vec<(&'static str, OsString)>,
}

impl TestBench<'_> {
    pub fn run(
        &self,
        commit: &CommitId,
        place: &TestPlace,
        observer: &dyn AttemptObserver,
        notes: &mut Vec<String>,
    ) -> RunEnding {
        let spec = place.worktree(commit);
        let worktree = match Worktree::create(self.host.store, &spec) {
            Ok(worktree) => worktree,
            Err(error) => {
                let why = with_causes(&error);
                return RunEnding::Trouble(format!("could not create a worktree: {why}"));
            }
        };
        crash_point(CrashPoint::TestTreeMade);
        let ran = self.run_in(&worktree, place, observer, notes);
        let ending = ran.unwrap_or_else(|error| match error {
            NotRun::Unnoted => RunEnding::Stopped,
            error => RunEnding::Trouble(with_causes(&error)),
        });
        if let Err(error) = self.clear(commit, place) {
            let why = with_causes(&error);
            notes.push(format!("could not remove its worktree: {why}"));
        }
        ending
    }

    /// Takes the worktree of a run away, or what is left of it: what tests leave behind is nobody's work.
    pub fn clear(&self, commit: &CommitId, place: &TestPlace) -> Result<(), WorktreeError> {
        let spec = place.worktree(commit);
        let store = self.host.store;
        if let Some(worktree) = Worktree::existing(store, &spec)? {
            worktree.clear(store)?;
        }
        let name = format!("refs/heads/{}", spec.branch);
        if let Some(seen) = store.ref_commit(&name)? {
            store.drop_ref(&name, &seen)?;
        }
        Ok(())
    }

    fn run_in(
        &self,
        worktree: &Worktree,
        place: &TestPlace,
        observer: &dyn AttemptObserver,
        notes: &mut Vec<String>,
    ) -> Result<RunEnding, NotRun> {
        let entered = self.host.enter(worktree, &place.folder)?;
        entered.copy_included(notes)?;
        let told = entered.told(place.said.clone());
        let identity = self.host.store.identity();
        let env = environment(&self.tests.env, identity, None, &told);
        let programs = entered.enclose(env, &[], None, notes)?;
        let commands = [
            (self.tests.setup.as_ref(), "setup", "the setup"),
            (Some(&self.tests.command), "validate", "the test command"),
        ];
        for (command, role, what) in commands {
            let Some(command) = command else { continue };
            // Tests may say nothing for as long as they take.
            let program = Program::shell(command, role, self.tests.timeout);
            let ended = programs.run(program, observer, notes)?;
            match verdict(&ended.record, what, &ended.log, worktree.path()) {
                RunEnding::Ran(TestResult::Passed) => {}
                other => return Ok(other),
            }
        }
        Ok(RunEnding::Ran(TestResult::Passed))
    }
}

impl TestPlace {
    fn worktree(&self, commit: &CommitId) -> WorktreeSpec {
        WorktreeSpec {
            path: self.tree.clone(),
            branch: self.branch.clone(),
            basis: commit.clone(),
        }
    }
}

fn verdict(record: &ProcessRecord, what: &str, log: &Path, place: &Path) -> RunEnding {
    let trouble = |how: String| {
        let said = last_line(&tail(log));
        let said = said.map(|line| format!(": {line}")).unwrap_or_default();
        RunEnding::Trouble(format!("{what} {how}{said}"))
    };
    match &record.ending {
        Ending::Exited(0) => RunEnding::Ran(TestResult::Passed),
        Ending::Exited(code @ (126 | 127)) => {
            trouble(format!("could not be started (exit code {code})"))
        }
        Ending::Exited(code) if (BY_SIGNAL + 1..=LAST_SIGNAL).contains(code) => {
            trouble(format!("was killed by signal {}", code - BY_SIGNAL))
        }
        Ending::Exited(_) if has_no_room(place, log) => {
            trouble("failed while the disk was full".to_owned())
        }
        Ending::Exited(_) => RunEnding::Ran(TestResult::Failed),
        Ending::Signalled(signal) => trouble(format!("was killed by signal {signal}")),
        Ending::TimedOut => trouble("took too long (validate_timeout)".to_owned()),
        Ending::NotStarted(why) => trouble(format!("could not be started: {why}")),
        Ending::Vanished => trouble("was killed with its wrapper".to_owned()),
        Ending::Stalled | Ending::Cancelled | Ending::Abandoned => RunEnding::Stopped,
    }
}

/// Whether the disk is full, or was and says so.
fn has_no_room(place: &Path, log: &Path) -> bool {
    let room = rustix::fs::statvfs(place).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    let full = b"No space left on device";
    room.is_ok_and(|room| room < NO_ROOM) || tail(log).windows(full.len()).any(|text| text == full)
}
