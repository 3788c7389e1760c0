//! What units ask of a cluster, what reaches its programs, and how those of several owners stay apart.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use pleach_system::pace::PACE;
use pleach_system::stand_in::STAND_IN;
use pleach_testkit::{SlurmCluster, await_that};
use rustix::process::Signal;

use crate::cluster::{all_words, tell};
use crate::scene::{Running, Scene};

/// Settings for a cluster whose share is beside the repository.
const ON_CLUSTER: &str = "retries = 0
land = \"none\"
where = \"slurm\"
max_parallel = \"auto\"
cluster.share = \"SHARE\"
cluster.scratch = \"BESIDE/node\"
cluster.look = \"10s\"
";

/// An agent that says that it began, waits for a file, and does something.
const WAITS: &str = "echo x >> 'BESIDE/began'; until [ -e 'BESIDE/go' ]; do sleep 0.1; done; \
                     echo $PLEACH_TASK > file-$PLEACH_TASK";

fn command(cluster: &SlurmCluster, scene: &Scene, home: &Path, words: &[&str]) -> Command {
    let mut command = crate::command(scene.repo.path(), home, words);
    command.env(PACE, "20").env("SLURM_CONF", cluster.conf());
    command
}

fn start(cluster: &SlurmCluster, scene: &Scene, home: &Path) -> Running {
    Running::start(&mut command(
        cluster,
        scene,
        home,
        &["run", "--yes", "--json"],
    ))
}

const PROGRAMS: [&str; 5] = ["sbatch", "squeue", "scancel", "srun", "scontrol"];

/// Programs that note what they are called with and then are Slurm's own; its arrays are of two elements at most.
fn record_calls(scene: &Scene) {
    let bin = scene.repo.beside("bin");
    let noted = scene.repo.beside("argv");
    fs::create_dir(&bin).unwrap();
    for name in PROGRAMS {
        let limit = match name {
            "scontrol" => "echo 'MaxArraySize            = 3'; exit",
            _ => "",
        };
        let note = format!("printf '%s\\n' {name} \"$@\" >> '{}'", noted.display());
        let text = format!("#!/bin/sh\n{note}\n{limit}\nexec {name} \"$@\"\n");
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// The fields of a job that its size decides.
fn asked(job: &str) -> String {
    let field = |name: &str| {
        let mut fields = job.split(' ');
        let value = fields.find_map(|field| field.strip_prefix(name));
        value.unwrap_or("-").to_owned()
    };
    let names = [
        "Partition=",
        "NumCPUs=",
        "MinMemoryNode=",
        "TresPerNode=",
        "TimeLimit=",
    ];
    names.map(field).join(" ")
}

/// A plan that would do harm if any of it stood in a command line.
const HOSTILE: &str =
    "- [ ] 1 c4n4ry $(touch BESIDE/pwned) `touch BESIDE/pwned`; --array=1-99 -Jx (size: large)
  more of c4n4ry\n\n  --wrap=c4n4ry\n  'touch BESIDE/pwned' \"$(touch BESIDE/pwned)\"
- [ ] 2 c4n4ry -- \\$(x) (size: small)
- [ ] 3 --export=ALL,c4n4ry=1
- [ ] 4 c4n4ry | touch BESIDE/pwned
- [ ] 5 c4n4ry && touch BESIDE/pwned
";

const SIZES: &str = "slurm.partition = \"all\"
slurm.bin = \"BESIDE/bin\"
slurm.args = [\"--comment=ours\"]
sizes.large.cpus = 3
sizes.large.memory = \"2GiB\"
sizes.large.gpus = 1
sizes.large.time = \"3h\"
sizes.large.slurm = [\"--partition=gpu\"]
sizes.small.memory = \"64MiB\"
";

#[test]
fn a_cluster_is_asked_for_what_sizes_say_and_hears_no_word_of_the_plan() {
    let cluster = SlurmCluster::start(3);
    let settings = ON_CLUSTER.replace("SHARE", "BESIDE/share");
    let scene = Scene::with(&format!("{settings}{SIZES}"), "", WAITS);
    let beside = scene.repo.beside("");
    let plan = HOSTILE.replace("BESIDE", beside.to_str().unwrap());
    scene.repo.write("TODO.md", plan);
    record_calls(&scene);
    let run = start(&cluster, &scene, &scene.home());
    let began = || fs::read_to_string(scene.repo.beside("began")).unwrap_or_default();
    await_that("all five are at work", || began().lines().count() == 5);
    let mut jobs: Vec<String> = cluster.jobs().iter().map(|job| asked(job)).collect();
    jobs.sort();
    // Setup and work of a large one, twice three hours; of the others, twice what the tests may take; and to spare.
    let usual = "all 1 0 - 01:06:00";
    let small = "all 1 64M - 01:06:00";
    let large = "gpu 3 2G gres:gpu:1 06:06:00";
    assert_eq!(jobs, [usual, usual, usual, small, large]);
    // Nor does anything else on this machine that is under way.
    assert!(!all_words().contains("c4n4ry"));
    let argv = fs::read_to_string(scene.repo.beside("argv")).unwrap();
    let arrays = argv.lines().filter(|word| word.starts_with("--array="));
    let mut arrays: Vec<&str> = arrays.collect();
    arrays.sort_unstable();
    let one = "--array=1-1";
    assert_eq!(arrays, [one, one, one, "--array=1-2"]);
    assert!(argv.contains("--comment=ours"), "{argv}");
    fs::write(scene.repo.beside("go"), "").unwrap();
    let told = run.story();
    told.check(0, "1:merged 2:merged 3:merged 4:merged 5:merged");
    let argv = fs::read_to_string(scene.repo.beside("argv")).unwrap();
    assert!(!argv.contains("c4n4ry"), "{argv}");
    assert!(!scene.repo.beside("pwned").exists());
    cluster.await_empty_queue();
    let calls = argv.lines().filter(|word| PROGRAMS.contains(word)).count();
    tell(
        19,
        &format!("sizes of 5 tasks as Slurm shows them, no word of their plan in {calls} calls"),
    );
}

/// Has a test done again by an ordinary user where this is none, as most owners of clusters' units are.
#[track_caller]
fn is_done_as_ordinary_user(test: &str) -> bool {
    let is_ordinary = !rustix::process::geteuid().is_root();
    if !is_ordinary {
        let mut again = Command::new("setpriv");
        again.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"]);
        again.arg(std::env::current_exe().unwrap());
        again.args([test, "--exact", "--nocapture"]);
        assert!(again.status().unwrap().success(), "as nobody");
    }
    !is_ordinary
}

/// How many units of each owner are in the queue, by the names of their jobs.
fn units_by_owner(cluster: &SlurmCluster) -> Vec<usize> {
    let queue = cluster.queue();
    let owner = |line: &String| line.split('-').nth(1).unwrap().to_owned();
    let mut owners: Vec<String> = queue.iter().map(owner).collect();
    owners.sort();
    let mut units: Vec<usize> = owners
        .chunk_by(|a, b| a == b)
        .map(<[String]>::len)
        .collect();
    units.sort_unstable();
    units
}

#[test]
fn owners_see_their_own_units_alone_and_none_has_more_than_it_may() {
    if is_done_as_ordinary_user(
        "cluster_sizes::owners_see_their_own_units_alone_and_none_has_more_than_it_may",
    ) {
        return;
    }
    let cluster = SlurmCluster::start(3);
    let settings = |share: &str| {
        let settings = ON_CLUSTER.replace("SHARE", share);
        format!("cluster.most = 4\n{settings}")
    };
    let first = Scene::of("1, 2, 3", &settings("BESIDE/share"), WAITS);
    let share = first.repo.beside("share");
    let beside_it = || Scene::of("1, 2, 3", &settings(share.to_str().unwrap()), WAITS);
    let (second, other) = (beside_it(), beside_it());
    let began = |scene: &Scene| {
        let began = fs::read_to_string(scene.repo.beside("began")).unwrap_or_default();
        began.lines().count()
    };
    // Two projects of one owner, and one of another.
    let home = first.home();
    let run_first = start(&cluster, &first, &home);
    await_that("the first three are at work", || began(&first) == 3);
    let run_second = start(&cluster, &second, &home);
    await_that("one more is at work", || began(&second) == 1);
    let mut run_other = start(&cluster, &other, &other.home());
    await_that("those of the other owner are at work", || {
        began(&other) == 3
    });
    assert_eq!(units_by_owner(&cluster), [3, 4]);
    let cancelled = command(&cluster, &other, &other.home(), &["cancel", "1"]).output();
    assert!(cancelled.unwrap().status.success());
    run_other.wait_for("batch:cancelled");
    await_that("the other owner's are gone", || {
        units_by_owner(&cluster) == [4]
    });
    // There is room for one when one ends, and no earlier.
    assert_eq!((began(&first), began(&second)), (3, 1));
    fs::write(first.repo.beside("go"), "").unwrap();
    run_first.story().check(0, "1:merged 2:merged 3:merged");
    await_that("all of the second are at work", || began(&second) == 3);
    fs::write(second.repo.beside("go"), "").unwrap();
    run_second.story().check(0, "1:merged 2:merged 3:merged");
    assert_eq!(run_other.story().status(), "cancelled");
    cluster.await_empty_queue();
    let user = rustix::process::getuid().as_raw();
    tell(
        24,
        &format!(
            "as user {user}: two projects of one owner share 4 units, the 3 of another stay apart"
        ),
    );
}

#[test]
fn what_waits_for_room_when_its_owner_dies_is_done_once_by_the_next() {
    let settings = |share: &str| {
        let settings = ON_CLUSTER.replace("SHARE", share);
        format!("cluster.most = 1\n{settings}")
    };
    let first = Scene::of("1", &settings("BESIDE/share"), WAITS);
    let share = first.repo.beside("share");
    let second = Scene::of("1", &settings(share.to_str().unwrap()), WAITS);
    let start = |scene: &Scene, words: &[&str]| {
        let mut command = crate::command(scene.repo.path(), &first.home(), words);
        Running::start(command.env(PACE, "20").env(STAND_IN, "subprocess"))
    };
    let began = |scene: &Scene| scene.repo.beside("began").exists();
    let run = ["run", "--yes", "--json"];
    let run_first = start(&first, &run);
    await_that("the first is at work", || began(&first));
    let mut run_second = start(&second, &run);
    run_second.wait_for("batch:task:started");
    run_second.signal(Signal::KILL);
    drop(run_second);
    for scene in [&first, &second] {
        fs::write(scene.repo.beside("go"), "").unwrap();
    }
    run_first.story().check(0, "1:merged");
    assert!(!began(&second));
    let told = start(&second, &["resume", "1", "--json"]).story();
    told.check(0, "1:merged");
    assert_eq!(second.trace("began"), "x");
}
