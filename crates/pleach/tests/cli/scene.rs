//! A repository with a plan and an agent of shell, and what a run in it tells.
//!
//! Knows nothing of what a test wants to prove with it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::ops::Deref;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

pub(crate) use pleach_testkit::{Gate, WAIT, make_pipe};
use pleach_testkit::{TestRepo, check_no_worktree_is_left};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{Answer, command, pleach};

/// How long an event may take that must come.
const SOON: Duration = Duration::from_mins(1);

/// A repository with a plan, and an agent that is a line of shell, for the program to run in.
pub(crate) struct Scene(pleach_testkit::Scene);

impl Deref for Scene {
    type Target = pleach_testkit::Scene;

    fn deref(&self) -> &pleach_testkit::Scene {
        &self.0
    }
}

impl Scene {
    /// Failures are not retried here, so that a test that wants one has it at once.
    pub(crate) fn new(plan: &str, shell: &str) -> Self {
        Self(pleach_testkit::Scene::new(plan, shell))
    }

    /// The same with lines of `pleach.toml`; `BESIDE` in the shell is a folder outside the repository.
    pub(crate) fn with(settings: &str, plan: &str, shell: &str) -> Self {
        Self(pleach_testkit::Scene::with(settings, plan, shell))
    }

    /// The same for tasks that are written `1, 2 1, 3 1 2`, each with what it needs.
    pub(crate) fn of(tasks: &str, settings: &str, shell: &str) -> Self {
        Self(pleach_testkit::Scene::of(tasks, settings, shell))
    }

    /// A repository alone, without a plan or an agent.
    pub(crate) fn bare() -> Self {
        let repo = TestRepo::new();
        Self(pleach_testkit::Scene { repo })
    }

    /// The same with an execution plan: stages of tasks that need nothing, as in `a b, c!`.
    pub(crate) fn staged(stages: &str, settings: &str, shell: &str) -> Self {
        Self(pleach_testkit::Scene::staged(stages, settings, shell))
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.repo.beside("home")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.home().join(".local/state/pleach")
    }

    pub(crate) fn run(&self, words: &[&str]) -> Answer {
        let words: Vec<&str> = ["run", "--yes"].iter().chain(words).copied().collect();
        pleach(self.repo.path(), &self.home(), &words)
    }

    /// What a run tells programs.
    pub(crate) fn story(&self, words: &[&str]) -> Story {
        Story::of(&self.run(&with_json(words)))
    }

    /// A run that goes on while the test does something else.
    pub(crate) fn start(&self, words: &[&str]) -> Running {
        let words: Vec<&str> = ["run", "--yes"].iter().chain(words).copied().collect();
        Running::start(&mut command(
            self.repo.path(),
            &self.home(),
            &with_json(&words),
        ))
    }

    /// The private store's git folder.
    pub(crate) fn store(&self) -> PathBuf {
        let stores = std::fs::read_dir(self.state().join("stores")).unwrap();
        let store = stores.flatten().find(|entry| entry.path().is_dir());
        store.unwrap().path().join("store.git")
    }

    /// Checks that no worktree of an ended task is left.
    #[track_caller]
    pub(crate) fn check_no_worktree_is_left(&self) {
        check_no_worktree_is_left(&self.state());
    }
}

fn with_json<'w>(words: &[&'w str]) -> Vec<&'w str> {
    words.iter().copied().chain(["--json"]).collect()
}

/// What a run told a program.
pub(crate) struct Story {
    pub(crate) code: i32,
    pub(crate) err: String,
    pub(crate) events: Vec<(String, Value)>,
}

impl Story {
    #[track_caller]
    pub(crate) fn of(answer: &Answer) -> Self {
        let mut last = 0;
        let lines = answer.out.lines();
        let events = lines.map(|line| {
            let told: Value = serde_json::from_str(line).expect(line);
            if let Some(id) = told["id"].as_u64() {
                assert!(last < id, "events are numbered in order: {line}");
                last = id;
            }
            let name = told["event"].as_str().unwrap_or_default();
            (name.to_owned(), told["data"].clone())
        });
        Self {
            code: answer.code,
            events: events.collect(),
            err: answer.err.clone(),
        }
    }

    /// What every event of a name carries.
    pub(crate) fn told(&self, name: &str) -> Vec<&Value> {
        let events = self.events.iter();
        events
            .filter(|(told, _)| told == name)
            .map(|(_, data)| data)
            .collect()
    }

    /// The notes, which are no events.
    pub(crate) fn notes(&self) -> String {
        let notes = self.told("note").into_iter();
        let notes: Vec<&str> = notes.filter_map(|note| note["message"].as_str()).collect();
        notes.join("\n")
    }

    #[track_caller]
    pub(crate) fn summary(&self) -> &Value {
        let (name, data) = self.events.last().expect(&self.err);
        assert_eq!(name, "batch:summary", "{}", self.err);
        data
    }

    pub(crate) fn status(&self) -> &str {
        self.summary()["status"].as_str().unwrap()
    }

    /// `1:merged 2:failed`, in plan order.
    #[track_caller]
    pub(crate) fn outcomes(&self) -> String {
        self.of_each(|task| task["outcome"].as_str().unwrap().to_owned())
    }

    /// `1:1 2:3`, in plan order.
    #[track_caller]
    pub(crate) fn attempts(&self) -> String {
        self.of_each(|task| task["attempts"].to_string())
    }

    #[track_caller]
    fn of_each(&self, of: impl Fn(&Value) -> String) -> String {
        let tasks = self.summary()["tasks"].as_array().unwrap();
        let words = tasks
            .iter()
            .map(|task| format!("{}:{}", task["key"].as_str().unwrap(), of(task)));
        words.collect::<Vec<_>>().join(" ")
    }

    /// The error that one task ended with, or the reason why it never ran.
    #[track_caller]
    pub(crate) fn error_of(&self, task: &str) -> String {
        let of_task = self.events.iter().filter(|(_, data)| data["key"] == task);
        let mut told = of_task.filter_map(|(_, data)| {
            let error = data["error"].as_str().or(data["reason"].as_str());
            error.map(str::to_owned)
        });
        told.next_back().unwrap_or_default()
    }

    /// Checks exit code and outcomes at once.
    #[track_caller]
    pub(crate) fn check(&self, code: i32, outcomes: &str) {
        let told = || {
            let events = self.events.iter();
            let lines = events.map(|(name, data)| format!("{name} {data}\n"));
            lines.collect::<String>()
        };
        assert_eq!(
            (self.code, self.outcomes().as_str()),
            (code, outcomes),
            "{}{}",
            told(),
            self.err
        );
    }
}

/// A run under way; it ends with the test at the latest.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    heard: String,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (say, lines) = channel();
        std::thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            // A test that has failed listens no more.
            lines.map(|line| say.send(line)).find(Result::is_err)
        });
        Self {
            child,
            lines,
            heard: String::new(),
        }
    }

    /// Waits until it tells something with that word in it, and returns that.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, word: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(SOON);
            let line = line.unwrap_or_else(|why| panic!("no {word}: {why}: {}", self.heard));
            self.hear(&line);
            if line.contains(word) {
                return line;
            }
        }
    }

    fn hear(&mut self, line: &str) {
        self.heard.push_str(line);
        self.heard.push('\n');
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until it ends.
    #[track_caller]
    pub(crate) fn answer(mut self) -> Answer {
        loop {
            match self.lines.recv_timeout(SOON) {
                Ok(line) => self.hear(&line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end: {}", self.heard),
            }
        }
        let mut err = String::new();
        let mut errors = self.child.stderr.take().unwrap();
        errors.read_to_string(&mut err).unwrap();
        Answer {
            code: self.child.wait().unwrap().code().unwrap_or(-1),
            out: std::mem::take(&mut self.heard),
            err,
        }
    }

    #[track_caller]
    pub(crate) fn story(self) -> Story {
        Story::of(&self.answer())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended in all tests but those that failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
