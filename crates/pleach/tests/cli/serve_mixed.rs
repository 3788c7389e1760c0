//! Batches over HTTP of tasks that live in several places: in plan files and on the board.

use pleach_testkit::{Response, import_tasks};
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
        import_tasks(&self.server, &self.table.project, what)
    }

    /// The first task of the file and the first of the board, in the order in which a batch has them.
    fn both(&self) -> [&String; 2] {
        [&self.in_file[0], &self.table.tasks[0]]
    }

    fn ask(&self, tasks: &[&String]) -> Response {
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
