//! A batch under way in which a test plays the agents and the loop.
//!
//! Knows nothing of what the agents do.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::choice::Strategy;
use pleach_domain::id::TaskId;
use pleach_git::capture::{CaptureOptions, Captured, capture};
use pleach_git::git::{CommitId, Git, Store};
use pleach_git::radar::{LiveTask, Radar, RadarInput, WovenTask};
use pleach_git::weave::{Strand, WeaveFolder, weave};
use pleach_git::worktree::{Worktree, WorktreeSpec};
use pleach_system::process::Cancel;
use pleach_testkit::{TestRepo, find_below};

pub(crate) struct Scene {
    repo: TestRepo,
    store: Store,
    worktrees: BTreeMap<String, Worktree>,
    situation: RadarInput,
}

impl Scene {
    /// Tasks that all began at the base.
    pub(crate) fn new(tasks: &[&str]) -> Self {
        let repo = TestRepo::new();
        repo.write("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
        repo.write("dir/b.txt", "b\nb2\nb3\nb4\nb5\nb6\n");
        repo.write("PLAN.md", "- [ ] task\n");
        repo.write(".gitignore", "*.log\n");
        repo.commit("basis");
        let stores = repo.beside("stores");
        let store = Store::open(Git::find().unwrap(), &stores, repo.path()).unwrap();
        let tip = store.resolve_base(None).unwrap();
        let mut scene = Self {
            repo,
            store,
            worktrees: BTreeMap::new(),
            situation: RadarInput {
                live: Vec::new(),
                woven: Vec::new(),
                tip,
            },
        };
        for task in tasks {
            scene.start_on_tip(task, &[]);
        }
        scene
    }

    /// A task that starts from everything that is woven, and comes after others.
    pub(crate) fn start_on_tip(&mut self, task: &str, after: &[&str]) {
        let branch = format!("pleach/task-1/{task}");
        let spec = WorktreeSpec {
            path: self.repo.beside("worktrees").join(task),
            branch: branch.clone(),
            basis: self.situation.tip.clone(),
        };
        let worktree = Worktree::create(&self.store, &spec).unwrap();
        let known = self
            .situation
            .live
            .iter()
            .map(|live| (&live.task, live.position));
        let woven = self.situation.woven.iter();
        let known = known.chain(woven.map(|woven| (&woven.task, woven.position)));
        let mut comes_after = vec![false; 20];
        let mut position = 0;
        for (other, at) in known {
            comes_after[at] = after.contains(&other.as_str());
            position = position.max(at + 1);
        }
        self.situation.live.push(LiveTask {
            task: TaskId::new(task),
            position,
            attempt: 1,
            branch,
            basis: spec.basis,
            built: None,
            bundle: None,
            comes_after,
        });
        self.worktrees.insert(task.to_owned(), worktree);
    }

    pub(crate) fn path(&self, task: &str, name: impl AsRef<Path>) -> PathBuf {
        self.worktrees[task].path().join(name)
    }

    pub(crate) fn write(&self, task: &str, name: &str, content: &str) {
        let path = self.path(task, name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    #[track_caller]
    pub(crate) fn git(&self, task: &str, args: &[&str]) {
        self.repo.git_in(self.worktrees[task].path(), args);
    }

    /// The same, whether or not it works.
    pub(crate) fn git_of_agent(&self, task: &str, args: &[&str]) {
        self.repo.git_succeeds(self.worktrees[task].path(), args);
    }

    pub(crate) fn commit(&self, task: &str) {
        self.git(task, &["add", "--all"]);
        self.git(task, &["commit", "--quiet", "-m", task]);
    }

    /// Waits until files are older than the clock's step.
    pub(crate) fn settle(&self) {
        let probe = self.repo.beside("probe");
        let stamp = || {
            fs::write(&probe, "").unwrap();
            probe.metadata().unwrap().modified().unwrap()
        };
        let start = stamp();
        while stamp() < start + Duration::from_millis(30) {
            std::thread::yield_now();
        }
    }

    pub(crate) fn radar(&self) -> Radar<'_> {
        let leave_out = vec!["PLAN.md".into()];
        Radar::new(&self.store, leave_out, Cancel::default())
    }

    /// What a radar sees that has never looked before.
    #[track_caller]
    pub(crate) fn look(&self) -> String {
        self.look_with(&mut self.radar())
    }

    /// The pairs as `1-2 file, file`.
    #[track_caller]
    pub(crate) fn look_with(&self, radar: &mut Radar<'_>) -> String {
        let found = radar.look(&self.situation).unwrap().unwrap();
        let pairs = found
            .iter()
            .map(|pair| format!("{}-{} {}", pair.a, pair.b, pair.files.join(", ")));
        pairs.collect::<Vec<_>>().join(", ")
    }

    /// The task's agent ends.
    pub(crate) fn build(&mut self, task: &str) -> CommitId {
        let options = CaptureOptions {
            message: "work\n".into(),
            leave_out: Vec::new(),
        };
        let captured = capture(&self.store, &self.worktrees[task], &options).unwrap();
        let Captured::Changed { commit, .. } = captured else {
            panic!("{task} changed nothing");
        };
        let live = self.situation.live.iter_mut();
        let live = live.into_iter().find(|live| live.task.as_str() == task);
        live.unwrap().built = Some(commit.clone());
        commit
    }

    /// The task's agent ends and its work is woven in.
    pub(crate) fn weave(&mut self, task: &str) {
        let commit = self.build(task);
        let place = self.situation.live.iter();
        let place = place
            .map(|live| live.task.as_str())
            .position(|id| id == task);
        let live = self.situation.live.remove(place.unwrap());
        let strand = Strand {
            subject: task.to_owned(),
            commit: commit.clone(),
            basis: Some(live.basis.clone()),
        };
        let weave_folder = WeaveFolder::of_store(&self.store).unwrap();
        let woven = weave(
            &weave_folder,
            &self.situation.tip,
            &[strand],
            Strategy::Merge,
        )
        .unwrap();
        self.situation.tip = woven.tip;
        self.situation.woven.push(WovenTask {
            task: live.task,
            position: live.position,
            commit,
            basis: live.basis,
        });
    }

    /// The folder in which the agent's git notes what it is at.
    pub(crate) fn admin(&self, task: &str) -> PathBuf {
        let text = fs::read_to_string(self.path(task, ".git")).unwrap();
        text.trim().strip_prefix("gitdir: ").unwrap().into()
    }

    /// Configures an agent's git to run a program on every occasion; gives the file that it leaves.
    pub(crate) fn arm(&self, task: &str) -> PathBuf {
        let (script, canary) = (self.repo.beside("evil"), self.repo.beside("canary"));
        fs::write(
            &script,
            format!("#!/bin/sh\ntouch '{}'\ncat\n", canary.display()),
        )
        .unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let script = script.to_str().unwrap();
        for setting in [
            "core.fsmonitor",
            "filter.evil.clean",
            "diff.external",
            "merge.evil.driver",
        ] {
            self.git_of_agent(task, &["config", setting, script]);
        }
        canary
    }

    /// Everything in the agents' git folders and worktrees: path, content, mode and time of change.
    pub(crate) fn prints(&self) -> Vec<(PathBuf, String, Vec<u8>)> {
        let mut prints = Vec::new();
        for task in self.worktrees.keys() {
            for folder in [self.admin(task), self.path(task, "")] {
                for path in find_below(&folder, |_| true) {
                    let path = folder.join(path);
                    let meta = path.symlink_metadata().unwrap();
                    let facts = format!(
                        "{:o} {:?}",
                        meta.permissions().mode(),
                        meta.modified().unwrap()
                    );
                    prints.push((path.clone(), facts, fs::read(path).unwrap_or_default()));
                }
            }
        }
        prints
    }

    /// Every file of the store's objects, and everything in its folder.
    pub(crate) fn stored(&self) -> Vec<PathBuf> {
        let mut found = find_below(&self.store.git_dir().join("objects"), |_| true);
        let home = fs::read_dir(self.store.home()).unwrap();
        found.extend(home.map(|entry| entry.unwrap().path()));
        found.sort();
        found
    }
}
