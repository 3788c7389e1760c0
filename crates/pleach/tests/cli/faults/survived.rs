//! What must hold of a batch when it is over, however often the program died on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::BatchNumber;
use pleach_log::database::{BatchFilter, StoredEvent};
use pleach_log::ownership::is_owned;
use pleach_testkit::{find_below, locks_below, processes_of, run_to_end};
use serde_json::Value;

use super::check_objects;
use super::ordeal::{Deed, LONG, Ordeal, Task};

/// A plan that cannot be marked, so that nobody waits for those who edit it.
const ONE_MORE: &str = r#"{"batches":[{"batch_id":1,"task_ids":["more"],"can_parallel":true}],
"tasks":[{"id":"more","title":"More","prompt":"more","depends_on":[],"files":[]}]}"#;

/// The words of endings, in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Merged,
    Unchanged,
    Conflicted,
    Failed,
    Blocked,
}

impl Fate {
    fn is_success(self) -> bool {
        matches!(self, Self::Merged | Self::Unchanged)
    }
}

/// A batch that is over.
struct Over<'o> {
    ordeal: &'o Ordeal,
    id: u32,
    number: BatchNumber,
    events: Vec<StoredEvent>,
    fates: BTreeMap<&'static str, Fate>,
    story: String,
}

/// Checks everything.
#[track_caller]
pub(super) fn check_survived(ordeal: &Ordeal) {
    let story = ordeal.story();
    let left = processes_of(&ordeal.repo.beside(""));
    assert!(left.is_empty(), "still running: {left:?}{story}");
    let over = Over::load(ordeal, story);
    over.check_batch();
    over.check_fates();
    over.check_result();
    over.check_diary();
    over.check_plan();
    over.check_users_refs();
    over.check_worktrees();
    over.check_kept();
    over.check_ownership();
    over.run_one_more();
    over.check_store();
}

impl<'o> Over<'o> {
    #[track_caller]
    fn load(ordeal: &'o Ordeal, story: String) -> Self {
        let database = ordeal.database();
        let batches = database.batches(BatchFilter::default()).unwrap();
        assert_eq!(batches.len(), 1, "batches{story}");
        let (id, number) = (batches[0].id, batches[0].number);
        let events = database.load(id).unwrap().unwrap().events;
        let mut over = Self {
            ordeal,
            id,
            number,
            events,
            fates: BTreeMap::new(),
            story,
        };
        for task in &ordeal.tasks {
            let fate = over.only_fate(task);
            over.fates.insert(task.id, fate);
        }
        over
    }

    fn events_of(&self, task: &Task) -> impl Iterator<Item = &TaskEvent> {
        self.events.iter().filter_map(|stored| match &stored.event {
            Event::Task { task: id, event } if id.as_str() == task.id => Some(event),
            _ => None,
        })
    }

    /// Each attempt ends before the next begins, and one ends the task.
    #[track_caller]
    fn only_fate(&self, task: &Task) -> Fate {
        let told = |what: &str| format!("task {}: {what}{}", task.id, self.story);
        let mut last = 0;
        let mut is_running = false;
        let mut fates = Vec::new();
        for event in self.events_of(task) {
            let fate = match event {
                TaskEvent::Started { attempt, .. } => {
                    assert!(!is_running, "{}", told("two attempts at once"));
                    assert_eq!(*attempt, last + 1, "{}", told("number of an attempt"));
                    assert!(fates.is_empty(), "{}", told("it runs after its end"));
                    (last, is_running) = (*attempt, true);
                    continue;
                }
                TaskEvent::Interrupted
                | TaskEvent::AttemptFailed { .. }
                | TaskEvent::AskedAgain
                | TaskEvent::Requeued { .. } => {
                    is_running = false;
                    continue;
                }
                TaskEvent::Woven { .. } => Fate::Merged,
                TaskEvent::Unchanged { .. } => Fate::Unchanged,
                TaskEvent::Conflicted { .. } => Fate::Conflicted,
                TaskEvent::Failed { .. } => Fate::Failed,
                TaskEvent::Blocked { .. } => Fate::Blocked,
                TaskEvent::Kept { .. }
                | TaskEvent::Built { .. }
                | TaskEvent::PauseEnded
                | TaskEvent::Published { .. } => continue,
                other => panic!("{}", told(&format!("{other:?}"))),
            };
            is_running = false;
            fates.push(fate);
        }
        assert_eq!(fates.len(), 1, "{}", told(&format!("{fates:?}")));
        fates[0]
    }

    #[track_caller]
    fn check_batch(&self) {
        let ends: Vec<usize> = (0..self.events.len())
            .filter(|at| {
                let event = &self.events[*at].event;
                matches!(event, Event::Batch(BatchEvent::Completed { .. }))
            })
            .collect();
        assert_eq!(ends, [self.events.len() - 1], "{}", self.story);
    }

    #[track_caller]
    fn check_fates(&self) {
        let mut fights = Vec::new();
        for task in &self.ordeal.tasks {
            let wanted = match task.deed {
                Deed::Fight => {
                    fights.push(self.fates[task.id]);
                    continue;
                }
                Deed::FailAlways => Fate::Failed,
                _ if task.needs.iter().any(|need| !self.fates[need].is_success()) => Fate::Blocked,
                Deed::Nothing => Fate::Unchanged,
                _ => Fate::Merged,
            };
            let found = self.fates[task.id];
            assert_eq!(found, wanted, "task {}{}", task.id, self.story);
        }
        let lost = fights.iter().filter(|fate| **fate == Fate::Conflicted);
        let wanted = match self.ordeal.variant.on_conflict {
            "rerun" => 0,
            _ => fights.len().saturating_sub(1),
        };
        assert_eq!(lost.count(), wanted, "{fights:?}{}", self.story);
    }

    fn merged(&self) -> impl Iterator<Item = &Task> {
        let tasks = self.ordeal.tasks.iter();
        tasks.filter(|task| self.fates[task.id] == Fate::Merged)
    }

    /// Every change is in the branch, once.
    #[track_caller]
    fn check_result(&self) {
        let repo = &self.ordeal.repo;
        let branch = format!("pleach/batch-{}", self.number);
        let range = format!("main..{branch}");
        let log = repo.git(&["log", "--first-parent", "--format=%s%n%b", &range]);
        for task in self.merged() {
            let subject = match (self.ordeal.variant.merge, task.deed) {
                // The agent's own commits are replayed with their own words.
                ("rebase", Deed::Commit) => "by the agent".to_owned(),
                _ => format!("task {}: {:?}", task.id, task.deed),
            };
            let times = log.lines().filter(|line| {
                let line = line.trim_start_matches(['-', '*', ' ']).to_lowercase();
                line.trim_start_matches("merge ")
                    .starts_with(&subject.to_lowercase())
            });
            assert_eq!(times.count(), 1, "{subject} in {log}{}", self.story);
            let (file, content) = match task.deed {
                Deed::Append | Deed::Fight => continue,
                _ => (format!("file-{}", task.id), task.id),
            };
            let found = repo.git(&["show", &format!("{branch}:{file}")]);
            assert_eq!(found, content, "{}", self.story);
        }
        let appended = |task: &&Task| task.deed == Deed::Append;
        let wanted: BTreeSet<&str> = self.merged().filter(appended).map(|task| task.id).collect();
        if !wanted.is_empty() {
            let chain = repo.git(&["show", &format!("{branch}:chain.txt")]);
            assert_eq!(chain.lines().count(), wanted.len(), "{chain}{}", self.story);
            assert_eq!(chain.lines().collect::<BTreeSet<_>>(), wanted);
        }
        let files = repo.git(&["ls-tree", "--name-only", &branch]);
        assert!(!files.contains("half-"), "{files}{}", self.story);
    }

    /// Nothing of an attempt was alive when the next began.
    #[track_caller]
    fn check_diary(&self) {
        let twice = fs::read_to_string(self.ordeal.repo.beside("diary/twice"));
        assert_eq!(
            twice.unwrap_or_default(),
            "",
            "ran twice at once{}",
            self.story
        );
    }

    #[track_caller]
    fn check_plan(&self) {
        let repo = &self.ordeal.repo;
        let wanted = self.ordeal.plan(|task| self.fates[task.id].is_success());
        let path = repo.path().join("TODO.md");
        assert_eq!(fs::read_to_string(&path).unwrap(), wanted, "{}", self.story);
        // Everything else of the user's is as it was.
        fs::write(&path, self.ordeal.plan(|_| false)).unwrap();
        let changed = self.ordeal.before.differences(&repo.fingerprint());
        assert_eq!(changed, Vec::<String>::new(), "{}", self.story);
        fs::write(&path, wanted).unwrap();
        let locks = locks_below(&repo.path().join(".git"));
        assert_eq!(locks, Vec::<PathBuf>::new(), "{}", self.story);
        check_objects(repo, repo.path());
    }

    #[track_caller]
    fn check_users_refs(&self) {
        let list = ["for-each-ref", "--format=%(refname)", "refs/heads/pleach"];
        let found = self.ordeal.repo.git(&list);
        let number = self.number;
        let left_out = self.left_out();
        let branches = left_out.map(|task| format!("refs/heads/pleach/task-{number}/{}", task.id));
        let mut wanted: Vec<String> = branches.collect();
        wanted.push(format!("refs/heads/pleach/batch-{number}"));
        wanted.sort();
        assert_eq!(found.lines().collect::<Vec<_>>(), wanted, "{}", self.story);
    }

    fn left_out(&self) -> impl Iterator<Item = &Task> {
        let tasks = self.ordeal.tasks.iter();
        tasks.filter(|task| matches!(self.fates[task.id], Fate::Failed | Fate::Conflicted))
    }

    #[track_caller]
    fn check_worktrees(&self) {
        let told = self
            .ordeal
            .pleach(&["worktrees", "--json"])
            .output()
            .unwrap();
        let told: Value = serde_json::from_slice(&told.stdout).unwrap();
        let found: BTreeSet<String> = told["worktrees"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tree| {
                format!(
                    "{} {}",
                    tree["id"].as_str().unwrap(),
                    tree["state"].as_str().unwrap()
                )
            })
            .collect();
        let kept = self
            .left_out()
            .filter(|_| self.ordeal.variant.keep_failed == "true");
        let wanted: BTreeSet<String> = kept
            .map(|task| format!("batch-{}/task-{} left_over", self.number, task.id))
            .collect();
        assert_eq!(found, wanted, "{}", self.story);
        let folders = find_below(&self.ordeal.state_path().join("worktrees"), |name| {
            name.starts_with("task-") || name.starts_with(".trash")
        });
        assert_eq!(folders.len(), wanted.len(), "{folders:?}{}", self.story);
    }

    fn store(&self) -> PathBuf {
        let stores = self.ordeal.state_path().join("stores");
        let mut stores = fs::read_dir(stores).unwrap();
        stores.next().unwrap().unwrap().path()
    }

    /// Whatever an agent wrote is kept, and whatever the log names.
    #[track_caller]
    fn check_kept(&self) {
        let repo = &self.ordeal.repo;
        let git_dir = self.store().join("store.git");
        let list = ["for-each-ref", "--format=%(refname)", "refs/pleach/keep"];
        let kept = repo.git_in(&git_dir, &list);
        let kept: BTreeSet<&str> = kept.lines().collect();
        let diary = fs::read_to_string(repo.beside("diary/diary")).unwrap();
        for line in diary.lines().filter(|line| line.ends_with(" wrote")) {
            let mut words = line.split(' ');
            let (task, attempt) = (words.next().unwrap(), words.next().unwrap());
            let name = format!(
                "refs/pleach/keep/batch-{}/task-{}/attempt-{attempt}",
                self.number, task
            );
            assert!(
                kept.contains(name.as_str()),
                "{name} of {kept:?}{}",
                self.story
            );
        }
        for stored in &self.events {
            let Event::Task { task, event } = &stored.event else {
                continue;
            };
            let (TaskEvent::Kept { commit } | TaskEvent::Built { commit, .. }) = event else {
                continue;
            };
            let contains = ["for-each-ref", "--contains", &commit.0, "refs/pleach/keep"];
            let found = repo.git_in(&git_dir, &contains);
            assert_ne!(found, "", "{task} {event:?}{}", self.story);
        }
    }

    #[track_caller]
    fn check_ownership(&self) {
        let folder = self
            .ordeal
            .state_path()
            .join(format!("batches/{}", self.id));
        assert!(!is_owned(&folder).unwrap());
        // A name may stay behind, and leads nowhere.
        assert!(UnixStream::connect(folder.join("socket")).is_err());
    }

    /// The next run finds everything fit for use.
    #[track_caller]
    fn run_one_more(&self) {
        let plan = self.ordeal.repo.beside("more.json");
        fs::write(&plan, ONE_MORE).unwrap();
        let words = ["run", "--yes", "--plan", plan.to_str().unwrap()];
        let mut run = self.ordeal.pleach(&words);
        let status = run_to_end(&mut run, &self.ordeal.said(), LONG).unwrap();
        assert_eq!(status.code(), Some(0), "{}", self.ordeal.story());
    }

    #[track_caller]
    fn check_store(&self) {
        let repo = &self.ordeal.repo;
        let home = self.store();
        let entries = |place: &Path| -> Vec<String> {
            let entries = fs::read_dir(place).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().into_string().unwrap());
            names.collect()
        };
        let scratch = |name: &String| name.starts_with("scratch");
        assert!(!entries(&home).iter().any(scratch), "{:?}", entries(&home));
        for place in ["trash", "store.git/wt-stage"] {
            assert_eq!(entries(&home.join(place)), Vec::<String>::new(), "{place}");
        }
        let alive = entries(&home.join("live"));
        assert!(
            alive.len() <= 1,
            "signs of more than the last run: {alive:?}"
        );
        let left = match self.ordeal.variant.keep_failed {
            "true" => self.left_out().count(),
            _ => 0,
        };
        for place in ["index", "trees", "agents"] {
            let found = entries(&home.join(place));
            assert_eq!(found.len(), left, "{place}: {found:?}{}", self.story);
        }
        let git_dir = home.join("store.git");
        let locks = locks_below(&git_dir);
        assert_eq!(locks, Vec::<PathBuf>::new(), "{}", self.story);
        check_objects(repo, &git_dir);
        let refs = repo.git_in(&git_dir, &["for-each-ref", "--format=%(refname)"]);
        let known = [
            "refs/heads/pleach/",
            "refs/pleach/keep/",
            "refs/pleach/base/",
            "refs/remotes/",
        ];
        let is_foreign = |name: &&str| !known.iter().any(|known| name.starts_with(known));
        let foreign: Vec<&str> = refs.lines().filter(is_foreign).collect();
        assert_eq!(foreign, Vec::<&str>::new());
    }
}
