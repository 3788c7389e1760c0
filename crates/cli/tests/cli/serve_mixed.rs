//! Batches over HTTP of tasks that live in several places: in plan files and on the board.

use pleach_testkit::Answered;
use serde_json::{Value, json};

use crate::pleach;
use crate::scene::Gate;
use crate::serving::Serving;
use crate::table::{ADDS_A_FILE, Table, outcomes, patient, until_over};

const PLAN: &str = "- [ ] 1. Dig\n- [ ] 2. Sow (depends: 1)\n";

/// A project with tasks on its board and in TODO.md; both count from 1.
struct Garden {
    table: Table,
    server: Serving,
    in_file: Vec<String>,
}

impl Garden {
    fn new(plan: &str, on_board: usize, shell: &str) -> Self {
        let table = Table::new(on_board, "land = \"none\"", shell);
        table.scene.repo.write("TODO.md", plan);
        let server = table.serve();
        let mut garden = Self {
            table,
            server,
            in_file: Vec::new(),
        };
        garden.in_file = garden.import(&json!({"path": "TODO.md"}));
        garden
    }

    fn import(&self, what: &Value) -> Vec<String> {
        let mut body = json!({"projectId": self.table.project});
        let what = what.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(what);
        let imported = self.server.post("/api/tasks/import", &body).good(200);
        let tasks = imported["tasks"].as_array().unwrap().iter();
        let ids = tasks.map(|task| task["id"].as_str().unwrap().to_owned());
        ids.collect()
    }

    /// The first task of the file and the first of the board, in the order in which a batch has them.
    fn both(&self) -> [&String; 2] {
        [&self.in_file[0], &self.table.tasks[0]]
    }

    fn ask(&self, tasks: &[&String]) -> Answered {
        let body = json!({"taskIds": tasks});
        self.server.post("/api/batches", &body)
    }

    fn preview(&self, options: &Value) -> Value {
        let answer = self.server.post("/api/batches/preview", options);
        answer.good(200)
    }

    fn terminal(&self, words: &[&str]) -> crate::Answer {
        let scene = &self.table.scene;
        pleach(scene.repo.path(), &scene.home(), words)
    }

    /// What a task says of its last batch.
    fn last_batch(&self, task: &str) -> Value {
        let task = self.server.get(&format!("/api/tasks/{task}")).good(200);
        json!([task["batch"]["number"], task["batch"]["outcome"]])
    }
}

fn ids_and_keys(batch: &Value) -> Value {
    let tasks = batch["tasks"].as_array().unwrap().iter();
    let pairs = tasks.map(|task| json!([task["taskId"], task["key"]]));
    pairs.collect()
}

#[test]
fn a_batch_marks_tasks_of_a_file_and_of_the_board_where_they_live() {
    let garden = Garden::new(PLAN, 1, ADDS_A_FILE);
    let [of_file, of_board] = garden.both();
    // The order of the request does not matter.
    let made = garden.ask(&[of_board, of_file]).good(201);
    let pairs = json!([[of_file, "1"], [of_board, "board-1"]]);
    assert_eq!(ids_and_keys(&made), pairs);
    let over = until_over(&garden.server, 1);
    assert_eq!(outcomes(&over), "1:merged board-1:merged");
    assert_eq!(ids_and_keys(&over), pairs);
    let scene = &garden.table.scene;
    assert_eq!(scene.plan(), PLAN.replace("[ ] 1", "[x] 1"));
    assert_eq!(garden.table.marks(), "completed");
    assert_eq!(
        scene.new_files("pleach/batch-1"),
        "file-1 file-board-1",
        "each has a worktree of its own"
    );
    for (id, key) in [(of_file, "1"), (of_board, "board-1")] {
        assert_eq!(garden.last_batch(id), json!([1, "merged"]));
        let path = format!("/api/tasks/{id}/attempts");
        let attempts = garden.server.get(&path).good(200);
        assert_eq!(attempts["attempts"][0]["outcome"], "merged", "{attempts}");
        assert_eq!(attempts["attempts"].as_array().unwrap().len(), 1);
        for name in [id, key] {
            let path = format!("/api/batches/1/tasks/{name}/diff");
            garden.server.get(&path).good(200);
        }
    }
    assert_eq!(garden.last_batch(&garden.in_file[1]), json!([null, null]));
}

#[test]
fn events_of_a_mixed_batch_carry_the_ids_of_its_tasks() {
    let garden = Garden::new(PLAN, 1, ADDS_A_FILE);
    let [of_file, of_board] = garden.both();
    let mut stream = garden.server.listen("/api/events?from=0", &[]).unwrap();
    garden.ask(&garden.both()).good(201);
    let mut heard = Vec::new();
    loop {
        let event = stream.next_event().unwrap();
        if event.event == "batch:created" {
            assert_eq!(event.data["tasks"], json!([of_file, of_board]));
            assert_eq!(event.data["keys"], json!(["1", "board-1"]));
        }
        if event.event == "batch:task:completed" {
            heard.push(json!([event.data["taskId"], event.data["key"]]));
        }
        if event.event == "batch:completed" {
            break;
        }
    }
    heard.sort_by_key(|pair| pair[1].as_str().unwrap().to_owned());
    assert_eq!(heard, [json!([of_file, "1"]), json!([of_board, "board-1"])]);
}

#[test]
fn a_task_of_a_mixed_batch_is_in_no_other_batch_while_that_runs() {
    let garden = Garden::new(PLAN, 2, &patient());
    let mut gate = Gate::at(&garden.table.scene);
    garden.ask(&garden.both()).good(201);
    assert_eq!(gate.wait_for(2), "1 board-1");
    for task in garden.both() {
        assert_eq!(garden.ask(&[task]).bad(409), "task_busy");
        let shown = garden.preview(&json!({"taskIds": [task]}));
        assert_eq!(shown["refusal"]["code"], "task_busy");
    }
    let second = &garden.table.tasks[1];
    let mixed = [&garden.in_file[0], second];
    assert_eq!(garden.ask(&mixed).bad(409), "task_busy");
    let error = garden.terminal(&["run", "--yes", "1"]).bad(2);
    assert!(error.contains("batch 1"), "{error}");
    gate.let_go(2);
    until_over(&garden.server, 1);
}

#[test]
fn a_task_of_the_board_keeps_no_task_of_a_file_from_running() {
    let garden = Garden::new(PLAN, 1, &patient());
    let mut gate = Gate::at(&garden.table.scene);
    let [of_file, of_board] = garden.both();
    garden.ask(&[of_board]).good(201);
    assert_eq!(gate.wait_for(1), "1");
    assert_eq!(garden.ask(&[of_file, of_board]).bad(409), "task_busy");
    garden.ask(&[of_file]).good(201);
    assert_eq!(gate.wait_for(1), "1");
    gate.let_go(2);
    for batch in [1, 2] {
        assert_eq!(outcomes(&until_over(&garden.server, batch)), "1:merged");
    }
}

#[test]
fn a_mixed_batch_goes_on_after_a_power_cut() {
    let garden = Garden::new(PLAN, 1, &patient());
    let mut gate = Gate::at(&garden.table.scene);
    let made = garden.ask(&garden.both()).good(201);
    assert_eq!(gate.wait_for(2), "1 board-1");
    let Garden { table, server, .. } = garden;
    server.kill();
    let server = table.serve();
    assert_eq!(gate.wait_for(2), "1 board-1");
    gate.let_go(2);
    let over = until_over(&server, 1);
    assert_eq!(outcomes(&over), "1:merged board-1:merged");
    assert_eq!(ids_and_keys(&over), ids_and_keys(&made));
    assert_eq!(table.scene.plan(), PLAN.replace("[ ] 1", "[x] 1"));
    assert_eq!(table.marks(), "completed");
    table.scene.check_no_worktree_is_left();
}

#[test]
fn a_terminal_takes_the_task_of_its_plan_from_a_mixed_batch_that_nobody_runs() {
    let garden = Garden::new(PLAN, 1, &patient());
    let mut gate = Gate::at(&garden.table.scene);
    garden.ask(&garden.both()).good(201);
    gate.wait_for(2);
    let Garden { table, server, .. } = garden;
    server.kill();
    let run = table.scene.start(&["1"]);
    assert_eq!(gate.wait_for(1), "1");
    gate.let_go(1);
    run.story().check(0, "1:merged");
    let server = table.serve();
    assert_eq!(gate.wait_for(1), "board-1");
    gate.let_go(1);
    let over = until_over(&server, 1);
    assert_eq!(outcomes(&over), "1:blocked board-1:merged");
    assert_eq!(table.scene.plan(), PLAN.replace("[ ] 1", "[x] 1"));
    assert_eq!(table.marks(), "completed");
}

/// Tasks of that id fail until somebody says otherwise.
fn reluctant(task: &str) -> String {
    format!("[ $PLEACH_TASK != {task} ] || [ -e BESIDE/may ] || exit 1; {ADDS_A_FILE}")
}

#[test]
fn one_task_of_a_mixed_batch_is_retried() {
    let garden = Garden::new(PLAN, 1, &reluctant("board-1"));
    let of_board = &garden.table.tasks[0];
    garden.ask(&garden.both()).good(201);
    let over = until_over(&garden.server, 1);
    assert_eq!(outcomes(&over), "1:merged board-1:failed");
    let scene = &garden.table.scene;
    assert_eq!(scene.plan(), PLAN.replace("[ ] 1", "[x] 1"));
    assert_eq!(garden.table.marks(), "pending");
    assert_eq!(garden.last_batch(of_board), json!([1, "failed"]));
    std::fs::write(scene.repo.beside("may"), "").unwrap();
    let retry = format!("/api/batches/1/tasks/{of_board}/retry");
    garden.server.post(&retry, &json!({})).good(200);
    let over = garden.server.until("/api/batches/1", |batch| {
        outcomes(batch) == "1:merged board-1:merged" && batch["completedAt"].is_string()
    });
    assert_eq!(over["tasks"][1]["attempts"], 2);
    assert_eq!(garden.table.marks(), "completed");
}

#[test]
fn a_task_of_a_mixed_batch_is_retried_by_its_key_once_no_other_batch_has_it() {
    let shell = format!(
        "[ $PLEACH_BATCH != 1 ] || {{ {}; exit; }}; {}; exit 1",
        reluctant("board-1"),
        crate::scene::WAIT
    );
    let garden = Garden::new(PLAN, 1, &shell);
    let mut gate = Gate::at(&garden.table.scene);
    garden.ask(&garden.both()).good(201);
    until_over(&garden.server, 1);
    garden.ask(&[&garden.table.tasks[0]]).good(201);
    assert_eq!(gate.wait_for(1), "1");
    let error = garden.terminal(&["retry", "1", "board-1"]).bad(2);
    assert!(error.contains("task board-1 is in batch 2"), "{error}");
    gate.let_go(1);
    assert_eq!(outcomes(&until_over(&garden.server, 2)), "1:failed");
    std::fs::write(garden.table.scene.repo.beside("may"), "").unwrap();
    garden.terminal(&["retry", "1", "board-1"]).good();
    let over = garden.server.until("/api/batches/1", |batch| {
        outcomes(batch) == "1:merged board-1:merged" && batch["completedAt"].is_string()
    });
    assert_eq!(over["status"], "completed");
    assert_eq!(garden.table.marks(), "completed");
}

#[test]
fn a_terminal_sees_what_became_of_the_tasks_of_its_plan_in_a_mixed_batch() {
    let garden = Garden::new(PLAN, 2, &reluctant("1"));
    let tasks = [&garden.in_file[0], &garden.table.tasks[1]];
    garden.ask(&tasks).good(201);
    let over = until_over(&garden.server, 1);
    assert_eq!(outcomes(&over), "1:failed 2:merged", "nothing else is a 2");
    let next = garden.terminal(&["next", "--json"]).json();
    assert_eq!(
        (&next["tasks"][0]["id"], &next["tasks"][0]["status"]),
        (&json!("1"), &json!("failed")),
        "{next}"
    );
    let progress = garden.terminal(&["progress", "--json"]).json();
    assert_eq!(
        (&progress["failed"], &progress["open"]),
        (&json!(1), &json!(1)),
        "{progress}"
    );
    let scene = &garden.table.scene;
    std::fs::write(scene.repo.beside("may"), "").unwrap();
    scene.story(&["failed"]).check(0, "1:merged");
    assert_eq!(garden.last_batch(tasks[0]), json!([2, "merged"]));
    assert_eq!(garden.last_batch(tasks[1]), json!([1, "merged"]));
}

#[test]
fn tasks_build_on_what_tasks_of_their_own_plan_did_in_a_mixed_batch() {
    let garden = Garden::new(PLAN, 2, ADDS_A_FILE);
    let [first, second] = &garden.table.tasks[..] else {
        panic!("two tasks");
    };
    let needs = json!({"dependsOn": [first]});
    let path = format!("/api/tasks/{second}");
    let patched = garden.server.ask("PATCH", &path, Some(&needs), &[]);
    patched.good(200);
    garden.ask(&garden.both()).good(201);
    until_over(&garden.server, 1);
    for (batch, task, files) in [
        (2, &garden.in_file[1], "file-1 file-2"),
        (3, second, "file-2 file-board-1"),
    ] {
        garden.ask(&[task]).good(201);
        until_over(&garden.server, batch);
        let branch = format!("pleach/batch-{batch}");
        assert_eq!(garden.table.scene.new_files(&branch), files);
    }
}

#[test]
fn dependencies_stay_within_their_own_plan() {
    let garden = Garden::new(PLAN, 1, ADDS_A_FILE);
    let of_board = &garden.table.tasks[0];
    let [dig, sow] = &garden.in_file[..] else {
        panic!("two tasks");
    };
    let tasks = json!([sow, of_board]);
    let alone = garden.preview(&json!({ "taskIds": tasks }));
    assert_eq!(alone["missing"], json!([{"taskId": sow, "needs": [dig]}]));
    assert_eq!(alone["refusal"]["code"], "missing_dependencies");
    let with_deps = garden.preview(&json!({"taskIds": tasks, "withDeps": true}));
    let stages = json!([
        {"number": 1, "tasks": [dig, of_board]},
        {"number": 2, "tasks": [sow]},
    ]);
    assert_eq!(
        (&with_deps["stages"], &with_deps["refusal"]),
        (&stages, &Value::Null)
    );
}

#[test]
fn a_collision_over_a_file_is_looked_for_across_plans() {
    let garden = Garden::new("- [ ] 1. Dig in `a.rs`\n", 0, ADDS_A_FILE);
    let dig = &garden.in_file[0];
    let plant = &garden.import(&json!({"markdown": "- [ ] plant in `a.rs`\n"}))[0];
    let shown = garden.preview(&json!({"taskIds": [plant, dig]}));
    assert_eq!(
        shown["predictedConflicts"],
        json!([{"tasks": [dig, plant], "files": ["a.rs"]}])
    );
    let stages = json!([{"number": 1, "tasks": [dig]}, {"number": 2, "tasks": [plant]}]);
    assert_eq!(
        (&shown["stages"], &shown["refusal"]),
        (&stages, &Value::Null)
    );
}

#[test]
fn a_batch_holds_tasks_of_several_files() {
    let garden = Garden::new("- [ ] 1. Dig\n", 1, ADDS_A_FILE);
    let repo = &garden.table.scene.repo;
    repo.write("MORE.md", "- [ ] 1. Rake\n");
    let rake = &garden.import(&json!({"path": "MORE.md"}))[0];
    let [dig, of_board] = garden.both();
    let made = garden.ask(&[dig, rake, of_board]).good(201);
    let pairs = json!([[rake, "1"], [dig, "TODO-1"], [of_board, "board-1"]]);
    assert_eq!(ids_and_keys(&made), pairs);
    let over = until_over(&garden.server, 1);
    assert_eq!(
        outcomes(&over),
        "1:merged TODO-1:merged board-1:merged",
        "files come by their paths, the board last"
    );
    for (path, text) in [
        ("TODO.md", "- [x] 1. Dig\n"),
        ("MORE.md", "- [x] 1. Rake\n"),
    ] {
        let marked = std::fs::read_to_string(repo.path().join(path)).unwrap();
        assert_eq!(marked, text);
    }
    assert_eq!(garden.table.marks(), "completed");
}

#[test]
fn tasks_in_phases_of_two_plans_are_refused_and_others_come_beside_phases() {
    let phased = "## Phase 1: Ground\n- [ ] 1.1 Dig\n## Phase 2: Beds\n- [ ] 2.1 Sow\n";
    let garden = Garden::new(phased, 1, ADDS_A_FILE);
    let [dig, sow] = &garden.in_file[..] else {
        panic!("two tasks");
    };
    let of_board = &garden.table.tasks[0];
    let shown = garden.preview(&json!({"taskIds": [dig, sow, of_board]}));
    let stages = json!([
        {"number": 1, "tasks": [dig, of_board]},
        {"number": 2, "tasks": [sow]},
    ]);
    assert_eq!(
        (&shown["stages"], &shown["refusal"]),
        (&stages, &Value::Null)
    );
    let text = "## Phase 1: Paths\n- [ ] 7.1 Gravel\n";
    let gravel = &garden.import(&json!({ "markdown": text }))[0];
    assert_eq!(garden.ask(&[dig, gravel]).bad(400), "mixed_plans");
    garden.ask(&[dig, of_board]).good(201);
    assert_eq!(
        outcomes(&until_over(&garden.server, 1)),
        "1.1:merged 1:merged"
    );
}
