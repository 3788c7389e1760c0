//! What is asked of a process that hosts batches: consent, pushes and repeated requests.

use std::path::Path;
use std::time::Duration;

use pleach_engine::board::{Board, NewTask};
use pleach_engine::fault::{ErrorText, Faults};
use pleach_engine::host::Host;
use pleach_engine::operator::{Consent, Operator};
use pleach_engine::start::BatchOptions;
use pleach_log::database::{BatchFilter, BatchScope, Database};
use pleach_system::state_folder::StateFolder;
use pleach_testkit::{TestRepo, in_own_process};
use serde_json::Value;

/// A project with a task on its board.
struct Scene {
    repo: TestRepo,
    _folder: tempfile::TempDir,
    state: StateFolder,
    host: Host,
    task: String,
}

impl Scene {
    fn new(settings: &str) -> Self {
        let repo = TestRepo::new();
        repo.write("pleach.toml", format!("agent = \"demo\"\n{settings}"));
        repo.commit("settings");
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::at(&folder.path().join("state")).unwrap();
        let mut board = Board::open(&state).unwrap();
        let project = board.add_folder(repo.path()).unwrap().id;
        let new = NewTask {
            project,
            title: "dig".to_owned(),
            ..NewTask::default()
        };
        Self {
            task: board.create_task(&new).unwrap().id,
            repo,
            _folder: folder,
            state,
            host: Host::new(pleach_loop::run_batch, |_, _| {}),
        }
    }

    fn options(&self) -> BatchOptions {
        BatchOptions {
            task_ids: vec![self.task.clone()],
            ..BatchOptions::default()
        }
    }

    /// Starts a batch; nothing wraps its agents, so that it comes to nothing.
    fn start(
        &self,
        consent: Consent,
        options: &BatchOptions,
        key: Option<&str>,
    ) -> Result<u32, Faults> {
        let operator = Operator {
            state: &self.state,
            program: Path::new("/bin/false"),
            host: &self.host,
            consent,
        };
        let key = key.map(|key| options.request_key("batch", key).unwrap());
        let started = operator.start(options, key.as_ref())?;
        Ok(started.id())
    }

    fn batches(&self) -> usize {
        let filter = BatchFilter {
            project: None,
            among: BatchScope::All,
        };
        let database = Database::open(&self.state).unwrap();
        database.batches(filter).unwrap().len()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.host.leave();
        self.host.wait_until_idle(Duration::from_mins(1));
    }
}

/// The code of a refusal, and what a program needs to go on.
#[track_caller]
fn refused(started: Result<u32, Faults>) -> (String, Value) {
    let text = ErrorText::from(started.unwrap_err());
    (text.code, text.details.unwrap_or_default())
}

#[test]
fn a_batch_starts_with_consent_to_exactly_what_was_shown() {
    in_own_process(&[], || {
        let scene = Scene::new("land = \"none\"\nsetup = \"true\"\n");
        let mut options = scene.options();
        let (code, details) = refused(scene.start(Consent::Asked, &options, None));
        assert_eq!(code, "no_consent");
        let changes = details["changes"].as_array().unwrap().iter();
        let names: Vec<&Value> = changes.map(|change| &change["name"]).collect();
        assert!(names.contains(&&Value::from("setup")), "{names:?}");
        options.consent = Some("something else".to_owned());
        let (code, _) = refused(scene.start(Consent::Asked, &options, None));
        assert_eq!((code.as_str(), scene.batches()), ("no_consent", 0));
        options.consent = details["fingerprint"].as_str().map(str::to_owned);
        scene.start(Consent::Asked, &options, None).unwrap();
        assert_eq!(scene.batches(), 1);
    });
}

#[test]
fn a_first_push_wants_to_be_confirmed() {
    in_own_process(&[], || {
        let scene = Scene::new("land = \"pr\"\n");
        let address = "https://forge.example/green/house.git";
        scene.repo.git(&["remote", "add", "origin", address]);
        let mut options = scene.options();
        let (code, details) = refused(scene.start(Consent::Given, &options, None));
        assert_eq!((code.as_str(), scene.batches()), ("push_unconfirmed", 0));
        assert_eq!(details["address"], address);
        options.confirm_push = true;
        scene.start(Consent::Given, &options, None).unwrap();
    });
}

#[test]
fn a_repeated_request_makes_no_second_batch() {
    in_own_process(&[], || {
        let scene = Scene::new("land = \"none\"\n");
        let mut options = scene.options();
        let first = scene.start(Consent::Given, &options, Some("k")).unwrap();
        let again = scene.start(Consent::Given, &options, Some("k")).unwrap();
        assert_eq!((first, scene.batches()), (again, 1));
        options.waves = true;
        let other = scene.start(Consent::Given, &options, Some("k"));
        assert_eq!(refused(other).0, "key_reused");
    });
}

#[test]
fn nothing_starts_where_batches_are_asked_to_end() {
    in_own_process(&[], || {
        let scene = Scene::new("land = \"none\"\n");
        scene.host.begin_no_more();
        let started = scene.start(Consent::Given, &scene.options(), None);
        assert_eq!(refused(started).0, "stopping");
    });
}
