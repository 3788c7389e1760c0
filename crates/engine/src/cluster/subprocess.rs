//! A cluster of one machine and without a queue: each unit is a process of its own. For tests.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use pleach_system::detach;
use pleach_system::process::start_time;

use super::command::run;
use super::{
    Cluster, ClusterError, ClusterSurvey, EndHow, NodeCall, SeenUnit, SizeSurvey, Submission,
    UnitName, UnitOver, UnitRequest, UnitState,
};

/// How the file of a process is named, in the folder of its submission.
const PROCESS: &str = "process.";

/// How many units a submission has, at most.
const MOST_AT_ONCE: usize = 1_000;

#[derive(Debug)]
pub struct Subprocess {
    /// The folder of all submissions.
    pub home: PathBuf,
}

impl Cluster for Subprocess {
    fn name(&self) -> &'static str {
        "subprocess"
    }

    fn survey(&self, requests: &[UnitRequest]) -> Result<ClusterSurvey, ClusterError> {
        let sizes = requests.iter().map(|request| SizeSurvey {
            size: request.size.name.clone(),
            options: Vec::new(),
            answer: Ok("a process of this machine".to_owned()),
        });
        Ok(ClusterSurvey {
            most_at_once: MOST_AT_ONCE,
            sizes: sizes.collect(),
        })
    }

    fn submit(&self, submission: &Submission) -> Result<(), ClusterError> {
        for unit in 1..=submission.units {
            let number = unit.to_string();
            let words = [
                OsString::from("node-run"),
                submission.folder.clone().into(),
                number.clone().into(),
            ];
            let pid = detach::spawn_alone(&submission.program, &words)
                .map_err(ClusterError::io("start a unit"))?;
            let started = start_time(pid).unwrap_or_default();
            let file = submission.folder.join(format!("{PROCESS}{number}"));
            fs::write(file, format!("{pid} {started}")).map_err(ClusterError::io("note a unit"))?;
        }
        Ok(())
    }

    fn look(&self) -> Result<Vec<SeenUnit>, ClusterError> {
        let folders = fs::read_dir(&self.home).map_err(ClusterError::io("list submissions"))?;
        let mut seen = Vec::new();
        for folder in folders.flatten() {
            let submission = folder.file_name().to_string_lossy().into_owned();
            for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                let name = file.file_name();
                let unit = name.to_str().and_then(|name| name.strip_prefix(PROCESS));
                if let Some(Ok(unit)) = unit.map(str::parse) {
                    let submission = submission.clone();
                    seen.push(SeenUnit {
                        name: UnitName { submission, unit },
                        job: None,
                        state: state_of(&file.path()),
                        node: None,
                    });
                }
            }
        }
        Ok(seen)
    }

    fn say(&self, _: Option<&str>, call: &NodeCall<'_>) -> Result<(), ClusterError> {
        let words = ["node-run"].iter().chain(call.words);
        let words: Vec<OsString> = words.map(OsString::from).collect();
        run(call.program, &words, call.input).map(drop)
    }

    fn end(&self, _units: &[UnitName], _how: EndHow) -> Result<(), ClusterError> {
        // They hear it from their folder.
        Ok(())
    }
}

fn state_of(file: &Path) -> UnitState {
    let text = fs::read_to_string(file).unwrap_or_default();
    let known = text
        .split_once(' ')
        .and_then(|(pid, started)| Some((pid.parse().ok()?, started.parse::<u64>().ok()?)));
    match known {
        Some((pid, started)) if start_time(pid) == Some(started) => UnitState::Running,
        _ => UnitState::Over(UnitOver::Lost("its process has ended".to_owned())),
    }
}
