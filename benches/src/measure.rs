//! CPU time, the least of several runs, and verdicts.

use rustix::time::{ClockId, clock_gettime};

/// The CPU seconds that a call takes.
pub(crate) fn cpu<T>(call: impl FnOnce() -> T) -> f64 {
    let before = seconds();
    call();
    seconds() - before
}

/// The CPU seconds of this thread and of programs that have ended, once for each of several calls.
pub(crate) fn cpu_of_each<T>(calls: u32, mut call: impl FnMut() -> T) -> f64 {
    let before = clock(ClockId::ThreadCPUTime) + seconds_of_children();
    for _ in 0..calls {
        call();
    }
    (clock(ClockId::ThreadCPUTime) + seconds_of_children() - before) / f64::from(calls)
}

fn seconds() -> f64 {
    clock(ClockId::ProcessCPUTime)
}

fn clock(id: ClockId) -> f64 {
    let time = clock_gettime(id);
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of one process")]
    let (whole, part) = (time.tv_sec as f64, time.tv_nsec as f64);
    whole + part / 1e9
}

/// The CPU seconds that a call takes, those of processes it waits for among them.
///
/// Own time is exact to nanoseconds; that of children to 20 milliseconds in all, for the kernel
/// sums it exactly but tells user and system time in hundredths of a second.
pub(crate) fn cpu_with_children<T>(call: impl FnOnce() -> T) -> f64 {
    let before = seconds() + seconds_of_children();
    call();
    seconds() + seconds_of_children() - before
}

/// User and system time of all children that have been waited for.
pub(crate) fn seconds_of_children() -> f64 {
    ticks("self", 13)
}

/// User and system time of a living process.
pub(crate) fn seconds_of_process(process: &str) -> f64 {
    ticks(process, 11)
}

/// Two neighbouring times of a process, by the place of the first behind its name.
fn ticks(process: &str, place: usize) -> f64 {
    let path = format!("/proc/{process}/stat");
    let text = std::fs::read_to_string(path).expect("the process is alive");
    // The program's name may hold spaces and brackets, but nothing after it does.
    let (_, fields) = text.rsplit_once(") ").expect("the name is in brackets");
    let ticks = fields.split(' ').skip(place).take(2);
    let hundredths: u32 = ticks
        .map(|ticks| ticks.parse::<u32>().expect("the kernel counts ticks"))
        .sum();
    f64::from(hundredths) / 100.0
}

/// The least sample: whatever else the machine does only adds to it.
pub(crate) fn least(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The middle one of the ratios of rounds: both sides of a round met the same machine.
pub(crate) fn middle_ratio(ours: &[f64], reference: &[f64]) -> f64 {
    let rounds = ours.iter().zip(reference);
    let mut ratios: Vec<f64> = rounds.map(|(ours, reference)| ours / reference).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

/// Prints a figure with its limit and tells whether it is kept.
#[expect(clippy::print_stdout, reason = "printing is what a benchmark does")]
pub(crate) fn verdict(what: &str, figure: f64, most: f64) -> bool {
    let kept = figure <= most;
    let word = if kept { "ok" } else { "TOO MUCH" };
    println!("{what:<32} {figure:8.2}   at most {most}: {word}");
    kept
}

/// Prints a figure that has no limit.
#[expect(clippy::print_stdout, reason = "printing is what a benchmark does")]
pub(crate) fn figure(what: &str, figure: f64) {
    println!("{what:<32} {figure:8.2}");
}

/// The most memory this process ever held, in bytes.
pub(crate) fn peak_memory() -> u64 {
    peak_memory_of("self")
}

/// The most memory a living process ever held, in bytes.
pub(crate) fn peak_memory_of(process: &str) -> u64 {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(path).expect("the process is alive");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.expect("the kernel counts memory") * 1024
}
