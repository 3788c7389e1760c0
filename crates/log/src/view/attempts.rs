//! Every attempt on a task, as the log of its batches tells it.
//!
//! Says what is known and no more: an agent that tells no cost has none here.

use pleach_domain::history::{AttemptHistory, AttemptOutcome, History};
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_system::text::moment::rfc3339;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Record;
use super::wire::usd;
use crate::database::LoadedBatch;

/// An attempt: one run of an agent on a task.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptView {
    pub batch_id: u32,
    /// The number of the batch in its project.
    #[schema(value_type = u32)]
    pub batch_number: BatchNumber,
    /// Its number within the batch, counted from 1.
    pub attempt: u32,
    /// The name of the agent.
    pub agent: Option<String>,
    /// When it began; on a cluster, when a node began with it.
    pub started_at: String,
    /// When the agent finished; none while it is running.
    pub completed_at: Option<String>,
    /// The node of the cluster that it ran on.
    pub node: Option<String>,
    pub outcome: AttemptOutcome,
    pub error: Option<String>,
    /// In dollars, if the agent reports it.
    pub cost: Option<f64>,
    /// Input and output tokens, if the agent reports them.
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
        let Some(attempts) = history(loaded, task) else {
            return Vec::new();
        };
        let view = |attempt: &AttemptHistory| Self::of_attempt(loaded, agent.clone(), attempt);
        attempts.iter().rev().map(view).collect()
    }

    fn of_attempt(loaded: &LoadedBatch, agent: Option<String>, attempt: &AttemptHistory) -> Self {
        Self {
            batch_id: loaded.id,
            batch_number: loaded.number,
            attempt: attempt.number,
            agent,
            started_at: rfc3339(attempt.started_at),
            completed_at: attempt.ended_at.map(rfc3339),
            node: attempt.node.clone(),
            outcome: attempt.outcome,
            error: attempt.error.clone(),
            cost: Some(usd(attempt.spent.micro_usd)).filter(|cost| *cost > 0.0),
            tokens: Some(attempt.spent.tokens).filter(|tokens| *tokens > 0),
            session_id: attempt.session.clone(),
        }
    }
}

/// A record that this version does not understand says nothing.
fn history(loaded: &LoadedBatch, task: &TaskId) -> Option<Vec<AttemptHistory>> {
    let record: Record = serde_json::from_str(&loaded.record).ok()?;
    let mut history = History::new(&record.design, record.runs_on());
    for stored in &loaded.events {
        history.take_in(&stored.event, stored.at);
    }
    Some(history.of_task(task)?.attempts.clone())
}
