//! Programs that run one after the other in a worktree: what comes along, ports, environment, sandbox, wrapper, and
//! what the sandbox refused.
//!
//! Knows nothing of agents or tests, nor of what an ending means.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::ports::{PortLease, PortsError};
use pleach_system::process::{
    Cancel, Isolation, LOG_CAP, ProcessError, ProcessIdentity, ProcessRecord, ProcessSpec, Shim,
};
use pleach_system::sandbox::{Sandbox, SandboxInput, SandboxPolicy};
use pleach_system::secrets::Secrets;
use pleach_system::state_folder::{StateFolder, StateFolderError, private_folder};

use pleach_git::git::Store;
use pleach_git::worktree::{Included, Worktree, WorktreeError};
use pleach_log::agent_report::AgentReport;

/// The environment of a program, or what is added to it.
pub type Variables = Vec<(OsString, OsString)>;

/// Hears what programs do while they run, and says when they are to stop.
pub trait AttemptObserver: Sync {
    /// Notes a wrapper before it may run anything; says whether it may.
    fn launched(&self, process: &ProcessIdentity) -> bool;

    /// Hears what an agent said of itself so far.
    fn said(&self, _said: &AgentReport) {}

    fn cancel(&self) -> &Cancel;
}

#[derive(Debug, Clone, Copy)]
pub struct ProgramHost<'a> {
    pub store: &'a Store,
    pub state: &'a StateFolder,
    /// Ignored files of the user's checkout that every worktree gets.
    pub included: &'a Included,
    pub wrapper: &'a Path,
    pub sandbox: &'a SandboxPolicy,
    pub hide: &'a Secrets,
    pub grace: Duration,
}

/// A worktree with a folder for logs and with ports, held until everything that could listen there has ended.
#[derive(Debug)]
pub struct ProgramPlace<'a> {
    host: ProgramHost<'a>,
    worktree: &'a Worktree,
    folder: &'a Path,
    ports: PortLease,
}

/// The programs of one worktree, all in the same sandbox.
#[derive(Debug)]
pub struct WorktreePrograms<'a> {
    place: ProgramPlace<'a>,
    env: Variables,
    sandbox: Sandbox,
}

#[derive(Debug)]
pub struct Program {
    pub argv: Vec<OsString>,
    /// What it is there for, by which its log and its record are named.
    pub role: &'static str,
    pub timeout: Duration,
    pub stall: Option<Duration>,
    pub stdin_file: Option<PathBuf>,
    /// How long it alone is asked to stop before everybody is that it started.
    pub polite: Option<Duration>,
}

#[derive(Debug)]
pub struct ProgramEnd {
    pub record: ProcessRecord,
    pub log: PathBuf,
    pub refused: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    #[error("its folder could not be made")]
    Folder(#[source] StateFolderError),
    #[error("its ignored files could not be copied")]
    Included(#[source] Box<WorktreeError>),
    #[error("it got no ports")]
    Ports(#[source] PortsError),
    #[error("no sandbox could be made")]
    Sandbox(#[source] std::io::Error),
    #[error("it could not be run")]
    Wrapper(#[source] ProcessError),
    /// Nobody noted its wrapper, so that it must not run.
    #[error("nobody waits for it")]
    Unnoted,
}

impl<'a> ProgramHost<'a> {
    pub fn enter(
        self,
        worktree: &'a Worktree,
        folder: &'a Path,
    ) -> Result<ProgramPlace<'a>, NotRun> {
        private_folder(folder).map_err(NotRun::Folder)?;
        Ok(ProgramPlace {
            host: self,
            worktree,
            folder,
            ports: PortLease::take(self.state).map_err(NotRun::Ports)?,
        })
    }
}

impl<'a> ProgramPlace<'a> {
    /// Copies the ignored files that every worktree gets; tells what could not come along.
    pub fn copy_included(&self, notes: &mut Vec<String>) -> Result<(), NotRun> {
        let copied = self.host.included.copy_into(self.host.store, self.worktree);
        let left_out = copied.map_err(|error| NotRun::Included(Box::new(error)))?;
        notes.extend(left_out.iter().map(ToString::to_string));
        Ok(())
    }

    /// What every program of it is told, besides what these are told.
    pub fn told(
        &self,
        mut variables: Vec<(&'static str, OsString)>,
    ) -> Vec<(&'static str, OsString)> {
        let path = self.worktree.path();
        let above = path.parent().unwrap_or(Path::new("/"));
        variables.extend([
            ("PLEACH_WORKTREE", path.into()),
            ("PLEACH_PORT", self.ports.first().to_string().into()),
            // A worktree that loses its `.git` must not be taken for part of a repository above it.
            ("GIT_CEILING_DIRECTORIES", above.into()),
        ]);
        variables
    }

    /// Makes the sandbox of programs that get this environment, read these files of ours and belong to that tool.
    pub fn enclose(
        self,
        mut env: Variables,
        read: &[&Path],
        tool: Option<&str>,
        notes: &mut Vec<String>,
    ) -> Result<WorktreePrograms<'a>, NotRun> {
        let input = SandboxInput {
            git: &self.worktree.git_places(self.host.store),
            state: self.host.state,
            worktree: self.worktree.path(),
            read,
            tool,
            program: self.host.wrapper,
        };
        let sandbox = self.host.sandbox.apply(&input, &mut env);
        let sandbox = sandbox.map_err(NotRun::Sandbox)?;
        notes.extend_from_slice(&sandbox.notes);
        Ok(WorktreePrograms {
            place: self,
            env,
            sandbox,
        })
    }
}

impl Program {
    pub fn shell(command: &str, role: &'static str, timeout: Duration) -> Self {
        Self {
            argv: ["/bin/sh", "-c", command].map(OsString::from).to_vec(),
            role,
            timeout,
            stall: None,
            stdin_file: None,
            polite: None,
        }
    }
}

impl WorktreePrograms<'_> {
    pub fn run(
        &self,
        program: Program,
        observer: &dyn AttemptObserver,
        notes: &mut Vec<String>,
    ) -> Result<ProgramEnd, NotRun> {
        let worktree = self.place.worktree;
        let spec = self.sandbox.confine(self.spec(program));
        let shim = Shim::launch(self.place.host.wrapper).map_err(NotRun::Wrapper)?;
        let shim = shim.sweeping(worktree.sweeps());
        crash_point(CrashPoint::WrapperLaunched);
        // The wrapper counts only once it is noted: whoever comes after us must be able to end it.
        if !observer.launched(shim.identity()) {
            return Err(NotRun::Unnoted);
        }
        crash_point(CrashPoint::ProcessNoted);
        let record = shim
            .run(&spec, observer.cancel())
            .map_err(NotRun::Wrapper)?;
        notes.extend(self.sandbox.restore_agent_settings());
        let refused = self.sandbox.refusals(&spec.log, worktree.path());
        notes.extend_from_slice(&refused);
        Ok(ProgramEnd {
            record,
            log: spec.log,
            refused,
        })
    }

    pub fn log(&self, role: &str) -> PathBuf {
        self.place.folder.join(format!("{role}.log"))
    }

    fn spec(&self, program: Program) -> ProcessSpec {
        let role = program.role;
        ProcessSpec {
            argv: program.argv,
            cwd: self.place.worktree.path().to_owned(),
            env: self.env.clone(),
            stdin_file: program.stdin_file,
            log: self.log(role),
            record: self.place.folder.join(format!("{role}.exit.json")),
            timeout: program.timeout,
            stall: program.stall,
            grace: self.place.host.grace,
            log_cap: LOG_CAP,
            hide: self.place.host.hide.clone(),
            sandbox: None,
            isolation: Isolation::default(),
            polite: program.polite,
        }
    }
}
