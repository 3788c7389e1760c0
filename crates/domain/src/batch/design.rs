//! What a batch is made of before it begins: its tasks, their order, and its settings.
//!
//! Plain data that can be stored; it never changes while the batch runs.

use std::collections::HashMap;

use serde::de::IntoDeserializer as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::choice::{Landing, NoChanges, OnConflict, RunMode};
use crate::graph::{Graph, Order, OrderRules};
use crate::id::{PhaseNumber, TaskId};
use crate::phase::Threshold;
use crate::task::{Priority, TaskStatus};

/// Everything about a batch that is known when it is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Design {
    pub tasks: Vec<TaskDesign>,
    pub settings: BatchSettings,
    /// What its barriers are, in order; empty where it has none.
    pub stages: Vec<StageDesign>,
    /// Whether a stage that failed keeps the later ones from starting.
    pub failed_stage: FailedStage,
    pub threshold: Threshold,
    /// Tasks of the plan that are not in the batch, by phase.
    #[serde(alias = "settled_before")]
    pub others: Vec<(PhaseNumber, TaskStatus)>,
}

/// A task of a batch, as far as it is known beforehand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDesign {
    pub id: TaskId,
    /// The tasks it needs, by position in the batch.
    pub needs: Vec<usize>,
    /// The tasks it merely comes after, by position in the batch.
    pub after: Vec<usize>,
    pub phase: Option<PhaseNumber>,
    pub follows_phase: bool,
    /// The stage or wave it belongs to.
    pub stage: Option<usize>,
    /// Minutes to the end of the longest chain behind it.
    pub remaining: u64,
    pub priority: Priority,
    /// Work of earlier batches that it builds on and the base lacks, by its place among all such work of the batch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<usize>,
    /// Why there is nothing that it could start from, if that is known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_basis: Option<String>,
}

/// A stage of an execution plan, or a wave that is waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageDesign {
    pub name: String,
    pub can_parallel: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailedStage {
    /// They start all the same.
    GoesOn,
    /// Their tasks are blocked.
    StopsThePlan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Barriers {
    #[default]
    Stages,
    /// Every wave waits for the one before.
    Waves,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum Mode {
    /// Up to so many at once.
    Parallel { slots: usize },
    /// One by one, in plan order, each on the result of those before.
    Queue { approval: Approval },
}

impl Mode {
    /// What people call it; a queue is one, whoever approves.
    pub fn choice(self) -> RunMode {
        match self {
            Self::Parallel { .. } => RunMode::Parallel,
            Self::Queue { .. } => RunMode::Queue,
        }
    }

    pub fn slots(self) -> usize {
        match self {
            Self::Parallel { slots } => slots.max(1),
            Self::Queue { .. } => 1,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    Automatic,
    /// A person, after each task.
    ByPerson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Those that do not need it go on.
    #[default]
    GoOn,
    /// Nothing new starts, and what runs is stopped.
    Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Validation {
    #[default]
    Unset,
    /// What they fail with is found and left out.
    Drop,
    Fail,
}

/// What to do when running several at once does not work out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    #[default]
    OneAtATime,
    Fail,
}

/// What may be spent; nothing said is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// In millionths of a dollar.
    pub micro_usd: Option<u64>,
    pub tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchSettings {
    pub mode: Mode,
    pub on_failure: OnFailure,
    pub on_conflict: OnConflict,
    pub fallback: Fallback,
    #[serde(default)]
    pub validation: Validation,
    #[serde(default, deserialize_with = "landing_as_stored")]
    pub landing: Landing,
    /// What an agent that changed nothing, and did not say why, has done.
    #[serde(default)]
    pub no_changes: NoChanges,
    pub retries: u32,
    /// The pause before the first repetition, in milliseconds; it doubles each time.
    pub retry_pause: u64,
    /// The longest wait for a usage limit, in milliseconds.
    #[serde(default = "usual_limit_wait")]
    pub limit_wait: u64,
    #[serde(default)]
    pub budget: Budget,
    #[serde(default)]
    pub task_budget: Budget,
}

/// Batches of earlier versions say `pull_request` and `nowhere`.
fn landing_as_stored<'de, D: Deserializer<'de>>(from: D) -> Result<Landing, D::Error> {
    let word = String::deserialize(from)?;
    let word = match word.as_str() {
        "pull_request" => "pr",
        "nowhere" => "none",
        word => word,
    };
    Landing::deserialize(word.into_deserializer())
}

fn usual_limit_wait() -> u64 {
    6 * 60 * 60 * 1_000
}

impl Default for BatchSettings {
    fn default() -> Self {
        Self {
            mode: Mode::Parallel { slots: 3 },
            on_failure: OnFailure::default(),
            on_conflict: OnConflict::default(),
            fallback: Fallback::default(),
            validation: Validation::default(),
            landing: Landing::default(),
            no_changes: NoChanges::default(),
            retries: 2,
            retry_pause: 5_000,
            limit_wait: usual_limit_wait(),
            budget: Budget::default(),
            task_budget: Budget::default(),
        }
    }
}

impl Design {
    /// The design for the chosen tasks (positions in the plan, ascending).
    pub fn new(
        graph: &Graph<'_>,
        chosen: &[usize],
        rules: OrderRules,
        barriers: Barriers,
        settings: BatchSettings,
    ) -> Self {
        let mut members = vec![false; graph.plan().tasks.len()];
        let mut place = HashMap::new();
        for (number, position) in chosen.iter().enumerate() {
            members[*position] = true;
            place.insert(*position, number);
        }
        let order = Order::new(graph, &members, rules);
        let (stages, failed_stage) = match barriers {
            Barriers::Waves => (waves(&order), FailedStage::GoesOn),
            Barriers::Stages => (written_stages(graph), FailedStage::StopsThePlan),
        };
        let stage_of = stage_of_each(graph, &order, barriers);
        let mut tasks: Vec<TaskDesign> = chosen
            .iter()
            .map(|position| {
                let task = graph.task(*position);
                let needs = graph.needs(*position);
                TaskDesign {
                    id: task.id.clone(),
                    needs: needs.filter_map(|at| place.get(&at).copied()).collect(),
                    after: Vec::new(),
                    phase: task.phase,
                    follows_phase: task.follows_its_phase(),
                    stage: stage_of.get(position).copied(),
                    remaining: order.remaining[*position],
                    priority: task.priority,
                    earlier: Vec::new(),
                    no_basis: None,
                }
            })
            .collect();
        for pair in &order.ordered {
            if let (Some(first), Some(then)) = (place.get(&pair.first), place.get(&pair.then))
                && !tasks[*then].needs.contains(first)
            {
                tasks[*then].after.push(*first);
            }
        }
        let others = graph.plan().tasks.iter().zip(&members);
        let others = others.filter(|(_, is_member)| !**is_member);
        Self {
            tasks,
            settings,
            stages,
            failed_stage,
            threshold: rules.threshold,
            others: others
                .filter_map(|(task, _)| task.phase.map(|phase| (phase, task.status)))
                .collect(),
        }
    }
}

fn waves(order: &Order) -> Vec<StageDesign> {
    let named = |number: usize| StageDesign {
        name: number.to_string(),
        can_parallel: true,
    };
    (1..=order.waves.len()).map(named).collect()
}

fn written_stages(graph: &Graph<'_>) -> Vec<StageDesign> {
    let stages = graph.plan().stages.iter().map(|stage| StageDesign {
        name: stage.id.clone(),
        can_parallel: stage.can_parallel,
    });
    stages.collect()
}

/// The stage of each task of the plan that has one, by position in the plan.
fn stage_of_each(graph: &Graph<'_>, order: &Order, barriers: Barriers) -> HashMap<usize, usize> {
    match barriers {
        Barriers::Waves => {
            let waves = order.waves.iter().enumerate();
            waves
                .flat_map(|(number, wave)| wave.iter().map(move |task| (*task, number)))
                .collect()
        }
        Barriers::Stages => {
            let index = graph.plan().index();
            let stages = graph.plan().stages.iter().enumerate();
            stages
                .flat_map(|(number, stage)| stage.tasks.iter().map(move |task| (task, number)))
                .filter_map(|(task, number)| Some((index.find(task.as_str())?, number)))
                .collect()
        }
    }
}
