//! A share that shows things late: its owner and its nodes see it through mounts of their own that remember attributes,
//! names, and names that were not there.
//!
//! For the night, as root: mounts are nothing that a gate can have everywhere.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use pleach_system::pace::PACE;
use pleach_testkit::{KillOutcome, Moments, SlurmCluster, gate_or_night, seed, strike};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::killed::LONGEST_LIFE;
use super::{
    AGENT, Behind, ON_CLUSTER, TASKS, await_six, await_that, cancelled, check_two_were_lost,
    outcome, queue, six_that_wait, submissions, work,
};
use crate::scene::{Running, Scene};

/// What both mounts remember, and for how long.
const CACHES: &str = "attr_timeout=20,entry_timeout=20,negative_timeout=20";

/// How long after it was written a result may be heard of.
const HEARD: Duration = Duration::from_secs(5);

/// One place, seen by two who remember for themselves.
pub(super) struct CachedShare {
    mounts: Vec<(Child, PathBuf)>,
    share: PathBuf,
}

impl CachedShare {
    pub(super) fn of(scene: &Scene) -> Self {
        let behind = scene.repo.beside("behind");
        let share = scene.repo.beside("share");
        for folder in [&behind, &share] {
            fs::create_dir_all(folder).unwrap();
        }
        let mounts = ["seen-by-owner", "seen-by-nodes"].map(|name| {
            let place = scene.repo.beside(name);
            fs::create_dir_all(&place).unwrap();
            fs::write(behind.join("is-mounted"), "").unwrap();
            let mut bindfs = Command::new("bindfs");
            bindfs.args(["-f", "-o", CACHES]).arg(&behind).arg(&place);
            let mount = bindfs.spawn().expect("bindfs is installed");
            let is_mounted =
                || fs::read_dir(&place).is_ok_and(|mut inside| inside.next().is_some());
            await_that("the share is mounted", is_mounted);
            (mount, place)
        });
        Self {
            mounts: mounts.into(),
            share,
        }
    }

    /// Words in front of a program that is to see the share as its owner does, or as nodes do.
    fn words(&self, mount: usize) -> Vec<String> {
        let (_, place) = &self.mounts[mount];
        let shown = |path: &Path| path.display().to_string();
        let mount = format!(
            "mount --bind '{}' '{}' && exec \"$@\"",
            shown(place),
            shown(&self.share)
        );
        let words = [
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            &mount,
            "sh",
        ];
        words.map(str::to_owned).to_vec()
    }

    pub(super) fn cluster(&self) -> SlurmCluster {
        SlurmCluster::start_behind(2, &self.words(1))
    }

    /// Has what serves it stop, or go on.
    pub(super) fn signal(&self, signal: Signal) {
        for (mount, _) in &self.mounts {
            kill_process(Pid::from_child(mount), signal).unwrap();
        }
    }

    /// A program that sees the share as its owner does.
    pub(super) fn as_owner(&self, program: &Command) -> Command {
        let words = self.words(0);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(program.get_program());
        command.args(program.get_args()).env_clear();
        command.current_dir(program.get_current_dir().unwrap());
        let set = program.get_envs();
        command.envs(set.filter_map(|(name, value)| Some((name, value?))));
        command
    }
}

impl Drop for CachedShare {
    fn drop(&mut self) {
        for (mount, place) in &mut self.mounts {
            let _ = Command::new("umount").arg("--lazy").arg(place).status();
            let _ = mount.kill();
            let _ = mount.wait();
        }
    }
}

/// What lies on the share is behind the mounts.
fn check_nothing_is_left(scene: &Scene) {
    fs::remove_dir(scene.repo.beside("share")).unwrap();
    fs::rename(scene.repo.beside("behind"), scene.repo.beside("share")).unwrap();
    assert_eq!(submissions(scene), Vec::<PathBuf>::new());
}

/// When results were written, by their tasks: the files behind the mounts are seen at once.
fn written(scene: &Scene, is_over: &AtomicBool) -> HashMap<String, SystemTime> {
    let behind = scene.repo.beside("behind");
    let mut written = HashMap::new();
    while !is_over.load(Ordering::Relaxed) {
        for path in results_below(&behind, 3) {
            let Ok(text) = fs::read_to_string(&path) else {
                continue;
            };
            let first = text.lines().next().unwrap_or_default();
            let result: Value = serde_json::from_str(first).unwrap_or_default();
            let at = fs::metadata(&path).and_then(|file| file.modified());
            if let (Some(task), Ok(at)) = (result["ended"]["finished"]["task"].as_str(), at) {
                written.insert(task.to_owned(), at);
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    written
}

/// The results in folders of so many levels below one.
fn results_below(folder: &Path, levels: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    match levels {
        0 => paths.filter(|path| path.ends_with("result.json")).collect(),
        _ => paths
            .flat_map(|path| results_below(&path, levels - 1))
            .collect(),
    }
}

/// When a run tells of each task that it is built.
fn heard(run: &mut Running, count: usize) -> HashMap<String, SystemTime> {
    let mut heard = HashMap::new();
    for _ in 0..count {
        let line = run.wait_for("batch:task:built");
        let told: Value = serde_json::from_str(&line).unwrap();
        let key = told["data"]["key"].as_str().unwrap();
        heard.insert(key.to_owned(), SystemTime::now());
    }
    heard
}

#[test]
fn the_same_tree_is_made_and_results_are_heard_at_once() {
    if gate_or_night(true, false) {
        return;
    }
    let (told_here, tree) = outcome(None, TASKS);
    let tests = "validate = \"[ ! -e file-25 ] && echo on node ${PLEACH_NODE-none}\"";
    let scene = Scene::of(TASKS, &format!("{tests}\n{ON_CLUSTER}"), AGENT);
    let share = CachedShare::of(&scene);
    let cluster = share.cluster();
    let mut run = Behind::Slurm(&cluster).run(&scene, &["run", "--yes"]);
    let began = Instant::now();
    let mut run = Running::start(&mut share.as_owner(run.env(PACE, "1")));
    let is_over = AtomicBool::new(false);
    let (written, heard) = thread::scope(|scope| {
        let written = scope.spawn(|| written(&scene, &is_over));
        let heard = heard(&mut run, 12);
        is_over.store(true, Ordering::Relaxed);
        (written.join().unwrap(), heard)
    });
    let told = run.story();
    let took = began.elapsed();
    assert_eq!(told.outcomes(), told_here.outcomes(), "{}", told.err);
    assert_eq!(work(&scene), tree);
    // One that nobody saw was taken away as soon as it was there.
    let later =
        |task: &String, at: &SystemTime| heard[task].duration_since(*at).unwrap_or_default();
    let longest = written.iter().map(|(task, at)| later(task, at)).max();
    let longest = longest.expect("somebody sees a result");
    assert!(longest < HEARD, "{longest:?}");
    cluster.await_empty_queue();
    drop(share);
    check_nothing_is_left(&scene);
    super::tell(
        14,
        &format!(
            "12 tasks through caches of 20 s, the same tree after {took:.1?}; {} results seen on the share, heard within {longest:.1?}",
            written.len()
        ),
    );
}

#[test]
fn an_owner_that_is_killed_again_and_again_loses_nothing_there() {
    if gate_or_night(true, false) {
        return;
    }
    let shell = "echo x >> 'BESIDE/began'; sleep 0.5; echo $PLEACH_TASK > file-$PLEACH_TASK";
    let scene = Scene::of(
        &queue::tasks(24),
        &format!("max_parallel = 24\n{ON_CLUSTER}"),
        shell,
    );
    let share = CachedShare::of(&scene);
    let cluster = share.cluster();
    let behind = Behind::Slurm(&cluster);
    let mut run = Running::start(&mut share.as_owner(&behind.run(&scene, &["run", "--yes"])));
    run.wait_for("batch:task:started");
    run.signal(Signal::KILL);
    drop(run);
    let mut moments = Moments::from_seed(seed());
    let resume = || share.as_owner(&behind.run(&scene, &["resume", "1"]));
    let mut deaths = 1;
    while deaths < 20 {
        let life = moments.within(LONGEST_LIFE);
        let said = scene.repo.beside("said");
        let struck = strike(&mut resume(), &said, life, |child| child.kill().unwrap());
        match struck.unwrap() {
            KillOutcome::Killed => deaths += 1,
            KillOutcome::Ended(_) => break,
        }
    }
    let last = Running::start(&mut resume()).answer();
    assert!(matches!(last.code, 0 | 2), "{}{}", last.out, last.err);
    let began = scene.trace("began").split_whitespace().count();
    assert_eq!(began, 24);
    assert_eq!(
        scene.new_files("pleach/batch-1").split_whitespace().count(),
        24
    );
    cluster.await_empty_queue();
    super::tell(
        14,
        &format!("{deaths} kills of an owner through caches of 20 s"),
    );
}

#[test]
fn a_node_that_dies_is_no_different_there() {
    if gate_or_night(true, false) {
        return;
    }
    let scene = six_that_wait();
    let share = CachedShare::of(&scene);
    let mut cluster = share.cluster();
    let run = Behind::Slurm(&cluster).run(&scene, &["run", "--yes"]);
    let run = await_six(&cluster, &scene, Running::start(&mut share.as_owner(&run)));
    cluster.kill_node(2);
    fs::write(scene.repo.beside("go"), "").unwrap();
    check_two_were_lost(&run.story());
    cluster.await_empty_queue();
    drop(share);
    scene.check_nobody_is_left();
    check_nothing_is_left(&scene);
    super::tell(
        14,
        "a node that died through caches of 20 s, both its units done again",
    );
}

#[test]
fn a_cancel_is_no_different_there() {
    if gate_or_night(true, false) {
        return;
    }
    let scene = cancelled::scene();
    let share = CachedShare::of(&scene);
    let cluster = share.cluster();
    let run = Behind::Slurm(&cluster).run(&scene, &["run", "--yes"]);
    let took = cancelled::check_cancelled(&cluster, &scene, &mut share.as_owner(&run));
    drop(share);
    scene.check_nobody_is_left();
    check_nothing_is_left(&scene);
    super::tell(14, &format!("a cancel through caches of 20 s: {took}"));
}
