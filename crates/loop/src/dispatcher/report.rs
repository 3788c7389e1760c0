//! Passes on what the cluster says of the units that are followed: to the loop, and in a file to whoever else looks.

use std::collections::{HashMap, HashSet};

use pleach_domain::id::TaskId;
use pleach_log::agent_report::AgentReport;
use pleach_log::queue_report::{QueueReport, ReportedUnit, UnitWord};

use super::Dispatcher;
use super::follow::FollowedUnit;
use crate::cluster::{SeenUnit, UnitName, UnitState};
use crate::executor::LoopHandle;
use crate::loop_input::LoopInput;
use crate::spool::UnitWork;

impl Dispatcher {
    /// Takes in what the cluster says.
    pub(super) fn report(&mut self, seen: &[SeenUnit]) {
        let seen: HashMap<&UnitName, &SeenUnit> =
            seen.iter().map(|unit| (&unit.name, unit)).collect();
        let units = self.units.iter().filter_map(|unit| {
            let reported = reported(unit, seen.get(&unit.name())?)?;
            Some((unit, reported))
        });
        let known: HashSet<&ReportedUnit> = self.reported.units.iter().collect();
        let mut report = QueueReport::default();
        for (unit, reported) in units {
            if unit.heartbeat.is_none() && !known.contains(&reported) {
                tell(&unit.work, &unit.handle, &reported);
            }
            report.units.push(reported);
        }
        report.units.extend(self.without_room());
        self.put_out(report);
    }

    /// Says of what the cluster does not have yet, for want of room, that it waits for that.
    pub(super) fn report_waiting(&mut self) {
        let waiting = self.without_room();
        let is_with_cluster = |unit: &ReportedUnit| !unit.waits_for_room();
        let known = self.reported.units.iter();
        let known: HashSet<&ReportedUnit> = known.filter(|unit| !is_with_cluster(unit)).collect();
        if waiting.len() == known.len() && waiting.iter().all(|unit| known.contains(unit)) {
            return;
        }
        let outgoing = self.waiting.without_room().iter();
        for (outgoing_unit, reported) in outgoing.zip(&waiting) {
            if !known.contains(reported) {
                tell(&outgoing_unit.work, &outgoing_unit.handle, reported);
            }
        }
        let mut report = self.reported.clone();
        report.units.retain(is_with_cluster);
        report.units.extend(waiting);
        self.put_out(report);
    }

    fn without_room(&self) -> Vec<ReportedUnit> {
        let outgoing = self.waiting.without_room().iter();
        let reported = outgoing.map(|outgoing_unit| {
            let (task, number) = whose(&outgoing_unit.work);
            ReportedUnit::waiting_for_room(task, number, self.cluster_name, self.place.most)
        });
        reported.collect()
    }

    fn put_out(&mut self, report: QueueReport) {
        if report != self.reported {
            // What cannot be written now is shown the next time that something changes.
            let _ = report.write(&self.context.folder);
            self.reported = report;
        }
    }
}

/// Tells the loop what an attempt waits for.
fn tell(work: &UnitWork, handle: &LoopHandle, reported: &ReportedUnit) {
    if let (UnitWork::Attempt(attempt), Some(line)) = (work, reported.line()) {
        handle.tell(LoopInput::Said {
            task: attempt.task.clone(),
            attempt: attempt.number,
            said: AgentReport {
                action: Some(line),
                ..AgentReport::default()
            },
        });
    }
}

/// The task of an attempt and its number, or that of a run of the tests.
fn whose(work: &UnitWork) -> (Option<TaskId>, u32) {
    match work {
        UnitWork::Attempt(attempt) => (Some(attempt.task.clone()), attempt.number),
        UnitWork::Probe(probe) => (None, probe.number),
    }
}

/// What is said of a unit that is not over.
fn reported(unit: &FollowedUnit, seen: &SeenUnit) -> Option<ReportedUnit> {
    let (task, number) = whose(&unit.work);
    let (state, because) = match &seen.state {
        UnitState::Waiting(because) => (UnitWord::Waiting, because.clone()),
        UnitState::Running => (UnitWord::Running, None),
        UnitState::Over(_) => return None,
    };
    Some(ReportedUnit {
        task,
        number,
        cluster: unit.sent.cluster.clone(),
        job: seen.job.clone(),
        state,
        because,
    })
}
