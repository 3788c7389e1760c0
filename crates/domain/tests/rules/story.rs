//! The notation in which the stories of batches are told.
//!
//! Settings are words: a number of slots, `queue`, `approval`, `stop`, `skip`, `fail`, `rerun`,
//! `no-fallback`, `retries=1`, `waves`, `tests`, `strict` (tests that fail the batch), `push`. A plan may end in
//! lines `stage NAME [alone]: ids`. A story is steps `task:word`, or one word for the batch; `go` does what is to
//! be done, except weaving, running tests and landing. `1:built@2` is the end of the second attempt on task 1,
//! whichever is under way, `1:on-n7` says that the one under way got the machine n7.

mod closing;

use pleach_domain::batch::{
    Approval, AttemptEnding, Barriers, Batch, BatchSettings, Design, Fallback, Jitter, Message,
    Mode, OnFailure, Spent, Validation, WeaveEnding,
};
use pleach_domain::choice::{Landing, NoChanges, OnConflict};
use pleach_domain::event::{BatchEvent, Event, Rollback, TaskEvent};
use pleach_domain::graph::OrderRules;
use pleach_domain::id::TaskId;
use pleach_domain::plan::{Plan, Stage};
use pleach_domain::schedule::{Action, schedule};
use pleach_domain::task_state::{Commit, Consent, SteeringFile};

use crate::{graph, plan};

/// A batch, and what followed from the last step.
pub(crate) struct Story {
    pub(crate) batch: Batch,
    last: Vec<Event>,
}

/// Tells a story up to some point.
#[track_caller]
pub(crate) fn tell(settings: &str, text: &str, story: &str) -> Story {
    let plan = staged_plan(text);
    let graph = graph(&plan);
    assert_eq!(graph.errors(), []);
    let open: Vec<usize> = (0..plan.tasks.len())
        .filter(|at| !plan.tasks[*at].status.is_settled())
        .collect();
    let (settings, barriers) = read_settings(settings);
    let design = Design::new(&graph, &open, OrderRules::default(), barriers, settings);
    let mut told = Story {
        batch: Batch::new(design),
        last: Vec::new(),
    };
    told.store(vec![Event::Batch(BatchEvent::Started)]);
    for step in story.split_whitespace() {
        let (task, word) = step.split_once(':').unwrap_or(("", step));
        told.play(task, word);
    }
    told
}

/// A story, and what is to be done then.
#[track_caller]
pub(crate) fn check(settings: &str, plan: &str, story: &str, expected: &str) {
    tell(settings, plan, story).todo(expected);
}

fn staged_plan(text: &str) -> Plan {
    let is_stage = |line: &&str| line.trim().starts_with("stage ");
    let (stages, tasks): (Vec<&str>, Vec<&str>) = text.lines().partition(is_stage);
    let mut plan = plan(&tasks.join("\n"));
    for line in stages {
        let (head, ids) = line.split_once(':').unwrap();
        let words: Vec<&str> = head.split_whitespace().collect();
        plan.stages.push(Stage {
            id: words[1].to_owned(),
            tasks: ids.split_whitespace().map(TaskId::new).collect(),
            can_parallel: !words.contains(&"alone"),
            line: 1,
        });
    }
    plan
}

fn read_settings(text: &str) -> (BatchSettings, Barriers) {
    let mut settings = BatchSettings::default();
    let mut barriers = Barriers::Stages;
    for word in text.split_whitespace() {
        match word {
            "queue" => {
                settings.mode = Mode::Queue {
                    approval: Approval::Automatic,
                }
            }
            "approval" => {
                settings.mode = Mode::Queue {
                    approval: Approval::ByPerson,
                }
            }
            "stop" => settings.on_failure = OnFailure::Stop,
            "skip" => settings.on_conflict = OnConflict::Skip,
            "fail" => settings.on_conflict = OnConflict::Fail,
            "rerun" => settings.on_conflict = OnConflict::Rerun,
            "tests" => settings.validation = Validation::Drop,
            "strict" => settings.validation = Validation::Fail,
            "push" => settings.landing = Landing::Push,
            "no-fallback" => settings.fallback = Fallback::Fail,
            "idle-is-done" => settings.no_changes = NoChanges::Done,
            "waves" => barriers = Barriers::Waves,
            _ => match word.split_once('=') {
                Some(("limit_wait", hours)) => settings.limit_wait = milliseconds(hours),
                Some(("retries", number)) => settings.retries = number.parse().unwrap(),
                Some(("tokens", number)) => settings.budget.tokens = number.parse().ok(),
                Some(("each", number)) => settings.task_budget.tokens = number.parse().ok(),
                _ => {
                    settings.mode = Mode::Parallel {
                        slots: word.parse().unwrap(),
                    }
                }
            },
        }
    }
    (settings, barriers)
}

/// So many hours, as in `6h`.
fn milliseconds(hours: &str) -> u64 {
    let hours: u64 = hours.trim_end_matches('h').parse().unwrap();
    hours * 3_600_000
}

fn consent() -> Consent {
    let files = vec![SteeringFile {
        path: "AGENTS.md".into(),
        blob: Some("b1".into()),
    }];
    Consent { files }
}

/// `limited`, or with how long an agent says that it is, as in `waits-6h`.
fn limited(word: &str) -> Option<AttemptEnding> {
    let stated = match word {
        "limited" => None,
        _ => Some(milliseconds(word.strip_prefix("waits-")?)),
    };
    Some(AttemptEnding::Limited("exit 1".into(), stated))
}

/// The end of an attempt that took so many tokens.
fn having_spent(mut ended: Message, tokens: &str) -> Message {
    if let Message::AttemptEnded { spent, .. } = &mut ended {
        let tokens = tokens.parse().unwrap();
        *spent = Some(Spent {
            tokens,
            micro_usd: 0,
        });
    }
    ended
}

impl Story {
    fn store(&mut self, events: Vec<Event>) {
        for event in &events {
            self.batch.apply(event).unwrap();
        }
        self.last = events;
    }

    #[track_caller]
    pub(crate) fn play(&mut self, task: &str, word: &str) {
        let id = TaskId::new(task);
        let (word, attempt) = match word.split_once('@') {
            Some((word, attempt)) => (word, attempt.parse().unwrap()),
            None => (word, self.last_attempt(&id)),
        };
        let ended = |ending| message((&id, attempt), ending, 500);
        let commit = Commit(format!("commit of {task}"));
        let text = || "exit 1".to_owned();
        let message = match (task, word) {
            ("", "go") => return self.go(),
            (_, "started") => return self.start(&id),
            (_, "taken") => return self.lose(id),
            (_, "built") => ended(AttemptEnding::Built {
                files: vec![format!("{task}.rs")],
                commit,
            }),
            (_, cost) if let Some(tokens) = cost.strip_prefix("failed-at-") => {
                having_spent(ended(AttemptEnding::Failed(text())), tokens)
            }
            (_, "same") => ended(AttemptEnding::Unchanged(Some("it is there already".into()))),
            (_, "idle") => ended(AttemptEnding::Unchanged(None)),
            (_, "failed") => ended(AttemptEnding::Failed(text())),
            (_, "hopeless") => ended(AttemptEnding::Hopeless(text())),
            (_, "late") => ended(AttemptEnding::TimedOut),
            (_, "stopped") => ended(AttemptEnding::Stopped),
            (_, "overloaded") => ended(AttemptEnding::Overloaded(text(), None)),
            (_, word) if let Some(ending) = limited(word) => ended(ending),
            (_, "noplace") => ended(AttemptEnding::NoWorktree(text())),
            (_, "interrupted") => ended(AttemptEnding::Interrupted),
            (_, "lost") => ended(AttemptEnding::Lost("n7 went down".into())),
            (_, word) if let Some(node) = word.strip_prefix("on-") => Message::Placed {
                task: id,
                attempt,
                node: node.to_owned(),
            },
            (_, "woven") => Message::WeaveEnded(id, WeaveEnding::Woven(commit)),
            (_, "unweavable") => Message::WeaveEnded(id, WeaveEnding::Failed("no disk".into())),
            (_, "conflict") => Message::WeaveEnded(
                id,
                WeaveEnding::Conflict {
                    files: vec!["a.rs".into()],
                    with: vec![],
                },
            ),
            (_, "rested") => Message::PauseEnded(id),
            (_, "speaks") => Message::SessionBegan(id, format!("session of {task}")),
            (_, "unsure") => Message::NeedsConsent(id, consent()),
            ("", "approve") => Message::Approve,
            ("", "stop") => Message::Stop,
            ("", "cancel") => Message::Cancel(Rollback::Keep),
            ("", "rollback") => Message::Cancel(Rollback::Remove),
            (_, "cancel") => Message::CancelTask(id),
            (_, "refused") => Message::CannotStart(id, "nobody consents".into()),
            (_, "retry") => Message::Retry(task.split(',').map(TaskId::new).collect()),
            (task, word) => return self.play_at_the_end(task, word),
        };
        self.hear(message);
    }

    fn last_attempt(&self, task: &TaskId) -> u32 {
        let position = self.batch.position(task);
        position.map_or(0, |at| self.batch.tasks[at].attempts)
    }

    fn hear(&mut self, message: Message) {
        let events = self.batch.decide(message);
        self.store(events);
    }

    /// Another batch takes a task.
    fn lose(&mut self, task: TaskId) {
        let because = "batch 2 has it".into();
        let event = TaskEvent::TakenOver { because };
        self.store(vec![Event::Task { task, event }]);
    }

    fn start(&mut self, id: &TaskId) {
        let event = TaskEvent::Started {
            attempt: self.last_attempt(id) + 1,
            basis: Commit("base".into()),
        };
        self.store(vec![Event::Task {
            task: id.clone(),
            event,
        }]);
    }

    /// Does what is to be done, again and again, except weaving.
    fn go(&mut self) {
        let mut done = Vec::new();
        loop {
            let before = done.len();
            for action in schedule(&self.batch) {
                let id = |at: usize| self.batch.tasks[at].design.id.clone();
                let events = match action {
                    Action::Start(task) => {
                        self.start(&id(task));
                        std::mem::take(&mut self.last)
                    }
                    Action::Block { task, because } => {
                        self.batch.decide(Message::CannotStart(id(task), because))
                    }
                    Action::Cancel(task) => self.batch.decide(Message::CancelTask(id(task))),
                    Action::GiveUp(because) => self.batch.decide(Message::GiveUp(because)),
                    Action::Ask(task) => vec![Event::Task {
                        task: id(task),
                        event: TaskEvent::Waiting { consent: None },
                    }],
                    Action::Note(event) | Action::Finish(event) => vec![Event::Batch(event)],
                    Action::Stop(_)
                    | Action::Weave(_)
                    | Action::Prove
                    | Action::StopProving
                    | Action::Land => Vec::new(),
                };
                let started = matches!(
                    events.first(),
                    Some(Event::Task {
                        event: TaskEvent::Started { .. },
                        ..
                    })
                );
                if !started {
                    self.store(events.clone());
                }
                done.extend(events);
            }
            if done.len() == before {
                self.last = done;
                return;
            }
        }
    }

    #[track_caller]
    pub(crate) fn todo(&self, expected: &str) -> &Self {
        let id = |task: usize| &self.batch.tasks[task].design.id;
        let words: Vec<String> = schedule(&self.batch)
            .into_iter()
            .map(|action| match action {
                Action::Block { task, because } => format!("block {} because {because}", id(task)),
                Action::Cancel(task) => format!("cancel {}", id(task)),
                Action::GiveUp(because) => format!("give up because {because}"),
                Action::Weave(task) => format!("weave {}", id(task)),
                Action::Stop(task) => format!("stop {}", id(task)),
                Action::Ask(task) => format!("ask {}", id(task)),
                Action::Start(task) => format!("start {}", id(task)),
                Action::Note(event) => format!("note {}", batch_words(&event)),
                Action::Prove => "prove".to_owned(),
                Action::StopProving => "stop proving".to_owned(),
                Action::Land => "land".to_owned(),
                Action::Finish(event) => format!("finish {}", batch_words(&event)),
            })
            .collect();
        assert_eq!(words.join("; "), expected);
        self
    }

    /// Which events followed from the last step.
    #[track_caller]
    pub(crate) fn follows(&self, expected: &str) -> &Self {
        let words: Vec<String> = self
            .last
            .iter()
            .map(|event| match event {
                Event::Task { task, event } => format!("{task} {}", event.participle()),
                Event::Batch(event) => batch_words(event),
            })
            .collect();
        assert_eq!(words.join("; "), expected);
        self
    }

    /// Where the batch and its tasks stand.
    #[track_caller]
    pub(crate) fn stands(&self, expected: &str) -> &Self {
        let tasks: Vec<String> = self
            .batch
            .tasks
            .iter()
            .map(|task| format!("{} {}", task.design.id, task.state.as_str()))
            .collect();
        let status = self.batch.status.as_str();
        assert_eq!(format!("{status}: {}", tasks.join(", ")), expected);
        self
    }

    /// Which woven tasks the basis of a task holds.
    #[track_caller]
    pub(crate) fn basis(&self, task: &str, expected: &str) -> &Self {
        let position = self.batch.position(&TaskId::new(task)).unwrap();
        let woven = self.batch.basis_of(position);
        let ids: Vec<&str> = woven
            .iter()
            .map(|at| self.batch.tasks[*at].design.id.as_str())
            .collect();
        assert_eq!(ids.join(" "), expected);
        self
    }
}

/// The end of an attempt, with a throw of the dice.
pub(crate) fn message(
    (task, attempt): (&TaskId, u32),
    ending: AttemptEnding,
    chance: u16,
) -> Message {
    Message::AttemptEnded {
        task: task.clone(),
        attempt,
        ending,
        kept: None,
        spent: None,
        chance: Jitter(chance),
    }
}

fn batch_words(event: &BatchEvent) -> String {
    let word = event.participle();
    match event {
        BatchEvent::StageStarted { stage } | BatchEvent::Validating { stage: Some(stage) } => {
            format!("{word} {stage}")
        }
        BatchEvent::StageEnded {
            stage,
            merge_status,
            success,
        } => {
            let verdict = if *success { "well" } else { "badly" };
            format!("{word} {stage} {verdict} {merge_status:?}")
        }
        BatchEvent::FellBack {
            stage: Some(stage), ..
        } => format!("{word} in {stage}"),
        BatchEvent::Failed { error } => format!("{word} because {error}"),
        BatchEvent::NotProved { doubt, .. } => format!("{word} {doubt:?}"),
        _ => word.to_owned(),
    }
}
