//! A repository with a plan and an agent of shell, and what a run in it tells.
//!
//! Knows nothing of what a test wants to prove with it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use pleach_testkit::TestRepo;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{Answer, command, pleach};

/// How long an event may take that must come.
const SOON: Duration = Duration::from_mins(1);

/// A repository with a plan, and an agent that is a line of shell.
pub(crate) struct Scene {
    pub(crate) repo: TestRepo,
}

impl Scene {
    /// Failures are not retried here, so that a test that wants one has it at once.
    pub(crate) fn new(plan: &str, shell: &str) -> Self {
        Self::with("retries = 0", plan, shell)
    }

    /// The same with lines of `pleach.toml`; `BESIDE` in the shell is a folder outside the repository.
    pub(crate) fn with(settings: &str, plan: &str, shell: &str) -> Self {
        let scene = Self {
            repo: TestRepo::new(),
        };
        scene.configure(settings, shell);
        scene.repo.write("TODO.md", plan);
        scene.repo.commit("a plan");
        scene
    }

    /// The same for tasks that are written `1, 2 1, 3 1 2`, each with what it needs; nothing is marked in their
    /// plan, so that no run waits for people who may be editing it.
    pub(crate) fn of(tasks: &str, settings: &str, shell: &str) -> Self {
        let scene = Self::with(&format!("plan = \"plan.json\"\n{settings}"), "", shell);
        let tasks = tasks.split(", ").map(|task| {
            let mut words = task.split(' ');
            let id = words.next().unwrap();
            let needs: Vec<&str> = words.collect();
            json!({"id": id, "title": format!("T{id}"), "depends_on": needs})
        });
        let plan = json!({"tasks": tasks.collect::<Vec<_>>()});
        scene.repo.write("plan.json", plan.to_string());
        scene
    }

    /// The same with an execution plan: stages of tasks that need nothing, as in `a b, c!`, where `!` says one at a
    /// time.
    pub(crate) fn staged(stages: &str, settings: &str, shell: &str) -> Self {
        let scene = Self::with(&format!("plan = \"plan.json\"\n{settings}"), "", shell);
        let mut tasks = Vec::new();
        let mut batches = Vec::new();
        for (number, stage) in stages.split(", ").enumerate() {
            let ids: Vec<&str> = stage.trim_end_matches('!').split(' ').collect();
            tasks.extend(
                ids.iter()
                    .map(|id| json!({"id": id, "title": format!("T{id}")})),
            );
            batches.push(json!({
                "batch_id": number + 1,
                "task_ids": ids,
                "can_parallel": !stage.ends_with('!'),
            }));
        }
        let plan = json!({"batches": batches, "tasks": tasks});
        scene.repo.write("plan.json", plan.to_string());
        scene
    }

    /// Other settings and another agent.
    pub(crate) fn configure(&self, settings: &str, shell: &str) {
        let beside = self.repo.beside("");
        let beside = beside.to_str().unwrap().trim_end_matches('/');
        let shell = shell.replace("BESIDE", beside);
        let words = serde_json::to_string(&["sh", "-c", &shell]).unwrap();
        let settings = settings.replace("BESIDE", beside);
        // Most agents of tests leave their traces there; those that test the sandbox say so themselves.
        let open = if settings.contains("sandbox") {
            String::new()
        } else {
            format!("sandbox_write = [\"{beside}\"]\n")
        };
        // Most agents of tests that change nothing mean to have done their task.
        let idle = if settings.contains("no_changes") {
            ""
        } else {
            "no_changes = \"done\"\n"
        };
        let config = format!(
            "{open}{idle}task_timeout = \"60s\"\n{settings}\n[agents.shell]\ncommand = {words}\n"
        );
        self.repo.write("pleach.toml", config);
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

    pub(crate) fn plan(&self) -> String {
        std::fs::read_to_string(self.repo.path().join("TODO.md")).unwrap()
    }

    pub(crate) fn show(&self, branch: &str, file: &str) -> String {
        self.repo.git(&["show", &format!("{branch}:{file}")])
    }

    /// The files of a branch that `main` does not have.
    pub(crate) fn new_files(&self, branch: &str) -> String {
        let words = ["diff", "--name-only", "--diff-filter=A", "main", branch];
        self.repo.git(&words).replace('\n', " ")
    }

    /// The branches that Pleach made here.
    pub(crate) fn branches(&self) -> String {
        let words = ["branch", "--list", "pleach/*", "--format=%(refname:short)"];
        self.repo.git(&words).replace('\n', " ")
    }

    /// What agents wrote to a file beside the repository, on one line.
    pub(crate) fn trace(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.repo.beside(name)).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The private store's git folder.
    pub(crate) fn store(&self) -> PathBuf {
        let stores = std::fs::read_dir(self.state().join("stores")).unwrap();
        let store = stores.flatten().find(|entry| entry.path().is_dir());
        store.unwrap().path().join("store.git")
    }

    /// Checks that nothing of an agent is alive: processes are known by their folder.
    #[track_caller]
    pub(crate) fn check_nobody_is_left(&self) {
        let beside = self.repo.beside("");
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let left: Vec<String> = all
            .filter(|entry| {
                let cwd = std::fs::read_link(entry.path().join("cwd"));
                cwd.is_ok_and(|cwd| cwd.starts_with(&beside))
            })
            .map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default())
            .collect();
        assert!(left.is_empty(), "{left:?} live");
    }

    /// Checks that no worktree of an ended task is left.
    #[track_caller]
    pub(crate) fn check_no_worktree_is_left(&self) {
        let projects = std::fs::read_dir(self.state().join("worktrees")).unwrap();
        for project in projects.flatten() {
            let left = std::fs::read_dir(project.path()).unwrap().count();
            assert_eq!(left, 0, "no worktree is left");
        }
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

    /// Waits until it tells something with that word in it.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, word: &str) {
        loop {
            let line = self.lines.recv_timeout(SOON);
            let line = line.unwrap_or_else(|why| panic!("no {word}: {why}: {}", self.heard));
            self.hear(&line);
            if line.contains(word) {
                return;
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

/// Where agents arrive and wait until they are let go.
pub(crate) struct Gate {
    arrivals: File,
    way_on: File,
    heard: String,
}

/// What an agent does to arrive and wait.
pub(crate) const WAIT: &str = "echo \"$PLEACH_TASK\" > BESIDE/arrived; read go < BESIDE/gate";

impl Gate {
    pub(crate) fn at(scene: &Scene) -> Self {
        let open = |name: &str| {
            let path = scene.repo.beside(name);
            make_pipe(&path);
            // Both ends, so that nobody ever waits for the other side to open.
            let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
            File::from(rustix::fs::open(&path, flags, Mode::empty()).unwrap())
        };
        Self {
            arrivals: open("arrived"),
            way_on: open("gate"),
            heard: String::new(),
        }
    }

    /// Waits until so many more have arrived, and names them in order.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, count: usize) -> String {
        while self.heard.lines().count() < count || !self.heard.ends_with('\n') {
            let mut fds = [PollFd::new(&self.arrivals, PollFlags::IN)];
            let soon = Timespec::try_from(SOON).unwrap();
            let ready = poll(&mut fds, Some(&soon)).unwrap();
            assert!(ready > 0, "only {:?} arrived", self.heard);
            let mut bytes = [0; 256];
            let length = self.arrivals.read(&mut bytes).unwrap();
            self.heard
                .push_str(std::str::from_utf8(&bytes[..length]).unwrap());
        }
        let heard = std::mem::take(&mut self.heard);
        let mut names: Vec<&str> = heard.lines().collect();
        assert_eq!(names.len(), count, "{names:?} arrived");
        names.sort_unstable();
        names.join(" ")
    }

    /// Whether nobody has arrived since.
    pub(crate) fn is_empty(&self) -> bool {
        let mut fds = [PollFd::new(&self.arrivals, PollFlags::IN)];
        let now = Timespec::try_from(Duration::ZERO).unwrap();
        poll(&mut fds, Some(&now)).unwrap() == 0
    }

    /// Lets so many go on.
    pub(crate) fn let_go(&mut self, count: usize) {
        self.way_on
            .write_all("go\n".repeat(count).as_bytes())
            .unwrap();
    }
}

pub(crate) fn make_pipe(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
}
