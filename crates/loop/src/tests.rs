//! The loop in one process, with a real database and a real store, and with attempts that end as a script says.
//!
//! A plan is `1, 2 1, 3`: tasks, each with what it needs. Settings are lines of `pleach.toml`. A story is steps
//! `task:word`, or one word for the batch, each taken when there is nothing else to do; what a story does not end is
//! built when it is over.

mod ends;
mod people;
mod restarts;
mod script;
mod validations;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use pleach_domain::batch::Batch;
use pleach_domain::event::Event;
use pleach_domain::id::TaskId;
use pleach_system::state_folder::StateFolder;
use pleach_testkit::TestRepo;
use script::{Script, ScriptedExecutor};
use serde_json::json;

use super::{BatchStatus, Loop, LoopInput, LoopNotice, Prepared, RunError, channel};
use crate::attempt::{Attempt, AttemptContext};
use crate::executor::LoopHandle;
use pleach_engine::config::{Config, Settings};
use pleach_engine::plan_to_run::{PlanOrigin, PlanToRun};
use pleach_engine::run::{RunRequest, prepare, take_up};

/// The process died, as far as the loop can tell.
struct Crash;

/// A batch whose attempts end as its script says.
struct Story {
    repo: TestRepo,
    script: Rc<RefCell<Script>>,
    id: Option<u32>,
    /// What happened, as far as it was told.
    told: Vec<Event>,
    /// After so many events its process dies, once.
    dies_after: Option<usize>,
    last: Option<Batch>,
}

/// A batch of which all that may run at once was sent out.
pub(crate) struct Begun {
    pub(crate) repo: TestRepo,
    pub(crate) attempts: Vec<(Attempt, LoopHandle)>,
    pub(crate) context: Arc<AttemptContext>,
    /// What its loop would hear.
    pub(crate) inbox: Receiver<LoopInput>,
}

/// Begins a batch, and leaves what it sent out to whoever asks.
pub(crate) fn begin(settings: &str, tasks: &str) -> Begun {
    let story = Story::new(settings, tasks, "");
    let opened = story.open().unwrap().open().unwrap();
    let (sender, inbox) = channel();
    let mut hear = |_: LoopNotice<'_>| {};
    let mut run = Loop::new(opened.batch, sender, &mut hear).unwrap();
    run.executor = Box::new(ScriptedExecutor {
        script: Rc::clone(&story.script),
    });
    run.begin().unwrap();
    run.do_what_can_be_done(&inbox).unwrap();
    let attempts = story.script.borrow_mut().take_all();
    let context = Arc::clone(&run.context);
    drop(run);
    Begun {
        repo: story.repo,
        attempts,
        context,
        inbox,
    }
}

/// Tells a story to its end.
#[track_caller]
fn tell(settings: &str, tasks: &str, steps: &str) -> Story {
    let mut story = Story::new(settings, tasks, steps);
    story.live_to_the_end();
    story
}

/// A story, and how the batch and its tasks end.
#[track_caller]
fn check(settings: &str, tasks: &str, steps: &str, expected: &str) -> Story {
    let story = tell(settings, tasks, steps);
    story.ends(expected);
    story
}

impl Story {
    fn new(settings: &str, tasks: &str, steps: &str) -> Self {
        let repo = TestRepo::new();
        let tasks = tasks.split(", ").map(|task| {
            let mut words = task.split(' ');
            let id = words.next().unwrap();
            let needs: Vec<&str> = words.collect();
            json!({"id": id, "title": format!("T{id}"), "depends_on": needs})
        });
        let plan = json!({"tasks": tasks.collect::<Vec<_>>()});
        repo.write("plan.json", plan.to_string());
        let usual = "agent = \"demo\"\nland = \"none\"\nradar = \"off\"\nretry_pause = \"1ms\"\nmin_free_disk = \"1MiB\"\n";
        repo.write("pleach.toml", format!("{usual}{settings}\n"));
        Self {
            script: Rc::new(RefCell::new(Script::new(steps))),
            repo,
            id: None,
            told: Vec::new(),
            dies_after: None,
            last: None,
        }
    }

    fn state(&self) -> StateFolder {
        StateFolder::at(&self.repo.beside("state")).unwrap()
    }

    /// A new batch, or the one that somebody left.
    fn open(&self) -> Result<Prepared, RunError> {
        let program = PathBuf::from("/bin/false");
        if let Some(id) = self.id {
            return take_up(&self.state(), id, &program, None).map(Option::unwrap);
        }
        let folder = self.repo.path().to_owned();
        let path = folder.join("plan.json");
        let text = std::fs::read_to_string(&path).unwrap();
        let document = pleach_formats::read(&text);
        let chosen = (0..document.plan.tasks.len()).collect();
        let plan = PlanToRun::new(PlanOrigin::File(path), text, document);
        let settings = Settings::of([Config::load(&folder).unwrap()], &folder).unwrap();
        let request = RunRequest::new(folder, plan, chosen, settings, self.state(), program);
        prepare(RunRequest {
            grace: Duration::from_secs(1),
            ..request.unwrap()
        })
    }

    /// Lives on in one process after the other until the batch is over.
    #[track_caller]
    fn live_to_the_end(&mut self) {
        for _ in 0..99 {
            let lived = catch_unwind(AssertUnwindSafe(|| self.live()));
            match lived {
                Ok(batch) => {
                    self.last = Some(batch);
                    return;
                }
                Err(cause) if cause.is::<Crash>() => self.script.borrow_mut().forget_what_ran(),
                Err(cause) => resume_unwind(cause),
            }
        }
        panic!("it does not end: {:?}", self.told);
    }

    /// One process, from where the one before it left the batch.
    fn live(&mut self) -> Batch {
        let opened = self.open().unwrap().open().unwrap();
        self.id = Some(opened.batch.id);
        let (told, dies_after) = (&mut self.told, &mut self.dies_after);
        let mut hear = |notice: LoopNotice<'_>| {
            if let LoopNotice::Event(stored) = notice {
                told.push(stored.event.clone());
                if dies_after.is_some_and(|after| told.len() >= after) {
                    *dies_after = None;
                    // No panic: nothing is printed, and nothing of ours is to blame.
                    resume_unwind(Box::new(Crash));
                }
            }
        };
        let (sender, inbox) = channel();
        let mut run = Loop::new(opened.batch, sender, &mut hear).unwrap();
        run.executor = Box::new(ScriptedExecutor {
            script: Rc::clone(&self.script),
        });
        match &run.batch.status {
            BatchStatus::Pending => run.begin(),
            status if status.is_over() => run.continue_ended_batch(),
            _ => run.take_up(),
        }
        .unwrap();
        loop {
            run.do_what_can_be_done(&inbox).unwrap();
            if run.batch.status.is_over() {
                return run.batch.clone();
            }
            let said: Vec<_> = inbox.try_iter().collect();
            if !said.is_empty() {
                run.hear_all(said.into_iter()).unwrap();
                continue;
            }
            let is_resting = run.timers.next().is_some();
            let moved = self.script.borrow_mut().go_on(&mut run, is_resting);
            if moved {
                run.flush().unwrap();
                continue;
            }
            let wait = run.timers.next().unwrap_or(Duration::from_secs(20));
            let input = inbox.recv_timeout(wait).ok();
            let is_stuck = input.is_none() && !is_resting;
            assert!(!is_stuck, "nothing happens: {:?}", self.script.borrow());
            run.hear_all(input.into_iter()).unwrap();
        }
    }

    fn batch(&self) -> &Batch {
        self.last.as_ref().unwrap()
    }

    /// How the batch and its tasks ended.
    #[track_caller]
    fn ends(&self, expected: &str) -> &Self {
        let batch = self.batch();
        let tasks = batch.tasks.iter();
        let tasks: Vec<String> = tasks
            .map(|task| format!("{} {}", task.design.id, task.state.as_str()))
            .collect();
        let status = batch.status.as_str();
        assert_eq!(format!("{status}: {}", tasks.join(", ")), expected);
        self
    }

    /// What happened to a task, in order, without what it took and where it is kept.
    #[track_caller]
    fn happened(&self, task: &str, expected: &str) -> &Self {
        let task = TaskId::new(task);
        let words: Vec<&str> = self
            .told
            .iter()
            .filter_map(|event| match event {
                Event::Task { task: of, event } if *of == task => Some(event.participle()),
                _ => None,
            })
            .filter(|word| *word != "published")
            .collect();
        assert_eq!(words.join("; "), expected);
        self
    }

    /// Files of the result, as `name=content`, without those of the base.
    #[track_caller]
    fn result(&self, expected: &str) -> &Self {
        let branch = &self.batch().published.as_ref().expect("a branch").0;
        let names = self.repo.git(&["diff", "--name-only", "main", branch]);
        let files: Vec<String> = names
            .lines()
            .map(|name| {
                let text = self.repo.git(&["show", &format!("{branch}:{name}")]);
                format!("{name}={}", text.trim())
            })
            .collect();
        assert_eq!(files.join(" "), expected);
        self
    }
}
