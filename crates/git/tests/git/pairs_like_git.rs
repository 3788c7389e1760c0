//! The pairs that an index of paths finds are those that merging every pair with git finds: on random
//! repositories, and on nasty ones.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use pleach_git::git::{CommitId, Git, Repository};
use pleach_git::weave::{ChangedTree, Collision, PairCache, Pairwise, RebasedTree, WeaveFolder};
use pleach_testkit::{Tangle, Tangled, cases, gate_or_night};

/// A repository whose branches are works that all began at its base.
struct Ground<'t> {
    tangled: &'t Tangled,
    git: Git,
}

impl<'t> Ground<'t> {
    fn of(tangled: &'t Tangled) -> Self {
        let git = Git::find().unwrap();
        Self { tangled, git }
    }

    fn path(&self) -> &Path {
        self.tangled.path()
    }

    fn base(&self) -> CommitId {
        self.tangled.base.parse().unwrap()
    }

    fn weave_folder(&self) -> WeaveFolder {
        let repository = Repository::find(self.git.clone(), self.path()).unwrap();
        WeaveFolder::of_repository(&repository).unwrap()
    }

    fn works(&self, pairwise: &Pairwise<'_>) -> Vec<ChangedTree> {
        let basis = pairwise.tree_of(&self.base()).unwrap();
        let work = |branch: &String| ChangedTree {
            basis: basis.clone(),
            tree: pairwise.tree_of(&self.commit(branch)).unwrap(),
        };
        self.tangled.branches.iter().map(work).collect()
    }

    fn commit(&self, branch: &str) -> CommitId {
        self.tangled.git(&["rev-parse", branch]).parse().unwrap()
    }

    fn found(&self) -> Vec<(usize, usize)> {
        let weave_folder = self.weave_folder();
        let pairwise = Pairwise::on(&weave_folder, &self.base()).unwrap();
        let works = self.works(&pairwise);
        let all = |_, _| true;
        let found = pairwise.collisions(&works, all, &mut PairCache::default());
        pairs(&found.unwrap())
    }

    /// What `git merge-tree` says of every pair, with its process for each; attributes are those of the first.
    fn by_hand(&self) -> Vec<(usize, usize)> {
        let branches = &self.tangled.branches;
        let mut found = Vec::new();
        for one in 0..branches.len() {
            for other in one + 1..branches.len() {
                // Not our own git, which writes nothing here.
                let merge = Command::new("git")
                    .current_dir(self.path())
                    .env("GIT_ATTR_SOURCE", format!("{}^{{tree}}", branches[one]))
                    .args(["merge-tree", "--write-tree", "--name-only"])
                    .arg(format!("--merge-base={}", self.tangled.base))
                    .args([&branches[one], &branches[other]])
                    .output()
                    .unwrap();
                let (code, signal) = (merge.status.code(), merge.status.signal());
                let is_known = matches!(code, Some(0 | 1)) || signal == Some(6);
                assert!(is_known, "git says {:?}", merge.status);
                if code != Some(0) {
                    found.push((one, other));
                }
            }
        }
        found
    }
}

fn pairs(found: &[Collision]) -> Vec<(usize, usize)> {
    found.iter().map(|pair| (pair.one, pair.other)).collect()
}

/// The pairs that only one of the two finds, by the names of their branches.
#[track_caller]
fn agree(what: &str, tangled: &Tangled) -> usize {
    let ground = Ground::of(tangled);
    let (found, by_hand) = (ground.found(), ground.by_hand());
    let name = |(one, other): &(usize, usize)| {
        format!("{} {}", tangled.branches[*one], tangled.branches[*other])
    };
    let only_in = |some: &[(usize, usize)], others: &[(usize, usize)]| -> Vec<String> {
        let only = some.iter().filter(|pair| !others.contains(pair));
        only.map(name).collect()
    };
    let differences = BTreeMap::from([
        ("found only here", only_in(&found, &by_hand)),
        ("found only by git", only_in(&by_hand, &found)),
    ]);
    let none = differences.values().all(Vec::is_empty);
    assert!(none, "{what}: {differences:#?}");
    found.len()
}

#[test]
fn branches_of_tasks_collide_where_git_says_so() {
    let mut collisions = 0;
    for seed in 0..3 {
        let mut tangle = Tangle::tasks(seed, 60, 24);
        tangle.median = 300;
        collisions += agree(&format!("tasks, seed {seed}"), &tangle.make());
    }
    assert!(collisions > 20, "only {collisions} collisions");
}

#[test]
fn wild_branches_collide_where_git_says_so() {
    let mut collisions = 0;
    for seed in 0..gate_or_night(4, 200) {
        let mut tangle = Tangle::wild(seed);
        tangle.branches = 14;
        collisions += agree(&format!("wild, seed {seed}"), &tangle.make());
    }
    assert!(collisions > 20, "only {collisions} collisions");
}

#[test]
fn nasty_branches_collide_where_git_says_so() {
    for case in cases() {
        agree(case.name, &case.repo);
    }
}

#[test]
fn pairs_that_nobody_asks_about_are_not_merged() {
    let mut tangle = Tangle::tasks(1, 60, 24);
    tangle.median = 300;
    let tangled = tangle.make();
    let ground = Ground::of(&tangled);
    let weave_folder = ground.weave_folder();
    let pairwise = Pairwise::on(&weave_folder, &ground.base()).unwrap();
    let works = ground.works(&pairwise);
    let mut known = PairCache::default();
    let all = pairwise
        .collisions(&works, |_, _| true, &mut known)
        .unwrap();
    let (one, other) = (all[0].one, all[0].other);
    let but_one = |a, b| (a, b) != (one, other);
    let rest = pairwise.collisions(&works, but_one, &mut known).unwrap();
    assert_eq!(rest, all[1..]);
}

#[test]
fn what_is_known_is_not_merged_again() {
    let mut tangle = Tangle::tasks(2, 60, 24);
    tangle.median = 300;
    let tangled = tangle.make();
    let ground = Ground::of(&tangled);
    let weave_folder = ground.weave_folder();
    let pairwise = Pairwise::on(&weave_folder, &ground.base()).unwrap();
    let works = ground.works(&pairwise);
    let mut known = PairCache::default();
    let first = pairwise
        .collisions(&works, |_, _| true, &mut known)
        .unwrap();
    let merged = known.merged();
    let second = pairwise
        .collisions(&works, |_, _| true, &mut known)
        .unwrap();
    assert_eq!((second, known.merged()), (first, merged));
    assert!(merged > 0);
}

#[test]
fn work_is_moved_onto_what_came_since_or_conflicts_with_it() {
    let mut tangle = Tangle::tasks(3, 60, 24);
    tangle.median = 300;
    let tangled = tangle.make();
    let ground = Ground::of(&tangled);
    let weave_folder = ground.weave_folder();
    let by_hand = ground.by_hand();
    let onto = ground.commit(&tangled.branches[0]);
    let pairwise = Pairwise::on(&weave_folder, &onto).unwrap();
    for (place, work) in ground.works(&pairwise).iter().enumerate().skip(1) {
        let collides = matches!(pairwise.moved(work).unwrap(), RebasedTree::Conflict(_));
        assert_eq!(collides, by_hand.contains(&(0, place)), "{place}");
    }
}
