//! What the wrapper of a program costs: to carry a flood of output, and to start and end.
//!
//! Beside it, `cat` from a pipe to a file, which does nothing else.

#![expect(clippy::print_stdout, reason = "printing is what a benchmark does")]

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pleach_system::process::{
    Cancel, Confinement, Ending, HiddenFiles, Isolation, ProcessRecord, ProcessSpec, Shim,
    SystemCalls, can_isolate,
};
use pleach_system::secrets::Secrets;
use tempfile::TempDir;

use crate::measure;

const ROUNDS: usize = 5;
const STARTS: u32 = 200;
const MEGABYTES: f64 = 500.0;
/// Milliseconds of a processor for each 100 MB.
const MOST_CPU: f64 = 100.0;
/// What a start may take that is held by all there is, to one that only Landlock holds.
const MOST_FOR_ALL: f64 = 1.5;

/// How a program says 500 MB.
struct Flood {
    name: &'static str,
    argv: &'static [&'static str],
}

const FLOODS: [Flood; 4] = [
    Flood {
        name: "as text in lines",
        argv: &[
            "sh",
            "-c",
            "yes 'test cli::secrets::a_line_of_a_log ... ok (12 ms), nothing else' | head -c 500000000",
        ],
    },
    Flood {
        name: "in large pieces",
        argv: &[
            "dd",
            "if=/dev/zero",
            "bs=250000",
            "count=2000",
            "status=none",
        ],
    },
    Flood {
        name: "in pieces of 8 KB",
        argv: &[
            "dd",
            "if=/dev/zero",
            "bs=8000",
            "count=62500",
            "status=none",
        ],
    },
    Flood {
        name: "in pieces of 1 KB",
        argv: &[
            "dd",
            "if=/dev/zero",
            "bs=1000",
            "count=500000",
            "status=none",
        ],
    },
];

/// What carrying once took.
struct RelayCost {
    wall: f64,
    cpu: f64,
}

/// Compares the wrapper with `cat`, and a wrapped start with a plain one.
pub(crate) fn run(program: &Path) -> bool {
    let kept = FLOODS.iter().map(|flood| carry(program, flood));
    let kept = kept.fold(true, |all, kept| all & kept);
    kept & start(program)
}

fn carry(program: &Path, flood: &Flood) -> bool {
    let (mut ours, mut cats) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(wrapped(program, flood));
        cats.push(piped(flood));
    }
    let least = |costs: &[RelayCost], of: fn(&RelayCost) -> f64| {
        measure::least(&costs.iter().map(of).collect::<Vec<_>>())
    };
    println!("500 MB of output {}", flood.name);
    for (name, costs) in [("cat to a file", &cats), ("wrapper", &ours)] {
        let speed = MEGABYTES / least(costs, |cost| cost.wall);
        let cpu = per_100_mb(least(costs, |cost| cost.cpu));
        println!("  {name:<20} {speed:8.0} MB/s {cpu:8.1} ms CPU per 100 MB");
    }
    let cpu = per_100_mb(least(&ours, |cost| cost.cpu));
    measure::verdict("  wrapper's ms CPU per 100 MB", cpu, MOST_CPU)
}

fn per_100_mb(seconds: f64) -> f64 {
    seconds * 1e3 / (MEGABYTES / 100.0)
}

fn wrapped(program: &Path, flood: &Flood) -> RelayCost {
    let place = place();
    let (before, begin) = (measure::seconds_of_children(), Instant::now());
    let record = through_the_wrapper(program, &spec(place.path(), flood.argv));
    let wall = begin.elapsed().as_secs_f64();
    let length = place.path().join("log").metadata();
    assert_eq!(length.expect("there is a log").len(), 500_000_000);
    // The system adds up what the wrapper took and what it collected itself.
    let program = Duration::from_millis(record.cpu_ms).as_secs_f64();
    let cpu = measure::seconds_of_children() - before - program;
    RelayCost { wall, cpu }
}

/// A program that nothing holds.
fn spec(place: &Path, argv: &[&str]) -> ProcessSpec {
    let path = std::env::var_os("PATH").unwrap_or_default();
    ProcessSpec {
        argv: argv.iter().map(OsString::from).collect(),
        cwd: place.to_owned(),
        env: vec![("PATH".into(), path)],
        stdin_file: None,
        log: place.join("log"),
        record: place.join("exit.json"),
        timeout: Duration::from_mins(10),
        stall: None,
        grace: Duration::ZERO,
        log_cap: u64::MAX,
        hide: secrets(),
        sandbox: None,
        isolation: Isolation::default(),
        polite: None,
    }
}

fn through_the_wrapper(program: &Path, spec: &ProcessSpec) -> ProcessRecord {
    let cancel = Cancel::default();
    let shim = Shim::launch(program).expect("the program is built");
    let record = shim.run(spec, &cancel).expect("the wrapper works");
    assert_eq!(record.ending, Ending::Exited(0));
    record
}

/// As many as a project with a few services has.
fn secrets() -> Secrets {
    let mut secrets = Secrets::default();
    for number in 0..10 {
        let value = format!("{number}f3b-Zq7-{number}x9Lm2{number}kP-{number}wT8");
        secrets.add(&format!("KEY_{number}"), &value);
    }
    secrets
}

fn piped(flood: &Flood) -> RelayCost {
    let place = place();
    let log = File::create(place.path().join("log")).expect("there is room");
    let (before, begin) = (measure::seconds_of_children(), Instant::now());
    let mut source = Command::new(flood.argv[0])
        .args(&flood.argv[1..])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the system has it");
    let pipe = source.stdout.take().expect("it is a pipe");
    let mut cat = Command::new("cat");
    let ended = cat.stdin(pipe).stdout(log).status();
    assert!(ended.expect("the system has it").success());
    let wall = begin.elapsed().as_secs_f64();
    // Before the other one is waited for, and counted.
    let cpu = measure::seconds_of_children() - before;
    source.wait().expect("it was started");
    RelayCost { wall, cpu }
}

fn start(program: &Path) -> bool {
    // Not in memory that is shared, which a program does not see that is kept apart.
    let place = tempfile::tempdir().expect("there is room");
    let bare = spec(place.path(), &["true"]);
    let by_landlock = ProcessSpec {
        sandbox: Some(confinement(place.path())),
        isolation: Isolation {
            calls: SystemCalls::All,
            ..Isolation::default()
        },
        ..bare.clone()
    };
    let hidden = can_isolate(program).then(|| HiddenFiles {
        folders: ["/dev/shm", "/dev/pts"].map(PathBuf::from).to_vec(),
        ..HiddenFiles::default()
    });
    let by_all = ProcessSpec {
        isolation: Isolation {
            hidden,
            ..Isolation::default()
        },
        ..by_landlock.clone()
    };
    let plain = starts(|| {
        Command::new("true").status().expect("the system has it");
    });
    let specs = [&bare, &by_landlock, &by_all];
    let mut costs = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (spec, costs) in specs.into_iter().zip(&mut costs) {
            costs.push(starts(|| drop(through_the_wrapper(program, spec))));
        }
    }
    println!("starting and ending `true`, {STARTS} times");
    measure::figure("  plain, ms CPU", plain);
    for (name, costs) in ["wrapped", "held by Landlock", "held by all there is"]
        .into_iter()
        .zip(&costs)
    {
        measure::figure(&format!("  {name}, ms CPU"), measure::least(costs));
    }
    let ratio = measure::middle_ratio(&costs[2], &costs[1]);
    measure::verdict("  times Landlock alone", ratio, MOST_FOR_ALL)
}

/// Milliseconds of a processor for each start.
fn starts(mut start: impl FnMut()) -> f64 {
    let seconds = measure::cpu_with_children(|| {
        for _ in 0..STARTS {
            start();
        }
    });
    seconds * 1e3 / f64::from(STARTS)
}

/// As many places as a task has where the home folder is divided.
fn confinement(place: &Path) -> Confinement {
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    let home = std::env::var_os("HOME").map(PathBuf::from);
    Confinement {
        write: vec![place.to_owned(), "/dev/null".into()],
        read: entries(Path::new("/"))
            .chain(home.iter().flat_map(|home| entries(home)))
            .collect(),
    }
}

/// In memory where the system has a place for that, so that no disk is measured.
fn place() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    made.expect("there is room")
}
