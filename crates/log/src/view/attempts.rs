//! Every attempt on a task, as the log of its batches tells it.
//!
//! Says what is known and no more: an agent that tells no cost has none here.

use pleach_domain::batch::Spent;
use pleach_domain::event::{Event, TaskEvent};
use pleach_domain::id::{BatchNumber, TaskId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use pleach_domain::history::INTERRUPTED;
use pleach_system::text::moment::rfc3339;

use super::wire::{CHANGED_NOTHING, DOES_NOT_MERGE, TOOK_TOO_LONG, usd};
use crate::database::LoadedBatch;

/// One run of an agent on a task.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(
    missing_docs,
    reason = "the names are those of the interface, which its guide explains"
)]
pub struct AttemptView {
    pub batch_id: u32,
    /// What people call that batch.
    #[schema(value_type = u32)]
    pub batch_number: BatchNumber,
    /// Its number within the batch, counted from 1.
    pub attempt: u32,
    /// The name of the agent.
    pub agent: Option<String>,
    pub started_at: String,
    /// When its agent ended; none while it is at work.
    pub completed_at: Option<String>,
    /// What became of it: `running`, `stopping`, `built` (not woven yet), `limited`, `overloaded`, `interrupted`, `lost`, or
    /// one of the outcomes of tasks.
    pub outcome: &'static str,
    pub error: Option<String>,
    /// In dollars, as far as its agent tells.
    pub cost: Option<f64>,
    /// Both ways, as far as its agent tells.
    pub tokens: Option<u64>,
    pub session_id: Option<String>,
}

#[derive(Deserialize)]
struct WithAgent {
    agent: Option<StoredAgent>,
}

/// An agent as its batch was stored with it, as far as its name goes.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredAgent {
    Command(AgentName),
    Preset(AgentName),
    Demo,
}

#[derive(Deserialize)]
struct AgentName {
    name: String,
}

impl AttemptView {
    /// The attempts on a task of a batch, newest first.
    pub fn all(loaded: &LoadedBatch, task: &TaskId) -> Vec<Self> {
        let record = serde_json::from_str(&loaded.record);
        let agent = record.ok().and_then(|record: WithAgent| record.agent);
        let agent = agent.map(|agent| match agent {
            StoredAgent::Command(agent) | StoredAgent::Preset(agent) => agent.name,
            StoredAgent::Demo => "demo".to_owned(),
        });
        let mut attempts: Vec<Self> = Vec::new();
        let mut session = None;
        for stored in &loaded.events {
            let Event::Task { task: whose, event } = &stored.event else {
                continue;
            };
            if whose != task {
                continue;
            }
            if let TaskEvent::Started { attempt, .. } = event {
                // After a limit the same session goes on, and nobody says so again.
                let goes_on = attempts.last().is_some_and(Self::goes_on);
                attempts.push(Self {
                    batch_id: loaded.id,
                    batch_number: loaded.number,
                    attempt: *attempt,
                    agent: agent.clone(),
                    started_at: rfc3339(stored.at),
                    completed_at: None,
                    outcome: "running",
                    error: None,
                    cost: None,
                    tokens: None,
                    session_id: session.take().filter(|_| goes_on),
                });
            } else if let Some(last) = attempts.last_mut() {
                last.hear(event, stored.at);
                session.clone_from(&last.session_id);
            }
        }
        attempts.reverse();
        attempts
    }

    fn goes_on(&self) -> bool {
        matches!(self.outcome, "limited" | "overloaded" | "asked_again")
    }

    fn hear(&mut self, event: &TaskEvent, at: u64) {
        match event {
            TaskEvent::SessionBegan { session } => self.session_id = Some(session.clone()),
            TaskEvent::Spent(Spent { tokens, micro_usd }) => {
                self.tokens = Some(*tokens).filter(|tokens| *tokens > 0);
                self.cost = Some(usd(*micro_usd)).filter(|cost| *cost > 0.0);
            }
            event => {
                if let Some((outcome, error)) = self.outcome_after(event) {
                    self.outcome = outcome;
                    self.error = error;
                    if outcome != "stopping" {
                        self.completed_at.get_or_insert_with(|| rfc3339(at));
                    }
                }
            }
        }
    }

    /// What an event says of the attempt, and why it came to that.
    fn outcome_after(&self, event: &TaskEvent) -> Option<(&'static str, Option<String>)> {
        let is_at_work = self.completed_at.is_none();
        let because = |text: &str| Some(text.to_owned());
        Some(match event {
            TaskEvent::StopRequested => ("stopping", None),
            TaskEvent::Built { .. } | TaskEvent::Resolved { .. } => ("built", None),
            TaskEvent::Unchanged { .. } => ("no_changes", None),
            TaskEvent::Woven { .. } => ("merged", None),
            TaskEvent::AttemptFailed { error, .. } | TaskEvent::Failed { error } => {
                ("failed", because(error))
            }
            TaskEvent::Limited { error, .. } => ("limited", because(error)),
            TaskEvent::Overloaded { error, .. } => ("overloaded", because(error)),
            TaskEvent::AskedAgain => ("asked_again", because(CHANGED_NOTHING)),
            TaskEvent::Interrupted => ("interrupted", because(INTERRUPTED)),
            TaskEvent::Lost { because: why } => ("lost", because(why)),
            TaskEvent::TimedOut => ("timed_out", because(TOOK_TOO_LONG)),
            TaskEvent::Conflicted { .. } => ("conflicted", because(DOES_NOT_MERGE)),
            TaskEvent::Requeued { because: why } if is_at_work => ("failed", because(why)),
            TaskEvent::Requeued { because: why } => ("conflicted", because(why)),
            TaskEvent::Invalid { because: why, .. } => ("invalid", because(why)),
            // What happens to a task between two attempts says nothing of the one before.
            TaskEvent::Blocked { because: why } if self.is_success() => ("blocked", because(why)),
            TaskEvent::TakenOver { because: why } if is_at_work => ("interrupted", because(why)),
            TaskEvent::Cancelled if is_at_work => ("cancelled", None),
            _ => return None,
        })
    }

    fn is_success(&self) -> bool {
        matches!(self.outcome, "built" | "merged" | "no_changes")
    }
}
