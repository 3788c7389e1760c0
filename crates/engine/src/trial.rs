//! A tiny real task by which one agent is tried: its repository, its plan, and what its transcript teaches.
//!
//! Runs nothing; whoever tries the agent runs a batch like any other.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::time::Duration;

use pleach_domain::choice::{Landing, NoChanges, OnInvalid, RunMode};
use serde_json::json;

use pleach_driver::{Conclusion, Entry, Outcome, Trouble, Usage};
use pleach_git::git::{CallPlace, Git};

use crate::agent::DemoAgent;
use crate::config::{MaxParallel, Settings};
use crate::demo::{DemoError, fill_repository};

pub const FILE: &str = "greeting.txt";

/// The name of the plan in the repository; of a kind that nothing is marked in.
pub const PLAN: &str = "plan.json";

const LAST_LINES: usize = 15;

fn greeting(agent: &str) -> String {
    format!("hello from {agent}")
}

pub const TASK: &str = "1";

pub fn plan(agent: &str) -> String {
    let greeting = greeting(agent);
    let mut prompt =
        format!("Create a file {FILE} with exactly one line: {greeting}\nDo nothing else.");
    if agent == DemoAgent::NAME {
        let script = format!("\n\n```script\nwrite {FILE}\n{greeting}\n.\n```\n");
        prompt.push_str(&script);
    }
    let task = json!({"id": TASK, "title": format!("Create {FILE}"), "prompt": prompt});
    json!({"tasks": [task]}).to_string()
}

/// Fills an empty folder with the repository that the agent is tried in.
pub fn make_repository(folder: &Path, agent: &str) -> Result<(), DemoError> {
    let files = [
        ("README.md", "# A place to try an agent\n"),
        (PLAN, &plan(agent)),
    ];
    fill_repository(folder, &files, "A place to try an agent")
}

/// The settings of a project for a trial: what concerns the agent and what holds it stays.
#[must_use]
pub fn settings(of_project: Settings) -> Settings {
    Settings {
        base: None,
        plan: None,
        prompt: None,
        setup: None,
        cache: Vec::new(),
        validate: None,
        on_invalid: OnInvalid::Fail,
        no_changes: NoChanges::Done,
        land: Landing::Nowhere,
        forge: None,
        mode: RunMode::Parallel,
        max_parallel: MaxParallel::AtMost(1),
        retries: 0,
        radar: Duration::ZERO,
        keep_failed: false,
        worktrees: None,
        budget_usd: None,
        budget_tokens: None,
        ..of_project
    }
}

pub fn has_greeting(repository: &Path, branch: &str, agent: &str) -> bool {
    let place = format!("{branch}:{FILE}");
    let shown = Git::find().and_then(|git| {
        let call = git.call(CallPlace::Users(repository));
        call.args(["cat-file", "blob", &place]).output()
    });
    shown.is_ok_and(|text| {
        let text = String::from_utf8_lossy(&text).to_lowercase();
        text.contains(&greeting(agent).to_lowercase())
    })
}

#[derive(Debug, Default, PartialEq)]
pub struct TrialReport {
    pub session: Option<String>,
    pub model: Option<String>,
    pub version: Option<String>,
    pub usage: Option<Usage>,
    pub conclusion: Option<Conclusion>,
    pub last: Vec<String>,
}

impl TrialReport {
    /// Reads a transcript; one that is not there teaches nothing.
    pub fn read(log: &Path) -> Self {
        let mut learnt = Self::default();
        let Ok(file) = File::open(log) else {
            return learnt;
        };
        for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
            learnt.take_in(&line);
        }
        learnt
    }

    fn take_in(&mut self, line: &[u8]) {
        let Some(entry) = Entry::from_line(line) else {
            self.remember(&String::from_utf8_lossy(line));
            return;
        };
        match &entry {
            Entry::Session { id, model, version } => {
                let newer = |known: &mut Option<String>, said: &Option<String>| {
                    if said.is_some() {
                        known.clone_from(said);
                    }
                };
                newer(&mut self.session, id);
                newer(&mut self.model, model);
                newer(&mut self.version, version);
            }
            Entry::Usage(usage) => self.usage = Some(*usage),
            Entry::Result(conclusion) => self.conclusion = Some(conclusion.clone()),
            _ => self.remember(&entry.in_words()),
        }
    }

    fn remember(&mut self, text: &str) {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        self.last.extend(lines.map(str::to_owned));
        let too_many = self.last.len().saturating_sub(LAST_LINES);
        self.last.drain(..too_many);
    }

    /// What went wrong, by what is to be done about it.
    pub fn trouble(&self) -> Option<Trouble> {
        match self.conclusion.as_ref()?.outcome {
            Outcome::Failed(trouble) => Some(trouble),
            Outcome::Completed | Outcome::Interrupted => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_tells_who_worked_what_it_took_and_what_was_said_last() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let session = |id: Option<&str>, model: Option<&str>| Entry::Session {
            id: id.map(str::to_owned),
            model: model.map(str::to_owned),
            version: None,
        };
        let usage = |tokens| {
            Entry::Usage(Usage {
                tokens,
                ..Usage::default()
            })
        };
        let lines: Vec<String> = (0..40).map(|line| format!("line {line}\n\n")).collect();
        let text = lines.concat();
        let entries = [
            session(Some("s1"), None),
            usage(1),
            Entry::Text { text },
            session(None, Some("large")),
            usage(7),
            Entry::Result(Conclusion::failed(Trouble::Login, "no key")),
        ];
        let lines: Vec<String> = entries.iter().map(Entry::to_line).collect();
        std::fs::write(&log, format!("{}\nbye\n", lines.join("\n"))).unwrap();
        let learnt = TrialReport::read(&log);
        assert_eq!(learnt.session.as_deref(), Some("s1"));
        assert_eq!(learnt.model.as_deref(), Some("large"));
        assert_eq!(learnt.usage.map(|usage| usage.tokens), Some(7));
        assert_eq!(learnt.trouble(), Some(Trouble::Login));
        assert_eq!(learnt.last.len(), LAST_LINES);
        assert_eq!(learnt.last.last().map(String::as_str), Some("bye"));
        assert_eq!(
            TrialReport::read(&folder.path().join("none")),
            TrialReport::default()
        );
    }

    #[test]
    fn the_plan_is_one_task_and_its_repository_has_it() {
        let document = pleach_formats::read(&plan("claude"));
        assert_eq!(document.plan.tasks.len(), 1);
        assert!(document.plan.tasks[0].details.contains("hello from claude"));
        let folder = tempfile::tempdir().unwrap();
        make_repository(folder.path(), "claude").unwrap();
        assert!(!has_greeting(folder.path(), "main", "claude"));
        let other = tempfile::tempdir().unwrap();
        let files = [(FILE, "Hello from Claude\n")];
        fill_repository(other.path(), &files, "done").unwrap();
        assert!(has_greeting(other.path(), "main", "claude"));
    }
}
