//! What agents do right now, as anybody can see it.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_log::database::{BatchTask, Database, NewBatch};
use pleach_log::ownership::BatchLock;
use pleach_log::queue_report::{QueueReport, ReportedUnit, UnitWord};
use pleach_log::tails::{LiveAttempt, News, Tails};
use pleach_log::transcript::{LOG, attempt_folder};
use pleach_system::state_folder::StateFolder;
use serde_json::json;
use tempfile::TempDir;

use super::{BEGUN, design, of_task, started};

struct Scene {
    _folder: TempDir,
    state: StateFolder,
    database: Database,
    tails: Tails,
}

impl Scene {
    /// A batch of two tasks, made by another connection than the one that looks.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::at(folder.path()).unwrap();
        let mut database = Database::open(&state).unwrap();
        let new = NewBatch {
            project: "project-1",
            repository: Path::new("/somewhere"),
            plan: "TODO.md",
            record: &json!({ "design": design("A 2"), "agent": "demo" }).to_string(),
            tasks: &["A", "2"].map(|id| BatchTask::Own(TaskId::new(id))),
        };
        database.create_batch(1, &new).unwrap();
        Self {
            tails: Tails::new(&state),
            _folder: folder,
            state,
            database,
        }
    }

    fn append(&mut self, event: Event) {
        self.database.append(1, &[event]).unwrap();
    }

    fn say(&self, segment: &str, attempt: u32, text: &str) {
        let folder = attempt_folder(&self.state.batch(1), segment, attempt);
        fs::create_dir_all(&folder).unwrap();
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.join(LOG));
        log.unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn news(&mut self) -> News {
        let looking = Database::open(&self.state).unwrap();
        self.tails.look(&looking).unwrap()
    }

    /// What is new of attempts.
    fn look(&mut self) -> Vec<String> {
        let mut news: Vec<String> = self.news().attempts.iter().map(words).collect();
        news.sort();
        news
    }

    /// Whether the batch is interrupted, if that is new.
    fn is_interrupted(&mut self) -> Option<bool> {
        let news = self.news().batches;
        assert!(news.len() <= 1);
        news.first().map(|told| {
            assert_eq!((&*told.project, told.batch), ("project-1", 1));
            told.is_interrupted
        })
    }
}

fn words(live: &LiveAttempt) -> String {
    assert_eq!((&*live.project, live.batch), ("project-1", 1));
    let action = live.action.as_deref().unwrap_or("-");
    let over = if live.is_over { " over" } else { "" };
    let (task, tokens) = (&live.task, live.spent.tokens);
    format!(
        "{task}.{} {} {action} {tokens}{over}",
        live.attempt, live.total
    )
}

#[test]
fn what_runs_is_heard_until_its_last_line() {
    let mut scene = Scene::new();
    assert!(scene.look().is_empty());
    scene.append(BEGUN);
    scene.append(started("A", 1));
    assert!(scene.look().is_empty(), "it has said nothing");
    scene.say("-41", 1, "reading\nwri");
    assert_eq!(scene.look(), ["A.1 1 reading 0"]);
    assert!(scene.look().is_empty(), "nothing is new");
    scene.say(
        "-41",
        1,
        "ting\n{\"pleach\": {\"tokens\": 7, \"action\": \"tests\"}}\n",
    );
    scene.append(started("2", 1));
    scene.say("2", 1, "hello\n");
    assert_eq!(scene.look(), ["2.1 1 hello 0", "A.1 3 tests 7"]);
    scene.say("-41", 1, "done\n");
    let pause = 1;
    let error = "exit 1".to_owned();
    scene.append(of_task("A", TaskEvent::AttemptFailed { error, pause }));
    assert_eq!(scene.look(), ["A.1 4 done 7 over"]);
    scene.append(of_task("A", TaskEvent::PauseEnded));
    scene.append(started("A", 2));
    scene.say("-41", 2, "again\n");
    assert_eq!(scene.look(), ["A.2 1 again 0"]);
}

#[test]
fn an_attempt_that_waits_for_a_node_says_what_for_until_that_begins() {
    let mut scene = Scene::new();
    scene.append(BEGUN);
    scene.append(started("A", 1));
    let folder = scene.state.batch(1);
    fs::create_dir_all(&folder).unwrap();
    let queued = |because: &str| {
        let report = QueueReport {
            units: vec![ReportedUnit {
                task: Some(TaskId::new("A")),
                number: 1,
                cluster: "slurm".to_owned(),
                job: Some("7_1".to_owned()),
                state: UnitWord::Waiting,
                because: Some(because.to_owned()),
            }],
        };
        report.write(&folder).unwrap();
    };
    queued("Priority");
    assert_eq!(scene.look(), ["A.1 0 in Slurm's queue: Priority 0"]);
    assert!(scene.look().is_empty(), "nothing is new");
    queued("Resources");
    assert_eq!(scene.look(), ["A.1 0 in Slurm's queue: Resources 0"]);
    let node = "n7".to_owned();
    scene.append(of_task("A", TaskEvent::Placed { attempt: 1, node }));
    assert_eq!(scene.look(), ["A.1 0 - 0"]);
    scene.say("-41", 1, "reading\n");
    assert_eq!(scene.look(), ["A.1 1 reading 0"]);
}

#[test]
fn a_batch_that_is_over_is_told_once_more() {
    let mut scene = Scene::new();
    scene.append(BEGUN);
    scene.append(started("A", 1));
    scene.say("-41", 1, "one\n");
    scene.look();
    scene.say("-41", 1, "two\n");
    for event in [
        of_task("A", TaskEvent::Unchanged { reason: None }),
        of_task(
            "2",
            TaskEvent::Blocked {
                because: "x".into(),
            },
        ),
        Event::Batch(BatchEvent::Merging),
        Event::Batch(BatchEvent::Completed { pr_url: None }),
    ] {
        scene.append(event);
    }
    assert_eq!(scene.look(), ["A.1 2 two 0 over"]);
    scene.say("-41", 1, "three\n");
    assert!(scene.look().is_empty());
}

#[test]
fn a_batch_that_nobody_is_at_is_told_once_until_somebody_takes_it_up() {
    let mut scene = Scene::new();
    scene.append(BEGUN);
    let folder = scene.state.batch(1);
    fs::create_dir_all(&folder).unwrap();
    let owner = BatchLock::take(&folder).unwrap();
    assert_eq!(scene.is_interrupted(), None);
    assert_eq!(scene.is_interrupted(), None, "its owner is there");
    drop(owner);
    assert_eq!(scene.is_interrupted(), Some(true));
    assert_eq!(scene.is_interrupted(), None, "told already");
    let next = BatchLock::take(&folder).unwrap();
    assert_eq!(scene.is_interrupted(), Some(false));
    drop(next);
    assert_eq!(scene.is_interrupted(), Some(true));
    for task in ["A", "2"] {
        scene.append(of_task(task, TaskEvent::Cancelled));
    }
    scene.append(Event::Batch(BatchEvent::Cancelled));
    assert_eq!(scene.is_interrupted(), Some(false), "it is over");
    assert_eq!(scene.is_interrupted(), None);
}
