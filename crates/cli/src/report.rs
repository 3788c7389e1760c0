//! Tells what happens in a run, one line an event: for people, or as JSON.
//!
//! Reads events and changes nothing.

use std::collections::HashMap;
use std::time::Instant;

use anstyle::{AnsiColor, Style};
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_engine::run::Told;
use serde_json::{Value, json};

use crate::output::{Reader, one_line, tell};

const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const PLAIN: Style = Style::new();

/// Tells events as they come.
pub(crate) struct Reporter {
    reader: Reader,
    titles: HashMap<TaskId, String>,
    began: Instant,
    sequence: u64,
}

impl Reporter {
    pub(crate) fn new(reader: Reader, titles: HashMap<TaskId, String>) -> Self {
        Self {
            reader,
            titles,
            began: Instant::now(),
            sequence: 0,
        }
    }

    /// The number of the event after the last one.
    pub(crate) fn next_id(&self) -> u64 {
        self.sequence + 1
    }

    /// Tells one thing.
    pub(crate) fn tell(&mut self, told: &Told<'_>) {
        match (self.reader, told) {
            (Reader::Person, Told::Event(Event::Batch(_))) => {}
            (Reader::Person, Told::Event(Event::Task { task, event })) => {
                self.tell_person(task, event);
            }
            (Reader::Person, Told::Note(note)) => self.line(YELLOW, "note", note),
            (Reader::Program, Told::Event(event)) => self.tell_program(event),
            (Reader::Program, Told::Note(note)) => self.json("note", &json!({ "message": note })),
        }
    }

    fn line(&self, style: Style, word: &str, text: &str) {
        let seconds = self.began.elapsed().as_secs_f64();
        let text = one_line(text);
        tell(format_args!(
            "{DIM}{seconds:7.1}s{DIM:#}  {style}{word:<10}{style:#} {text}\n"
        ));
    }

    fn tell_person(&self, task: &TaskId, event: &TaskEvent) {
        let title = self.titles.get(task).map_or("", String::as_str);
        let name = format!("{task}  {title}");
        match event {
            TaskEvent::Started { .. } => self.line(PLAIN, "started", &name),
            TaskEvent::Built { .. } => {}
            TaskEvent::StopRequested => self.line(YELLOW, "stopping", &name),
            TaskEvent::Woven { .. } => self.line(GREEN, "merged", &name),
            TaskEvent::Unchanged => self.line(GREEN, "no changes", &name),
            TaskEvent::Conflicted { files, with } => {
                let files = files.join(", ");
                self.line(
                    RED,
                    "conflicted",
                    &format!("{name}: {files}{}", with_whom(with)),
                );
            }
            TaskEvent::Failed { error } => self.line(RED, "failed", &format!("{name}: {error}")),
            TaskEvent::TimedOut => self.line(RED, "timed out", &name),
            TaskEvent::Blocked { because } => {
                self.line(YELLOW, "blocked", &format!("{name}: {because}"));
            }
            TaskEvent::Cancelled => self.line(YELLOW, "cancelled", &name),
        }
    }

    fn tell_program(&mut self, event: &Event) {
        let (name, mut data) = match event {
            Event::Batch(event) => (batch_name(*event), json!({})),
            Event::Task { event, .. } => task_wire(event),
        };
        if let Event::Task { task, .. } = event {
            data["taskId"] = json!(task.as_str());
        }
        self.json(name, &data);
    }

    fn json(&mut self, name: &str, data: &Value) {
        self.sequence += 1;
        tell(format_args!(
            "{}\n",
            json!({"id": self.sequence, "event": name, "data": data})
        ));
    }
}

/// " with 1 and 2", or nothing if nobody is known.
pub(crate) fn with_whom(with: &[TaskId]) -> String {
    if with.is_empty() {
        return String::new();
    }
    let ids: Vec<&str> = with.iter().map(TaskId::as_str).collect();
    format!(" with {}", ids.join(" and "))
}

fn batch_name(event: BatchEvent) -> &'static str {
    match event {
        BatchEvent::Started => "batch:started",
        BatchEvent::CancelRequested => "batch:cancelling",
        BatchEvent::Completed => "batch:completed",
        BatchEvent::Failed => "batch:failed",
        BatchEvent::Cancelled => "batch:cancelled",
    }
}

fn task_wire(event: &TaskEvent) -> (&'static str, Value) {
    match event {
        TaskEvent::Started { attempt } => ("batch:task:started", json!({ "attempt": attempt })),
        TaskEvent::StopRequested => ("batch:task:stopping", json!({})),
        TaskEvent::Built { commit } => ("batch:task:built", json!({ "commit": commit })),
        TaskEvent::Unchanged => ("batch:task:completed", json!({"outcome": "no_changes"})),
        TaskEvent::Woven { tip } => (
            "batch:task:completed",
            json!({"outcome": "merged", "tip": tip}),
        ),
        TaskEvent::Failed { error } => (
            "batch:task:failed",
            json!({"outcome": "failed", "error": error}),
        ),
        TaskEvent::TimedOut => (
            "batch:task:failed",
            json!({"outcome": "timed_out", "error": "the task took too long"}),
        ),
        TaskEvent::Conflicted { files, with } => (
            "batch:task:skipped",
            json!({"outcome": "conflicted", "reason": "it does not merge cleanly", "files": files, "with": with}),
        ),
        TaskEvent::Blocked { because } => (
            "batch:task:skipped",
            json!({"outcome": "blocked", "reason": because}),
        ),
        TaskEvent::Cancelled => ("batch:task:cancelled", json!({"outcome": "cancelled"})),
    }
}
