//! Machines on which nothing can be done, among some that work.

use std::fs;

use pleach_testkit::{SlurmCluster, gate_or_night};

use super::{Behind, ON_CLUSTER, check_tidy, tell};
use crate::scene::Scene;

fn four_tasks() -> Scene {
    let settings = format!("max_parallel = 2\nvalidate = \"true\"\n{ON_CLUSTER}");
    let settings = settings.replace("\"BESIDE/node\"", "\"$NODE_DISK\"");
    Scene::of("1, 2, 3, 4", &settings, "echo x > file-$PLEACH_TASK")
}

/// Checks that a batch avoids the first two of three nodes, and is done on the third.
#[track_caller]
fn check_two_are_avoided(cluster: &SlurmCluster, scene: &Scene, what_they_lack: &str) {
    let told = Behind::Slurm(cluster).start(scene).story();
    told.check(0, "1:merged 2:merged 3:merged 4:merged");
    let lost = told.told("batch:task:lost");
    assert!(lost.len() <= 6, "{lost:?}");
    let notes = told.notes();
    for node in ["n1", "n2"] {
        let avoided = format!("avoiding node {node} from now on: 2 units");
        assert_eq!(notes.matches(&avoided).count(), 1, "{notes}");
    }
    let placed = told.told("batch:task:placed");
    assert!(placed.iter().any(|data| data["node"] == "n3"));
    cluster.await_empty_queue();
    check_tidy(scene);
    let losses = lost.len();
    tell(
        17,
        &format!("{what_they_lack}: each avoided after 2 failures, {losses} losses"),
    );
}

#[test]
fn nodes_on_which_nothing_can_be_done_are_avoided() {
    let cluster = SlurmCluster::start(3);
    let scene = four_tasks();
    cluster.set_on_node(1, "NODE_DISK", &scene.repo.beside("not/mounted"));
    cluster.break_node(2);
    cluster.set_on_node(3, "NODE_DISK", &scene.repo.beside("node"));
    check_two_are_avoided(&cluster, &scene, "no scratch, no start");
}

/// For the night, as root: what a node lacks is hidden from it by a mount.
#[test]
fn nodes_without_git_and_without_the_share_are_avoided() {
    if gate_or_night(true, false) {
        return;
    }
    let scene = four_tasks();
    let share = scene.repo.beside("share");
    fs::create_dir_all(&share).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let all: Vec<String> = std::env::split_paths(&path)
        .map(|folder| folder.join("git"))
        .filter(|git| git.exists())
        .map(|git| git.display().to_string())
        .collect();
    let hide = format!(
        "case \"$*\" in
            *'-N n1') for git in {}; do mount --bind /dev/null $git || exit; done;;
            *'-N n2') mount -t tmpfs none '{}' || exit;;
        esac; exec \"$@\"",
        all.join(" "),
        share.display()
    );
    let words = "unshare --mount --propagation private sh -c";
    let words = words.split(' ').chain([hide.as_str(), "sh"]);
    let words: Vec<String> = words.map(str::to_owned).collect();
    let cluster = SlurmCluster::start_behind(3, &words);
    for node in 1..=3 {
        cluster.set_on_node(node, "NODE_DISK", &scene.repo.beside("node"));
    }
    check_two_are_avoided(&cluster, &scene, "no git, no share");
}
