//! Says why a task waits, in few words.
//!
//! Phases and stages are named rather than the many tasks behind them.

use std::collections::BTreeSet;
use std::fmt;

use pleach_domain::graph::ImpliedEdge;
use pleach_domain::id::PhaseNumber;
use pleach_domain::plan::Stage;

use super::Picture;
use super::words::{few, one_line};

/// How many tasks one reason names.
const MOST_NAMES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gate<'a> {
    /// A phase that is not open, and the phase it waits for.
    Phase(PhaseNumber, PhaseNumber),
    /// A stage of an execution plan, and the stage before it.
    Stage(&'a str, &'a str),
}

impl fmt::Display for Gate<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Phase(phase, before) => {
                write!(formatter, "phase {phase} waits for phase {before}")
            }
            Self::Stage(stage, before) => write!(
                formatter,
                "batch {} waits for batch {}",
                one_line(stage),
                one_line(before)
            ),
        }
    }
}

/// What is known of a picture to answer for every task in it.
pub(super) struct WaitReasons<'p, 'a> {
    picture: &'p Picture<'a>,
    is_chosen: Vec<bool>,
    phases: BTreeSet<PhaseNumber>,
    stage_of: Vec<Option<usize>>,
    live_stages: BTreeSet<usize>,
}

impl<'p, 'a> WaitReasons<'p, 'a> {
    pub(super) fn new(picture: &'p Picture<'a>) -> Self {
        let tasks = &picture.graph.plan().tasks;
        let waved = |position: usize| picture.order.wave_of[position].is_some();
        let phases = (0..tasks.len()).filter(|position| waved(*position));
        let phases = phases
            .filter_map(|position| tasks[position].phase)
            .collect();
        let stage_of = stages_of_tasks(picture, picture.graph.plan().stages.as_slice());
        let live_stages = (0..stage_of.len())
            .filter(|position| waved(*position))
            .filter_map(|position| stage_of[position])
            .collect();
        Self {
            picture,
            is_chosen: picture.is_chosen(),
            phases,
            stage_of,
            live_stages,
        }
    }

    /// The pairs that put something before a task without being needed by it.
    pub(super) fn after(&self, position: usize) -> &'p [ImpliedEdge] {
        let ordered = &self.picture.order.ordered;
        let start = ordered.partition_point(|pair| pair.then < position);
        let end = ordered.partition_point(|pair| pair.then <= position);
        &ordered[start..end]
    }

    /// The barrier that a task stands behind, unless what it needs or follows says it already.
    pub(super) fn gate(&self, position: usize) -> Option<Gate<'a>> {
        let wave_of = &self.picture.order.wave_of;
        let before = wave_of[position]?.checked_sub(1).filter(|wave| *wave > 0)?;
        let is_last = |other: usize| wave_of[other] == Some(before);
        let graph = self.picture.graph;
        if graph.needs(position).any(is_last) {
            return None;
        }
        if self.after(position).iter().any(|pair| is_last(pair.first)) {
            return None;
        }
        let task = self.picture.task(position);
        if let Some(phase) = task.phase.filter(|_| task.follows_its_phase()) {
            let before = self.phases.range(..phase).next_back();
            return before.map(|before| Gate::Phase(phase, *before));
        }
        let stage = *self.stage_of.get(position)?.as_ref()?;
        let before = self.live_stages.range(..stage).next_back()?;
        let stages = &graph.plan().stages;
        Some(Gate::Stage(&stages[stage].id, &stages[*before].id))
    }

    /// Whether a note says why a task is needed, which is told with its reason.
    fn is_told_by_order(&self, position: usize, need: usize) -> bool {
        let mut own = self.picture.graph.own_needs(position);
        let mut after = self.after(position).iter();
        !own.any(|own| own == need) && after.any(|pair| pair.first == need)
    }

    /// The reasons of one task; the gate is left to the caller.
    pub(super) fn reasons(&self, position: usize) -> Vec<String> {
        let mut reasons = Vec::new();
        let task = |position: usize| self.picture.task(position).id.as_str();
        let (inside, outside): (Vec<usize>, Vec<usize>) = self
            .picture
            .graph
            .open_needs(position)
            .filter(|need| !self.is_told_by_order(position, *need))
            .partition(|need| self.is_chosen[*need]);
        if !inside.is_empty() {
            let names = few(inside.into_iter().map(task), MOST_NAMES);
            reasons.push(format!("needs {names}"));
        }
        if !outside.is_empty() {
            let names = few(outside.into_iter().map(task), MOST_NAMES);
            reasons.push(format!("needs {names} (not selected)"));
        }
        let after = self.after(position);
        for pair in after.iter().take(MOST_NAMES) {
            let graph = self.picture.graph;
            let is_needed = graph.needs(position).any(|need| need == pair.first);
            reasons.push(format!(
                "{} {}: {}",
                if is_needed { "needs" } else { "after" },
                one_line(task(pair.first)),
                one_line(&pair.because)
            ));
        }
        if after.len() > MOST_NAMES {
            let more = after.len() - MOST_NAMES;
            reasons.push(format!("… and after {more} more"));
        }
        reasons
    }
}

fn stages_of_tasks(picture: &Picture<'_>, stages: &[Stage]) -> Vec<Option<usize>> {
    if stages.is_empty() {
        return Vec::new();
    }
    let mut stage_of = vec![None; picture.graph.plan().tasks.len()];
    for (number, stage) in stages.iter().enumerate() {
        for id in &stage.tasks {
            if let Some(position) = picture.graph.index().find(id.as_str()) {
                stage_of[position] = Some(number);
            }
        }
    }
    stage_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::sample::{self, drawn};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = drawn(text, |picture| {
            let waiting = WaitReasons::new(picture);
            let tasks = 0..picture.graph.plan().tasks.len();
            tasks
                .map(|position| {
                    let mut reasons = waiting.reasons(position);
                    reasons.extend(waiting.gate(position).map(|gate| gate.to_string()));
                    reasons.join(" · ")
                })
                .collect()
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn a_task_waits_for_what_it_needs_and_what_collides_with_it() {
        let after = "after 62: both declare docs/plan.md";
        check(
            sample::SECTIONS,
            &["", "", "", "needs 61", after, "needs 63, 62"],
        );
    }

    #[test]
    fn a_closed_phase_is_named_instead_of_its_tasks() {
        check(
            sample::PHASED,
            &[
                "",
                "",
                "phase 2 waits for phase 1",
                "needs 2.1: 2.1-2.2 are sequential: wet mortar",
            ],
        );
    }

    #[test]
    fn a_stage_is_named_instead_of_its_tasks() {
        let plan = r#"{"batches":[{"batch_id":1,"task_ids":["a","b"],"can_parallel":true},
            {"batch_id":2,"task_ids":["c"],"can_parallel":true}],
            "tasks":[{"id":"a","title":"A"},{"id":"b","title":"B"},{"id":"c","title":"C"}]}"#;
        check(plan, &["", "", "batch 2 waits for batch 1"]);
    }
}
