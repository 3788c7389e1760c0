//! What may be secret reaches the agent on its node, or is not sent at all; in either case nobody else sees it.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use pleach_testkit::SlurmCluster;

use super::{Behind, ON_CLUSTER, is_written_below, pass_on};
use crate::scene::{Running, Scene};

const IN_VARIABLE: &str = "c4n4ry-in-a-variable-0123456789";
const IN_FILE: &str = "c4n4ry-in-a-file-0123456789";

/// An agent that says how much it got of each, and waits while somebody looks around.
const AGENT: &str =
    "printf %s \"$CANARY\" | wc -c > length; cat .env.local 2> /dev/null | wc -c >> length
    echo \"$CANARY $(cat .env.local 2> /dev/null)\"
    touch 'BESIDE/began'; until [ -e 'BESIDE/go' ]; do sleep 0.1; done";

fn scene(delivery: &str) -> Scene {
    let settings = format!("cluster.secrets = \"{delivery}\"\n{ON_CLUSTER}");
    let scene = Scene::of("1", &settings, AGENT);
    pass_on(&scene, "CANARY");
    scene.repo.write(".gitignore", ".env.local\n");
    scene.repo.write(".worktreeinclude", ".env.local\n");
    scene.repo.commit("what comes along");
    scene.repo.write(".env.local", format!("KEY={IN_FILE}"));
    scene
}

/// Everything that everybody on a machine can read of its processes.
fn all_words() -> String {
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

/// Runs a batch with both kinds of secrets, and checks that nobody sees them; how much its agent got of each.
fn got(behind: &Behind<'_>, delivery: &str) -> String {
    let scene = scene(delivery);
    let mut run = behind.run(&scene, &["run", "--yes"]);
    let run = Running::start(run.env("CANARY", IN_VARIABLE));
    let deadline = Instant::now() + Duration::from_secs(30);
    while !scene.repo.beside("began").exists() {
        assert!(Instant::now() < deadline, "the agent does not begin");
        thread::sleep(Duration::from_millis(20));
    }
    let share = fs::read_dir(scene.repo.beside("share")).unwrap().flatten();
    // Our program takes long to look through, and is the same for all.
    let share = share.filter(|entry| entry.file_name() != "bin");
    let mut places: Vec<PathBuf> = share.map(|entry| entry.path()).collect();
    places.push(scene.state());
    let mut seen = all_words();
    if let Behind::Slurm(cluster) = behind {
        places.push(cluster.conf().parent().unwrap().to_owned());
        seen.push_str(&told_by_slurm(cluster));
    }
    let check = |seen: &str| {
        for secret in [IN_VARIABLE, IN_FILE] {
            assert!(!seen.contains(secret), "{secret}: {seen}");
            for place in &places {
                assert!(!is_written_below(place, secret), "{}", place.display());
            }
        }
    };
    check(&seen);
    fs::write(scene.repo.beside("go"), "").unwrap();
    let told = run.story();
    told.check(0, "1:merged");
    let events = format!("{:?}", told.events);
    let log = crate::pleach(scene.repo.path(), &scene.home(), &["logs", "1", "1"]);
    check(&format!("{events}{}{}", told.err, log.out));
    for secret in [IN_VARIABLE, IN_FILE] {
        assert!(!is_written_below(&scene.repo.beside("node"), secret));
    }
    scene.show("pleach/batch-1", "length").replace('\n', " ")
}

fn all() -> String {
    format!("{} {}", IN_VARIABLE.len(), "KEY=".len() + IN_FILE.len())
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
    assert_eq!(got(&Behind::StandIn, "none"), "0 0");
}
