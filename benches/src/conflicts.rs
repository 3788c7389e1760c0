//! Which of many branches would conflict with each other, against a `git merge-tree` for every pair.

#![expect(clippy::print_stdout, reason = "printing is what a benchmark does")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use pleach_domain::id::TaskId;
use pleach_git::git::{CommitId, Git, NamedCommit, Repository};
use pleach_git::radar::{LiveTask, Radar, RadarInput};
use pleach_git::weave::{ChangedTree, Collision, PairCache, Pairwise, WeaveFolder};
use pleach_system::process::Cancel;
use pleach_testkit::{Tangle, Tangled};
use tempfile::TempDir;

use crate::measure::{cpu_of_each, cpu_with_children, figure, least, middle_ratio, verdict};
use crate::worktrees;

const FILES: usize = 20_000;
const ROUNDS: usize = 5;
/// The kernel counts the time of children in hundredths of a second, so several runs are one sample.
const RUNS: u32 = 10;
/// So many pairs are merged by git in a round, spread over all of them; the rest is reckoned from these.
const SAMPLE: usize = 150;

const MOST_OF_A_HUNDRED: f64 = 1.0 / 100.0;
const MOST_OF_A_THOUSAND: f64 = 1.0 / 100.0;
const MOST_STILL: f64 = 1.5;
const MOST_BUSY: f64 = 3.0;

/// Measures, prints, and tells whether every limit is kept.
pub(crate) fn compare() -> bool {
    let hundred = ConflictSetup::new(100).compare(ROUNDS, RUNS, MOST_OF_A_HUNDRED);
    let thousand = ConflictSetup::new(1_000).compare(2, 1, MOST_OF_A_THOUSAND);
    let looked = look_around();
    hundred && thousand && looked
}

/// A large repository, and what git's own merges write.
struct ConflictSetup {
    tangled: Tangled,
    repository: Repository,
    /// The base, and then the branches.
    commits: Vec<CommitId>,
    scratch: TempDir,
}

impl ConflictSetup {
    fn new(branches: usize) -> Self {
        let memory = PathBuf::from("/dev/shm");
        let memory = memory.is_dir().then_some(memory);
        let mut tangle = Tangle::tasks(7, FILES, branches);
        tangle.parent.clone_from(&memory);
        let scratch = memory.map_or_else(TempDir::new, TempDir::new_in);
        let tangled = tangle.make();
        let git = Git::find().expect("git is installed");
        let repository = Repository::find(git, tangled.path()).expect("it was just made");
        let names = [std::slice::from_ref(&tangled.base), &tangled.branches].concat();
        let commits = repository.resolve(&names).expect("git can look");
        let commits = commits.into_iter().map(|named| match named {
            Some(NamedCommit::Branch(commit) | NamedCommit::Other(commit)) => commit,
            None => panic!("a branch is missing"),
        });
        Self {
            commits: commits.collect(),
            tangled,
            repository,
            scratch: scratch.expect("there is room"),
        }
    }

    fn compare(&self, rounds: usize, runs: u32, most: f64) -> bool {
        let count = self.tangled.branches.len();
        let pairs: Vec<(usize, usize)> = (0..count)
            .flat_map(|one| (one + 1..count).map(move |other| (one, other)))
            .collect();
        println!(
            "conflicts among {count} branches of {FILES} files: {} pairs",
            pairs.len()
        );
        let (mut git, mut ours) = (Vec::new(), Vec::new());
        let mut found = (Vec::new(), 0);
        for round in 0..rounds {
            let step = pairs.len() / SAMPLE;
            let sample: Vec<_> = pairs.iter().skip(round).step_by(step).collect();
            let mut said = Vec::new();
            let cost = cpu_with_children(|| {
                said = sample.iter().map(|pair| self.collides(**pair)).collect();
            });
            git.push(cost * ratio(pairs.len(), sample.len()));
            let cost = cpu_with_children(|| (0..runs).for_each(|_| found = self.find()));
            ours.push(cost / f64::from(runs));
            for (pair, said) in sample.iter().zip(said) {
                assert_eq!(is_among(&found.0, **pair), said, "{pair:?}");
            }
        }
        let (found, merged) = found;
        // A spread sample hits few conflicts, so git is asked about them as well.
        for pair in found.iter().take(SAMPLE) {
            assert!(self.collides((pair.one, pair.other)), "{pair:?}");
        }
        let (git, ours) = (least(&git), least(&ours));
        println!(
            "  git merge-tree, each pair      {:8.0} ms CPU, from {SAMPLE} of them a round",
            git * 1e3
        );
        println!(
            "  ours                           {:8.0} ms CPU: {} conflicts, {merged} pairs merged",
            ours * 1e3,
            found.len()
        );
        figure("  times less", git / ours);
        verdict("  of git", ours / git, most)
    }

    /// All pairs that conflict, and how many were merged for that; what it writes goes with it.
    fn find(&self) -> (Vec<Collision>, usize) {
        let weave_folder = WeaveFolder::of_repository(&self.repository).expect("there is room");
        let pairwise = Pairwise::on(&weave_folder, &self.commits[0]).expect("the base can be read");
        let tree = |commit: &CommitId| pairwise.tree_of(commit).expect("it can be read");
        let basis = tree(&self.commits[0]);
        let work = |commit: &CommitId| ChangedTree {
            basis: basis.clone(),
            tree: tree(commit),
        };
        let works: Vec<ChangedTree> = self.commits[1..].iter().map(work).collect();
        let mut known = PairCache::default();
        let found = pairwise.collisions(&works, |_, _| true, &mut known);
        (found.expect("they can be merged"), known.merged())
    }

    /// What git says of a pair.
    fn collides(&self, (one, other): (usize, usize)) -> bool {
        let (path, branches) = (self.tangled.path(), &self.tangled.branches);
        let merged = Command::new("git")
            .arg("-C")
            .arg(path)
            .args(["merge-tree", "--write-tree"])
            .arg(format!("--merge-base={}", self.tangled.base))
            .args([&branches[one], &branches[other]])
            .env("GIT_OBJECT_DIRECTORY", self.scratch.path())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", path.join("objects"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        match merged.expect("git is installed").code() {
            Some(0) => false,
            Some(1) => true,
            code => panic!("git merge-tree exited with {code:?}"),
        }
    }
}

/// What a round costs for each worktree, beside the `git status` of somebody who asks again and again.
fn look_around() -> bool {
    let ground = worktrees::WorktreeSetup::new();
    let worktrees = ["one", "two"].map(|name| ground.make(name));
    let live = worktrees.iter().enumerate();
    let live = live.map(|(position, worktree)| LiveTask {
        task: TaskId::new(worktree.branch()),
        position,
        attempt: 1,
        branch: worktree.branch().to_owned(),
        basis: ground.basis.clone(),
        built: None,
        bundle: None,
        comes_after: vec![false; 2],
    });
    let situation = RadarInput {
        live: live.collect(),
        woven: Vec::new(),
        tip: ground.basis.clone(),
    };
    let stop = Cancel::default();
    let mut radar = Radar::new(&ground.store, Vec::new(), stop);
    let mut look = || {
        let found = radar.look(&situation).expect("it can look");
        assert_eq!(found.map(|pairs| pairs.len()), Some(1));
    };
    let edit = |round: usize| {
        for worktree in &worktrees {
            for number in 1..=5 {
                let file = format!("folder-{number}/file-{}.txt", number * 10);
                let text = format!("{round} {number} {}", worktree.branch());
                fs::write(worktree.path().join(file), text).expect("there is room");
            }
        }
    };
    // What is as old as an index has to be read by whoever compares it.
    thread::sleep(Duration::from_millis(1100));
    let (mut status, mut still, mut busy) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        edit(round);
        busy.push(cpu_of_each(1, &mut look));
        thread::sleep(Duration::from_millis(50));
        look();
        still.push(cpu_of_each(RUNS, &mut look));
        let ask = || {
            for worktree in &worktrees {
                worktrees::git(worktree.path(), &["status"]);
            }
        };
        status.push(cpu_of_each(RUNS, ask));
    }
    let [still_ratio, busy_ratio] = [&still, &busy].map(|ours| middle_ratio(ours, &status));
    println!("looking at worktrees of {FILES} files, each");
    for (what, samples) in [
        ("git status", &status),
        ("a look, nothing changed", &still),
        ("a look, 5 files changed", &busy),
    ] {
        println!("  {what:<30} {:8.0} ms CPU", least(samples) / 2.0 * 1e3);
    }
    let still = verdict("  times git status", still_ratio, MOST_STILL);
    verdict("  times git status, changed", busy_ratio, MOST_BUSY) && still
}

fn is_among(found: &[Collision], (one, other): (usize, usize)) -> bool {
    found
        .iter()
        .any(|pair| (pair.one, pair.other) == (one, other))
}

fn ratio(all: usize, some: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let (all, some) = (all as f64, some as f64);
    all / some
}
