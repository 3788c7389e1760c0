//! What lies on the share of a cluster: what goes, what stays, and what others may know of it.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;

use super::{Behind, ON_CLUSTER, check_tidy, submissions};
use crate::Answer;
use crate::scene::{Running, Scene, make_pipe};

fn gc(scene: &Scene, words: &[&str]) -> Answer {
    let words: Vec<&str> = ["gc", "--yes", "--json"]
        .iter()
        .chain(words)
        .copied()
        .collect();
    crate::pleach(scene.repo.path(), &scene.home(), &words)
}

/// What was removed from the share, within it.
fn removed(scene: &Scene, answer: &Answer) -> Vec<PathBuf> {
    let told: Value = answer.json();
    let removed = told["removed"].as_array().unwrap().iter();
    let of_share = removed.filter(|find| find["kind"] == "share");
    let share = scene.repo.beside("share");
    let mut paths: Vec<PathBuf> = of_share
        .map(|find| Path::new(find["path"].as_str().unwrap()))
        .map(|path| path.strip_prefix(&share).unwrap().to_owned())
        .collect();
    paths.sort();
    paths
}

/// The folder of the installation, and that of the project.
fn folders(scene: &Scene) -> (PathBuf, PathBuf) {
    let share = scene.repo.beside("share");
    let entries = fs::read_dir(share).unwrap().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| !path.ends_with("bin"));
    let position = paths
        .iter()
        .position(|path| path.join("depot.git").exists());
    let project = paths.remove(position.unwrap());
    (paths.remove(0), project)
}

/// A batch whose first agent is at work on a node; agents wait at a gate.
fn at_work(tasks: &str, shell: &str) -> (Scene, Running) {
    let scene = Scene::of(tasks, ON_CLUSTER, shell);
    make_pipe(&scene.repo.beside("gate"));
    let mut run = Behind::StandIn.start(&scene);
    run.wait_for("batch:task:placed");
    (scene, run)
}

/// Lets an agent through the gate.
fn let_go(scene: &Scene) {
    let gate = fs::File::options()
        .write(true)
        .open(scene.repo.beside("gate"));
    drop(gate.unwrap());
}

#[test]
fn what_nobody_needs_on_a_share_goes_and_what_others_need_stays() {
    let scene = Scene::of("1", ON_CLUSTER, "echo x > file");
    let told = Behind::StandIn.start(&scene).story();
    told.check(0, "1:merged");
    let (home, project) = folders(&scene);
    let owner: Value = serde_json::from_slice(&fs::read(home.join("owner.json")).unwrap()).unwrap();
    assert_eq!(owner["state"], scene.state().display().to_string());
    // An owner that died at the end left a folder, and so did one of another installation that is at work.
    let left = home.join("1-0a1b2c3d");
    fs::create_dir(&left).unwrap();
    let other = home.with_file_name("0123456789ab").join("7-0a1b2c3d");
    fs::create_dir_all(&other).unwrap();
    let programs = home.with_file_name("bin");
    let theirs = programs.join("pleach-theirs");
    fs::write(&theirs, "").unwrap();
    let depot = project.join("depot.git");
    let orders = serde_json::json!({"project": {"depot": depot}, "program": theirs});
    // What they need is not known before all of it can be read.
    let first = gc(&scene, &["--keep", "1ms"]);
    assert_eq!(removed(&scene, &first).len(), 1, "{}", first.out);
    assert!(!left.exists() && depot.exists() && theirs.exists());
    fs::write(other.join("orders"), format!("{orders}\n{{}}\n")).unwrap();
    assert_eq!(removed(&scene, &gc(&scene, &[])), Vec::<PathBuf>::new());
    let second = gc(&scene, &["--keep", "1ms"]);
    let ours = removed(&scene, &second);
    assert_eq!(ours.len(), 1, "{ours:?}");
    assert!(ours[0].starts_with("bin"));
    fs::remove_dir_all(&other).unwrap();
    let third = removed(&scene, &gc(&scene, &["--keep", "1ms"]));
    let depot = depot.strip_prefix(scene.repo.beside("share")).unwrap();
    assert_eq!(third, [Path::new("bin/pleach-theirs"), depot]);
}

#[test]
fn what_a_batch_that_is_interrupted_needs_stays_and_it_goes_on() {
    let (scene, run) = at_work("1", "read line < 'BESIDE/gate'; echo $PLEACH_TASK > file");
    run.signal(Signal::KILL);
    drop(run);
    let cleared = gc(&scene, &["--keep", "1ms"]);
    assert_eq!(removed(&scene, &cleared), Vec::<PathBuf>::new());
    assert_eq!(submissions(&scene).len(), 1);
    let again = Running::start(&mut Behind::StandIn.run(&scene, &["resume", "1"]));
    let_go(&scene);
    again.story().check(0, "1:merged");
    check_tidy(&scene);
}

#[test]
fn status_on_another_machine_says_where_a_batch_was_started() {
    let (scene, run) = at_work("1", "read line < 'BESIDE/gate'; echo $PLEACH_TASK > file");
    // Its own state is on a disk of its own.
    let elsewhere = scene.repo.beside("another-home");
    let status = crate::pleach(scene.repo.path(), &elsewhere, &["status"]);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert!(
        status.err.contains(host.trim()),
        "{}{}",
        status.out,
        status.err
    );
    let here = crate::pleach(scene.repo.path(), &scene.home(), &["status"]);
    assert!(!here.err.contains("was started on"), "{}", here.err);
    let_go(&scene);
    run.story().check(0, "1:merged");
}

/// Another build of the same program: what is behind its end is read by nobody.
fn newer_build(scene: &Scene) -> PathBuf {
    let newer = scene.repo.beside("newer-pleach");
    fs::copy(env!("CARGO_BIN_EXE_pleach"), &newer).unwrap();
    let mut file = fs::File::options().append(true).open(&newer).unwrap();
    std::io::Write::write_all(&mut file, b"newer").unwrap();
    newer
}

#[test]
fn a_newer_build_goes_on_with_what_an_older_one_sent() {
    let shell = "echo x >> 'BESIDE/began'; read line < 'BESIDE/gate'; echo $PLEACH_TASK > file-$PLEACH_TASK";
    let (scene, run) = at_work("1, 2 1", shell);
    run.signal(Signal::KILL);
    drop(run);
    let programs = || {
        fs::read_dir(scene.repo.beside("share/bin"))
            .unwrap()
            .count()
    };
    assert_eq!(programs(), 1);
    let resume = Behind::StandIn.run(&scene, &["resume", "1"]);
    let mut newer = std::process::Command::new(newer_build(&scene));
    newer.args(resume.get_args()).env_clear();
    newer.current_dir(scene.repo.path());
    let set = resume.get_envs();
    newer.envs(set.filter_map(|(name, value)| Some((name, value?))));
    let again = Running::start(&mut newer);
    let_go(&scene);
    // The second agent is one that the newer build called: it has the pipe to itself.
    super::await_that("both agents began", || scene.trace("began") == "x x");
    let_go(&scene);
    let told = again.story();
    told.check(0, "1:merged 2:merged");
    assert_eq!(told.attempts(), "1:1 2:1");
    assert_eq!(programs(), 2);
    check_tidy(&scene);
}
