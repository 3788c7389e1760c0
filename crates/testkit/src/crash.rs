//! Kills a program at random moments, and finds what it left behind.
//!
//! Knows nothing of what the program does, nor of how it is told to go on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::tangle::SeededRng;

/// How often a program is looked at that may end by itself.
const LOOK: Duration = Duration::from_millis(2);

/// Random moments, the same for the same seed.
pub struct Moments(SeededRng);

impl Moments {
    pub fn from_seed(seed: u64) -> Self {
        Self(SeededRng::from_seed(seed))
    }

    pub fn within(&mut self, longest: Duration) -> Duration {
        let micros = usize::try_from(longest.as_micros()).unwrap_or(usize::MAX);
        Duration::from_micros(self.0.below(micros) as u64)
    }

    /// Happens so many times in a hundred.
    pub fn percent(&mut self, share: usize) -> bool {
        self.0.percent(share)
    }
}

/// How a program that was to be killed came to its end.
#[derive(Debug)]
pub enum KillOutcome {
    Killed,
    Ended(ExitStatus),
}

/// Starts a program, gives it some time, and kills it; what it says is added to a file.
pub fn strike(
    command: &mut Command,
    said: &Path,
    time: Duration,
    kill: impl FnOnce(&mut Child),
) -> io::Result<KillOutcome> {
    let until = Instant::now() + time;
    let mut child = start(command, said)?;
    if let Some(status) = wait_until(&mut child, until)? {
        return Ok(KillOutcome::Ended(status));
    }
    kill(&mut child);
    let status = child.wait()?;
    // It may have been quicker.
    Ok(match status.code() {
        None => KillOutcome::Killed,
        Some(_) => KillOutcome::Ended(status),
    })
}

/// Runs a program to its end; panics with what it said if that takes too long.
pub fn run_to_end(command: &mut Command, said: &Path, most: Duration) -> io::Result<ExitStatus> {
    let mut child = start(command, said)?;
    if let Some(status) = wait_until(&mut child, Instant::now() + most)? {
        return Ok(status);
    }
    child.kill()?;
    child.wait()?;
    panic!("it does not end: {}", fs::read_to_string(said)?);
}

fn start(command: &mut Command, said: &Path) -> io::Result<Child> {
    let open = || fs::File::options().create(true).append(true).open(said);
    command
        .stdin(Stdio::null())
        .stdout(open()?)
        .stderr(open()?)
        .spawn()
}

fn wait_until(child: &mut Child, time: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        let status = child.try_wait()?;
        let left = time.saturating_duration_since(Instant::now());
        if status.is_some() || left.is_zero() {
            return Ok(status);
        }
        thread::sleep(left.min(LOOK));
    }
}

/// The processes that work below a folder or have its name in their environment, as number and command line.
pub fn processes_of(folder: &Path) -> Vec<String> {
    let mark = folder.as_os_str().as_encoded_bytes();
    let is_one = |place: &Path| {
        let environment = fs::read(place.join("environ")).unwrap_or_default();
        environment.windows(mark.len()).any(|part| part == mark)
            || fs::read_link(place.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter(|entry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit())
        .filter(|entry| is_one(&entry.path()))
        .map(|entry| {
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            format!("{} {words}", entry.file_name().display())
        })
        .collect()
}

/// The numbers of the processes that a process has started and not collected.
pub fn children_of(pid: u32) -> Vec<i32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name in brackets may hold spaces and brackets of its own.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
        (parent == pid.to_string()).then_some(number)
    })
    .collect()
}

/// Everything below a folder whose name fits, by its path within.
pub fn find_below(folder: &Path, fits: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
            let path = entry.path();
            if fits(&entry.file_name().to_string_lossy()) {
                let inside = path.strip_prefix(folder).unwrap_or(&path);
                found.push(inside.to_owned());
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

pub fn locks_below(folder: &Path) -> Vec<PathBuf> {
    let is_lock = |name: &str| Path::new(name).extension().is_some_and(|end| end == "lock");
    find_below(folder, is_lock)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_is_killed_when_its_time_is_over_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let said = folder.path().join("said");
        let time = Duration::from_millis(50);
        let began = Instant::now();
        let killed = strike(&mut shell("exec sleep 100"), &said, time, |child| {
            child.kill().unwrap();
        });
        assert!(matches!(killed.unwrap(), KillOutcome::Killed));
        assert!(began.elapsed() >= time);
        let ended = strike(
            &mut shell("echo over; exit 3"),
            &said,
            Duration::from_mins(1),
            |_| unreachable!("it ends by itself"),
        );
        assert!(matches!(ended.unwrap(), KillOutcome::Ended(status) if status.code() == Some(3)));
        assert_eq!(fs::read_to_string(said).unwrap(), "over\n");
    }

    #[test]
    fn a_process_is_found_by_its_folder_and_by_its_environment() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        assert_eq!(processes_of(&place), Vec::<String>::new());
        // A program that is just being exchanged for another has no environment to read:
        // it is looked at once it has spoken.
        let script = "echo up; read -r end";
        let (mut by_folder, mut by_environment) = (shell(script), shell(script));
        for command in [
            by_folder.current_dir(&place),
            by_environment.env("PLACE", &place),
        ] {
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut word = String::new();
            let output = child.stdout.as_mut().unwrap();
            BufReader::new(output).read_line(&mut word).unwrap();
            assert_eq!(word, "up\n");
            let found = processes_of(&place);
            assert!(children_of(std::process::id()).contains(&child.id().cast_signed()));
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(found.len(), 1, "{found:?}");
        }
    }

    #[test]
    fn files_are_found_by_name_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        fs::write(folder.path().join("a/b/c.lock"), "").unwrap();
        assert_eq!(locks_below(folder.path()), [PathBuf::from("a/b/c.lock")]);
    }
}
