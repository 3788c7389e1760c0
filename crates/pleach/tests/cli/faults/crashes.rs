//! `pleach run` on a plan of 20 tasks, killed at random moments until it has come to its end.

use std::process::Child;
use std::time::Duration;

use pleach_testkit::{KillOutcome, Moments, children_of, gate_or_night, seed, strike};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::ordeal::{Deed, Ordeal, Task, Variant};
use super::survived::check_survived;

const TASKS: [Task; 20] = [
    Task::new("1.1", Deed::Write, 50),
    Task::new("1.2", Deed::Commit, 100),
    Task::new("1.3", Deed::Append, 50),
    Task::new("1.4", Deed::Fight, 80),
    Task::new("1.5", Deed::Leak, 50),
    Task::new("1.6", Deed::FailOnce, 50),
    Task::new("1.7", Deed::Nothing, 50),
    Task::new("1.8", Deed::Append, 100),
    Task::new("2.1", Deed::Write, 50).needs(&["1.1", "1.2"]),
    Task::new("2.2", Deed::Commit, 300).needs(&["1.3"]),
    Task::new("2.3", Deed::Append, 50).needs(&["1.6"]),
    Task::new("2.4", Deed::Leak, 100).needs(&["1.7"]),
    Task::new("31", Deed::FailOnce, 50).section(),
    Task::new("32", Deed::Fight, 50).section(),
    Task::new("33", Deed::FailAlways, 50).section(),
    Task::new("34", Deed::Write, 50).section().needs(&["33"]),
    Task::new("35", Deed::Nothing, 100).section().needs(&["31"]),
    Task::new("36", Deed::Append, 50).section().needs(&["2.1"]),
    Task::new("37", Deed::Write, 200)
        .section()
        .needs(&["2.2", "36"]),
    Task::new("38", Deed::Commit, 50).section(),
];

/// After so many deaths a run is left alone, so that there are several whole ones.
const DEATHS: usize = 16;

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// The program alone: its gits go on for a while.
    Program,
    /// Everything of its process group.
    Group,
    /// The program with its gits and the wrappers of its agents, which are left to themselves.
    Family,
}

/// How many deaths are wanted of each of the tests.
fn wanted() -> usize {
    let wanted = std::env::var("PLEACH_CRASHES").ok();
    let usual = gate_or_night(20, 100);
    let all: usize = wanted.map_or(usual, |wanted| wanted.parse().unwrap());
    all.div_ceil(2)
}

fn kill(child: &mut Child, victim: Victim) {
    match victim {
        Victim::Program => child.kill().unwrap(),
        Victim::Group => kill_process_group(Pid::from_child(child), Signal::KILL).unwrap(),
        Victim::Family => {
            // One that is stopped collects nobody, so that no number is given to another process.
            kill_process(Pid::from_child(child), Signal::STOP).unwrap();
            for pid in children_of(child.id())
                .into_iter()
                .filter_map(Pid::from_raw)
            {
                let _ = kill_process(pid, Signal::KILL);
            }
            child.kill().unwrap();
        }
    }
}

/// Runs the plan to its end and kills it on the way, so often at most; tells how often.
fn live_through(variant: Variant, victims: &[Victim], most: usize, moments: &mut Moments) -> usize {
    let ordeal = Ordeal::new(&TASKS, variant);
    let mut deaths = 0;
    while deaths < most {
        // Most of what can go wrong happens soon after a start.
        let longest = if moments.percent(50) { 600 } else { 2500 };
        let time = moments.within(Duration::from_millis(longest));
        let mut run = ordeal.run();
        std::os::unix::process::CommandExt::process_group(&mut run, 0);
        let victim = victims[deaths % victims.len()];
        let struck = strike(&mut run, &ordeal.said(), time, |child| kill(child, victim));
        if let KillOutcome::Ended(status) = struck.unwrap() {
            assert_eq!(status.code(), Some(1), "{}", ordeal.story());
            break;
        }
        deaths += 1;
        if ordeal.is_over() {
            break;
        }
    }
    if !ordeal.is_over() {
        ordeal.end();
    }
    check_survived(&ordeal);
    deaths
}

#[expect(
    clippy::print_stdout,
    reason = "whoever starts thousands wants to know how far they are"
)]
fn live_through_many(variant: Variant, victims: &[Victim]) {
    let mut moments = Moments::from_seed(seed());
    let (mut deaths, mut batches) = (0, 0);
    while deaths < wanted() {
        let most = DEATHS.min(wanted() - deaths);
        deaths += live_through(variant, victims, most, &mut moments);
        batches += 1;
        println!("{deaths} deaths in {batches} batches");
    }
}

#[test]
fn a_run_may_be_killed_at_any_moment() {
    let variant = Variant {
        keep_failed: "false",
        on_conflict: "skip",
        merge: "merge",
    };
    live_through_many(variant, &[Victim::Program]);
}

#[test]
fn a_run_may_be_killed_with_its_gits_and_wrappers_at_any_moment() {
    let variant = Variant {
        keep_failed: "true",
        on_conflict: "rerun",
        merge: "merge",
    };
    live_through_many(variant, &[Victim::Group, Victim::Family]);
}
