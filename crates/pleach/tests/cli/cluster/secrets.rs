//! What may be secret reaches the agent on its node, or is not sent at all; in either case nobody else sees it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pleach_testkit::{SlurmCluster, gate_or_night};

use super::{Behind, ON_CLUSTER, await_that, is_written_below, pass_on};
use crate::scene::{Running, Scene};

/// What two variables of the agent hold, one of the tests, and two files that come along.
const CANARIES: [&str; 5] = [
    "c4n4ry-in-a-variable-0123456789",
    "c4n4ry-in-a-second-variable-0123456789",
    "c4n4ry-of-the-tests-0123456789",
    "c4n4ry-in-a-file-0123456789",
    "c4n4ry-in-a-second-file-0123456789",
];

/// An agent that says how much it got of each, and waits while somebody looks around.
const AGENT: &str = "for name in CANARY SECOND TESTS; do printenv $name | wc -c >> length; done
    for file in .env.local keys/second; do cat $file 2> /dev/null | wc -c >> length; done
    echo \"$CANARY $SECOND $(cat .env.local 2> /dev/null)\"
    touch 'BESIDE/began'; until [ -e 'BESIDE/go' ]; do sleep 0.1; done";

/// Tests that do the same.
const TESTS: &str =
    "printenv TESTS | wc -c > BESIDE/tested; cat keys/second | wc -c >> BESIDE/tested; echo $TESTS";

fn scene(delivery: &str) -> Scene {
    let settings = format!(
        "cluster.secrets = \"{delivery}\"\nvalidate = \"{TESTS}\"\nvalidate_env = [\"TESTS\"]\n{ON_CLUSTER}"
    );
    let scene = Scene::of("1", &settings, AGENT);
    pass_on(&scene, "CANARY\", \"SECOND");
    scene.repo.write(".gitignore", ".env.local\nkeys/\n");
    scene.repo.write(".worktreeinclude", ".env.local\nkeys/\n");
    scene.repo.commit("what comes along");
    let file = format!("KEY={}", CANARIES[3]);
    scene.repo.write(".env.local", file);
    scene.repo.write("keys/second", CANARIES[4]);
    scene
}

/// Everything that everybody on a machine can read of its processes.
pub(crate) fn all_words() -> String {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let words = entries.map(|entry| fs::read(entry.path().join("cmdline")).unwrap_or_default());
    let words = words.map(|words| String::from_utf8_lossy(&words).into_owned());
    words.collect::<Vec<_>>().join("\n")
}

/// What Slurm tells whoever asks for its jobs.
fn told_by_slurm(cluster: &SlurmCluster) -> String {
    let mut told = String::new();
    for words in [&["show", "job", "-dd"][..], &["show", "step"]] {
        let shown = cluster.program("scontrol").args(words).output().unwrap();
        told.push_str(&String::from_utf8_lossy(&shown.stdout));
    }
    assert!(told.contains("JobName=pleach-"), "{told}");
    let mut squeue = cluster.program("squeue");
    let jobs = squeue
        .args(["-h", "-r", "-o", "%A"])
        .output()
        .unwrap()
        .stdout;
    for job in String::from_utf8_lossy(&jobs).split_whitespace() {
        let mut scontrol = cluster.program("scontrol");
        let script = scontrol
            .args(["write", "batch_script", job, "-"])
            .output()
            .unwrap();
        told.push_str(&String::from_utf8_lossy(&script.stdout));
    }
    told
}

/// Which of the canaries somebody finds who looks at all processes, and into all files of these folders; a share may hold
/// our program, which takes long to look through and is the same for all.
fn found(places: &[PathBuf]) -> BTreeSet<String> {
    let words = all_words();
    let inside = |place: &PathBuf| {
        let entries = fs::read_dir(place).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut paths: Vec<PathBuf> = places.iter().flat_map(inside).collect();
    paths.retain(|path| !path.ends_with("bin"));
    let holds = |path: &Path, canary: &str| {
        let is_in = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(canary);
        is_written_below(path, canary) || fs::read(path).is_ok_and(|bytes| is_in(&bytes))
    };
    let mut found = BTreeSet::new();
    for canary in CANARIES {
        if words.contains(canary) {
            found.insert(format!("{canary} in a command line"));
        }
        let places = paths.iter().filter(|path| holds(path, canary));
        found.extend(places.map(|path| format!("{canary} below {}", path.display())));
    }
    found
}

/// The places that a delivery must not write to, even for a moment.
fn places(behind: &Behind<'_>, scene: &Scene, delivery: &str) -> Vec<PathBuf> {
    let mut places = vec![scene.state()];
    if delivery != "file" {
        places.push(scene.repo.beside("share"));
    }
    if let Behind::Slurm(cluster) = behind {
        places.push(cluster.conf().parent().unwrap().to_owned());
    }
    places
}

/// Runs a batch with all kinds of secrets, and checks that nobody sees them, whenever they look; how much its agent got
/// of each, and how much its tests.
fn got(behind: &Behind<'_>, delivery: &str) -> (String, String) {
    let scene = scene(delivery);
    let mut run = behind.run(&scene, &["run", "--yes"]);
    let names = ["CANARY", "SECOND", "TESTS"];
    let run = Running::start(run.envs(names.into_iter().zip(CANARIES)));
    let places = places(behind, &scene, delivery);
    let pause = Duration::from_millis(gate_or_night(100, 20));
    let is_over = AtomicBool::new(false);
    let (looks, seen, told) = thread::scope(|scope| {
        let look = || {
            let (mut looks, mut seen) = (0, BTreeSet::new());
            while !is_over.load(Ordering::Relaxed) {
                seen.extend(found(&places));
                looks += 1;
                thread::sleep(pause);
            }
            (looks, seen)
        };
        let look = scope.spawn(look);
        let told = told_of(behind, &scene, run);
        is_over.store(true, Ordering::Relaxed);
        let (looks, seen) = look.join().unwrap();
        (looks, seen, told)
    });
    assert!(seen.is_empty(), "{seen:?}");
    let everywhere = [
        scene.state(),
        scene.repo.beside("share"),
        scene.repo.beside("node"),
    ];
    assert_eq!(found(&everywhere), BTreeSet::new());
    for canary in CANARIES {
        assert!(!told.contains(canary), "{canary}: {told}");
    }
    if let Behind::Slurm(_) = behind {
        super::tell(
            8,
            &format!("0 of {} canaries seen in {looks} looks", CANARIES.len()),
        );
    }
    let agent = scene.show("pleach/batch-1", "length").replace('\n', " ");
    (agent, scene.trace("tested"))
}

/// All that a run tells, that Slurm tells of it while its agent is at work, and that is in its log.
fn told_of(behind: &Behind<'_>, scene: &Scene, run: Running) -> String {
    await_that("the agent begins", || scene.repo.beside("began").exists());
    let mut told = match behind {
        Behind::Slurm(cluster) => told_by_slurm(cluster),
        Behind::Here | Behind::StandIn => String::new(),
    };
    fs::write(scene.repo.beside("go"), "").unwrap();
    let story = run.story();
    story.check(0, "1:merged");
    let log = crate::pleach(scene.repo.path(), &scene.home(), &["logs", "1", "1"]);
    assert!(!log.out.is_empty(), "it did print something");
    let events = format!("{:?}", story.events);
    for more in [&events, &story.err, &log.out] {
        told.push_str(more);
    }
    told
}

/// As much of each as there is; what prints a variable ends the line.
fn all() -> (String, String) {
    let [one, second, tests, file, other] = CANARIES.map(str::len);
    let agent = format!(
        "{} {} 0 {} {other}",
        one + 1,
        second + 1,
        "KEY=".len() + file
    );
    (agent, format!("{} {other}", tests + 1))
}

#[test]
fn what_is_said_through_slurm_is_seen_by_the_agent_alone() {
    let cluster = SlurmCluster::start(1);
    assert_eq!(got(&Behind::Slurm(&cluster), "channel"), all());
}

#[test]
fn what_lies_in_a_file_is_gone_before_anything_runs() {
    assert_eq!(got(&Behind::StandIn, "file"), all());
}

#[test]
fn what_is_not_to_be_sent_is_not_sent() {
    let nothing = ("0 0 0 0 0".to_owned(), "0 0".to_owned());
    assert_eq!(got(&Behind::StandIn, "none"), nothing);
}
