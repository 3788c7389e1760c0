//! The same batch on a cluster: a real Slurm of two nodes, and processes that stand in for one.

mod cached;
mod cancelled;
mod evicted;
mod frozen;
mod killed;
mod lost;
mod nodes;
mod queue;
mod secrets;
mod seen;
mod served;
mod share;
mod unfit;
mod visit;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use pleach_system::pace::PACE;
use pleach_testkit::{SlurmCluster, await_that, gate_or_night};
use rustix::process::{Pid, Signal, kill_process};

use crate::scene::{Running, Scene, Story, make_pipe};

pub(crate) use killed::steps;
pub(crate) use secrets::all_words;

/// Settings for a cluster whose share is beside the repository.
const ON_CLUSTER: &str = "retries = 0
land = \"none\"
where = \"slurm\"
cluster.share = \"BESIDE/share\"
cluster.scratch = \"BESIDE/node\"
cluster.look = \"10s\"
";

/// Twelve tasks: what each makes depends on those that it needs, and the last one collides with the first, which is
/// woven long before.
const TASKS: &str = "1, 2, 3 1, 4 1 2, 5, 6 5, 7, 8 7, 9, 10 9, 11, 12 11";

/// The task that collides is the last one.
const AGENT: &str = "echo \"task $PLEACH_TASK\"; cat file-* 2>/dev/null | sort > file-$PLEACH_TASK; \
                     echo $PLEACH_TASK >> file-$PLEACH_TASK; case $PLEACH_TASK in 1|12|50) echo $PLEACH_TASK > same;; esac";

/// What stands behind `where = \"slurm\"`.
enum Behind<'a> {
    /// Nothing: it runs on this machine.
    Here,
    StandIn,
    Slurm(&'a SlurmCluster),
}

impl Behind<'_> {
    fn run(&self, scene: &Scene, words: &[&str]) -> Command {
        let words: Vec<&str> = words.iter().chain(&["--json"]).copied().collect();
        let mut command = crate::command(scene.repo.path(), &scene.home(), &words);
        command.env(PACE, "20");
        match self {
            Self::Here => &mut command,
            Self::StandIn => command.env("PLEACH_STAND_IN", "subprocess"),
            Self::Slurm(cluster) => command.env("SLURM_CONF", cluster.conf()),
        };
        command
    }

    fn start(&self, scene: &Scene) -> Running {
        Running::start(&mut self.run(scene, &["run", "--yes"]))
    }
}

/// Says what a check has shown, for whoever reads the night's summary.
#[expect(clippy::print_stdout, reason = "the night collects these lines")]
pub(crate) fn tell(check: u32, figure: &str) {
    println!("check {check}: {figure}");
}

fn submissions(scene: &Scene) -> Vec<PathBuf> {
    let homes = fs::read_dir(scene.repo.beside("share"))
        .into_iter()
        .flatten();
    let homes = homes.flatten().filter(|home| home.file_name().len() == 12);
    let inside = homes.flat_map(|home| fs::read_dir(home.path()).into_iter().flatten());
    let paths = inside.flatten().map(|entry| entry.path());
    paths.filter(|path| path.is_dir()).collect()
}

/// Our program that carries out the only unit of the only submission.
fn runner(scene: &Scene) -> Pid {
    let noted = submissions(scene)[0].join("process.1");
    let noted = fs::read_to_string(noted).unwrap();
    let (pid, _) = noted.split_once(' ').unwrap();
    Pid::from_raw(pid.parse().unwrap()).unwrap()
}

fn signal_runner(scene: &Scene, signal: Signal) {
    kill_process(runner(scene), signal).unwrap();
}

/// Kills it, as if its machine had failed.
fn kill_runner(scene: &Scene) {
    signal_runner(scene, Signal::KILL);
}

/// Checks that nothing is left of a batch that is over, on the share and on the nodes.
#[track_caller]
fn check_tidy(scene: &Scene) {
    assert_eq!(submissions(scene), Vec::<PathBuf>::new());
    // A node clears up after it has handed over what it made.
    await_that("nothing is left on nodes", || {
        left_on_nodes(scene).is_empty()
    });
}

/// Something in our folder on the disks of nodes.
fn on_node(scene: &Scene, name: &str) -> PathBuf {
    let user = rustix::process::getuid().as_raw();
    let root = scene.repo.beside("node").join(format!("pleach-{user}"));
    root.join(name)
}

/// What units have on the disks of nodes.
fn left_on_nodes(scene: &Scene) -> Vec<PathBuf> {
    let left = fs::read_dir(on_node(scene, "units"))
        .into_iter()
        .flatten()
        .flatten();
    left.map(|entry| entry.path()).collect()
}

/// What agents made, as it was woven: the settings are in the repository as well, and differ.
fn work(scene: &Scene) -> String {
    let listed = scene.repo.git(&["ls-tree", "-r", "pleach/batch-1"]);
    let lines = listed.lines().filter(|line| !line.ends_with("pleach.toml"));
    lines.collect::<Vec<_>>().join("\n")
}

/// What a batch of these tasks comes to, as events, and as what it wove.
fn outcome(behind: Option<&Behind<'_>>, tasks: &str) -> (Story, String) {
    // One of fifty is found guilty by the tests.
    let tests = "validate = \"[ ! -e file-25 ] && echo on node ${PLEACH_NODE-none}\"";
    let Some(behind) = behind else {
        let here = Scene::of(
            tasks,
            &format!("retries = 0\nland = \"none\"\n{tests}"),
            AGENT,
        );
        return (here.story(&[]), work(&here));
    };
    let there = Scene::of(tasks, &format!("{tests}\n{ON_CLUSTER}"), AGENT);
    let told = behind.start(&there).story();
    let log = crate::pleach(there.repo.path(), &there.home(), &["logs", "1", "4"]);
    assert!(log.out.contains("task 4"), "{}{}", log.out, log.err);
    check_tidy(&there);
    let work = work(&there);
    (told, work)
}

fn same_as_here(behind: &Behind<'_>) {
    let tasks = gate_or_night(TASKS.to_owned(), fifty_tasks());
    let ((told_here, tree_at_home), (told, tree_of_nodes)) = thread::scope(|scope| {
        let here = scope.spawn(|| outcome(None, &tasks));
        let there = outcome(Some(behind), &tasks);
        (here.join().unwrap(), there)
    });
    assert_eq!(told.outcomes(), told_here.outcomes(), "{}", told.err);
    // At night one of them is guilty as well.
    let others = gate_or_night(["12:conflicted"; 2], ["50:conflicted", "25:invalid"]);
    let outcomes = told.outcomes();
    for other in others {
        assert!(outcomes.split(' ').any(|of| of == other), "{outcomes}");
    }
    assert_eq!(tree_of_nodes, tree_at_home);
    assert_eq!(told.summary()["proved"], told_here.summary()["proved"]);
    let count = told.summary()["tasks"].as_array().unwrap().len();
    assert_eq!(told.told("batch:task:placed").len(), count);
    let there = match behind {
        Behind::Here => "here",
        Behind::StandIn => "as processes",
        Behind::Slurm(_) => "on Slurm",
    };
    tell(
        1,
        &format!("{count} tasks end {there} as they do here, with the same tree"),
    );
}

/// Fifty tasks with forty edges; the last one collides with the first, and 12 does not, which needs it.
fn fifty_tasks() -> String {
    let task = |task: u32| match task {
        ..=10 => task.to_string(),
        12 => "12 1".to_owned(),
        _ => format!("{task} {}", task - 10),
    };
    let tasks: Vec<String> = (1..=50).map(task).collect();
    tasks.join(", ")
}

#[test]
fn processes_that_stand_in_for_a_cluster_make_the_same_tree() {
    same_as_here(&Behind::StandIn);
}

#[test]
fn a_slurm_of_two_nodes_makes_the_same_tree() {
    let cluster = SlurmCluster::start(2);
    same_as_here(&Behind::Slurm(&cluster));
    cluster.await_empty_queue();
}

#[test]
fn what_runs_goes_on_when_its_owner_is_killed_and_is_taken_up() {
    let behind = Behind::StandIn;
    let scene = Scene::of(
        "1, 2 1",
        ON_CLUSTER,
        "echo x >> 'BESIDE/began'; read line < 'BESIDE/gate-'$PLEACH_TASK; echo $PLEACH_TASK > file-$PLEACH_TASK",
    );
    let gates = ["gate-1", "gate-2"].map(|gate| scene.repo.beside(gate));
    for gate in &gates {
        make_pipe(gate);
    }
    let mut run = behind.start(&scene);
    run.wait_for("batch:task:placed");
    run.signal(Signal::KILL);
    drop(run);
    // It ends while nobody owns its batch.
    let open = |gate: &Path| fs::File::options().write(true).open(gate).map(drop);
    open(&gates[0]).unwrap();
    let mut again = Running::start(&mut behind.run(&scene, &["resume", "1"]));
    again.wait_for("batch:task:placed");
    open(&gates[1]).unwrap();
    let told = again.story();
    told.check(0, "1:merged 2:merged");
    assert_eq!(told.attempts(), "1:1 2:1");
    assert_eq!(scene.trace("began"), "x x");
    check_tidy(&scene);
}

#[test]
fn a_unit_whose_machine_fails_is_done_again_and_counts_as_no_failure() {
    let behind = Behind::StandIn;
    let shell = "echo half > half; [ $PLEACH_ATTEMPT != 1 ] || sleep 600; echo x > file";
    let scene = Scene::of("1", ON_CLUSTER, shell);
    let mut run = behind.start(&scene);
    run.wait_for("batch:task:placed");
    kill_runner(&scene);
    let told = run.story();
    told.check(0, "1:merged");
    assert_eq!(told.attempts(), "1:2");
    assert_eq!(told.told("batch:task:lost").len(), 1);
    check_tidy(&scene);
    scene.check_nobody_is_left();
}

/// Six tasks that wait for a file on their first attempt.
fn six_that_wait() -> Scene {
    let shell = "echo $PLEACH_TASK > file-$PLEACH_TASK; echo x >> 'BESIDE/began'; [ $PLEACH_ATTEMPT != 1 ] || \
                 until [ -e 'BESIDE/go' ]; do sleep 0.1; done";
    let settings = format!("max_parallel = 6\n{ON_CLUSTER}");
    Scene::of("1, 2, 3, 4, 5, 6", &settings, shell)
}

/// Returns when all six are at work, four on the first node and two on the second.
fn await_six(cluster: &SlurmCluster, scene: &Scene, mut run: Running) -> Running {
    for _ in 0..6 {
        run.wait_for("batch:task:placed");
    }
    // Nobody holds anything by then that those on the other node wait for, who have the same disk.
    let agents = || scene.trace("began").split_whitespace().count();
    await_that("six agents are at work", || agents() == 6);
    assert_eq!((cluster.running_on(1), cluster.running_on(2)), (4, 2));
    run
}

fn six_at_work(cluster: &SlurmCluster) -> (Scene, Running) {
    let scene = six_that_wait();
    let run = Behind::Slurm(cluster).start(&scene);
    let run = await_six(cluster, &scene, run);
    (scene, run)
}

/// In the gate, has Slurm know at once what it takes half a minute to find out by itself.
fn hurry(cluster: &SlurmCluster, node: usize) {
    if gate_or_night(true, false) {
        cluster.give_up_node(node);
    }
}

/// Checks that all six are merged, two of them after they were lost with their node, and that none has failed.
#[track_caller]
fn check_two_were_lost(told: &Story) {
    told.check(0, "1:merged 2:merged 3:merged 4:merged 5:merged 6:merged");
    let attempts = told.attempts();
    let again = attempts.split(' ').filter(|of| of.ends_with(":2")).count();
    assert_eq!(again, 2, "{attempts}");
    assert_eq!(told.told("batch:task:lost").len(), 2);
}

#[test]
fn what_a_node_brings_that_comes_back_late_is_refused_and_what_runs_there_ends() {
    let rounds = gate_or_night(1, 20);
    for _ in 0..rounds {
        let mut cluster = SlurmCluster::start(2);
        let (scene, run) = six_at_work(&cluster);
        let frozen = cluster.freeze_node(2);
        hurry(&cluster, 2);
        fs::write(scene.repo.beside("go"), "").unwrap();
        check_two_were_lost(&run.story());
        let before = scene.repo.git(&["rev-parse", "pleach/batch-1"]);
        frozen.thaw();
        assert_eq!(scene.repo.git(&["rev-parse", "pleach/batch-1"]), before);
        assert_eq!(submissions(&scene), Vec::<PathBuf>::new());
    }
    tell(
        5,
        &format!("{rounds} nodes that came back late, nothing of theirs taken"),
    );
}

#[test]
fn a_node_that_nobody_but_its_owner_can_reach_goes_on_and_is_believed() {
    let mut cluster = SlurmCluster::start(2);
    let (scene, run) = six_at_work(&cluster);
    cluster.kill_daemon(2);
    fs::write(scene.repo.beside("go"), "").unwrap();
    let told = run.story();
    told.check(0, "1:merged 2:merged 3:merged 4:merged 5:merged 6:merged");
    assert_eq!(told.attempts(), "1:1 2:1 3:1 4:1 5:1 6:1");
}

/// Has the agent of a scene get a variable of ours.
fn pass_on(scene: &Scene, name: &str) {
    let config = fs::read_to_string(scene.repo.path().join("pleach.toml")).unwrap();
    let config = format!("{config}env = [\"{name}\"]\n");
    scene.repo.write("pleach.toml", config);
}

/// Whether a secret stands in a file below a folder.
fn is_written_below(folder: &Path, secret: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries = entries.map(|entry| entry.path());
    entries.any(|path| {
        if path.is_dir() && !path.is_symlink() {
            return is_written_below(&path, secret);
        }
        let bytes = fs::read(&path).unwrap_or_default();
        bytes
            .windows(secret.len())
            .any(|part| part == secret.as_bytes())
    })
}
