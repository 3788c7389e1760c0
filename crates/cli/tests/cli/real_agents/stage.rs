//! A repository with tasks that are scripts for a model, an agent that is asked to do them, and what came of it.
//!
//! Knows nothing of what a test wants to prove with it.

use std::fs;
use std::process::Command;

use pleach_testkit::{ModelStub, Seen, TestRepo};
use serde_json::{Value, json};

use super::driven::Driven;
use crate::scene::{Running, Scene, Story};
use crate::serving::Serving;
use crate::{Answer, command};

/// Where the story of an agent takes place.
pub(super) struct Stage {
    pub(super) agent: &'static Driven,
    pub(super) scene: Scene,
    pub(super) stub: ModelStub,
    /// What goes wrong with every request.
    faults: String,
}

/// A task: its id, what it needs, and the script that its model follows.
pub(super) type Scripted<'s> = (&'s str, &'s [&'s str], Value);

impl Stage {
    /// With lines of `pleach.toml`.
    pub(super) fn new(agent: &'static Driven, settings: &str, tasks: &[Scripted<'_>]) -> Self {
        let repo = TestRepo::new();
        let stage = Self {
            agent,
            scene: Scene { repo },
            stub: ModelStub::start(),
            faults: "id=it".to_owned(),
        };
        stage.configure(settings, &[]);
        let tasks = tasks.iter().map(|(id, needs, script)| {
            let prompt = format!("Do what is written here. STUB: {script}");
            json!({"id": id, "title": format!("T{id}"), "prompt": prompt, "depends_on": needs})
        });
        let plan = json!({"tasks": tasks.collect::<Vec<_>>()});
        stage.scene.repo.write("plan.json", plan.to_string());
        stage.scene.repo.commit("a plan");
        for (name, text) in agent.files {
            let path = stage.scene.home().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        stage
    }

    /// The same with one task.
    pub(super) fn with(agent: &'static Driven, settings: &str, script: Value) -> Self {
        Self::new(agent, settings, &[("1", &[], script)])
    }

    /// Has something go wrong with every request.
    pub(super) fn failing(mut self, faults: &str) -> Self {
        self.faults = format!("id=it,{faults}");
        self.configure("", &[]);
        self
    }

    /// Other settings, and further arguments of the agent.
    pub(super) fn configure(&self, settings: &str, further: &[&str]) {
        let base = self.base();
        let mut args = (self.agent.args)(&base);
        args.extend(further.iter().map(|word| (*word).to_owned()));
        let variables = self.agent.variables(&base);
        let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
        let model = self
            .agent
            .model
            .map(|model| format!("model = \"{model}\"\n"));
        let config = format!(
            "agent = \"{0}\"\nplan = \"plan.json\"\nland = \"none\"\ntask_timeout = \"60s\"\n\
             retry_pause = \"10ms\"\n{settings}\n[agents.{0}]\nargs = {1}\nenv = {2}\n{3}",
            self.agent.name,
            json!(args),
            json!(names),
            model.unwrap_or_default(),
        );
        self.scene.repo.write("pleach.toml", config);
    }

    fn base(&self) -> String {
        self.stub.base(&self.faults)
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

    /// What a run tells programs.
    pub(super) fn story(&self, words: &[&str]) -> Story {
        self.start(words).story()
    }

    /// A run that goes on while the test does something else.
    pub(super) fn start(&self, words: &[&str]) -> Running {
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
