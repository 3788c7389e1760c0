//! What differs from node to node: limits that hold for all, machines that cannot do anything, and what is closed there.

use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use pleach_system::pace::PACE;
use pleach_testkit::{SlurmCluster, gate_or_night};

use super::{Behind, ON_CLUSTER, check_tidy, tell};
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

/// When an agent began or was limited, as it notes it: a word, and seconds since 1970.
fn noted(scene: &Scene, name: &str) -> Vec<(String, f64)> {
    let text = fs::read_to_string(scene.repo.beside(name)).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.rsplit_once(' '));
    let lines = lines.map(|(word, at)| (word.to_owned(), at.parse().unwrap()));
    lines.collect()
}

/// Checks that nobody began between a limit and its end, and that whoever was limited goes on in its folder, with no
/// attempt spent; how long after the limit the next one began.
#[track_caller]
fn check_when_they_began(scene: &Scene, told: &Story, places: usize, pause: u32) -> f64 {
    let began = noted(scene, "began");
    let (who, when) = noted(scene, "limited").remove(0);
    let (task, _) = who.split_once('-').unwrap();
    let attempts = told.attempts();
    let is_first = |of: &str| of == format!("{task}:1");
    assert!(attempts.split(' ').any(is_first), "{attempts}");
    let goes_on = who.replacen("- ", "-1 ", 1);
    let goes_on = began.iter().filter(|(word, _)| *word == goes_on).count();
    assert_eq!(goes_on, 1, "it goes on where it was: {who}: {began:?}");
    let next = began[places..].iter().map(|(_, at)| at - when);
    let next = next.fold(f64::INFINITY, f64::min);
    assert!(next >= f64::from(pause), "limited at {when}: {began:?}");
    next
}

#[test]
fn what_waits_while_an_agent_is_limited_is_taken_back_and_nothing_begins_before_it_may() {
    let (count, nodes, places) = gate_or_night((12, 1, 4), (20, 5, 5));
    let (pause, cpus) = (gate_or_night(6, 9), 4 * nodes / places);
    let cluster = SlurmCluster::start(nodes);
    let shell = format!(
        "echo \"$PLEACH_TASK-$PLEACH_CONTINUES $PWD $(date +%s.%N)\" >> BESIDE/began
        if mkdir BESIDE/limit 2> /dev/null; then echo half > half
            until [ $(wc -l < BESIDE/began) = {places} ]; do sleep 0.1; done
            echo \"$PLEACH_TASK- $PWD $(date +%s.%N)\" > BESIDE/limited
            echo 'usage limit reached, retry after {pause}s'; exit 75; fi
        [ -z \"$PLEACH_CONTINUES\" ] || cat half > whole
        until [ -e BESIDE/go ]; do sleep 0.1; done; echo x > file-$PLEACH_TASK"
    );
    let settings = format!("max_parallel = {count}\nsizes.default.cpus = {cpus}\n{ON_CLUSTER}");
    let tasks: Vec<String> = (1..=count).map(|task| task.to_string()).collect();
    let scene = Scene::of(&tasks.join(", "), &settings, &shell);
    // At the real pace: what counts is who is faster, we or the queue.
    let mut run = Behind::Slurm(&cluster).run(&scene, &["run", "--yes"]);
    let mut run = Running::start(run.env(PACE, "1"));
    run.wait_for("batch:task:limited");
    let limited = Instant::now();
    while cluster.queue().iter().any(|line| line.ends_with("PENDING")) {
        assert!(limited.elapsed() < SOON, "{:?}", cluster.queue());
        thread::sleep(Duration::from_millis(50));
    }
    let taken_back = limited.elapsed();
    fs::write(scene.repo.beside("go"), "").unwrap();
    // The others are done, and their places are free.
    for _ in 1..places {
        run.wait_for("batch:task:built");
    }
    let told = run.story();
    assert_eq!(told.code, 0, "{}", told.err);
    assert_eq!(told.told("batch:task:limited").len(), 1);
    let next = check_when_they_began(&scene, &told, places, pause);
    let began = noted(&scene, "began").len();
    assert_eq!(began, count + 1, "each once, and the limited one again");
    assert_eq!(scene.show("pleach/batch-1", "whole"), "half");
    let waited = count - places;
    tell(
        18,
        &format!(
            "{waited} of {count} taken back after {taken_back:.1?}, the next began {next:.1} s after a limit of {pause} s"
        ),
    );
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
    for control in BESIDE/share/*/*/control; do try control dd if=/dev/null of=\"$control\" conv=notrunc; done
    try checkout touch 'BESIDE/project/x'
    try plan cat 'BESIDE/project/TODO.md'
    for own in BESIDE/node/pleach-*; do
        try fence cat \"$own/units/other/log\"; try twin touch \"$own/units/other/x\"; try node touch \"$own/x\"; done
    try state cat 'BESIDE/home/.local/state/pleach/pleach.db'
    git cat-file -p HEAD > /dev/null && echo history >> could
    touch $PLEACH_CACHE/x && echo cache >> could";

/// What it could, and what its card says of what holds it.
fn could(behind: &Behind<'_>, sandbox: &str) -> (String, String) {
    let settings = format!("sandbox = \"{sandbox}\"\n{ON_CLUSTER}");
    let scene = Scene::of("1", &settings, HOSTILE);
    let user = rustix::process::getuid().as_raw();
    let other = scene
        .repo
        .beside(&format!("node/pleach-{user}/units/other"));
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("log"), "").unwrap();
    behind.start(&scene).story().check(0, "1:merged");
    let words = ["status", "1", "--json"];
    let status = crate::pleach(scene.repo.path(), &scene.home(), &words).json();
    let card = &status["batches"][0]["tasks"][0]["sandbox"];
    let could = scene.show("pleach/batch-1", "could").replace('\n', " ");
    (could, card.as_str().unwrap().to_owned())
}

#[test]
fn an_agent_on_a_node_can_reach_nothing_of_ours_or_the_users() {
    let cluster = gate_or_night(0, 1);
    let cluster = (cluster > 0).then(|| SlurmCluster::start(cluster));
    let behind = cluster.as_ref().map_or(Behind::StandIn, Behind::Slurm);
    let held = ("history cache".to_owned(), "landlock".to_owned());
    assert_eq!(could(&behind, "landlock"), held);
    // So it does try.
    let all = "share depot orders control checkout plan fence twin node state history cache";
    assert_eq!(could(&behind, "none"), (all.to_owned(), "none".to_owned()));
    let refused = all.split(' ').count() - 2;
    tell(
        21,
        &format!("{refused} of {refused} refused under landlock, and none without"),
    );
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

/// What the tests said of a batch: how it ended, each tree that they ran on, with its node, and those of them that are
/// good and of which they said that they are not.
struct Judged {
    told: Story,
    ran: Vec<(String, String)>,
    flaky: Vec<String>,
}

/// One run of twenty on what is good fails for nothing, the first of them at the latest.
const FLAKY: &str = "n=1; until mkdir BESIDE/good-$n 2> /dev/null; do n=$((n + 1)); done; \
     [ $((n % 20)) != 1 ] || { echo $tree >> BESIDE/flaky; exit 1; }";

/// Runs a batch with some guilty tasks.
fn judged(behind: &Behind<'_>, tasks: usize, guilty: &[usize]) -> Judged {
    let is_bad: Vec<String> = guilty
        .iter()
        .map(|task| format!("[ ! -e file-{task} ]"))
        .collect();
    let is_good = is_bad.join(" && ");
    let note = "tree=$(git rev-parse 'HEAD^{tree}'); echo $tree ${PLEACH_NODE-none} >> BESIDE/ran";
    let tests = format!("{note}; {is_good} || exit 1; {FLAKY}");
    let settings = format!("max_parallel = 8\nvalidate = \"{tests}\"\n{ON_CLUSTER}");
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
    let flaky = scene.trace("flaky");
    Judged {
        told,
        ran: ran.collect(),
        flaky: flaky.split_whitespace().map(str::to_owned).collect(),
    }
}

#[test]
fn what_failed_on_a_node_is_tested_again_on_another_and_the_guilty_are_the_same_as_here() {
    let cluster = SlurmCluster::start(2);
    let tasks = gate_or_night(4, 16);
    let guilty: &[usize] = &[2, tasks];
    let here = judged(&Behind::Here, tasks, guilty);
    let there = judged(&Behind::Slurm(&cluster), tasks, guilty);
    let (outcomes, err) = (there.told.outcomes(), &there.told.err);
    assert_eq!(outcomes, here.told.outcomes(), "{err}");
    for task in 1..=tasks {
        let is_guilty = outcomes
            .split(' ')
            .any(|of| of == format!("{task}:invalid"));
        assert_eq!(is_guilty, guilty.contains(&task), "{outcomes}");
    }
    let mut nodes: HashMap<String, Vec<String>> = HashMap::new();
    for (tree, node) in &there.ran {
        nodes.entry(tree.clone()).or_default().push(node.clone());
    }
    for judged in [&here, &there] {
        assert!(!judged.flaky.is_empty(), "nothing fails for nothing");
    }
    let again: Vec<_> = nodes.values().filter(|nodes| nodes.len() > 1).collect();
    assert!(!again.is_empty(), "nothing is believed that failed once");
    for nodes in &again {
        assert_ne!(nodes[0], nodes[1]);
    }
    tell(
        20,
        &format!(
            "{tasks} tasks, 2 of them guilty as here; {} of {} runs failed for nothing, {} trees tested again on another node",
            there.flaky.len(),
            there.ran.len(),
            again.len()
        ),
    );
}
