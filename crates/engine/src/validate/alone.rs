//! Proves a weave that is no batch: finds the branches that the tests fail with and leaves them out.
//!
//! One run at a time; nothing of it is remembered.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::bisect::{BisectStep, Bisection, LeftOutReason, TestResult};

use super::{RunEnding, TestBench, TestPlace, Tests};
use crate::project_secrets::secrets_of;
use crate::worktree_programs::{AttemptObserver, ProgramHost};
use pleach_domain::choice::Strategy;
use pleach_git::git::{CommitId, Store, TreeId};
use pleach_git::weave::{Strand, StrandOutcome, WeaveError, WeaveFolder, weave};
use pleach_git::worktree::{Included, WorktreeError};
use pleach_system::process::{Cancel, ProcessIdentity};
use pleach_system::state_folder::StateFolder;

#[derive(Debug)]
pub struct StandaloneProof<'a> {
    pub store: &'a Store,
    pub state: &'a StateFolder,
    /// Pleach's own program, which wraps the command.
    pub program: &'a Path,
    pub tests: &'a Tests,
    pub grace: Duration,
    pub cancel: &'a Cancel,
}

#[derive(Debug)]
pub struct JudgedTree<'a> {
    /// How many strands were woven then.
    pub strands: usize,
    pub tree: &'a TreeId,
    pub run: TestResult,
}

#[derive(Debug)]
pub struct ProvedTree {
    /// The places of the strands that stay.
    pub kept: Vec<usize>,
    /// The places of those that the tests fail with.
    pub invalid: Vec<usize>,
    /// The tree that the tests are green for.
    pub tree: TreeId,
}

#[derive(Debug, thiserror::Error)]
pub enum NoProof {
    #[error("the tests already fail on the base, so no branch is blamed")]
    BaseRed,
    #[error("the tests could not be completed: {0}")]
    Trouble(String),
    #[error("the tests were cancelled")]
    Stopped,
    #[error(transparent)]
    Weave(#[from] WeaveError),
    #[error(transparent)]
    Worktree(#[from] Box<WorktreeError>),
}

impl AttemptObserver for StandaloneProof<'_> {
    /// Nobody goes on with it, so nobody has to know whom to end.
    fn launched(&self, _process: &ProcessIdentity) -> bool {
        true
    }

    fn cancel(&self) -> &Cancel {
        self.cancel
    }
}

/// Finds the strands that the tests are green with, and tells every run.
pub fn prove_alone(
    alone: &StandaloneProof<'_>,
    onto: &CommitId,
    strands: &[Strand],
    told: &mut dyn FnMut(JudgedTree<'_>),
) -> Result<ProvedTree, NoProof> {
    let weave_folder = WeaveFolder::of_store(alone.store)?;
    let included = Included::list(alone.store, onto).map_err(Box::new)?;
    let secrets = secrets_of(alone.store, onto, &alone.tests.env);
    let bench = TestBench {
        host: ProgramHost {
            store: alone.store,
            state: alone.state,
            included: &included,
            wrapper: alone.program,
            sandbox: &alone.tests.sandbox,
            hide: &secrets,
            grace: alone.grace,
        },
        tests: alone.tests,
    };
    bench.clear_after_the_dead();
    let logs = alone.store.scratch().map_err(WeaveError::from)?;
    let mut search = Bisection::new(vec![Vec::new(); strands.len()]);
    let mut runs = 0_u32;
    loop {
        let (set, is_over) = match search.next(1, &[]) {
            BisectStep::Run(sets) => match sets.into_iter().next() {
                Some(set) => (set, false),
                None => unreachable!("nothing is under way, so something is to be run"),
            },
            BisectStep::BaseRed => return Err(NoProof::BaseRed),
            BisectStep::Proved => (search.kept().to_vec(), true),
        };
        let some: Vec<Strand> = set.iter().map(|place| strands[*place].clone()).collect();
        let woven = weave(&weave_folder, onto, &some, Strategy::Merge)?;
        let mut outcomes = woven.outcomes.iter().zip(&set);
        let conflict = outcomes.find(|(outcome, _)| matches!(outcome, StrandOutcome::Conflict(_)));
        if let Some((_, place)) = conflict {
            search.conflicted(*place);
            continue;
        }
        if is_over {
            return Ok(ProvedTree {
                kept: set,
                invalid: guilty(&search),
                tree: woven.tree,
            });
        }
        runs += 1;
        let name = format!("{}-{runs}", std::process::id());
        let place = bench.place(&name, logs.path());
        match bench.run(&woven.tip, &place, alone, &mut Vec::new()) {
            RunEnding::Ran(run) => {
                search.ran(&set, run);
                told(JudgedTree {
                    strands: set.len(),
                    tree: &woven.tree,
                    run,
                });
            }
            RunEnding::Trouble(why) => return Err(NoProof::Trouble(why)),
            RunEnding::Stopped => return Err(NoProof::Stopped),
        }
    }
}

fn guilty(search: &Bisection) -> Vec<usize> {
    let left_out = search.left_out().iter();
    let guilty = left_out.filter(|left_out| matches!(left_out.why, LeftOutReason::Guilty { .. }));
    guilty.map(|left_out| left_out.place).collect()
}

impl TestBench<'_> {
    fn trees(&self) -> PathBuf {
        self.host.store.home().join("validate")
    }

    fn place(&self, name: &str, logs: &Path) -> TestPlace {
        TestPlace {
            tree: self.trees().join(name),
            branch: format!("pleach/validate-alone/{name}"),
            folder: logs.join(name),
            said: Vec::new(),
        }
    }

    /// Takes away what weaves left behind whose process was killed; what cannot go now goes next time.
    fn clear_after_the_dead(&self) {
        for entry in std::fs::read_dir(self.trees())
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            let owner = name.split('-').next().unwrap_or_default();
            let is_alive = Path::new("/proc").join(owner).exists();
            let place = self.place(&name, Path::new("/"));
            let commit = self
                .host
                .store
                .ref_commit(&format!("refs/heads/{}", place.branch));
            if let (false, Ok(Some(commit))) = (is_alive, commit) {
                let _ = self.clear(&commit, &place);
            }
        }
    }
}
