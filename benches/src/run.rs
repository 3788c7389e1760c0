//! What running many tasks costs: processors, processes, what is forced to disk, and memory.
//!
//! Beside it, a loop of shells that serialises git's metadata, as somebody would write it by hand.

#![expect(clippy::print_stdout, reason = "printing is what a benchmark does")]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::measure;

const FILES: usize = 1_000;
const TASKS: usize = 300;
const TRACED: usize = 60;
const QUEUED: usize = 1_000;
const ROUNDS: usize = 3;
const MOST_CPU: f64 = 0.6;
const MOST_SYNCS: f64 = 12.0;
const MOST_STARTS: f64 = 3.0;
const MOST_MEGABYTES: f64 = 60.0;
const PATIENCE: Duration = Duration::from_mins(2);

/// The reference: one task of the loop.
const BY_HAND: &str = r#"
set -e
tree="$1/trees/$2"
flock "$1/lock" git -C "$1/bare" worktree add --quiet --no-checkout --no-track -b "t$2" "$tree" main
git -C "$tree" reset --quiet --hard
cd "$tree"
true
git status --porcelain > /dev/null
cd /
flock "$1/lock" git -C "$1/bare" worktree remove --force "$tree"
"#;

/// Compares whole runs with the loop, and counts what each task takes besides.
pub(crate) fn run(program: &Path) -> bool {
    let cpu = against_the_loop(program);
    let counts = count(program);
    let memory = memory(program);
    cpu && counts && memory
}

fn against_the_loop(program: &Path) -> bool {
    let (mut ours, mut by_hand) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let place = RunSetup::new(TASKS, "true");
        ours.push(measure::cpu_with_children(|| {
            let mut run = place.pleach(program, &["run", "-j", "8", "--yes"]);
            let status = run.stdout(Stdio::null()).stderr(Stdio::null()).status();
            assert!(status.expect("pleach runs").success());
        }));
        by_hand.push(measure::cpu_with_children(|| place.run_by_hand()));
    }
    println!("{TASKS} tasks that do nothing, 8 at once, {FILES} files");
    println!(
        "  by hand, under xargs           {:8.2} s CPU",
        measure::least(&by_hand)
    );
    println!(
        "  pleach run                     {:8.2} s CPU",
        measure::least(&ours)
    );
    let ratio = measure::middle_ratio(&ours, &by_hand);
    measure::verdict("  times the loop", ratio, MOST_CPU)
}

fn count(program: &Path) -> bool {
    let place = RunSetup::new(TRACED, "true");
    let trace = place.folder.path().join("trace");
    let mut strace = Command::new("strace");
    strace
        .args([
            "-f",
            "-qq",
            "-s",
            "200",
            "-e",
            "trace=fsync,fdatasync,sync_file_range,execve",
            "-o",
        ])
        .arg(&trace)
        .arg(program)
        .args(["run", "-j", "8", "--yes"]);
    place.prepare(&mut strace);
    let status = strace.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let Ok(status) = status else {
        println!("strace is not installed: apt-get install strace");
        return false;
    };
    assert!(status.success(), "a traced run succeeds");
    let text = fs::read_to_string(&trace).expect("strace wrote its lines");
    let counts = CallCounts::parse(&text);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let each = |count: usize| count as f64 / TRACED as f64;
    println!("{TRACED} tasks that do nothing, for each");
    measure::figure("  starts of git", each(counts.gits));
    measure::figure("  syncs of git", each(counts.syncs_of_git));
    let syncs = measure::verdict("  syncs besides git", each(counts.syncs), MOST_SYNCS);
    let starts = measure::verdict("  processes besides git", each(counts.starts), MOST_STARTS);
    syncs && starts
}

#[derive(Debug, Default)]
struct CallCounts {
    gits: usize,
    starts: usize,
    syncs: usize,
    syncs_of_git: usize,
}

impl CallCounts {
    /// Reads the lines of `strace -f`: a process number, then the call, which others may have interrupted.
    fn parse(text: &str) -> Self {
        let mut counts = Self::default();
        let mut gits = HashSet::new();
        let mut begun: HashMap<&str, &str> = HashMap::new();
        for line in text.lines() {
            let Some((process, call)) = line.split_once(' ') else {
                continue;
            };
            let call = call.trim_start();
            if let Some(words) = call.strip_prefix("execve(") {
                begun.insert(process, words.split('"').nth(1).unwrap_or_default());
            }
            let ends = call.starts_with("execve(") || call.starts_with("<... execve resumed>");
            if ends && call.trim_end().ends_with("= 0") {
                let program = begun.remove(process).unwrap_or_default();
                let name = program.rsplit('/').next().unwrap_or_default();
                if name.starts_with("git") {
                    gits.insert(process);
                    counts.gits += 1;
                } else {
                    gits.remove(process);
                    counts.starts += 1;
                }
            } else if call.starts_with("fsync(") || call.starts_with("fdatasync(") {
                if gits.contains(process) {
                    counts.syncs_of_git += 1;
                } else {
                    counts.syncs += 1;
                }
            }
        }
        counts
    }
}

/// The memory of a run whose first task holds up all others.
fn memory(program: &Path) -> bool {
    let place = RunSetup::new(QUEUED, "sleep 1000");
    let mut run = place.pleach(program, &["run", "--mode", "serial", "--yes", "--json"]);
    let child = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("pleach runs");
    let started = wait_for_line(&mut child, "batch:task:started");
    let bytes = measure::peak_memory_of(&child.id().to_string());
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let megabytes = bytes as f64 / f64::from(1 << 20);
    let stopped = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(stopped, rustix::process::Signal::TERM).expect("it is ours");
    child.wait().expect("it ends");
    assert!(started, "a task starts");
    println!("{QUEUED} tasks in a queue");
    measure::verdict("  megabytes", megabytes, MOST_MEGABYTES)
}

fn wait_for_line(child: &mut std::process::Child, wanted: &str) -> bool {
    use std::io::BufRead as _;
    let output = child.stdout.take().expect("it is piped");
    let (say, hear) = std::sync::mpsc::channel();
    let wanted = wanted.to_owned();
    std::thread::spawn(move || {
        for line in std::io::BufReader::new(output)
            .lines()
            .map_while(Result::ok)
        {
            if line.contains(&wanted) {
                // Whoever waited has given up, or goes on; either way the rest is read and dropped.
                let _ = say.send(Instant::now());
            }
        }
    });
    hear.recv_timeout(PATIENCE).is_ok()
}

/// A repository with a plan, and everything that belongs to it, in memory where there is a place for that.
struct RunSetup {
    folder: TempDir,
    tasks: usize,
}

impl RunSetup {
    fn new(tasks: usize, agent: &str) -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let place = Self {
            folder: folder.expect("there is a place for temporary files"),
            tasks,
        };
        let repository = place.repository();
        for number in 0..FILES {
            let folder = repository.join(format!("part-{}/piece-{}", number / 50, number / 10 % 5));
            fs::create_dir_all(&folder).expect("the folder is ours");
            let text = format!("line of file {number}\n").repeat(20 + number * 37 % 400);
            fs::write(folder.join(format!("file-{number}.txt")), text).expect("there is room");
        }
        let lines = (1..=tasks).map(|number| format!("- [ ] Piece of work {number}\n"));
        fs::write(repository.join("TODO.md"), lines.collect::<String>()).expect("there is room");
        let words: Vec<String> = agent.split(' ').map(|word| format!("{word:?}")).collect();
        let config = format!(
            "agent = \"mine\"\nparallel_limit = 64\nno_changes = \"done\"\n[agents.mine]\ncommand = [{}]\n",
            words.join(", ")
        );
        fs::write(repository.join("pleach.toml"), config).expect("there is room");
        for words in [
            &["init", "--quiet", "--initial-branch=main", "."][..],
            &["add", "--all"],
            &["commit", "--quiet", "--message", "begin"],
        ] {
            place.git(&repository, words);
        }
        place.git(
            place.folder.path(),
            &["clone", "--quiet", "--bare", "repository", "bare"],
        );
        place
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn git(&self, folder: &Path, words: &[&str]) {
        fs::create_dir_all(folder).expect("the folder is ours");
        let mut git = Command::new("git");
        git.args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(words)
            .current_dir(folder);
        self.isolate(&mut git);
        assert!(git.status().expect("git runs").success());
    }

    fn isolate(&self, command: &mut Command) {
        command
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("PLEACH_HOME", self.folder.path().join("state"));
    }

    fn prepare(&self, command: &mut Command) {
        self.isolate(command);
        command.current_dir(self.repository()).stdin(Stdio::null());
    }

    fn pleach(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words);
        self.prepare(&mut command);
        command
    }

    fn run_by_hand(&self) {
        let script = self.folder.path().join("by-hand.sh");
        fs::write(&script, BY_HAND).expect("there is room");
        let line = format!(
            "seq {} | xargs -P 8 -n 1 sh {} {}",
            self.tasks,
            script.display(),
            self.folder.path().display()
        );
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(line).stderr(Stdio::null());
        self.isolate(&mut shell);
        assert!(shell.status().expect("sh runs").success(), "no failures");
    }
}
