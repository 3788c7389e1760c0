//! A share that hangs for a while, as one whose server is gone, under a real Slurm.
//!
//! For the night, as root: a mount that does not answer is nothing that a gate can have everywhere.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::Duration;

use pleach_system::pace::PACE;
use pleach_testkit::gate_or_night;
use rustix::process::Signal;

use super::cached::CachedShare;
use super::{Behind, ON_CLUSTER, await_that, tell, work};
use crate::scene::{Running, Scene, Story};

const TASKS: &str = "1, 2, 3, 4";

/// Makes a lease of 90 seconds one of six.
const PACE_OF_CHECK: &str = "15";
const LEASE: Duration = Duration::from_secs(6);

/// The agents of first attempts wait for a file.
const AGENT: &str = "echo x >> 'BESIDE/began'; [ $PLEACH_ATTEMPT != 1 ] || \
                     until [ -e 'BESIDE/go' ]; do sleep 0.1; done; echo $PLEACH_TASK > file-$PLEACH_TASK";

/// How many agents there are: they are known by their folder.
fn agents(scene: &Scene) -> usize {
    let node = scene.repo.beside("node");
    let all = fs::read_dir("/proc").unwrap().flatten();
    let folders = all.filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok());
    let of_agents: BTreeSet<_> = folders.filter(|cwd| cwd.starts_with(&node)).collect();
    of_agents.len()
}

/// A batch whose share hangs for so long and is looked at before it goes on; what was woven.
fn frozen_for(hang: Duration, check_while_it_hangs: fn(&Scene)) -> (Story, String) {
    let settings = format!("max_parallel = 4\n{ON_CLUSTER}");
    let scene = Scene::of(TASKS, &settings, AGENT);
    let share = CachedShare::of(&scene);
    let cluster = share.cluster();
    let mut run = Behind::Slurm(&cluster).run(&scene, &["run", "--yes"]);
    let mut run = share.as_owner(run.env(PACE, PACE_OF_CHECK));
    let run = Running::start(&mut run);
    // Git is in their folders before they are.
    let began = || scene.trace("began").split_whitespace().count();
    await_that("four agents are at work", || began() == 4);
    share.signal(Signal::STOP);
    // As long as the check says.
    thread::sleep(hang);
    check_while_it_hangs(&scene);
    share.signal(Signal::CONT);
    fs::write(scene.repo.beside("go"), "").unwrap();
    let told = run.story();
    cluster.await_empty_queue();
    assert_eq!(agents(&scene), 0);
    let work = work(&scene);
    (told, work)
}

#[test]
fn a_share_that_hangs_costs_nothing_within_a_lease_and_one_attempt_beyond_it() {
    if gate_or_night(true, false) {
        return;
    }
    let here = Scene::of(
        TASKS,
        "retries = 0\nland = \"none\"",
        "echo $PLEACH_TASK > file-$PLEACH_TASK",
    );
    here.story(&[]);
    let tree = work(&here);
    let merged = "1:merged 2:merged 3:merged 4:merged";
    let (short, of_short) = frozen_for(LEASE / 3, |scene| {
        assert_eq!(agents(scene), 4);
    });
    short.check(0, merged);
    assert_eq!(short.attempts(), "1:1 2:1 3:1 4:1");
    assert_eq!(of_short, tree);
    let (long, of_long) = frozen_for(LEASE * 3, |scene| {
        // Nobody can tell them to.
        assert_eq!(agents(scene), 0);
    });
    long.check(0, merged);
    assert_eq!(long.attempts(), "1:2 2:2 3:2 4:2");
    assert_eq!(long.told("batch:task:lost").len(), 4);
    assert_eq!(of_long, tree);
    tell(
        15,
        "a third of a lease: nothing; three: 4 of 4 ended and done again once, the same tree",
    );
}
