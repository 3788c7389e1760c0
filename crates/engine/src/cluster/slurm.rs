//! Slurm, by its programs `sbatch`, `squeue` and `scancel`.
//!
//! Knows their words and nothing of tasks. Jobs are named after our installation and the submission, and are found by
//! that name alone: their numbers mean nothing to us once they are over.

mod options;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::command::run;
use super::{
    Cluster, ClusterError, ClusterSurvey, EndHow, NodeCall, SeenUnit, SlurmSettings, Submission,
    UnitName, UnitOver, UnitRequest, UnitState,
};
use options::ONE_PROGRAM;

/// How many seconds before its time is over a job hears of it.
const WARNING: u32 = 120;

/// How many seconds may be left of that time when a job hears of it: Slurm is early by up to a minute.
const TIME_IS_UP: u32 = WARNING + 60;

/// What `squeue` prints of each element of an array: the array's job, its number there, its name, its state, its node,
/// what is left of its time, the reason.
const FORMAT: &str = "%F|%K|%j|%T|%N|%L|%r";

/// What Slurm writes to the output of a job that it kills for its memory by itself, and calls failed.
const TOO_MUCH: &str = "exceeded memory limit";

/// That is at the beginning of an output where usually nothing is.
const MOST_OUTPUT: u64 = 1 << 16;

#[derive(Debug)]
pub struct Slurm {
    settings: SlurmSettings,
    /// What tells the jobs of this installation from those of others.
    home: String,
    /// Which elements of arrays units were when they were seen last; one that was submitted twice is several.
    elements: Mutex<HashMap<UnitName, Vec<String>>>,
}

impl Slurm {
    pub fn new(settings: SlurmSettings, home: String) -> Self {
        Self {
            settings,
            home,
            elements: Mutex::default(),
        }
    }

    fn program(&self, name: &str) -> PathBuf {
        let bin = self.settings.bin.as_ref();
        bin.map_or_else(|| name.into(), |bin| bin.0.join(name))
    }

    fn elements(&self) -> MutexGuard<'_, HashMap<UnitName, Vec<String>>> {
        self.elements.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn job_name(&self, submission: &str) -> String {
        format!("pleach-{}-{submission}", self.home)
    }
}

impl Cluster for Slurm {
    fn name(&self) -> &'static str {
        "slurm"
    }

    fn survey(&self, requests: &[UnitRequest]) -> Result<ClusterSurvey, ClusterError> {
        options::survey(self, requests)
    }

    fn submit(&self, submission: &Submission) -> Result<(), ClusterError> {
        let mut output = OsString::from("--output=");
        output.push(submission.folder.join("job.%a.out"));
        // What Pleach says itself comes last and so is the strongest.
        let options = options::options(&self.settings.words, &submission.request);
        let mut words: Vec<OsString> = options.into_iter().map(OsString::from).collect();
        words.extend(ONE_PROGRAM.map(OsString::from));
        words.extend(
            [
                "--parsable",
                // All of an environment that holds nothing but what `sbatch` needs: any other word has Slurm load the login
                // environment of the node.
                "--export=ALL",
                "--no-requeue",
                "--chdir=/",
                "--open-mode=append",
            ]
            .map(OsString::from),
        );
        words.push(format!("--job-name={}", self.job_name(&submission.name)).into());
        words.push(format!("--array=1-{}", submission.units).into());
        words.push(format!("--signal=B:TERM@{WARNING}").into());
        if !submission.avoid.is_empty() {
            words.push(format!("--exclude={}", submission.avoid.join(",")).into());
        }
        words.push(output);
        let script = script(submission)?;
        run(&self.program("sbatch"), &words, &script).map(drop)
    }

    fn look(&self) -> Result<Vec<SeenUnit>, ClusterError> {
        let user = rustix::process::getuid().as_raw().to_string();
        let words = ["-h", "-r", "-t", "all", "-u", &user, "-o", FORMAT];
        let printed = run(&self.program("squeue"), &words.map(OsString::from), "")?;
        let ours = self.job_name("");
        let mut elements: HashMap<UnitName, Vec<String>> = HashMap::new();
        let mut seen = Vec::new();
        for line in printed.lines() {
            if let Some((element, unit)) = seen_in(line, &ours) {
                elements.entry(unit.name.clone()).or_default().push(element);
                seen.push(unit);
            }
        }
        *self.elements() = elements;
        Ok(seen)
    }

    fn say(&self, job: Option<&str>, call: &NodeCall<'_>) -> Result<(), ClusterError> {
        let job = job.and_then(|job| job.parse::<u32>().ok());
        let job = job.ok_or(ClusterError::NoJob)?;
        // A step of the job that is there, beside what it runs; it gets nothing of our environment.
        let mut words: Vec<OsString> = vec![format!("--jobid={job}").into()];
        let fixed = [
            "--overlap",
            "--mem=0",
            "-n1",
            "-c1",
            "--input=0",
            "--export=NONE",
        ];
        words.extend(fixed.map(OsString::from));
        words.extend([call.program.into(), "node-run".into()]);
        words.extend(call.words.iter().map(OsString::from));
        run(&self.program("srun"), &words, call.input).map(drop)
    }

    fn end(&self, units: &[UnitName], how: EndHow) -> Result<(), ClusterError> {
        let elements = self.elements();
        let known = units.iter().filter_map(|unit| elements.get(unit));
        let mut known: Vec<OsString> = known.flatten().map(OsString::from).collect();
        drop(elements);
        if known.is_empty() {
            return Ok(());
        }
        let mut words = match how {
            EndHow::IfItWaits => vec![OsString::from("--state=PENDING")],
            EndHow::ForGood => Vec::new(),
        };
        words.append(&mut known);
        run(&self.program("scancel"), &words, "").map(drop)
    }
}

/// Whether Slurm says that a unit of the submission in this folder was killed for its memory; its queue does not where no
/// cgroup holds jobs.
pub fn was_killed_for_memory(folder: &Path, unit: u32) -> bool {
    let mut output = Vec::new();
    let file = File::open(folder.join(format!("job.{unit}.out")));
    let read = file.and_then(|file| file.take(MOST_OUTPUT).read_to_end(&mut output));
    read.is_ok() && String::from_utf8_lossy(&output).contains(TOO_MUCH)
}

/// What a node runs; it stands in no command line.
fn script(submission: &Submission) -> Result<String, ClusterError> {
    let words = [&submission.program, &submission.folder];
    let [program, folder] = words.map(|path| path.to_str().map(quoted));
    match (program, folder) {
        (Some(program), Some(folder)) => {
            Ok(format!("#!/bin/sh\nexec {program} node-run {folder}\n"))
        }
        _ => Err(ClusterError::BadPath),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A unit of ours, with the element that it is in the queue, as a line of `squeue` says it.
fn seen_in(line: &str, ours: &str) -> Option<(String, SeenUnit)> {
    let mut fields = line.splitn(7, '|');
    let (array, element, name) = (fields.next()?, fields.next()?, fields.next()?);
    let (state, node) = (fields.next()?, fields.next()?);
    let is_at_its_end = seconds(fields.next()?).is_some_and(|left| left <= TIME_IS_UP);
    let reason = fields.next()?;
    let submission = name.strip_prefix(ours)?.to_owned();
    let unit = element.parse().ok()?;
    let element = format!("{array}_{element}");
    let seen = SeenUnit {
        name: UnitName { submission, unit },
        job: Some(element.clone()),
        state: match state_of(state, reason) {
            // It obeyed before its time was over.
            UnitState::Over(UnitOver::Ended) if is_at_its_end => {
                UnitState::Over(UnitOver::TimedOut)
            }
            state => state,
        },
        node: Some(node.to_owned()).filter(|node| !node.is_empty()),
    };
    Some((element, seen))
}

/// A time as Slurm writes it, such as `1-02:03:04` or `3:04`; none if it has no end.
fn seconds(time: &str) -> Option<u32> {
    let (days, time) = time.split_once('-').unwrap_or(("0", time));
    let days: u32 = days.parse().ok()?;
    let mut seconds: u32 = 0;
    for field in time.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(field.parse().ok()?)?;
    }
    days.checked_mul(24 * 60 * 60)?.checked_add(seconds)
}

fn state_of(state: &str, reason: &str) -> UnitState {
    match state {
        "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" => {
            let says = !matches!(reason, "" | "None");
            UnitState::Waiting(says.then(|| reason.to_owned()))
        }
        "RUNNING" | "COMPLETING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT"
        | "RESIZING" => UnitState::Running,
        over => UnitState::Over(over_by(over)),
    }
}

fn over_by(state: &str) -> UnitOver {
    let lost = |why: &str| UnitOver::Lost(why.to_owned());
    match state {
        "CANCELLED" => UnitOver::Cancelled,
        "TIMEOUT" | "DEADLINE" => UnitOver::TimedOut,
        "OUT_OF_MEMORY" => UnitOver::OutOfMemory,
        "COMPLETED" => UnitOver::Ended,
        "FAILED" => UnitOver::Failed("its job failed without a result".to_owned()),
        "NODE_FAIL" | "BOOT_FAIL" => lost("its node failed"),
        "PREEMPTED" => lost("its job was preempted"),
        other => {
            let state = other.to_lowercase().replace('_', " ");
            UnitOver::Lost(format!("Slurm says that its job is {state}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use pleach_system::files::stored_path::StoredPath;

    use super::*;

    fn seen(line: &str) -> Option<(String, UnitName, UnitState)> {
        let (element, unit) = seen_in(line, "pleach-abc-")?;
        Some((element, unit.name, unit.state))
    }

    #[test]
    fn a_line_of_the_queue_tells_a_unit_and_how_it_is() {
        let unit = |unit| UnitName {
            submission: "7-0a1b2c3d".to_owned(),
            unit,
        };
        let waits = |why: Option<&str>| UnitState::Waiting(why.map(str::to_owned));
        for (line, number, state) in [
            (
                "12|3|pleach-abc-7-0a1b2c3d|PENDING||10:00|Resources",
                3,
                waits(Some("Resources")),
            ),
            (
                "12|3|pleach-abc-7-0a1b2c3d|PENDING||10:00|None",
                3,
                waits(None),
            ),
            (
                "12|1|pleach-abc-7-0a1b2c3d|RUNNING|n1|2:00|None",
                1,
                UnitState::Running,
            ),
            (
                "12|1|pleach-abc-7-0a1b2c3d|COMPLETING|n1|UNLIMITED|None",
                1,
                UnitState::Running,
            ),
        ] {
            let expected = (format!("12_{number}"), unit(number), state);
            assert_eq!(seen(line), Some(expected), "{line}");
        }
        for state in [
            "NODE_FAIL",
            "CANCELLED",
            "COMPLETED",
            "OUT_OF_MEMORY",
            "LAUNCH_FAILED",
        ] {
            let line = format!("12|1|pleach-abc-7-0a1b2c3d|{state}|n1|1-00:00:00|None");
            let (_, _, seen) = seen(&line).unwrap();
            assert!(matches!(seen, UnitState::Over(_)), "{line}");
        }
    }

    #[test]
    fn a_job_that_ends_when_its_time_is_up_took_too_long() {
        let over = |state: &str, left: &str| {
            let line = format!("12|1|pleach-abc-7-0a1b2c3d|{state}|n1|{left}|None");
            seen(&line).unwrap().2
        };
        let took_too_long = UnitState::Over(UnitOver::TimedOut);
        for left in ["0:00", "1:46", "3:00"] {
            assert_eq!(over("COMPLETED", left), took_too_long, "{left}");
        }
        for left in ["3:01", "1:00:00", "1-00:00:01", "UNLIMITED", "NOT_SET"] {
            let ended = UnitState::Over(UnitOver::Ended);
            assert_eq!(over("COMPLETED", left), ended, "{left}");
        }
        // Slurm knows of these why they ended.
        for state in ["PREEMPTED", "CANCELLED", "OUT_OF_MEMORY"] {
            assert_ne!(over(state, "1:46"), took_too_long, "{state}");
        }
    }

    #[test]
    fn what_slurm_kills_for_its_memory_is_told_from_what_fails() {
        let folder = tempfile::tempdir().unwrap();
        let killed = |output: &str| {
            std::fs::write(folder.path().join("job.2.out"), output).unwrap();
            was_killed_for_memory(folder.path(), 2)
        };
        // As Slurm 22.05 writes it.
        assert!(killed(
            "slurmstepd-n1: error: StepId=1.batch exceeded memory limit (329990144 > 52428800), being killed
slurmstepd-n1: error: Exceeded job memory limit
slurmstepd-n1: error: *** JOB 1 ON n1 CANCELLED AT 2026-11-19T21:48:55 ***
"
        ));
        assert!(!killed(
            "slurmstepd-n1: error: *** JOB 1 ON n1 CANCELLED ***\n"
        ));
        assert!(!was_killed_for_memory(folder.path(), 1));
    }

    #[test]
    fn secrets_go_to_the_job_that_a_unit_says_it_is_and_the_queue_is_not_asked() {
        let bin = tempfile::tempdir().unwrap();
        let notes = bin.path().join("notes");
        for program in ["srun", "squeue"] {
            let place = bin.path().join(program);
            let script = format!("#!/bin/sh\necho {program} $1 >> '{}'\n", notes.display());
            fs::write(&place, script).unwrap();
            fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let settings = SlurmSettings {
            bin: Some(StoredPath(bin.path().to_owned())),
            ..SlurmSettings::default()
        };
        let slurm = Slurm::new(settings, "abc".to_owned());
        let call = NodeCall {
            program: Path::new("/share/bin/pleach"),
            words: &[],
            input: "",
        };
        slurm.say(Some("985"), &call).unwrap();
        for job in [None, Some(""), Some("985 --uid=0")] {
            let refused = slurm.say(job, &call);
            assert!(matches!(refused, Err(ClusterError::NoJob)), "{refused:?}");
        }
        assert_eq!(fs::read_to_string(notes).unwrap(), "srun --jobid=985\n");
    }

    #[test]
    fn jobs_of_others_and_lines_of_something_else_are_passed_over() {
        for line in [
            "",
            "12|3|pleach-other-7-0a1b2c3d|PENDING||10:00|Resources",
            "12|N/A|pleach-abc-7-0a1b2c3d|PENDING||10:00|Resources",
            "12|3|pleach-abc-7-0a1b2c3d",
            "slurm_load_jobs error: Unable to contact slurm controller",
        ] {
            assert_eq!(seen(line), None, "{line}");
        }
    }

    #[test]
    fn a_path_is_one_word_of_the_script_whatever_it_holds() {
        assert_eq!(quoted("/a b/$(x)"), "'/a b/$(x)'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
