//! Batches over HTTP of tasks that live in several places: in plan files and on the board.

use pleach_testkit::{ADDS_A_FILE, Gate, Response, import_tasks, outcomes, patient, until_over};
use serde_json::{Value, json};

use crate::alone;
use crate::serving::Serving;
use crate::table::Table;

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
    alone(|| {
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
    });
}

#[test]
fn events_of_a_mixed_batch_carry_the_ids_of_its_tasks() {
    alone(|| {
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
    });
}

#[test]
fn a_task_of_the_board_keeps_no_task_of_a_file_from_running() {
    alone(|| {
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
    });
}

/// Tasks of that id fail until somebody says otherwise.
fn reluctant(task: &str) -> String {
    format!("[ $PLEACH_TASK != {task} ] || [ -e BESIDE/may ] || exit 1; {ADDS_A_FILE}")
}

#[test]
fn one_task_of_a_mixed_batch_is_retried() {
    alone(|| {
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
    });
}

#[test]
fn tasks_build_on_what_tasks_of_their_own_plan_did_in_a_mixed_batch() {
    alone(|| {
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
    });
}

#[test]
fn dependencies_stay_within_their_own_plan() {
    alone(|| {
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
    });
}

#[test]
fn a_collision_over_a_file_is_looked_for_across_plans() {
    alone(|| {
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
    });
}

#[test]
fn a_batch_holds_tasks_of_several_files() {
    alone(|| {
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
    });
}

#[test]
fn tasks_in_phases_of_two_plans_are_refused_and_others_come_beside_phases() {
    alone(|| {
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
    });
}
