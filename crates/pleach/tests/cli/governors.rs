//! What holds a run back: disk, memory, limits of agents, overload, budgets, how busy the machine is.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;

use crate::scene::{Gate, Running, Scene, WAIT};
use crate::{command, pleach};

/// A kernel that says what the test wants, instead of the real one.
struct Kernel {
    folder: PathBuf,
}

impl Kernel {
    fn of(scene: &Scene) -> Self {
        let folder = scene.repo.beside("proc");
        fs::create_dir_all(folder.join("pressure")).unwrap();
        let kernel = Self { folder };
        kernel.says("meminfo", &memory(900));
        kernel.says("loadavg", "0.00 0.00 0.00 1/1 1\n");
        kernel
    }

    /// All at once, for somebody may be reading.
    fn says(&self, name: &str, text: &str) {
        let draft = self.folder.join("draft");
        fs::write(&draft, text).unwrap();
        fs::rename(draft, self.folder.join(name)).unwrap();
    }

    fn start(&self, scene: &Scene, words: &[&str]) -> Running {
        let words: Vec<&str> = ["run", "--yes", "--json"]
            .iter()
            .chain(words)
            .copied()
            .collect();
        let mut command = command(scene.repo.path(), &scene.home(), &words);
        Running::start(command.env("PLEACH_PROC", &self.folder))
    }
}

fn memory(available: u32) -> String {
    format!("MemTotal: 1000 kB\nMemAvailable: {available} kB\n")
}

fn status(scene: &Scene) -> Value {
    let answer = pleach(
        scene.repo.path(),
        &scene.home(),
        &["status", "--json", "--all"],
    );
    let batches: Value = serde_json::from_str(&answer.good()).unwrap();
    batches["batches"].clone()
}

fn cancel(scene: &Scene, batch: &str) {
    pleach(scene.repo.path(), &scene.home(), &["cancel", batch]).good();
}

#[test]
fn nothing_starts_while_the_disk_is_nearly_full() {
    let scene = Scene::of("1, 2", "min_free_disk = \"9000TiB\"", "touch BESIDE/ran");
    let mut running = scene.start(&[]);
    running.wait_for("batch:held");
    let held = status(&scene)[0]["held"].as_str().unwrap().to_owned();
    assert!(
        held.starts_with("less than 9216000 GiB free disk for ")
            && held.ends_with("(min_free_disk)"),
        "{held}"
    );
    cancel(&scene, "1");
    let story = running.story();
    story.check(130, "1:cancelled 2:cancelled");
    assert_eq!(story.told("batch:held").len(), 1, "it is said once");
    assert!(!scene.repo.beside("ran").exists());
    assert_eq!(status(&scene)[0]["held"], Value::Null);
}

#[test]
fn nothing_starts_while_memory_is_short_and_all_goes_on_then() {
    let scene = Scene::of("1, 2", "", "echo x > $PLEACH_TASK");
    let kernel = Kernel::of(&scene);
    kernel.says("meminfo", &memory(49));
    let mut running = kernel.start(&scene, &[]);
    running.wait_for("memory is nearly used up");
    kernel.says("meminfo", &memory(51));
    kernel.says("pressure/memory", "some avg10=80.00 avg60=0.00 total=1\n");
    running.wait_for("processes are waiting for memory");
    kernel.says("pressure/memory", "some avg10=0.00 avg60=0.00 total=1\n");
    running.wait_for("batch:unheld");
    running.story().check(0, "1:merged 2:merged");
}

/// The first agent of all is limited; it says so, and leaves something behind.
const LIMITED_ONCE: &str = "echo \"$PLEACH_TASK$PLEACH_CONTINUES\" >> BESIDE/order
    if mkdir BESIDE/limit 2> /dev/null; then echo half > half; echo LIMIT; exit 75; fi
    ls half >> BESIDE/found 2> /dev/null; echo x > $PLEACH_TASK";

#[test]
fn a_limit_pauses_until_the_stated_reset_and_the_agent_goes_on_where_it_was() {
    let shell = LIMITED_ONCE.replace("LIMIT", "usage limit reached, retry after 1500ms");
    let settings = "max_parallel = 1\nsetup = \"echo $PLEACH_TASK >> BESIDE/setups\"";
    let scene = Scene::of("1, 2", settings, &shell);
    let story = scene.story(&[]);
    story.check(0, "1:merged 2:merged");
    let limited = story.told("batch:task:limited");
    assert_eq!(limited[0]["pauseMs"], 1500);
    assert_eq!(limited.len(), 1);
    // Nothing else was started meanwhile, for it would have been limited too.
    assert_eq!(scene.trace("order"), "1 11 2");
    assert_eq!(scene.trace("found"), "half", "only its own task finds it");
    assert_eq!(scene.trace("setups"), "1 2", "what is set up stays so");
    assert_eq!(story.attempts(), "1:1 2:1", "no attempt is spent");
    assert_eq!(scene.show("pleach/batch-1", "half"), "half");
}

#[test]
fn an_agent_whose_worktree_has_gone_meanwhile_begins_anew() {
    let shell = LIMITED_ONCE.replace("LIMIT", "usage limit reached, retry after 4s");
    let shell = format!("pwd > BESIDE/at; {shell}");
    let settings = "setup = \"echo $PLEACH_TASK >> BESIDE/setups\"";
    let scene = Scene::of("1", settings, &shell);
    let mut running = scene.start(&[]);
    running.wait_for("batch:task:limited");
    let at = scene.trace("at");
    let git_folder = ["rev-parse", "--absolute-git-dir"];
    let git_folder = scene.repo.git_in(Path::new(&at), &git_folder);
    for gone in [at, git_folder] {
        std::fs::remove_dir_all(gone).unwrap();
    }
    running.story().check(0, "1:merged");
    // It is not told that what it did before is still there, and what it needs is set up again.
    assert_eq!(scene.trace("order"), "1 1");
    assert_eq!(scene.trace("setups"), "1 1");
}

#[test]
fn a_limit_without_a_stated_reset_pauses_for_longer_and_longer() {
    let shell = "echo x >> BESIDE/tries; [ $(wc -l < BESIDE/tries) -gt 3 ] || exit 75
        echo x > $PLEACH_TASK";
    let settings = "retry_pause = \"20ms\"\nretries = 0\nmax_parallel = 1";
    let story = Scene::of("1", settings, shell).story(&[]);
    story.check(0, "1:merged");
    let pauses: Vec<u64> = story
        .told("batch:task:limited")
        .iter()
        .map(|data| data["pauseMs"].as_u64().unwrap())
        .collect();
    let between = |at: usize, least: u64, most: u64| (least..=most).contains(&pauses[at]);
    assert!(
        pauses.len() == 3 && between(0, 15, 25) && between(1, 30, 50) && between(2, 60, 100),
        "{pauses:?}"
    );
    assert_eq!(story.attempts(), "1:1");
}

#[test]
fn other_batches_of_a_limited_agent_wait_and_those_of_another_go_on() {
    let limited = "echo 'out of tokens, retry after 1h'; exit 75";
    let scene = Scene::of("1, 2, 3", "retries = 0", limited);
    let mut first = scene.start(&["1"]);
    first.wait_for("batch:task:limited");
    let mut second = scene.start(&["2"]);
    second.wait_for("shell is paused until ");
    let other = "[agents.other]\ncommand = [\"sh\", \"-c\", \"echo x > $PLEACH_TASK\"]\n";
    let config = fs::read_to_string(scene.repo.path().join("pleach.toml")).unwrap();
    scene.repo.write("pleach.toml", config + other);
    let words = ["run", "--yes", "--json", "--agent", "other", "3"];
    let third = pleach(scene.repo.path(), &scene.home(), &words);
    assert_eq!(third.code, 0, "{}", third.err);
    cancel(&scene, "1");
    cancel(&scene, "2");
    first.story().check(130, "1:cancelled");
    second.story().check(130, "2:cancelled");
}

#[test]
fn overload_halves_what_runs_at_once_and_success_gives_it_back() {
    let shell = "WAIT
        if mkdir BESIDE/a 2> /dev/null || mkdir BESIDE/b 2> /dev/null; then exit 69; fi
        echo x > $PLEACH_TASK";
    let settings = "max_parallel = 4\nretry_pause = \"10ms\"\nretries = 0";
    let scene = Scene::of("1, 2, 3, 4, 5, 6", settings, &shell.replace("WAIT", WAIT));
    let mut gate = Gate::at(&scene);
    let mut running = scene.start(&[]);
    assert_eq!(gate.wait_for(4), "1 2 3 4");
    gate.let_go(2);
    running.wait_for("batch:slots");
    gate.let_go(6);
    let story = running.story();
    assert_eq!(story.code, 0, "{}", story.err);
    let slots: Vec<u64> = story
        .told("batch:slots")
        .iter()
        .map(|data| data["slots"].as_u64().unwrap())
        .collect();
    assert_eq!(slots, [2, 3, 4]);
    assert_eq!(story.told("batch:task:retrying").len(), 2);
    assert!(story.attempts().split(' ').all(|task| task.ends_with(":1")));
}

/// An agent that tells what it takes, and would go on for ever.
const SPENDS: &str =
    "echo '{\"pleach\": {\"tokens\": 1200, \"usd\": 0.5, \"action\": \"thinking\"}}'
    echo half > half-$PLEACH_TASK; WAIT; echo done > done-$PLEACH_TASK";

#[test]
fn an_agent_that_has_spent_the_budget_of_its_task_is_stopped_while_it_works() {
    let shell = SPENDS.replace("WAIT", WAIT);
    for (budget, said) in [
        (
            "task_budget_tokens = 1000",
            "its budget of 1000 tokens is used up (1200)",
        ),
        (
            "task_budget_usd = 0.25",
            "its budget of $0.25 is used up ($0.50)",
        ),
    ] {
        let scene = Scene::of("1", &format!("{budget}\nretries = 2"), &shell);
        let _gate = Gate::at(&scene);
        let story = scene.story(&[]);
        story.check(1, "1:failed");
        assert_eq!(story.error_of("1"), said);
        assert_eq!(story.attempts(), "1:1", "more of the same is not tried");
        let task = &story.summary()["tasks"][0];
        assert_eq!(
            (&task["tokens"], &task["cost"]),
            (&1200.into(), &0.5.into())
        );
        // Its work is kept like any other.
        assert_eq!(scene.show("pleach/task-1/1", "half-1"), "half");
    }
}

#[test]
fn a_batch_that_has_spent_its_budget_stops_what_runs_and_starts_nothing() {
    let shell = SPENDS.replace("WAIT", "[ $PLEACH_TASK = 1 ] && exit 0; WAIT");
    let shell = shell.replace("WAIT", WAIT);
    let settings = "budget_tokens = 2000\nmax_parallel = 1";
    let scene = Scene::of("1, 2, 3", settings, &shell);
    let _gate = Gate::at(&scene);
    let story = scene.story(&[]);
    story.check(1, "1:merged 2:cancelled 3:cancelled");
    assert_eq!(story.status(), "failed");
    let error = story.told("batch:failed")[0]["error"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(error, "the batch's budget of 2000 tokens is used up (2400)");
    assert_eq!(scene.show("pleach/task-1/2", "half-2"), "half");
}

#[test]
fn auto_begins_with_three_and_follows_the_machine() {
    let scene = Scene::of("1, 2, 3, 4, 5", "max_parallel = \"auto\"", WAIT);
    let kernel = Kernel::of(&scene);
    let mut gate = Gate::at(&scene);
    kernel.says("loadavg", "9999.00 0.00 0.00 1/1 1\n");
    let mut running = kernel.start(&scene, &[]);
    assert_eq!(gate.wait_for(3), "1 2 3");
    running.wait_for("the machine is busy");
    gate.let_go(1);
    running.wait_for("no_changes");
    gate.let_go(4);
    let story = running.story();
    assert_eq!(story.told("batch:slots")[0]["slots"], 2);
    assert_eq!(story.code, 0);
}
