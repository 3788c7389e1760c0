//! The tests run on the base beside the first agents, and a red one is told before it has cost anything.

use pleach_loop::BASE_CHECK;
use serde_json::{Value, json};

use crate::scene::{Gate, Running, Scene, Story, WAIT};

const PLAN: &str = "- [ ] 1.1 A\n- [ ] 1.2 B\n";

fn start(scene: &Scene, words: &[&str]) -> Running {
    let words = [&["run", "--yes", "--json"], words].concat();
    let mut command = crate::command(scene.repo.path(), &scene.home(), &words);
    Running::start(command.env_remove(BASE_CHECK))
}

/// The verdicts on the base alone.
fn of_base(story: &Story) -> Vec<Value> {
    let judged = story.told("batch:judged").into_iter();
    let of_base = judged.filter(|run| run["tasks"] == json!([]));
    of_base.map(|run| run["run"].clone()).collect()
}

fn held() -> String {
    format!("{WAIT}; echo x > file-$PLEACH_TASK")
}

#[test]
fn a_red_base_is_told_while_agents_work_and_takes_no_slot() {
    let settings = "land = \"none\"\nparallel_limit = 1\nvalidate = \"false\"";
    let scene = Scene::with(settings, PLAN, &held());
    let mut gate = Gate::at(&scene);
    let mut running = start(&scene, &["-j", "1"]);
    gate.wait_for(1);
    running.wait_for("batch:judged");
    running.wait_for("batch:judged");
    let status = crate::pleach(scene.repo.path(), &scene.home(), &["status", "1", "--json"]);
    let status: Value = serde_json::from_str(&status.good()).unwrap();
    let validation = &status["batches"][0]["validation"];
    assert_eq!(validation["baseRed"], true, "{validation}");
    running.wait_for("pleach cancel 1");
    gate.let_go(1);
    gate.wait_for(1);
    gate.let_go(1);
    let story = running.story();
    story.check(1, "1.1:merged 1.2:merged");
    assert_eq!(story.status(), "failed");
    assert_eq!(story.told("batch:not_proved")[0]["doubt"], "base_red");
    assert_eq!(scene.plan(), PLAN, "nothing is done");
    let numbers = story.told("batch:judged").into_iter();
    let numbers: Vec<_> = numbers.map(|run| run["number"].as_u64()).collect();
    let gapless: Vec<_> = (1..=numbers.len() as u64).map(Some).collect();
    assert_eq!(numbers, gapless);
    scene.check_nobody_is_left();
}

#[test]
fn what_mends_a_red_base_is_proved() {
    let settings = "land = \"none\"\nvalidate = \"[ -e file-1.1 ]\"";
    let scene = Scene::with(settings, PLAN, &held());
    let mut gate = Gate::at(&scene);
    let mut running = start(&scene, &["1.1"]);
    gate.wait_for(1);
    running.wait_for("batch:judged");
    running.wait_for("batch:judged");
    gate.let_go(1);
    let story = running.story();
    story.check(0, "1.1:merged");
    assert_eq!(of_base(&story), ["red", "red"]);
    assert_eq!(story.status(), "completed");
    assert_eq!(scene.plan(), "- [x] 1.1 A\n- [ ] 1.2 B\n");
}

#[test]
fn a_green_base_is_run_once_for_all_batches() {
    let settings = "land = \"none\"\nvalidate = \"true\"";
    let scene = Scene::with(settings, PLAN, &held());
    let mut gate = Gate::at(&scene);
    for (task, expected) in [("1.1", vec![json!("green")]), ("1.2", Vec::new())] {
        let mut running = start(&scene, &[task]);
        gate.wait_for(1);
        if !expected.is_empty() {
            running.wait_for("batch:judged");
        }
        gate.let_go(1);
        let story = running.story();
        story.check(0, &format!("{task}:merged"));
        assert_eq!(of_base(&story), expected);
    }
    // Also one that was stopped before it had a verdict would have had a log.
    let logs = std::fs::read_dir(scene.state().join("batches/2/validation")).unwrap();
    let logs: Vec<_> = logs.map(|log| log.unwrap().file_name()).collect();
    assert_eq!(logs, ["run-1"], "the one of the result");
}

#[test]
fn tests_that_hang_on_the_base_hold_nobody_up() {
    let settings = "land = \"none\"\nvalidate = \"[ -e file-1.1 ] || { echo base > BESIDE/arrived; sleep 600; }\"";
    let scene = Scene::with(settings, PLAN, &held());
    let mut gate = Gate::at(&scene);
    let running = start(&scene, &["1.1"]);
    assert_eq!(gate.wait_for(2), "1.1 base");
    gate.let_go(1);
    let story = running.story();
    story.check(0, "1.1:merged");
    assert_eq!(of_base(&story), Vec::<Value>::new());
    scene.check_nobody_is_left();
}
