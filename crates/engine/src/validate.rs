//! Runs the project's tests on a commit: a clean worktree, setup, the command, a verdict, and the worktree away again.
//!
//! Knows nothing of batches, nor of why that commit is judged.

mod alone;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::bisect::Run;

use crate::agent::environment;
use crate::causes::with_causes;
use crate::git::{CommitId, Store};
use crate::last_line::{last_line, tail};
use crate::ports::PortLease;
use crate::process::{
    Cancel, Ending, Isolation, LOG_CAP, ProcessIdentity, ProcessSpec, Record, Shim,
};
use crate::sandbox::{Holding, Room};
use crate::secrets::Secrets;
use crate::state_folder::{StateFolder, private_folder};
use crate::step::{Step, reached};
use crate::worktree::{Included, Worktree, WorktreeError, WorktreeSpec};

pub use alone::{Alone, Judged, NoProof, Proved, prove_alone};

/// What the tests said, in the folder of a run.
pub const VALIDATE_LOG: &str = "validate.log";

/// Less room than this on the disk, and a failure says nothing about the tasks.
const NO_ROOM: u64 = 1 << 20;

/// Shells report a program that a signal ended by this and the signal's number, of which there are 64.
const BY_SIGNAL: i32 = 128;
const LAST_SIGNAL: i32 = BY_SIGNAL + 64;

/// The tests of a project.
#[derive(Debug, Clone)]
pub struct Tests {
    /// The command of the shell that runs them.
    pub command: String,
    /// How long it may take.
    pub timeout: Duration,
    /// Names of environment variables that it gets besides the usual ones.
    pub env: Vec<String>,
    /// A command that prepares each worktree.
    pub setup: Option<String>,
    /// What holds them.
    pub sandbox: Holding,
}

impl Tests {
    /// A short name for the command and everything of ours that its verdict may depend on.
    pub fn name(&self) -> String {
        let mut hasher = gix_hash::hasher(gix_hash::Kind::Sha1);
        let mut add = |part: &[u8]| {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part);
        };
        add(self.command.as_bytes());
        add(self.setup.as_deref().unwrap_or_default().as_bytes());
        for part in self.sandbox.parts() {
            add(part.as_encoded_bytes());
        }
        // Another toolchain is another judge.
        for name in self.env.iter().map(String::as_str).chain(["PATH"]) {
            add(name.as_bytes());
            let value = std::env::var_os(name).unwrap_or_default();
            add(value.as_encoded_bytes());
        }
        let id = hasher.try_finalize().map(|id| id.to_string());
        id.expect("nobody forges a collision with their own settings")
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnding {
    /// With a verdict.
    Ran(Run),
    /// In a way that says nothing about what it ran on.
    Trouble(String),
    /// Because nobody wants to know any more.
    Stopped,
}

/// Everything that a run needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TestBench<'a> {
    pub(crate) store: &'a Store,
    pub(crate) state: &'a StateFolder,
    /// Ignored files of the user's checkout that every worktree gets.
    pub(crate) included: &'a Included,
    /// The program that wraps the command.
    pub(crate) wrapper: &'a Path,
    pub(crate) tests: &'a Tests,
    /// What its logs must not hold.
    pub(crate) hide: &'a Secrets,
    /// How long the command may take to stop.
    pub(crate) grace: Duration,
}

/// Where a run takes place.
#[derive(Debug, Clone)]
pub(crate) struct TestPlace {
    /// Its worktree.
    pub(crate) tree: PathBuf,
    /// The branch of the store that is checked out there.
    pub(crate) branch: String,
    /// Where what it says is kept.
    pub(crate) folder: PathBuf,
    /// What the command is told besides.
    pub(crate) said: Vec<(&'static str, OsString)>,
}

/// Notes a wrapper before it may run anything; says whether it may.
pub(crate) type Note<'n> = &'n dyn Fn(&ProcessIdentity) -> bool;

impl TestBench<'_> {
    /// Runs the tests on a commit.
    pub(crate) fn run(
        &self,
        commit: &CommitId,
        place: &TestPlace,
        cancel: &Cancel,
        note: Note<'_>,
        notes: &mut Vec<String>,
    ) -> RunEnding {
        let spec = place.worktree(commit);
        let worktree = match Worktree::create(self.store, &spec) {
            Ok(worktree) => worktree,
            Err(error) => {
                let why = with_causes(&error);
                return RunEnding::Trouble(format!("no worktree could be made: {why}"));
            }
        };
        reached(Step::TestTreeMade);
        let ran = self.run_in(&worktree, place, cancel, note, notes);
        let ending = ran.unwrap_or_else(RunEnding::Trouble);
        if let Err(error) = self.clear(commit, place) {
            let why = with_causes(&error);
            notes.push(format!("its worktree could not be removed: {why}"));
        }
        ending
    }

    /// Takes the worktree of a run away, or what is left of it: what tests leave behind is nobody's work.
    pub(crate) fn clear(&self, commit: &CommitId, place: &TestPlace) -> Result<(), WorktreeError> {
        let spec = place.worktree(commit);
        if let Some(worktree) = Worktree::existing(self.store, &spec)? {
            worktree.clear(self.store)?;
        }
        let name = format!("refs/heads/{}", spec.branch);
        if let Some(seen) = self.store.ref_commit(&name)? {
            self.store.drop_ref(&name, &seen)?;
        }
        Ok(())
    }

    fn run_in(
        &self,
        worktree: &Worktree,
        place: &TestPlace,
        cancel: &Cancel,
        note: Note<'_>,
        notes: &mut Vec<String>,
    ) -> Result<RunEnding, String> {
        let failed =
            |what: &str, error: &dyn std::error::Error| format!("{what}: {}", with_causes(error));
        private_folder(&place.folder).map_err(|error| failed("no folder for its log", &error))?;
        let copied = self.included.copy_into(self.store, worktree);
        let told = copied.map_err(|error| failed("ignored files could not be copied", &error))?;
        notes.extend(told.iter().map(ToString::to_string));
        // Held until everything that could listen there has ended.
        let ports = PortLease::take(self.state).map_err(|error| failed("no free ports", &error))?;
        let mut said = place.said.clone();
        said.extend(said_in(worktree, &ports));
        let mut env = environment(&self.tests.env, self.store.identity(), None, &said);
        let room = Room {
            git: &worktree.git_places(self.store),
            state: self.state,
            worktree: worktree.path(),
            read: &[],
            tool: None,
            program: self.wrapper,
        };
        let enclosure = self.tests.sandbox.enclose(&room, &mut env);
        let enclosure = enclosure.map_err(|error| failed("no sandbox could be made", &error))?;
        notes.extend_from_slice(&enclosure.notes);
        let commands = [
            (self.tests.setup.as_ref(), "setup", "the setup"),
            (Some(&self.tests.command), "validate", "the test command"),
        ];
        for (command, role, what) in commands {
            let Some(command) = command else { continue };
            let spec = self.spec(command, worktree, env.clone(), &place.folder, role);
            let spec = enclosure.hold(spec);
            let shim = Shim::launch(self.wrapper)
                .map_err(|error| failed("the command could not be run", &error))?
                .sweeping(worktree.sweeps());
            if !note(shim.identity()) {
                return Ok(RunEnding::Stopped);
            }
            let record = shim
                .run(&spec, cancel)
                .map_err(|error| failed("the command could not be run", &error))?;
            notes.extend(enclosure.put_back());
            let refused = enclosure.refusals(&spec.log, worktree.path());
            notes.extend_from_slice(&refused);
            match verdict(&record, what, &spec.log, worktree.path()) {
                RunEnding::Ran(Run::Green) => {}
                other => return Ok(other),
            }
        }
        Ok(RunEnding::Ran(Run::Green))
    }

    fn spec(
        &self,
        command: &str,
        worktree: &Worktree,
        env: Vec<(OsString, OsString)>,
        folder: &Path,
        role: &str,
    ) -> ProcessSpec {
        ProcessSpec {
            argv: ["/bin/sh", "-c", command].map(OsString::from).to_vec(),
            cwd: worktree.path().to_owned(),
            env,
            stdin_file: None,
            log: folder.join(format!("{role}.log")),
            record: folder.join(format!("{role}.exit.json")),
            timeout: self.tests.timeout,
            // Tests may say nothing for as long as they take.
            stall: None,
            grace: self.grace,
            log_cap: LOG_CAP,
            hide: self.hide.clone(),
            sandbox: None,
            isolation: Isolation::default(),
            polite: None,
        }
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

/// What every program in a worktree is told.
pub(crate) fn said_in(worktree: &Worktree, ports: &PortLease) -> [(&'static str, OsString); 3] {
    let above = worktree.path().parent().unwrap_or(Path::new("/"));
    [
        ("PLEACH_WORKTREE", worktree.path().into()),
        ("PLEACH_PORT", ports.first().to_string().into()),
        // A worktree that loses its `.git` must not be taken for part of a repository above it.
        ("GIT_CEILING_DIRECTORIES", above.into()),
    ]
}

/// What the way a command ended says of what it was run on.
fn verdict(record: &Record, what: &str, log: &Path, place: &Path) -> RunEnding {
    let trouble = |how: String| {
        let said = last_line(&tail(log));
        let said = said.map(|line| format!(": {line}")).unwrap_or_default();
        RunEnding::Trouble(format!("{what} {how}{said}"))
    };
    match &record.ending {
        Ending::Exited(0) => RunEnding::Ran(Run::Green),
        Ending::Exited(code @ (126 | 127)) => {
            trouble(format!("could not be started (exit code {code})"))
        }
        Ending::Exited(code) if (BY_SIGNAL + 1..=LAST_SIGNAL).contains(code) => {
            trouble(format!("was ended by signal {}", code - BY_SIGNAL))
        }
        Ending::Exited(_) if has_no_room(place, log) => {
            trouble("failed while the disk was full".to_owned())
        }
        Ending::Exited(_) => RunEnding::Ran(Run::Red),
        Ending::Signalled(signal) => trouble(format!("was ended by signal {signal}")),
        Ending::TimedOut => trouble("took too long (validate_timeout)".to_owned()),
        Ending::NotStarted(why) => trouble(format!("could not be started: {why}")),
        Ending::Vanished => trouble("lost its wrapper".to_owned()),
        Ending::Stalled | Ending::Cancelled | Ending::Abandoned => RunEnding::Stopped,
    }
}

/// Whether the disk is full, or was and says so.
fn has_no_room(place: &Path, log: &Path) -> bool {
    let room = rustix::fs::statvfs(place).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    let full = b"No space left on device";
    room.is_ok_and(|room| room < NO_ROOM) || tail(log).windows(full.len()).any(|text| text == full)
}
