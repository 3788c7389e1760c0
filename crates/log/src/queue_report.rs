//! What a cluster said last of the units of a batch, in a file among the logs of the batch: for those who look.
//!
//! Nobody decides by it. Whoever follows the units writes it, and replaces it as a whole.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pleach_domain::id::TaskId;
use pleach_system::files::{plain_file, regular_file};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// More bytes than ten thousand units need.
const LARGEST: u64 = 16 << 20;

/// Whether a cluster has begun with a unit.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum UnitWord {
    Waiting,
    Running,
}

impl UnitWord {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
        }
    }
}

/// An attempt or a run of the tests, as its cluster knows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReportedUnit {
    /// The task whose attempt it is; a run of the tests has none.
    pub task: Option<TaskId>,
    /// The number of the attempt, or of the run.
    pub number: u32,
    pub cluster: String,
    /// What the cluster calls it; nothing before the cluster has it.
    pub job: Option<String>,
    pub state: UnitWord,
    /// Why it waits; in the words of the cluster, if that has it.
    pub because: Option<String>,
}

impl ReportedUnit {
    /// One that the cluster may not have yet: so many it has already, over all batches.
    pub fn waiting_for_room(task: Option<TaskId>, number: u32, cluster: &str, most: usize) -> Self {
        Self {
            task,
            number,
            cluster: cluster.to_owned(),
            job: None,
            state: UnitWord::Waiting,
            because: Some(format!("waiting for room (cluster.most = {most})")),
        }
    }

    pub fn waits_for_room(&self) -> bool {
        self.state == UnitWord::Waiting && self.job.is_none()
    }

    /// What it waits for, on one line; nothing if it does not wait.
    pub fn line(&self) -> Option<String> {
        let waits = self.state == UnitWord::Waiting;
        waits.then(|| waits_for(&self.cluster, self.job.as_deref(), self.because.as_deref()))
    }
}

/// What something waits for that a cluster is to have: what has no job is in no queue.
pub(crate) fn waits_for(cluster: &str, job: Option<&str>, because: Option<&str>) -> String {
    match (job, because) {
        (None, Some(why)) => why.to_owned(),
        (_, because) => waiting_line(cluster, because),
    }
}

/// That something waits in the queue of a cluster, and what for.
pub fn waiting_line(cluster: &str, because: Option<&str>) -> String {
    let cluster = match cluster {
        "slurm" => "Slurm",
        other => other,
    };
    match because {
        None => format!("in {cluster}'s queue"),
        Some(why) => format!("in {cluster}'s queue: {why}"),
    }
}

/// All units of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueReport {
    pub units: Vec<ReportedUnit>,
}

impl QueueReport {
    /// What was written last; nothing where nobody wrote, or nobody understands it.
    pub fn read(batch: &Path) -> Self {
        let bytes = regular_file::read(&path(batch), LARGEST).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub fn write(&self, batch: &Path) -> io::Result<()> {
        let text = serde_json::to_vec(self)?;
        plain_file::replace(&path(batch), &text, None)
    }

    /// Its attempts, each by its task and its number.
    pub fn attempts(&self) -> HashMap<(&TaskId, u32), &ReportedUnit> {
        let units = self.units.iter();
        let attempts = units.filter_map(|unit| Some(((unit.task.as_ref()?, unit.number), unit)));
        attempts.collect()
    }
}

fn path(batch: &Path) -> PathBuf {
    batch.join("queue.json")
}

/// Somebody who looks at a report again and again.
#[derive(Debug, Default)]
pub(crate) struct WatchedReport {
    /// The file and when it was written, as it was read last.
    read: Option<(u64, SystemTime)>,
    lines: HashMap<(TaskId, u32), String>,
}

impl WatchedReport {
    /// Reads it if it was written since; what each attempt waits for that waits.
    pub(crate) fn look(&mut self, batch: &Path) -> &HashMap<(TaskId, u32), String> {
        let there = std::fs::metadata(path(batch)).ok();
        let there = there.and_then(|file| Some((file.ino(), file.modified().ok()?)));
        if there != self.read {
            self.read = there;
            let units = QueueReport::read(batch).units.into_iter();
            let waiting = units.filter_map(|unit| {
                let line = unit.line()?;
                Some(((unit.task?, unit.number), line))
            });
            self.lines = waiting.collect();
        }
        &self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(state: UnitWord, because: Option<&str>) -> ReportedUnit {
        ReportedUnit {
            task: Some(TaskId::new("1")),
            number: 2,
            cluster: "slurm".to_owned(),
            job: Some("12_3".to_owned()),
            state,
            because: because.map(str::to_owned),
        }
    }

    #[test]
    fn what_waits_says_what_for() {
        let waits = unit(UnitWord::Waiting, Some("Resources"));
        assert_eq!(waits.line().unwrap(), "in Slurm's queue: Resources");
        assert_eq!(
            unit(UnitWord::Waiting, None).line().unwrap(),
            "in Slurm's queue"
        );
        assert_eq!(unit(UnitWord::Running, None).line(), None);
        let held = ReportedUnit::waiting_for_room(None, 1, "slurm", 500);
        assert_eq!(
            held.line().unwrap(),
            "waiting for room (cluster.most = 500)"
        );
    }

    #[test]
    fn a_report_is_read_as_it_was_written_and_again_when_it_was_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let batch = folder.path();
        assert_eq!(QueueReport::read(batch), QueueReport::default());
        let mut watched = WatchedReport::default();
        assert!(watched.look(batch).is_empty());
        let report = QueueReport {
            units: vec![unit(UnitWord::Waiting, Some("Priority"))],
        };
        report.write(batch).unwrap();
        assert_eq!(QueueReport::read(batch), report);
        let task = TaskId::new("1");
        assert_eq!(report.attempts()[&(&task, 2)], &report.units[0]);
        assert_eq!(
            watched.look(batch)[&(task, 2)],
            "in Slurm's queue: Priority"
        );
        QueueReport::default().write(batch).unwrap();
        assert!(watched.look(batch).is_empty());
    }

    #[test]
    fn what_nobody_understands_is_no_report() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("queue.json"), "{\"units\":[{}]}").unwrap();
        assert_eq!(QueueReport::read(folder.path()), QueueReport::default());
    }
}
