//! The options of `sbatch`, and what Slurm says to them before anything is submitted.
//!
//! Nothing that a plan says is among them.

use std::ffi::OsString;
use std::time::Duration;

use super::Slurm;
use crate::cluster::command::{heard, run};
use crate::cluster::{ClusterError, ClusterSurvey, SizeSurvey, UnitRequest};

/// How many units are submitted at once, at most: what Slurm allows in one array by itself.
const MOST_AT_ONCE: usize = 1_000;

/// What a job may take beyond what its programs may.
const SPARE_TIME: Duration = Duration::from_mins(5);

/// What every unit is: one program on one node.
pub(super) const ONE_PROGRAM: [&str; 2] = ["--nodes=1", "--ntasks=1"];

/// What tells a submission from those of other sizes; what is said of a size is stronger than what is said of all.
pub(super) fn options(all: &[String], request: &UnitRequest) -> Vec<String> {
    let size = &request.size;
    let mut words = all.to_vec();
    words.extend(size.cpus.map(|cpus| format!("--cpus-per-task={cpus}")));
    let megabytes = size.memory.map(|bytes| bytes.div_ceil(1 << 20));
    words.extend(megabytes.map(|megabytes| format!("--mem={megabytes}M")));
    words.extend(size.gpus.map(|gpus| format!("--gres=gpu:{gpus}")));
    words.extend(size.slurm.iter().cloned());
    let minutes = (request.time + SPARE_TIME).as_secs().div_ceil(60);
    words.push(format!("--time={minutes}"));
    words
}

pub(super) fn survey(
    slurm: &Slurm,
    requests: &[UnitRequest],
) -> Result<ClusterSurvey, ClusterError> {
    let words = ["show", "config"].map(OsString::from);
    let shown = run(&slurm.program("scontrol"), &words, "")?;
    let sizes = requests.iter().map(|request| ask(slurm, request));
    Ok(ClusterSurvey {
        most_at_once: most_at_once(&shown),
        sizes: sizes.collect::<Result<_, _>>()?,
    })
}

fn ask(slurm: &Slurm, request: &UnitRequest) -> Result<SizeSurvey, ClusterError> {
    let options = options(&slurm.settings.words, request);
    let words = options.iter().map(OsString::from);
    let words = words.chain(ONE_PROGRAM.map(OsString::from));
    let words: Vec<OsString> = words.chain([OsString::from("--test-only")]).collect();
    let answer = match heard(&slurm.program("sbatch"), &words, "#!/bin/sh\n") {
        Ok(said) => Ok(plain(&said)),
        Err(ClusterError::Refused { said, .. }) => Err(plain(&said)),
        Err(error) => return Err(error),
    };
    Ok(SizeSurvey {
        size: request.size.name.clone(),
        options,
        answer,
    })
}

/// What `sbatch` says, in one line and without its name before each.
fn plain(said: &str) -> String {
    let lines = said.lines().map(|line| {
        let line = line.trim();
        let line = line.strip_prefix("sbatch: ").unwrap_or(line);
        line.strip_prefix("error: ").unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("; ")
}

/// Slurm counts the elements of an array below a limit of its own.
fn most_at_once(config: &str) -> usize {
    let limit = config.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "MaxArraySize").then(|| value.trim().parse::<usize>().ok())?
    });
    let most = limit.map_or(MOST_AT_ONCE, |limit| limit.saturating_sub(1));
    most.clamp(1, MOST_AT_ONCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::UnitSize;

    #[test]
    fn what_is_said_of_a_size_is_stronger_than_what_is_said_of_all() {
        let all = ["--partition=agents".to_owned()];
        let mut request = UnitRequest {
            size: UnitSize::default(),
            time: Duration::from_secs(61),
        };
        assert_eq!(options(&all, &request), ["--partition=agents", "--time=7"]);
        request.size = UnitSize {
            name: "large".to_owned(),
            cpus: Some(16),
            memory: Some((4 << 30) + 1),
            gpus: Some(2),
            time: None,
            slurm: vec!["--partition=gpu".to_owned()],
        };
        let expected = [
            "--partition=agents",
            "--cpus-per-task=16",
            "--mem=4097M",
            "--gres=gpu:2",
            "--partition=gpu",
            "--time=7",
        ];
        assert_eq!(options(&all, &request), expected);
    }

    #[test]
    fn an_array_is_no_larger_than_slurm_allows() {
        let config =
            |limit: &str| format!("ClusterName = x\nMaxArraySize            = {limit}\nA = b\n");
        assert_eq!(most_at_once(&config("1001")), 1_000);
        assert_eq!(most_at_once(&config("11")), 10);
        assert_eq!(most_at_once(&config("100001")), 1_000);
        assert_eq!(most_at_once(&config("0")), 1);
        assert_eq!(most_at_once("something else"), 1_000);
    }

    #[test]
    fn what_slurm_says_is_one_line() {
        let said = "sbatch: error: invalid partition specified: x\nallocation failure: Invalid partition\n";
        let plain = plain(said);
        assert_eq!(
            plain,
            "invalid partition specified: x; allocation failure: Invalid partition"
        );
    }
}
