//! What differs from node to node: limits that hold for all, machines that cannot do anything, and what is closed there.

use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use pleach_system::pace::PACE;
use pleach_testkit::{SlurmCluster, gate_or_night};

use super::{Behind, ON_CLUSTER, check_tidy};
use crate::scene::{Running, Scene, Story};

/// How long what waits may take to be taken out of the queue.
const SOON: Duration = Duration::from_secs(5);

#[test]
fn an_agent_that_is_limited_goes_on_on_another_node_with_its_session_and_all_that_it_did() {
    let shell = "echo \"$PLEACH_TASK$PLEACH_CONTINUES\" >> BESIDE/order; pwd >> BESIDE/at
        if mkdir BESIDE/limit 2> /dev/null; then
            echo committed > first; git add first; git commit --quiet -m 'By the agent'
            echo half > half; echo 'usage limit reached, retry after 1500ms'; exit 75
        fi
        git log --format=%s | head -1 > BESIDE/log; cat half > whole";
    let settings = format!("setup = \"echo x >> BESIDE/setups\"\n{ON_CLUSTER}");
    let scene = Scene::of("1", &settings, shell);
    let told = Behind::StandIn.start(&scene).story();
    told.check(0, "1:merged");
    assert_eq!(told.attempts(), "1:1", "no attempt is spent");
    assert_eq!(scene.trace("order"), "1 11");
    assert_eq!(scene.trace("log"), "By the agent");
    assert_eq!(
        scene.trace("setups"),
        "x x",
        "nothing of a setup comes along"
    );
    let at = scene.trace("at");
    let (first, second) = at.split_once(' ').unwrap();
    assert_eq!(first, second, "agents keep sessions by folder");
    assert_eq!(scene.show("pleach/batch-1", "whole"), "half");
    check_tidy(&scene);
}

#[test]
fn an_agent_that_changed_nothing_is_asked_again_on_whatever_node() {
    let shell = "echo \"$PLEACH_CONTINUES.\" >> BESIDE/order
        [ -z \"$PLEACH_CONTINUES\" ] || echo 'NO CHANGES NEEDED: it is there'";
    let settings = format!("no_changes = \"retry\"\n{ON_CLUSTER}");
    let scene = Scene::of("1", &settings, shell);
    let told = Behind::StandIn.start(&scene).story();
    told.check(0, "1:no_changes");
    assert_eq!(scene.trace("order"), ". 1.");
}

#[test]
fn what_waits_while_an_agent_is_limited_is_taken_back_and_nothing_begins_before_it_may() {
    let cluster = SlurmCluster::start(1);
    let shell = "echo $PLEACH_TASK$PLEACH_CONTINUES >> BESIDE/began
        if mkdir BESIDE/limit 2> /dev/null; then echo half > half
            until [ $(wc -l < BESIDE/began) = 4 ]; do sleep 0.1; done
            echo 'usage limit reached, retry after 9s'; exit 75; fi
        until [ -e BESIDE/go ]; do sleep 0.1; done; echo x > file-$PLEACH_TASK";
    let settings = format!("max_parallel = 12\n{ON_CLUSTER}");
    let tasks: Vec<String> = (1..=12).map(|task| task.to_string()).collect();
    let scene = Scene::of(&tasks.join(", "), &settings, shell);
    // At the real pace: what counts is who is faster, we or the queue.
    let mut run = Behind::Slurm(&cluster).run(&scene, &["run", "--yes"]);
    let mut run = Running::start(run.env(PACE, "1"));
    run.wait_for("batch:task:limited");
    let limited = Instant::now();
    while cluster.queue().iter().any(|line| line.ends_with("PENDING")) {
        assert!(limited.elapsed() < SOON, "{:?}", cluster.queue());
        thread::sleep(Duration::from_millis(50));
    }
    fs::write(scene.repo.beside("go"), "").unwrap();
    // The others are done, and their places are free.
    for _ in 0..3 {
        run.wait_for("batch:task:built");
    }
    assert_eq!(scene.trace("began").split(' ').count(), 4);
    let told = run.story();
    assert!(limited.elapsed() > Duration::from_secs(8));
    assert_eq!(told.code, 0, "{}", told.err);
    assert_eq!(told.told("batch:task:limited").len(), 1);
    let goes_on = scene.trace("began");
    let goes_on = goes_on
        .split(' ')
        .filter(|began| began.len() > 1 && began.ends_with('1'));
    assert!(goes_on.count() >= 1, "it goes on where it was");
    assert_eq!(scene.show("pleach/batch-1", "half"), "half");
}

#[test]
fn nodes_on_which_nothing_can_be_done_are_avoided() {
    let cluster = SlurmCluster::start(3);
    let settings = format!("max_parallel = 2\nvalidate = \"true\"\n{ON_CLUSTER}");
    let settings = settings.replace("\"BESIDE/node\"", "\"$NODE_DISK\"");
    let scene = Scene::of("1, 2, 3, 4", &settings, "echo x > file-$PLEACH_TASK");
    let nowhere = scene.repo.beside("not/mounted");
    cluster.set_on_node(1, "NODE_DISK", &nowhere);
    cluster.break_node(2);
    cluster.set_on_node(3, "NODE_DISK", &scene.repo.beside("node"));
    let told = Behind::Slurm(&cluster).start(&scene).story();
    told.check(0, "1:merged 2:merged 3:merged 4:merged");
    let lost = told.told("batch:task:lost");
    assert!(lost.len() <= 6, "{lost:?}");
    for node in ["n1", "n2"] {
        let avoided = format!("avoiding node {node}");
        assert_eq!(
            told.notes().matches(&avoided).count(),
            1,
            "{}",
            told.notes()
        );
    }
    assert!(
        told.told("batch:task:placed")
            .iter()
            .any(|data| data["node"] == "n3")
    );
    cluster.await_empty_queue();
    check_tidy(&scene);
}

#[test]
fn a_project_has_a_cache_on_each_node() {
    let shell = "cat $PLEACH_CACHE/kept > file-$PLEACH_TASK 2> /dev/null
        echo x >> file-$PLEACH_TASK; echo from $PLEACH_TASK > $PLEACH_CACHE/kept";
    let settings =
        format!("sandbox = \"strict\"\nvalidate = \"test -e $PLEACH_CACHE/kept\"\n{ON_CLUSTER}");
    let scene = Scene::of("1, 2 1", &settings, shell);
    Behind::StandIn
        .start(&scene)
        .story()
        .check(0, "1:merged 2:merged");
    assert_eq!(scene.show("pleach/batch-1", "file-2"), "from 1\nx");
}

/// An agent that tries all that it should not do, and notes what it could.
const HOSTILE: &str =
    "try() { what=$1; shift; if (\"$@\") > /dev/null 2>&1; then echo $what >> could; fi; }
    touch could
    try share touch 'BESIDE/share/x'
    for depot in BESIDE/share/*/depot.git; do try depot touch \"$depot/x\"; done
    for orders in BESIDE/share/*/*/orders; do try orders cat \"$orders\"; done
    try checkout touch 'BESIDE/project/x'
    try plan cat 'BESIDE/project/TODO.md'
    for own in BESIDE/node/pleach-*; do try fence cat \"$own/units/other/log\"; try node touch \"$own/x\"; done
    try state cat 'BESIDE/home/.local/state/pleach/pleach.db'
    git cat-file -p HEAD > /dev/null && echo history >> could
    touch $PLEACH_CACHE/x && echo cache >> could";

fn could(sandbox: &str) -> String {
    let settings = format!("sandbox = \"{sandbox}\"\n{ON_CLUSTER}");
    let scene = Scene::of("1", &settings, HOSTILE);
    let user = rustix::process::getuid().as_raw();
    let other = scene
        .repo
        .beside(&format!("node/pleach-{user}/units/other"));
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("log"), "").unwrap();
    Behind::StandIn.start(&scene).story().check(0, "1:merged");
    scene.show("pleach/batch-1", "could").replace('\n', " ")
}

#[test]
fn an_agent_on_a_node_can_reach_nothing_of_ours_or_the_users() {
    assert_eq!(could("landlock"), "history cache");
    // So it does try.
    let all = "share depot orders checkout plan fence node state history cache";
    assert_eq!(could("none"), all);
}

#[test]
fn a_sandbox_that_a_node_does_not_have_fails_the_task_for_good() {
    let tool = "echo '#!/bin/sh\nexec \"$@\"' > BESIDE/held; chmod +x BESIDE/held";
    let settings = format!(
        "retries = 3\nsandbox = [\"BESIDE/held\"]\n{}",
        &ON_CLUSTER["retries = 0\n".len()..]
    );
    let scene = Scene::of(
        "1, 2 1",
        &settings,
        "rm BESIDE/held; echo x > file-$PLEACH_TASK",
    );
    let beside = scene.repo.beside("");
    let tool = tool.replace("BESIDE/", beside.to_str().unwrap());
    assert!(
        std::process::Command::new("sh")
            .args(["-c", &tool])
            .status()
            .unwrap()
            .success()
    );
    let told = Behind::StandIn.start(&scene).story();
    told.check(1, "1:merged 2:failed");
    assert!(
        told.error_of("2").contains("held"),
        "{}",
        told.error_of("2")
    );
    assert_eq!(told.attempts(), "1:1 2:1");
}

#[test]
fn ignored_files_come_along_to_nodes_as_they_are() {
    let shell =
        "cat .env.local > copy; test -x bin/tool.sh && ls -l bin/link | sed 's/.*-> //' >> copy";
    let scene = Scene::of("1", ON_CLUSTER, shell);
    for (name, text) in [
        (".gitignore", ".env.local\nbin/\n"),
        (".worktreeinclude", ".env.local\nbin/\nlarge\n"),
    ] {
        scene.repo.write(name, text);
    }
    scene.repo.commit("what comes along");
    scene.repo.write(".env.local", "from here\n");
    scene.repo.write("bin/tool.sh", "#!/bin/sh\n");
    scene.repo.write("bin/large", "x".repeat(5 << 20));
    let tool = scene.repo.path().join("bin/tool.sh");
    fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("tool.sh", scene.repo.path().join("bin/link")).unwrap();
    let told = Behind::StandIn.start(&scene).story();
    told.check(0, "1:merged");
    assert_eq!(scene.show("pleach/batch-1", "copy"), "from here\ntool.sh");
    let notes = told.notes();
    assert_eq!(
        notes.matches("bin/large is not copied").count(),
        1,
        "{notes}"
    );
    check_tidy(&scene);
}

/// What the tests said of which tree on which node, of a batch with some guilty tasks.
fn judged(behind: &Behind<'_>, tasks: usize, guilty: &[usize]) -> (Story, Vec<(String, String)>) {
    let is_bad: Vec<String> = guilty
        .iter()
        .map(|task| format!("[ ! -e file-{task} ]"))
        .collect();
    let is_good = is_bad.join(" && ");
    let note = "echo $(git rev-parse 'HEAD^{tree}') ${PLEACH_NODE-none} >> BESIDE/ran";
    let settings = format!("max_parallel = 8\nvalidate = \"{note}; {is_good}\"\n{ON_CLUSTER}");
    let settings = match behind {
        Behind::Here => settings.replace("where = \"slurm\"", ""),
        _ => settings,
    };
    let all: Vec<String> = (1..=tasks).map(|task| task.to_string()).collect();
    let scene = Scene::of(&all.join(", "), &settings, "echo x > file-$PLEACH_TASK");
    let told = Running::start(&mut behind.run(&scene, &["run", "--yes"])).story();
    let ran = fs::read_to_string(scene.repo.beside("ran")).unwrap();
    let ran = ran.lines().filter_map(|line| line.split_once(' '));
    let ran = ran.map(|(tree, node)| (tree.to_owned(), node.to_owned()));
    (told, ran.collect())
}

#[test]
fn what_failed_on_a_node_is_tested_again_on_another_and_the_guilty_are_the_same_as_here() {
    let cluster = SlurmCluster::start(2);
    let tasks = gate_or_night(4, 16);
    let guilty: &[usize] = &[2, tasks];
    let (here, _) = judged(&Behind::Here, tasks, guilty);
    let (there, ran) = judged(&Behind::Slurm(&cluster), tasks, guilty);
    assert_eq!(there.outcomes(), here.outcomes(), "{}", there.err);
    assert_eq!(there.outcomes().matches("invalid").count(), 2);
    let mut nodes: HashMap<String, Vec<String>> = HashMap::new();
    for (tree, node) in ran {
        nodes.entry(tree).or_default().push(node);
    }
    let again: Vec<_> = nodes.values().filter(|nodes| nodes.len() > 1).collect();
    assert!(!again.is_empty(), "nothing is believed that failed once");
    for nodes in again {
        assert_ne!(nodes[0], nodes[1]);
    }
}
