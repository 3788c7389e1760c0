//! Runs a batch: one loop owns it, agents work in their own worktrees, branches are woven as they finish.
//!
//! The loop hears messages, asks the core which events follow, applies them, tells them, then acts.
//! It keeps its state in memory; nothing here survives the process but what is in git.

mod attempt;
mod marks;
mod run_loop;
mod summary;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use pleach_domain::batch::Batch;
use pleach_domain::event::Event;
use pleach_domain::graph::{Graph, Rules, Strictness};
use pleach_formats::Document;

pub use summary::{Summary, TaskReport};

use self::attempt::{Finished, Workshop};
use self::marks::Marks;
use self::run_loop::Loop;
use crate::agent::Agent;
use crate::consent::SteeringFiles;
use crate::git::{CommitId, Git, GitError, Logins, Store, StoreError};
use crate::process::Cancel;
use crate::state_folder::{ProjectLock, StateFolder, StateFolderError};
use crate::weave::WeaveError;
use crate::worktree::{self, WorktreeError};

/// Refs that move while agents work: their own branches, and what a fetch by somebody else brings.
const AGENTS_REFS: [&str; 2] = ["refs/heads/pleach/", "refs/remotes/"];

/// What to run.
#[derive(Debug)]
pub struct RunRequest {
    /// The folder that the user stands in.
    pub folder: PathBuf,
    /// The plan's file.
    pub plan_path: PathBuf,
    /// Its text.
    pub plan_text: String,
    /// The plan that was read from it.
    pub document: Document,
    /// The positions of the chosen tasks.
    pub chosen: Vec<usize>,
    /// How the tasks are put in order.
    pub rules: Rules,
    /// How many agents run at once.
    pub slots: usize,
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// The ref to start from, if not the current branch.
    pub base: Option<String>,
    /// How long a task may take.
    pub timeout: Duration,
    /// How long an agent may take to stop.
    pub grace: Duration,
    /// Where Pleach keeps its own.
    pub state: StateFolder,
    /// Pleach's own program, which git calls back to guard refs and to log in.
    pub program: PathBuf,
    /// Whether the network is used.
    pub fetch: Fetch,
}

/// Whether the project's server is asked before the base is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetch {
    /// Nothing is asked; the base is what the user's repository knows.
    Nothing,
    /// `origin` is fetched into the store first, and the base follows it.
    Origin,
}

/// Why a batch cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The repository cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Weaving failed.
    #[error(transparent)]
    Weave(#[from] WeaveError),
    /// What an earlier run left behind could not be cleared up.
    #[error(transparent)]
    Worktree(Box<WorktreeError>),
    /// Pleach's own folder cannot be used.
    #[error(transparent)]
    State(#[from] StateFolderError),
    /// The system refused.
    #[error("could not {doing}")]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

/// What the loop tells while it runs.
#[derive(Debug)]
pub enum Told<'a> {
    /// Something happened.
    Event(&'a Event),
    /// Something that is no event and worth a line.
    Note(String),
}

/// A batch that is ready to run: everything was looked at, nothing was changed.
#[derive(Debug)]
pub struct Prepared {
    request: RunRequest,
    store: Store,
    base: CommitId,
    steering: SteeringFiles,
    lock: ProjectLock,
    controls: Controls,
    inbox: Receiver<Heard>,
}

/// What the loop can hear.
#[derive(Debug)]
enum Heard {
    Finished(Box<Finished>),
    Cancel,
}

/// Lets another thread stop a batch.
#[derive(Debug, Clone)]
pub struct Controls {
    inbox: Sender<Heard>,
    cancel: Cancel,
}

impl Controls {
    /// Asks what runs to stop; all work is kept.
    pub fn cancel(&self) {
        // A loop that is over hears nothing and needs nothing.
        let _ = self.inbox.send(Heard::Cancel);
    }

    /// Stops what runs without waiting; all work is kept.
    pub fn cancel_at_once(&self) {
        self.cancel();
        self.cancel.cancel_at_once();
    }
}

/// Looks at the repository and the state folder.
pub fn prepare(request: RunRequest) -> Result<Prepared, RunError> {
    let store = Store::open(Git::find()?, &request.state.stores(), &request.folder)?;
    store.check_prefixes("pleach/batch")?;
    store.install_guard(&request.program)?;
    let base = match request.fetch {
        Fetch::Nothing => store.resolve_base(request.base.as_deref())?,
        Fetch::Origin => {
            store.fetch_origin(&Logins::of_user(&request.program))?;
            store.resolve_fetched_base(request.base.as_deref())?
        }
    };
    let steering = SteeringFiles::at(&store, &base)?;
    let lock = ProjectLock::take(store.home())?;
    // What a killed run left behind; a worktree that may hold work stays.
    worktree::sweep(&store)
        .map_err(Box::new)
        .map_err(RunError::Worktree)?;
    let (sender, inbox) = channel();
    let cancel = Cancel::new().map_err(|source| RunError::Io {
        doing: "prepare to stop agents",
        source,
    })?;
    Ok(Prepared {
        request,
        store,
        base,
        steering,
        lock,
        controls: Controls {
            inbox: sender,
            cancel,
        },
        inbox,
    })
}

impl Prepared {
    /// The commit that the batch starts from.
    pub fn base(&self) -> &CommitId {
        &self.base
    }

    /// The files in that commit that steer agents or Pleach.
    pub fn steering(&self) -> &SteeringFiles {
        &self.steering
    }

    /// A handle to stop the batch with.
    pub fn controls(&self) -> Controls {
        self.controls.clone()
    }

    /// Runs the batch to its end.
    pub fn run(self, told: &mut dyn FnMut(Told<'_>)) -> Result<Summary, RunError> {
        if self
            .store
            .read_file_at(&self.base, ".gitmodules")?
            .is_some()
        {
            let note = "submodules are not fetched: their folders are empty in worktrees";
            told(Told::Note(note.to_owned()));
        }
        let graph = Graph::of(&self.request.document.plan, Strictness::AsWritten);
        let batch = Batch::of(&graph, &self.request.chosen, self.request.rules);
        drop(graph);
        let (number, folder) = self.request.state.new_batch()?;
        let refs = self.store.refs_snapshot(&AGENTS_REFS)?;
        let workshop = Workshop {
            store: self.store,
            refs,
            agent: self.request.agent,
            program: self.request.program,
            folder,
            number,
            timeout: self.request.timeout,
            grace: self.request.grace,
            leave_out: paths_of_plan(&self.request.plan_path, &self.request.folder),
            cancel: self.controls.cancel.clone(),
        };
        let reports = self
            .request
            .chosen
            .iter()
            .map(|position| TaskReport::new(&self.request.document.plan.tasks[*position]));
        let run = Loop {
            reports: reports.collect(),
            marks: Marks::new(
                &self.request.plan_path,
                &self.request.plan_text,
                &self.request.document,
            ),
            document: &self.request.document,
            chosen: &self.request.chosen,
            state: &self.request.state,
            plan_name: self.request.plan_path.display().to_string(),
            batch,
            tip: self.base.clone(),
            base: self.base,
            steering: self.steering,
            slots: self.request.slots,
            workshop: Arc::new(workshop),
            began: Instant::now(),
            started: HashMap::new(),
            bases: HashMap::new(),
            sender: self.controls.inbox.clone(),
            told,
        };
        let summary = run.run_to_the_end(&self.inbox);
        drop(self.lock);
        Ok(summary)
    }
}

/// The plan's paths within the repository, whose changes by agents are no part of their work.
fn paths_of_plan(plan: &Path, folder: &Path) -> Vec<PathBuf> {
    let Some(project) = folder
        .canonicalize()
        .ok()
        .and_then(|folder| repository_of(&folder))
    else {
        return Vec::new();
    };
    // A plan behind a link is at two places.
    let linked = plan.parent().map(|above| {
        if above.as_os_str().is_empty() {
            Path::new(".")
        } else {
            above
        }
    });
    let linked = linked.and_then(|above| above.canonicalize().ok());
    let linked = linked
        .zip(plan.file_name())
        .map(|(above, name)| above.join(name));
    let mut paths: Vec<PathBuf> = [linked, plan.canonicalize().ok()]
        .into_iter()
        .flatten()
        .filter_map(|plan| {
            let found = repository_of(plan.parent()?)?;
            let inside = plan.strip_prefix(&found.top).ok()?;
            (found.common_dir == project.common_dir).then(|| inside.to_owned())
        })
        .collect();
    paths.dedup();
    paths
}

/// The top of a checkout and the git folder it shares with others.
struct Repository {
    top: PathBuf,
    common_dir: PathBuf,
}

fn repository_of(folder: &Path) -> Option<Repository> {
    let top = folder
        .ancestors()
        .find(|above| above.join(".git").exists())?;
    let dot_git = top.join(".git");
    let git_dir = match std::fs::read_to_string(&dot_git) {
        Ok(pointer) => top.join(pointer.trim().strip_prefix("gitdir: ")?),
        Err(_) => dot_git,
    };
    let common_dir = match std::fs::read_to_string(git_dir.join("commondir")) {
        Ok(pointer) => git_dir.join(pointer.trim()),
        Err(_) => git_dir,
    };
    Some(Repository {
        top: top.to_owned(),
        common_dir: common_dir.canonicalize().ok()?,
    })
}
