//! A batch of two tasks, the second of which does not merge, as it is stored when it is over.
//!
//! Knows nothing of who resolves it.

use std::fs;
use std::path::{Path, PathBuf};

use pleach_domain::batch::{BatchSettings, Design, FailedStage, TaskDesign};
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::phase::Threshold;
use pleach_domain::task::Priority;
use pleach_domain::task_state::Commit;
use pleach_engine::resolve::{OpenedConflict, Resolution};
use pleach_engine::stored_batch::StoredBatch;
use pleach_git::git::{CommitId, Git, Store};
use pleach_log::database::{BatchTask, Database, NewBatch};
use pleach_system::state_folder::StateFolder;
use pleach_testkit::TestRepo;
use serde_json::json;

/// Task 1 is woven and is branch `ours`; task 2 was left out and is branch `theirs`.
pub(crate) struct Scene {
    pub(crate) repo: TestRepo,
    pub(crate) state: StateFolder,
    pub(crate) store: Store,
    pub(crate) tip: CommitId,
}

/// The task that conflicts.
pub(crate) fn two() -> TaskId {
    TaskId::new("2")
}

impl Scene {
    /// Both tasks began at `main`; the functions do their work.
    pub(crate) fn new(
        main: impl Fn(&TestRepo),
        ours: impl Fn(&TestRepo),
        theirs: impl Fn(&TestRepo),
    ) -> Self {
        Self::with_basis(main, ours, |_| {}, theirs)
    }

    /// Both changed the only line of a file.
    pub(crate) fn of_one_line() -> Self {
        Self::new(
            |repo| {
                repo.write("a.txt", "a\n");
                repo.write("b.txt", "b\n");
            },
            |repo| repo.write("a.txt", "ours\n"),
            |repo| {
                repo.write("a.txt", "theirs\n");
                repo.write("new.txt", "new\n");
            },
        )
    }

    /// The second task began at work on `main` that was left out.
    pub(crate) fn with_basis(
        main: impl Fn(&TestRepo),
        ours: impl Fn(&TestRepo),
        basis: impl Fn(&TestRepo),
        theirs: impl Fn(&TestRepo),
    ) -> Self {
        let repo = TestRepo::new();
        main(&repo);
        let base = repo.commit("base");
        let branch = |name: &str| repo.git(&["switch", "--quiet", "--create", name, "main"]);
        branch("ours");
        ours(&repo);
        let tip = repo.commit("ours");
        branch("theirs");
        basis(&repo);
        let basis = match repo.git(&["status", "--porcelain"]).as_str() {
            "" => base.clone(),
            _ => repo.commit("left out"),
        };
        theirs(&repo);
        let commit = repo.commit("theirs");
        repo.git(&["switch", "--quiet", "main"]);
        let state = StateFolder::at(&repo.beside("state")).unwrap();
        let store = Store::open(Git::find().unwrap(), &state.stores(), repo.path()).unwrap();
        let scene = Self {
            repo,
            state,
            store,
            tip: tip.parse().unwrap(),
        };
        scene.create(&base);
        scene.append(&history(&base, &tip, &basis, &commit));
        scene
    }

    fn create(&self, base: &str) {
        let ids = [TaskId::new("1"), two()];
        let task = |id: &TaskId| json!({"id": id, "title": format!("do {id}"), "prompt": "", "mark": null});
        let second = json!({"secs": 1, "nanos": 0});
        let record = json!({
            "design": design(&ids),
            "tasks": ids.iter().map(task).collect::<Vec<_>>(),
            "folder": self.repo.path(),
            "plan": "PLAN.md",
            "leave_out": ["PLAN.md"],
            "base": base,
            "agent": "demo",
            "timeout": second, "stall": second, "grace": second,
            "setup": null,
            "keep_failed": true,
            "worktrees": null,
            "merge": "merge",
            "parallel_limit": 1,
        });
        let project = self.store.home().file_name().unwrap().to_str().unwrap();
        let new = NewBatch {
            project,
            repository: self.repo.path(),
            plan: "PLAN.md",
            record: &record.to_string(),
            tasks: &ids.clone().map(BatchTask::Own),
        };
        let (number, _) = self.state.new_batch().unwrap();
        let mut database = Database::open(&self.state).unwrap();
        database.create_batch(number, &new).unwrap();
    }

    pub(crate) fn append(&self, events: &[Event]) {
        let mut database = Database::open(&self.state).unwrap();
        database.append(1, events).unwrap();
    }

    #[track_caller]
    pub(crate) fn resolution(&self) -> Resolution<'_> {
        Resolution::find(&self.state, 1, &two()).unwrap()
    }

    #[track_caller]
    pub(crate) fn start(&self) -> OpenedConflict {
        self.resolution().start().unwrap()
    }

    /// Where the conflict is laid out.
    pub(crate) fn folder(&self) -> PathBuf {
        let project = self.store.home().file_name().unwrap();
        let trees = self
            .state
            .worktrees(None, project.to_str().unwrap(), BatchNumber(1));
        trees.join("resolve-2")
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        fs::write(self.folder().join(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder().join(name)).unwrap()
    }

    /// Git as the person runs it in the folder.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.repo.git_in(&self.folder(), args)
    }

    pub(crate) fn file_at(&self, commit: &CommitId, path: &str) -> Option<String> {
        let content = self.store.read_file_at(commit, path).unwrap();
        content.map(|bytes| String::from_utf8(bytes).unwrap())
    }

    /// Git in the store, as an administrator would look at it.
    pub(crate) fn look(&self, args: &[&str]) -> String {
        self.repo.git_in(&self.store.git_dir(), args)
    }

    pub(crate) fn stored(&self) -> StoredBatch {
        StoredBatch::load(&Database::open(&self.state).unwrap(), 1).unwrap()
    }
}

fn design(ids: &[TaskId]) -> Design {
    let task = |id: &TaskId| TaskDesign {
        id: id.clone(),
        needs: Vec::new(),
        after: Vec::new(),
        phase: None,
        follows_phase: false,
        stage: None,
        remaining: 1,
        priority: Priority::Medium,
        earlier: Vec::new(),
        no_basis: None,
    };
    Design {
        tasks: ids.iter().map(task).collect(),
        settings: BatchSettings::default(),
        stages: Vec::new(),
        failed_stage: FailedStage::GoesOn,
        threshold: Threshold::default(),
        others: Vec::new(),
    }
}

pub(crate) fn of_task(task: &str, event: TaskEvent) -> Event {
    Event::Task {
        task: TaskId::new(task),
        event,
    }
}

fn history(base: &str, tip: &str, basis: &str, commit: &str) -> Vec<Event> {
    let (base, tip, basis) = (
        Commit(base.into()),
        Commit(tip.into()),
        Commit(basis.into()),
    );
    let started = |basis| TaskEvent::Started { attempt: 1, basis };
    let built = |commit| TaskEvent::Built {
        commit,
        files: vec!["a.txt".into()],
    };
    vec![
        Event::Batch(BatchEvent::Started),
        of_task("1", started(base)),
        of_task("2", started(basis)),
        of_task("1", built(tip.clone())),
        of_task("1", TaskEvent::Woven { tip }),
        of_task("2", built(Commit(commit.into()))),
        of_task(
            "2",
            TaskEvent::Conflicted {
                files: vec!["a.txt".into()],
                with: vec![TaskId::new("1")],
            },
        ),
        Event::Batch(BatchEvent::Merging),
        Event::Batch(BatchEvent::Completed { pr_url: None }),
    ]
}

/// Everything in a folder, by name.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
