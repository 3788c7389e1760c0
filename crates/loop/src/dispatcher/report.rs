//! Passes on what the cluster says of the units that are followed: to the loop, and in a file to whoever else looks.

use std::collections::{HashMap, HashSet};

use pleach_log::agent_report::AgentReport;
use pleach_log::queue_report::{QueueReport, ReportedUnit, UnitWord};

use super::Dispatcher;
use super::follow::FollowedUnit;
use crate::cluster::{SeenUnit, UnitName, UnitState};
use crate::loop_input::LoopInput;
use crate::spool::UnitWork;

impl Dispatcher {
    pub(super) fn report(&mut self, seen: &[SeenUnit]) {
        let seen: HashMap<&UnitName, &SeenUnit> =
            seen.iter().map(|unit| (&unit.name, unit)).collect();
        let units = self.units.iter().filter_map(|unit| {
            let reported = reported(unit, seen.get(&unit.name())?)?;
            Some((unit, reported))
        });
        let known: HashSet<&ReportedUnit> = self.reported.units.iter().collect();
        let (mut report, mut news) = (QueueReport::default(), Vec::new());
        for (unit, reported) in units {
            if unit.heartbeat.is_none() && !known.contains(&reported) {
                news.push((unit, reported.line()));
            }
            report.units.push(reported);
        }
        for (unit, line) in news {
            if let (UnitWork::Attempt(attempt), Some(line)) = (&unit.work, line) {
                unit.handle.tell(LoopInput::Said {
                    task: attempt.task.clone(),
                    attempt: attempt.number,
                    said: AgentReport {
                        action: Some(line),
                        ..AgentReport::default()
                    },
                });
            }
        }
        if report != self.reported {
            // What cannot be written now is shown the next time that something changes.
            let _ = report.write(&self.context.folder);
            self.reported = report;
        }
    }
}

/// What is said of a unit that is not over.
fn reported(unit: &FollowedUnit, seen: &SeenUnit) -> Option<ReportedUnit> {
    let (task, number) = match &unit.work {
        UnitWork::Attempt(attempt) => (Some(attempt.task.clone()), attempt.number),
        UnitWork::Probe(probe) => (None, probe.number),
    };
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
