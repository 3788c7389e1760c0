//! An owner that is killed again and again, and one that dies at each step, on its machine and on the nodes.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use pleach_system::crash_point::{CrashPoint, DIE_AT};
use pleach_system::pace::PACE;
use pleach_testkit::{KillOutcome, Moments, SlurmCluster, gate_or_night, seed, strike};
use rusqlite::Connection;
use rustix::process::Signal;

use super::{Behind, ON_CLUSTER, check_tidy, kill_runner, submissions, work};
use crate::scene::{Running, Scene};

/// The steps that only a batch on a cluster comes by, on the machine of its owner.
const OF_OWNER: [CrashPoint; 8] = [
    CrashPoint::SendingNoted,
    CrashPoint::OrdersWritten,
    CrashPoint::SubmissionSent,
    CrashPoint::SecretsSaid,
    CrashPoint::PlaceStored,
    CrashPoint::WorkFetched,
    CrashPoint::UnitGivenUp,
    CrashPoint::PlaceCleared,
];

/// The same on a node.
const OF_NODE: [CrashPoint; 5] = [
    CrashPoint::ClaimMade,
    CrashPoint::SecretsHeard,
    CrashPoint::NodeRunBegan,
    CrashPoint::WorkBundled,
    CrashPoint::ResultWritten,
];

/// Where a machine dies that has said that it lives: nobody gets its task before its lease is over.
const IN_A_LEASE: [CrashPoint; 4] = [
    CrashPoint::SecretsHeard,
    CrashPoint::NodeRunBegan,
    CrashPoint::WorkBundled,
    CrashPoint::UnitGivenUp,
];

/// How many times shorter waits are while steps are tried: a lease is six seconds, and a look one.
const PACE_OF_STEPS: &str = "15";

/// A lease at that pace, and what a machine may take beyond it.
const SILENCE: Duration = Duration::from_secs(8);

/// No owner lives longer.
pub(super) const LONGEST_LIFE: Duration = Duration::from_millis(1500);

pub(crate) fn steps() -> Vec<CrashPoint> {
    [&OF_NODE[..], &OF_OWNER[..]].concat()
}

/// Kills the owner of a batch at moments that chance chooses, as often as that goes; how often it did.
fn kill_owner(behind: &Behind<'_>, tasks: usize, kills: usize, moments: &mut Moments) -> usize {
    let plan: Vec<String> = (1..=tasks).map(|task| task.to_string()).collect();
    let shell = "echo x >> 'BESIDE/began'; sleep 0.5; echo $PLEACH_TASK > file-$PLEACH_TASK";
    let here = Scene::of(&plan.join(", "), "retries = 0\nland = \"none\"", shell);
    here.story(&[]);
    let settings = format!("max_parallel = {tasks}\n{ON_CLUSTER}");
    let scene = Scene::of(&plan.join(", "), &settings, shell);
    let mut run = behind.start(&scene);
    run.wait_for("batch:task:started");
    run.signal(Signal::KILL);
    drop(run);
    let mut deaths = 1;
    let said = scene.repo.beside("said");
    while deaths < kills {
        let mut resume = behind.run(&scene, &["resume", "1"]);
        let life = moments.within(LONGEST_LIFE);
        let struck = strike(&mut resume, &said, life, |child| child.kill().unwrap());
        match struck.unwrap() {
            KillOutcome::Killed => deaths += 1,
            KillOutcome::Ended(_) => break,
        }
    }
    let last = Running::start(&mut behind.run(&scene, &["resume", "1"])).answer();
    if last.code == 2 {
        // The last one died after the end, with its folder still there.
        crate::pleach(scene.repo.path(), &scene.home(), &["gc", "--yes"]).good();
    } else {
        assert_eq!(last.code, 0, "{}{}", last.out, last.err);
    }
    assert_eq!(work(&scene), work(&here));
    let began = scene.trace("began").split_whitespace().count();
    assert_eq!(began, tasks, "each agent runs once");
    check_tidy(&scene);
    scene.check_nobody_is_left();
    deaths
}

#[test]
fn an_owner_may_be_killed_at_any_moment_and_each_agent_runs_once() {
    let mut moments = Moments::from_seed(seed());
    kill_owner(&Behind::StandIn, 12, gate_or_night(5, 40), &mut moments);
}

#[test]
fn on_slurm_as_well_and_nothing_is_left_in_its_queue() {
    let batches = gate_or_night(0, 3);
    if batches == 0 {
        return;
    }
    let cluster = SlurmCluster::start(2);
    let mut moments = Moments::from_seed(seed());
    let mut kills = 0;
    let mut done = 0;
    while done < batches || kills < 100 {
        kills += kill_owner(&Behind::Slurm(&cluster), 50, 50, &mut moments);
        done += 1;
        cluster.await_empty_queue();
    }
    super::tell(2, &format!("{kills} kills over {done} batches of 50"));
}

#[test]
fn an_owner_that_dies_at_any_step_loses_nothing_and_does_nothing_twice() {
    check_steps("owner", &OF_OWNER, owner_dies_at);
}

#[test]
fn a_node_that_dies_at_any_step_loses_nothing_but_its_own_time() {
    check_steps("node", &OF_NODE, node_dies_at);
}

/// Tries all steps at once, or one after the other where it counts how long each takes.
fn check_steps(whose: &str, steps: &[CrashPoint], dies_at: fn(CrashPoint) -> Duration) {
    let each = |step: &CrashPoint| (dies_at(*step), *step);
    let took: Vec<_> = if gate_or_night(false, true) {
        steps.iter().map(each).collect()
    } else {
        std::thread::scope(|scope| {
            let all = steps.iter().map(|step| scope.spawn(move || each(step)));
            let all: Vec<_> = all.collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        })
    };
    let (in_lease, at_once): (Vec<_>, Vec<_>) = took
        .into_iter()
        .partition(|(_, step)| IN_A_LEASE.contains(step));
    for (kind, took) in [("", at_once), (" after a lease", in_lease)] {
        let longest = took.into_iter().max_by_key(|(took, _)| *took).unwrap();
        let (took, step) = longest;
        super::tell(3, &format!("{whose}: at most {took:.1?}{kind} ({step:?})"));
    }
}

/// Two tasks that take some secret, one after the other. A lease that nothing waits for is as long as it may be.
fn scene_with(step: CrashPoint, wait: &str) -> Scene {
    let shell = format!("echo x >> 'BESIDE/began'; {wait} echo $PLEACH_TASK > file-$PLEACH_TASK");
    let lease = if IN_A_LEASE.contains(&step) {
        "90s"
    } else {
        "10m"
    };
    let settings = ON_CLUSTER.replace("\"10s\"", "\"15s\"");
    let settings = format!("{settings}cluster.lease = \"{lease}\"\n");
    let scene = Scene::of("1, 2 1", &settings, &shell);
    super::pass_on(&scene, "CANARY");
    scene
}

/// Begins a batch with two such tasks, or goes on with it.
fn command(scene: &Scene, words: &[&str]) -> Command {
    let mut command = Behind::StandIn.run(scene, words);
    command.env("CANARY", "c4n4ry").env(PACE, PACE_OF_STEPS);
    command
}

/// Goes on to the end, which comes soon; how soon.
#[track_caller]
fn check_it_ends(scene: &Scene, step: CrashPoint) -> Duration {
    let began = Instant::now();
    let told = Running::start(&mut command(scene, &["resume", "1"])).story();
    let took = began.elapsed();
    told.check(0, "1:merged 2:merged");
    let silence = if IN_A_LEASE.contains(&step) {
        SILENCE
    } else {
        Duration::ZERO
    };
    // In the gate, the machine has much else to do.
    let longest = Duration::from_secs(gate_or_night(30, 10)) + silence;
    assert!(took < longest, "{step:?}: {took:?}");
    let agents = scene.trace("began").split_whitespace().count();
    let attempts = told.attempts();
    let attempts: usize = { attempts.split(' ') }
        .map(|of| of[2..].parse::<usize>().unwrap())
        .sum();
    // A node that dies before it calls its agent has made an attempt all the same.
    assert!(
        (2..=attempts).contains(&agents),
        "{step:?}: {agents} agents, {attempts} attempts"
    );
    assert_eq!(submissions(scene), Vec::<PathBuf>::new());
    took.saturating_sub(silence)
}

fn owner_dies_at(step: CrashPoint) -> Duration {
    let is_lost = step == CrashPoint::UnitGivenUp;
    // One that gives a unit up has lost its node before.
    let wait = if is_lost {
        "[ $PLEACH_TASK-$PLEACH_ATTEMPT != 1-1 ] || sleep 600;"
    } else {
        ""
    };
    let scene = scene_with(step, wait);
    let mut run = command(&scene, &["run", "--yes"]);
    let mut run = Running::start(run.env(DIE_AT, format!("{step:?}:1")));
    if is_lost {
        run.wait_for("batch:task:placed");
        kill_runner(&scene);
    }
    assert_eq!(run.answer().code, -1, "{step:?} is never reached");
    for _ in 1..gate_or_night(1, 2) {
        // It need not come by once more.
        let mut resume = command(&scene, &["resume", "1"]);
        Running::start(resume.env(DIE_AT, format!("{step:?}:1"))).answer();
    }
    let took = check_it_ends(&scene, step);
    check_tidy(&scene);
    took
}

fn node_dies_at(step: CrashPoint) -> Duration {
    let scene = scene_with(step, "");
    let words: [&[&str]; 2] = [&["run", "--yes"], &["resume", "1"]];
    for words in words.into_iter().take(gate_or_night(1, 2)) {
        let before = runners(&scene);
        let mut run = command(&scene, words);
        let run = Running::start(run.env(DIE_AT, format!("{step:?}:1")));
        await_death_beyond(&scene, &before);
        run.signal(Signal::KILL);
        drop(run);
    }
    // What the last one left on its disk goes when another unit comes there.
    check_it_ends(&scene, step)
}

/// The files that say which processes carry units out.
fn runners(scene: &Scene) -> Vec<PathBuf> {
    let files = submissions(scene)
        .into_iter()
        .map(|at| at.join("process.1"));
    files.filter(|file| file.exists()).collect()
}

/// Waits until a process that carries out a unit has died which was not there before.
#[track_caller]
fn await_death_beyond(scene: &Scene, before: &[PathBuf]) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let is_dead = |file: &PathBuf| {
            let noted = std::fs::read_to_string(file).unwrap_or_default();
            let pid = noted.split_once(' ').map(|(pid, _)| pid.to_owned());
            pid.is_some_and(|pid| !PathBuf::from("/proc").join(pid).join("exe").exists())
        };
        if runners(scene)
            .iter()
            .any(|file| !before.contains(file) && is_dead(file))
        {
            return;
        }
        assert!(Instant::now() < deadline, "no unit dies");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_ended_as_its_owner_died_does_not_count_as_being_with_the_cluster_for_ever() {
    let behind = Behind::StandIn;
    let scene = Scene::of("1, 2 1", ON_CLUSTER, "echo x > file-$PLEACH_TASK");
    let mut run = behind.run(&scene, &["run", "--yes"]);
    let run = Running::start(run.env(DIE_AT, format!("{:?}:1", CrashPoint::PlaceCleared)));
    assert_eq!(run.answer().code, -1);
    let database = Connection::open(scene.state().join("pleach.db")).unwrap();
    // As if it had died a moment earlier: the end of the task was stored, and that of its unit was not.
    let reopened = database.execute("UPDATE submission SET over_at = NULL", []);
    assert_eq!(reopened.unwrap(), 1);
    let resumed = Running::start(&mut behind.run(&scene, &["resume", "1"])).story();
    resumed.check(0, "1:merged 2:merged");
    let open = "SELECT count(*) FROM submission WHERE over_at IS NULL";
    let open: u32 = database.query_one(open, [], |row| row.get(0)).unwrap();
    assert_eq!(open, 0);
}
