//! A repository with tasks that are scripts for a model, an agent that is asked to do them, and what came of it.
//!
//! Knows nothing of what a test wants to prove with it.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use pleach_driver::Entry;
use pleach_log::transcript::{LOG, attempt_folder};
use pleach_system::state_folder::StateFolder;
use pleach_testkit::{ModelStub, Seen};
use serde_json::{Value, json};

use super::driven::{Driven, Lack};
use crate::scene::{Running, Scene, Story};
use crate::serving::Serving;
use crate::{Answer, command};

/// Where the story of an agent takes place.
pub(super) struct Stage {
    pub(super) agent: &'static Driven,
    pub(super) scene: Scene,
    pub(super) stub: ModelStub,
    settings: String,
    /// What goes wrong with every request.
    faults: String,
    /// Further arguments of the agent.
    args: Vec<String>,
}

impl Drop for Stage {
    #[expect(
        clippy::print_stderr,
        reason = "whoever sees a failure wants to know why"
    )]
    fn drop(&mut self) {
        if std::thread::panicking() {
            // It goes with the folder of the test, and nothing else says what an agent waited for.
            for log in self.logs() {
                eprintln!("{}", String::from_utf8_lossy(&log));
            }
        }
    }
}

/// A task: its id, what it needs, and the script that its model follows.
pub(super) type Scripted<'s> = (&'s str, &'s [&'s str], Value);

impl Stage {
    pub(super) fn new(agent: &'static Driven, tasks: &[Scripted<'_>]) -> Self {
        let stage = Self {
            agent,
            scene: Scene::bare(),
            stub: ModelStub::start(),
            settings: "retries = 0".to_owned(),
            faults: "id=it".to_owned(),
            args: Vec::new(),
        };
        let tasks = tasks.iter().map(|(id, needs, script)| {
            let prompt = format!("Do what is written here. STUB: {script}");
            json!({"id": id, "title": format!("T{id}"), "prompt": prompt, "depends_on": needs})
        });
        let plan = json!({"tasks": tasks.collect::<Vec<_>>()});
        stage.scene.repo.write("plan.json", plan.to_string());
        stage.scene.repo.commit("a plan");
        fs::create_dir_all(stage.scene.home()).unwrap();
        for (name, text) in agent.files {
            let path = stage.scene.home().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        stage
    }

    /// The same with one task; `BESIDE` in its script is a folder outside the repository.
    pub(super) fn of(agent: &'static Driven, script: &Value) -> Self {
        let mut stage = Self::new(agent, &[]);
        let beside = stage.beside();
        let script = script.to_string().replace("BESIDE", &beside);
        let prompt = format!("Do what is written here. STUB: {script}");
        let plan = json!({"tasks": [{"id": "1", "title": "T1", "prompt": prompt}]});
        stage.scene.repo.write("plan.json", plan.to_string());
        if script.contains(&beside) {
            stage.settings = format!("retries = 0\nsandbox_write = [\"{beside}\"]");
        }
        stage
    }

    /// With lines of `pleach.toml`.
    pub(super) fn settings(mut self, lines: &str) -> Self {
        lines.clone_into(&mut self.settings);
        self
    }

    /// Has something go wrong with every request.
    pub(super) fn failing(mut self, faults: &str) -> Self {
        self.faults = format!("id=it,{faults}");
        self
    }

    /// With further arguments of the agent.
    pub(super) fn args(mut self, words: &[&str]) -> Self {
        self.args = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    fn beside(&self) -> String {
        let beside = self.scene.repo.beside("");
        beside.to_str().unwrap().trim_end_matches('/').to_owned()
    }

    fn configure(&self) {
        let base = self.base();
        let mut args = (self.agent.args)(&base);
        args.extend_from_slice(&self.args);
        let variables = self.agent.variables(&base);
        let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
        let model = self.agent.model;
        let model = model.map(|model| format!("model = \"{model}\"\n"));
        let config = format!(
            "agent = \"{0}\"\nplan = \"plan.json\"\nland = \"none\"\nretry_pause = \"10ms\"\n\
             {1}\n[agents.{0}]\nargs = {2}\nenv = {3}\n{4}",
            self.agent.name,
            self.settings,
            json!(args),
            json!(names),
            model.unwrap_or_default(),
        );
        self.scene.repo.write("pleach.toml", config);
    }

    fn base(&self) -> String {
        self.stub.base(&self.faults)
    }

    /// Has the agent store what it stores once, before two of it do so.
    pub(super) fn prepare(&self) {
        if let Some(words) = self.agent.first {
            let mut first = Command::new(self.agent.folder().join(self.agent.name));
            first.args(words).current_dir(self.scene.repo.path());
            first.env("HOME", self.scene.home());
            first.envs(self.agent.variables(&self.base()));
            assert!(first.output().unwrap().status.success());
        }
    }

    /// Pleach, with what the agent needs.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = command(self.scene.repo.path(), &self.scene.home(), words);
        let path = std::env::var_os("PATH").unwrap();
        let own = std::iter::once(self.agent.folder());
        let path = std::env::join_paths(own.chain(std::env::split_paths(&path)));
        command.env("PATH", path.unwrap());
        command.envs(self.agent.variables(&self.base()));
        command
    }

    pub(super) fn pleach(&self, words: &[&str]) -> Answer {
        self.command(words).output().unwrap().into()
    }

    /// What trying the agent tells programs.
    pub(super) fn trial(&self) -> Answer {
        self.configure();
        self.pleach(&["agents", "test", self.agent.name, "--yes", "--json"])
    }

    /// What a run tells programs.
    pub(super) fn story(&self, words: &[&str]) -> Story {
        self.start(words).story()
    }

    /// A run that goes on while the test does something else.
    pub(super) fn start(&self, words: &[&str]) -> Running {
        self.configure();
        let words = [&["run", "--yes", "--json"], words].concat();
        Running::start(&mut self.command(&words))
    }

    /// The one batch, as everybody sees it.
    pub(super) fn batch(&self) -> Value {
        let batches = self.pleach(&["status", "1", "--json"]).json();
        batches["batches"][0].clone()
    }

    /// What the agent of a task did, as the server tells it.
    pub(super) fn transcript(&self, task: &str) -> Transcript {
        let server = Serving::of(&self.scene, &[]);
        let path = format!("/api/batches/1/tasks/{task}/log?from=0&limit=1000");
        let page = server.get(&path).good(200);
        let entries = page["entries"].as_array().unwrap().iter();
        let told = entries.map(|entry| match &entry["detail"] {
            Value::Null => entry.clone(),
            told => told.clone(),
        });
        Transcript(told.collect())
    }

    /// What the agent of the task printed, attempt by attempt.
    fn logs(&self) -> Vec<Vec<u8>> {
        let batch = StateFolder::at(&self.scene.state()).unwrap().batch(1);
        let logs = (1..20).map(|attempt| attempt_folder(&batch, "1", attempt).join(LOG));
        logs.flat_map(fs::read).collect()
    }

    /// How many sessions the agent of the task had.
    pub(super) fn sessions(&self) -> usize {
        let logs = self.logs();
        let entries = logs.iter().flat_map(|log| log.split(|byte| *byte == b'\n'));
        let entries = entries.filter_map(Entry::from_line);
        let ids: BTreeSet<_> = entries
            .filter_map(|entry| match entry {
                Entry::Session { id, .. } => id,
                _ => None,
            })
            .collect();
        ids.len()
    }

    /// Checks that no process lives that has the home of this stage.
    #[track_caller]
    pub(super) fn check_nobody_is_left(&self) {
        self.scene.check_nobody_is_left();
        let home = format!("HOME={}", self.scene.home().display());
        let all = fs::read_dir("/proc").unwrap().flatten();
        let left = all.filter(|entry| {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable == home.as_bytes())
        });
        let left = left.map(|entry| fs::read_to_string(entry.path().join("cmdline")));
        let left: Vec<String> = left.flatten().collect();
        assert!(left.is_empty(), "{left:?} live");
    }

    /// All requests that are part of the work, and no titles or the like.
    pub(super) fn requests(&self) -> Vec<Seen> {
        let all = self.stub.requests().into_iter();
        all.filter(|seen| {
            seen.body["tools"]
                .as_array()
                .is_some_and(|tools| !tools.is_empty())
        })
        .collect()
    }

    /// Whether so many tokens are told as were taken, as far as the agent knows.
    pub(super) fn is_about(&self, told: u64, taken: u64) -> bool {
        let off = if self.agent.lacks(Lack::Tokens) {
            taken / 10
        } else {
            0
        };
        told.abs_diff(taken) <= off
    }

    /// What the batch changed, one `A name` for each file.
    pub(super) fn changes(&self) -> String {
        let words = ["diff", "--name-status", "main", "pleach/batch-1"];
        let text = self.scene.repo.git(&words);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// What an agent did.
#[derive(Debug)]
pub(super) struct Transcript(Vec<Value>);

impl Transcript {
    /// All entries of a kind.
    pub(super) fn all(&self, kind: &str) -> Vec<&Value> {
        let entries = self.0.iter();
        entries.filter(|entry| entry["type"] == kind).collect()
    }

    /// The last entry of a kind.
    #[track_caller]
    pub(super) fn last(&self, kind: &str) -> &Value {
        let all = self.all(kind);
        all.last().unwrap_or_else(|| panic!("no {kind}: {self:#?}"))
    }
}
