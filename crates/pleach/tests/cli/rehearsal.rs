//! `run --dry-run`: everything that would be done is said, and nothing is.

use rustix::process::Signal;
use serde_json::json;

use crate::scene::{Gate, Scene, WAIT};
use crate::{Answer, command};

const PLAN: &str = "\
- [ ] 1.1 Write `a.md`
- [ ] 1.2 Write `a.md` again
- [ ] 2.1 Read it (depends: 1.2)
- [x] 2.2 Done
";

const SETTINGS: &str = "\
max_parallel = 2
retries = 1
setup = \"make ready\"
validate = \"make test\"
";

fn dry_run(scene: &Scene, words: &[&str]) -> Answer {
    let words: Vec<&str> = ["run", "--dry-run"].iter().chain(words).copied().collect();
    let mut command = command(scene.repo.path(), &scene.home(), &words);
    command
        .env("MY_AGENT_KEY", "hunter2")
        .output()
        .unwrap()
        .into()
}

/// A plan with a collision, and an agent that gets a secret.
fn scene() -> Scene {
    let scene = Scene::with(SETTINGS, PLAN, "echo x > x");
    let config = std::fs::read_to_string(scene.repo.path().join("pleach.toml")).unwrap();
    let config = format!("{config}env = [\"MY_AGENT_KEY\"]\n");
    scene.repo.write("pleach.toml", config);
    scene.repo.commit("an agent with a key");
    scene
}

#[test]
fn everything_is_said_in_words() {
    let scene = scene();
    let before = scene.repo.fingerprint();
    let told = dry_run(&scene, &[]).good();
    for part in [
        "TODO.md · 3 tasks to do",
        "after 1.1: both declare a.md",
        "needs 1.2",
        "at most 2 at once",
        "make ready",
        "make test",
        "1, into pleach/batch-1",
        "pleach/task-1/1.1",
        "batch-1\n",
        "sh -c 'echo x > x'",
        "MY_AGENT_KEY",
        "PLEACH_TASK",
        "1, first after",
        "none: no remote",
        "needed for agents.shell.command, agents.shell.env, sandbox_write, setup, validate, pleach.toml",
        "nothing was done",
        &scene.repo.head(),
    ] {
        assert!(told.contains(part), "no {part}:\n{told}");
    }
    assert!(!told.contains("hunter2"), "values are not shown");
    assert!(!scene.state().exists(), "not even the state folder is made");
    assert_eq!(scene.repo.fingerprint(), before);
}

#[test]
fn programs_get_the_same() {
    let scene = scene();
    scene.repo.git(&[
        "remote",
        "add",
        "origin",
        "https://github.com/ada/garden.git",
    ]);
    let answer = dry_run(&scene, &["--json", "1.1", "1.2", "--pr"]);
    let told = answer.json();
    assert_eq!(told["waves"], json!([["1.1"], ["1.2"]]));
    assert_eq!(told["tasks"][1]["waitsFor"], json!(["1.1"]));
    assert_eq!(told["tasks"][1]["branch"], "pleach/task-1/1.2");
    assert_eq!(told["ordered"][0]["because"], "both declare a.md");
    assert_eq!(told["base"], scene.repo.head());
    assert_eq!(told["maxConcurrent"], 2);
    let landing = &told["landing"];
    assert_eq!(landing["forge"], "github");
    assert_eq!(landing["kind"], "pr");
    assert_eq!(landing["target"], "main");
    assert_eq!(told["agent"]["command"], json!(["sh", "-c", "echo x > x"]));
    assert_eq!(told["steeringFiles"], json!(["pleach.toml"]));
    assert!(!answer.out.contains("hunter2"));
    assert!(!scene.state().exists());
    assert_eq!(answer.code, 0);
}

#[test]
fn what_earlier_runs_took_is_known_and_the_next_number_is_named() {
    let scene = Scene::new(
        "- [ ] 1 A\n- [ ] 2 B\n",
        "echo $PLEACH_TASK > f$PLEACH_TASK",
    );
    scene.run(&["1"]).good();
    let told = dry_run(&scene, &["--json"]).json();
    assert_eq!(told["number"], 2);
    assert!(
        told["expectedSeconds"]
            .as_f64()
            .is_some_and(|time| time > 0.0),
        "{told}"
    );
    let told = dry_run(&scene, &[]).good();
    assert!(told.contains("based on past runs of other tasks"), "{told}");
}

#[test]
fn what_is_wrong_is_said_as_by_a_run() {
    let scene = Scene::new("- [ ] 1 A\n", "true");
    dry_run(&scene, &["7"]).bad(2);
    let error = dry_run(&scene, &["--base", "nowhere"]).bad(2);
    assert!(error.contains("nowhere"), "{error}");
    assert!(!scene.state().exists());
}

#[test]
fn it_names_the_branches_consent_and_interrupted_batches_of_a_real_run() {
    let settings = "land = \"none\"\nvalidate = \"true\"\nbranch_prefix = \"bot\"\nbatch_branch = \"work/{{batch}}\"\n\
                    task_branch = \"{{prefix}}/{{batch}}/{{task}}-{{slug}}\"\nretries = 0";
    let scene = Scene::with(
        settings,
        "- [ ] AUTH-14: Let people in\n- [ ] T001 Other\n",
        "echo x > x; test $PLEACH_TASK = T001",
    );
    let told = dry_run(&scene, &["--json"]).json();
    assert_eq!(told["batchBranch"], "work/1");
    assert_eq!(told["tasks"][0]["branch"], "bot/1/AUTH-14-let-people-in");
    let asked = json!([
        "agents.shell.command",
        "sandbox_write",
        "validate",
        "pleach.toml"
    ]);
    assert_eq!(told["consent"], asked);
    assert_eq!(told["interrupted"], json!([]));
    assert_eq!(scene.run(&["all"]).code, 1);
    let branches = scene.repo.git(&["branch", "--format=%(refname:short)"]);
    for branch in ["work/1", "bot/1/AUTH-14-let-people-in"] {
        assert!(branches.contains(branch), "{branches}");
    }
    let told = dry_run(&scene, &["--json", "AUTH-14"]).json();
    assert_eq!(told["consent"], json!([]), "given before");
}

#[test]
fn it_names_the_batch_that_is_interrupted() {
    let scene = Scene::new("- [ ] 1 A\n- [ ] 2 B\n", WAIT);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["1"]);
    gate.wait_for(1);
    run.signal(Signal::KILL);
    run.answer();
    let told = dry_run(&scene, &["--json", "2"]).json();
    assert_eq!(told["interrupted"], json!([1]));
}
