//! Tells what happens in a run, one line an event: for people, or as JSON.
//!
//! Reads events and changes nothing.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Instant;

use anstyle::{AnsiColor, Style};
use pleach_domain::batch::{Design, FailedStage};
use pleach_domain::bisect::TestResult;
use pleach_domain::event::{BatchEvent, Event, PredictedConflict, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_engine::run::{LoopNotice, Prepared};
use pleach_log::database::{StoredEvent, now};
use pleach_log::view::Narrator;
use pleach_system::text::moment::clock_time;
use serde_json::json;

use crate::columns::seconds;
use crate::consent::few_names;
use crate::line::Line;
use crate::output::{Reader, one_line, tell};

const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const PLAIN: Style = Style::new();

pub(crate) struct Reporter {
    reader: Reader,
    titles: HashMap<TaskId, String>,
    narrator: RefCell<Narrator>,
    began: Instant,
    /// What people call a stage of it, and how many there are.
    stages: (&'static str, usize),
    /// The coming conflicts that were told last.
    foreseen: RefCell<Vec<(TaskId, TaskId)>>,
}

impl Reporter {
    pub(crate) fn new(reader: Reader, prepared: &Prepared) -> Self {
        Self {
            reader,
            titles: prepared.titles(),
            narrator: RefCell::new(prepared.narrator()),
            began: Instant::now(),
            stages: stages_of(prepared.design()),
            foreseen: RefCell::default(),
        }
    }

    pub(crate) fn tell(&self, told: &LoopNotice<'_>) {
        match (self.reader, told) {
            (Reader::Person, told) => {
                if let Some(line) = self.line_of(told) {
                    tell(format_args!("{line}\n"));
                }
            }
            (Reader::Program, LoopNotice::Event(stored)) => {
                let (name, data) = self.narrator.borrow_mut().tell(stored);
                tell(format_args!(
                    "{}\n",
                    json!({"id": stored.seq, "event": name, "data": data})
                ));
            }
            (Reader::Program, LoopNotice::Note(note)) => tell(format_args!(
                "{}\n",
                json!({"event": "note", "data": {"message": note}})
            )),
            // LoopNotice by whoever draws it.
            (Reader::Program, LoopNotice::Progress(_)) => {}
        }
    }

    pub(crate) fn line_of(&self, told: &LoopNotice<'_>) -> Option<Line> {
        match told {
            LoopNotice::Event(stored) => match &stored.event {
                Event::Batch(event) => self.batch_line(event),
                Event::Task { task, event } => self.task_line(task, event),
            },
            LoopNotice::Note(note) => self.line(YELLOW, "note", note),
            // Shown by whoever draws it.
            LoopNotice::Progress(_) => None,
        }
    }

    /// The same above a live view, which shows by itself what begins and what waits.
    pub(crate) fn line_above(&self, told: &LoopNotice<'_>) -> Option<Line> {
        let is_shown = matches!(
            told,
            LoopNotice::Event(StoredEvent {
                event: Event::Task {
                    event: TaskEvent::Started { .. }
                        | TaskEvent::Placed { .. }
                        | TaskEvent::Waiting { .. },
                    ..
                },
                ..
            })
        );
        if is_shown { None } else { self.line_of(told) }
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "whoever calls it has none at times"
    )]
    fn line(&self, style: Style, word: &str, text: &str) -> Option<Line> {
        let seconds = self.began.elapsed().as_secs_f64();
        let line = Line::new().and(DIM, format!("{seconds:7.1}s"));
        let line = line.and(PLAIN, "  ").and(style, format!("{word:<11}"));
        Some(line.and(PLAIN, format!(" {}", one_line(text))))
    }

    /// `1 of 3`
    fn stage(&self, stage: usize) -> String {
        format!("{} of {}", stage + 1, self.stages.1)
    }

    fn batch_line(&self, event: &BatchEvent) -> Option<Line> {
        match event {
            BatchEvent::StageStarted { stage } => self.line(
                DIM,
                self.stages.0,
                &format!("{} starts", self.stage(*stage)),
            ),
            BatchEvent::StageEnded { stage, success, .. } => {
                let (style, how) = if *success {
                    (GREEN, "done")
                } else {
                    (RED, "failed")
                };
                self.line(
                    style,
                    self.stages.0,
                    &format!("{} {how}", self.stage(*stage)),
                )
            }
            BatchEvent::FellBack { reason, .. } => self.line(YELLOW, "fallback", reason),
            BatchEvent::Paused { because } => self.line(YELLOW, "paused", because),
            BatchEvent::Unpaused => self.line(PLAIN, "resumed", "no limit applies any more"),
            BatchEvent::SlotsChanged { slots, because, .. } => {
                self.line(YELLOW, "slots", &format!("{slots} at once: {because}"))
            }
            BatchEvent::ConflictsPredicted { pairs } => self.foreseen_line(pairs),
            BatchEvent::GaveUp { because } => self.line(RED, "giving up", because),
            BatchEvent::StopRequested => {
                self.line(YELLOW, "stopping", "running tasks finish, no others start")
            }
            BatchEvent::CancelRequested { .. } => {
                self.line(YELLOW, "cancelling", "asked running agents to stop")
            }
            BatchEvent::Validating { .. }
            | BatchEvent::TestsRan { .. }
            | BatchEvent::Proved { .. }
            | BatchEvent::NotProved { .. }
            | BatchEvent::Landing { .. }
            | BatchEvent::Pushing { .. }
            | BatchEvent::Pushed { .. }
            | BatchEvent::Landed { .. }
            | BatchEvent::NotLanded { .. } => self.closing_line(event),
            // The summary says how it ended, and the lines of its tasks the rest.
            BatchEvent::Created
            | BatchEvent::Progressed { .. }
            | BatchEvent::Started
            | BatchEvent::Resumed
            | BatchEvent::Merging
            | BatchEvent::NoLongerMerges { .. }
            | BatchEvent::Rewoven { .. }
            | BatchEvent::Published { .. }
            | BatchEvent::Unpublished
            | BatchEvent::LandingAsked { .. }
            | BatchEvent::Completed { .. }
            | BatchEvent::Failed { .. }
            | BatchEvent::Cancelled
            | BatchEvent::Reopened => None,
        }
    }

    /// A pair is told once, however its files change.
    fn foreseen_line(&self, pairs: &[PredictedConflict]) -> Option<Line> {
        let ids = pairs.iter().map(|pair| (pair.a.clone(), pair.b.clone()));
        let before = self.foreseen.replace(ids.collect());
        let is_new =
            |pair: &&PredictedConflict| !before.iter().any(|(a, b)| (a, b) == (&pair.a, &pair.b));
        let news: Vec<String> = pairs
            .iter()
            .filter(is_new)
            .map(|PredictedConflict { a, b, files }| {
                format!("{a} and {b} are likely to conflict{}", in_files(files))
            })
            .collect();
        if news.is_empty() {
            return None;
        }
        self.line(YELLOW, "warning", &news.join("; "))
    }

    fn closing_line(&self, event: &BatchEvent) -> Option<Line> {
        match event {
            BatchEvent::Validating { stage: None } => {
                self.line(PLAIN, "validating", "running the tests on the woven result")
            }
            BatchEvent::Validating { stage: Some(stage) } => {
                let (word, number) = (self.stages.0, stage + 1);
                let text = format!("running the tests on the result of {word} {number}");
                self.line(PLAIN, "validating", &text)
            }
            BatchEvent::TestsRan {
                tasks,
                tree,
                run,
                number,
                took,
                proved_at,
                ..
            } => {
                let (style, word) = match run {
                    TestResult::Passed => (GREEN, "passed"),
                    TestResult::Failed => (RED, "failed"),
                };
                let what = match tasks.len() {
                    0 => "tests on the base".to_owned(),
                    1 => format!("tests on task {}", tasks[0]),
                    many => format!("tests on {many} tasks, up to {}", tasks[many - 1]),
                };
                let how = match number {
                    Some(number) => {
                        let took = seconds(std::time::Duration::from_millis(*took));
                        format!("run {number}, {took}")
                    }
                    None => proved_earlier(*proved_at),
                };
                let text = format!("{what} ({how}; tree {})", short(tree));
                self.line(style, word, &text)
            }
            BatchEvent::Proved { tree } => {
                self.line(GREEN, "proved", &format!("tree {}", short(tree)))
            }
            BatchEvent::NotProved { because, .. } => self.line(RED, "not proved", because),
            BatchEvent::Landing { into } => self.line(PLAIN, "landing", &landing(into.as_deref())),
            BatchEvent::Pushing {
                branch,
                because: Some(why),
                ..
            } => self.line(YELLOW, "pushing", &format!("to {branch}: {why}")),
            BatchEvent::Pushed { branch, .. } => self.line(GREEN, "pushed", branch),
            BatchEvent::Landed {
                pr_url: Some(url), ..
            } => self.line(GREEN, "landed", url),
            BatchEvent::Landed {
                into: Some(into), ..
            } => self.line(GREEN, "landed", &format!("fast-forwarded {into}")),
            BatchEvent::NotLanded { because, .. } => self.line(YELLOW, "not landed", because),
            _ => None,
        }
    }

    fn task_line(&self, task: &TaskId, event: &TaskEvent) -> Option<Line> {
        let title = self.titles.get(task).map_or("", String::as_str);
        let name = format!("{task}  {title}");
        match event {
            TaskEvent::Started { attempt: 1, .. } => self.line(PLAIN, "started", &name),
            TaskEvent::Started { attempt, .. } => {
                self.line(PLAIN, "started", &format!("{name} (attempt {attempt})"))
            }
            TaskEvent::Waiting { consent: None } => {
                self.line(YELLOW, "waiting", &format!("{name}: for `pleach approve`"))
            }
            TaskEvent::Waiting {
                consent: Some(consent),
            } => {
                let files = few_names(consent.files.iter().map(|file| file.path.as_str()));
                let why = format!("earlier tasks changed {files}; review and `pleach approve`");
                self.line(YELLOW, "waiting", &format!("{name}: {why}"))
            }
            TaskEvent::StopRequested => self.line(YELLOW, "stopping", &name),
            TaskEvent::Woven { .. } => self.line(GREEN, "merged", &name),
            TaskEvent::Unchanged { reason: None } => self.line(GREEN, "no changes", &name),
            TaskEvent::Unchanged {
                reason: Some(reason),
            } => self.line(GREEN, "no changes", &format!("{name}: {reason}")),
            TaskEvent::Conflicted { files, with } => {
                let partners = with_whom(with.iter().map(TaskId::as_str));
                let text = format!("{name}: {}{partners}", files.join(", "));
                self.line(RED, "conflicted", &text)
            }
            TaskEvent::Failed { error } => self.line(RED, "failed", &format!("{name}: {error}")),
            TaskEvent::AskedAgain
            | TaskEvent::Overloaded { .. }
            | TaskEvent::AttemptFailed { .. }
            | TaskEvent::Limited { .. } => self.pause_line(&name, event),
            TaskEvent::Requeued { because } => {
                self.line(YELLOW, "rerun", &format!("{name}: {because}"))
            }
            TaskEvent::Interrupted => self.line(YELLOW, "interrupted", &name),
            TaskEvent::Placed { node, .. } => {
                self.line(PLAIN, "placed", &format!("{name} on {node}"))
            }
            TaskEvent::Lost { because } => self.line(YELLOW, "lost", &format!("{name}: {because}")),
            TaskEvent::TimedOut => self.line(RED, "timed out", &name),
            TaskEvent::Blocked { because } | TaskEvent::TakenOver { because } => {
                self.line(YELLOW, "blocked", &format!("{name}: {because}"))
            }
            TaskEvent::Invalid { because, .. } => {
                self.line(RED, "invalid", &format!("{name}: {because}"))
            }
            TaskEvent::Resolved { .. } => self.line(GREEN, "resolved", &name),
            TaskEvent::Cancelled => self.line(YELLOW, "cancelled", &name),
            TaskEvent::Retried => self.line(PLAIN, "retried", &name),
            TaskEvent::Built { .. }
            | TaskEvent::Approved
            | TaskEvent::PauseEnded
            | TaskEvent::Spent(_)
            | TaskEvent::SessionBegan { .. }
            | TaskEvent::Kept { .. }
            | TaskEvent::Published { .. } => None,
        }
    }

    /// What is said of an attempt that another one follows.
    fn pause_line(&self, name: &str, event: &TaskEvent) -> Option<Line> {
        match event {
            TaskEvent::AskedAgain => {
                let text = format!(
                    "{name}: the agent changed nothing and gave no reason; asking it again"
                );
                self.line(YELLOW, "no changes", &text)
            }
            TaskEvent::Overloaded { error, pause } => {
                let text = format!("{name}: {error}; retrying in {}", seconds_of(*pause));
                self.line(YELLOW, "overloaded", &text)
            }
            TaskEvent::AttemptFailed { error, pause } => {
                let text = format!("{name}: {error}; retrying in {}", seconds_of(*pause));
                self.line(YELLOW, "failed", &text)
            }
            TaskEvent::Limited { error, pause } => {
                let text = format!("{name}: {error}; resuming {}", when(*pause));
                self.line(YELLOW, "limited", &text)
            }
            _ => None,
        }
    }
}

/// As much of an id as people compare.
fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

fn when(pause: u64) -> String {
    if pause < 60_000 {
        return format!("in {}", seconds_of(pause));
    }
    format!("at {}", clock_time(now().saturating_add(pause)))
}

fn seconds_of(milliseconds: u64) -> String {
    format!("{} s", milliseconds.div_ceil(1_000))
}

/// " in a.rs, b.rs", or nothing if no file is known.
pub(crate) fn in_files(files: &[String]) -> String {
    if files.is_empty() {
        return String::new();
    }
    format!(" in {}", files.join(", "))
}

/// The waves of a run that asked for them, or the stages of an execution plan.
fn stages_of(design: &Design) -> (&'static str, usize) {
    let word = match design.failed_stage {
        FailedStage::GoesOn => "wave",
        FailedStage::StopsThePlan => "stage",
    };
    (word, design.stages.len())
}

/// That a verdict is remembered, and since when.
pub(crate) fn proved_earlier(at: Option<u64>) -> String {
    match at {
        Some(at) => format!("proved earlier, {}", clock_time(at)),
        None => "proved earlier".to_owned(),
    }
}

/// " with 1 and 2", or nothing if nobody is known.
pub(crate) fn with_whom<'t>(with: impl IntoIterator<Item = &'t str>) -> String {
    let ids: Vec<&str> = with.into_iter().collect();
    if ids.is_empty() {
        return String::new();
    }
    format!(" with {}", ids.join(" and "))
}

pub(crate) fn landing(into: Option<&str>) -> String {
    match into {
        Some(branch) => format!("fast-forwarding {branch}"),
        None => "pushing".to_owned(),
    }
}
