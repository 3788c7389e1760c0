//! What a batch would be, asked over HTTP before anybody starts it.

use pleach_server::Consent;
use pleach_testkit::{ADDS_A_FILE, Gate, Response, Scene, patient, until_over};
use serde_json::{Value, json};

use crate::alone;
use crate::serving::{Serving, trust};
use crate::table::Table;

fn preview(server: &Serving, body: &Value) -> Response {
    server.post("/api/batches/preview", body)
}

/// Nothing keeps it from starting, and everything else is empty but its stages.
#[track_caller]
fn plain(stages: &Value) -> Value {
    json!({
        "stages": stages, "predictedConflicts": [], "missing": [], "leftOut": [], "warnings": [],
        "pushTo": null, "pushUnconfirmed": false, "refusal": null,
    })
}

#[test]
fn a_preview_tells_stages_and_what_is_missing_and_changes_nothing() {
    alone(|| {
        let table = Table::new(3, "land = \"none\"", ADDS_A_FILE);
        let server = table.serve();
        let [first, second, third] = &table.tasks[..] else {
            panic!("three tasks");
        };
        let needs = json!({"dependsOn": [first]});
        let path = format!("/api/tasks/{second}");
        server.ask("PATCH", &path, Some(&needs), &[]).good(200);
        let all = preview(&server, &json!({"taskIds": table.tasks})).good(200);
        let stages = json!([
            {"number": 1, "tasks": [first, third]},
            {"number": 2, "tasks": [second]},
        ]);
        assert_eq!(all, plain(&stages));
        let alone = preview(&server, &json!({"taskIds": [second]})).good(200);
        assert_eq!(
            alone["missing"],
            json!([{"taskId": second, "needs": [first]}])
        );
        assert_eq!(alone["refusal"]["code"], "missing_dependencies");
        assert!(alone["refusal"]["hint"].is_string(), "{alone}");
        let with_deps = json!({"taskIds": [second], "withDeps": true});
        let with_deps = preview(&server, &with_deps).good(200);
        let stages = json!([{"number": 1, "tasks": [first]}, {"number": 2, "tasks": [second]}]);
        assert_eq!(with_deps, plain(&stages));
        let all = server.get("/api/batches?status=all").good(200);
        assert_eq!(all, json!({"batches": []}));
        assert_eq!(table.marks(), "pending pending pending");
    });
}

#[test]
fn a_preview_tells_which_tasks_declare_the_same_file() {
    alone(|| {
        let table = Table::new(0, "land = \"none\"", ADDS_A_FILE);
        let server = table.serve();
        let markdown = "- [ ] dig in `a.rs`\n- [ ] plant in `a.rs` and `b.rs`\n- [ ] rest\n";
        let body = json!({"projectId": table.project, "markdown": markdown});
        let imported = server.post("/api/tasks/import", &body).good(200);
        let tasks = imported["tasks"].as_array().unwrap().iter();
        let ids: Vec<&Value> = tasks.map(|task| &task["id"]).collect();
        let shown = preview(&server, &json!({ "taskIds": ids })).good(200);
        assert_eq!(
            shown["predictedConflicts"],
            json!([{"tasks": [ids[0], ids[1]], "files": ["a.rs"]}])
        );
        assert_eq!(shown["stages"][1]["tasks"], json!([ids[1]]));
        assert_eq!(shown["refusal"], Value::Null);
    });
}

#[test]
fn a_preview_tells_why_a_batch_would_be_refused() {
    alone(|| {
        let table = Table::new(2, "land = \"none\"", &patient());
        let mut gate = Gate::at(&table.scene);
        let server = table.serve();
        let refused = |body: &Value| preview(&server, body).good(200)["refusal"]["code"].clone();
        let first = &table.tasks[0];
        assert_eq!(
            refused(&json!({"taskIds": [first], "agent": "nobody"})),
            "unknown_agent"
        );
        assert_eq!(
            refused(&json!({"taskIds": [first], "base": "nowhere"})),
            "base_not_found"
        );
        assert_eq!(
            refused(&json!({"taskIds": [first], "maxConcurrent": 65})),
            "bad_field"
        );
        assert_eq!(
            preview(&server, &json!({"taskIds": ["unknown"]})).bad(404),
            "task_not_found"
        );
        assert_eq!(
            preview(&server, &json!({"taskIds": []})).bad(400),
            "empty_batch"
        );
        server
            .post("/api/batches", &json!({"taskIds": [first]}))
            .good(201);
        gate.wait_for(1);
        assert_eq!(refused(&json!({"taskIds": table.tasks})), "task_busy");
        gate.let_go(1);
        until_over(&server, 1);
        let rest = preview(&server, &json!({"taskIds": table.tasks})).good(200);
        assert_eq!(rest["leftOut"], json!([first]));
        assert_eq!(rest["stages"][0]["tasks"], json!([table.tasks[1]]));
        assert_eq!(rest["warnings"][0]["code"], "already_complete");
        assert_eq!(rest["refusal"], Value::Null);
        assert_eq!(refused(&json!({"taskIds": [first]})), "already_complete");
    });
}

#[test]
fn a_preview_of_several_at_once_in_a_folder_without_git_is_refused() {
    alone(|| {
        let table = Table::new(0, "land = \"none\"", ADDS_A_FILE);
        let folder = table.scene.repo.beside("plain");
        std::fs::create_dir_all(&folder).unwrap();
        let config = std::fs::read(table.scene.repo.path().join("pleach.toml")).unwrap();
        std::fs::write(folder.join("pleach.toml"), config).unwrap();
        trust(&folder);
        let server = table.serve();
        let project = json!({"path": folder});
        let project = server.post("/api/projects", &project).good(201)["id"].clone();
        let task = json!({"projectId": project, "title": "dig"});
        let task = server.post("/api/tasks", &task).good(201)["id"].clone();
        let shown = preview(&server, &json!({"taskIds": [task], "mode": "parallel"})).good(200);
        assert_eq!(shown["refusal"]["code"], "needs_repository");
        let queued = preview(&server, &json!({"taskIds": [task], "mode": "queue"})).good(200);
        assert_eq!(queued["refusal"], Value::Null);
    });
}

/// A server, and the ids of the tasks of a plan file that it imported.
fn served(scene: &Scene) -> (Serving, Vec<Value>) {
    let server = Serving::of(scene, Consent::Given);
    let project = server.get("/api/projects").good(200)["projects"][0]["id"].clone();
    let body = json!({"projectId": project, "path": "TODO.md"});
    let imported = server.post("/api/tasks/import", &body).good(200);
    let tasks = imported["tasks"].as_array().unwrap().iter();
    let ids = tasks.map(|task| task["id"].clone()).collect();
    (server, ids)
}

#[test]
fn a_preview_follows_the_rules_that_a_client_chooses() {
    alone(|| {
        let plan = "## Phase 1: A\n- [ ] 1.1 dig in `a.rs`\n- [ ] 1.2 plant in `a.rs`\n## Phase 2: B\n- [ ] 2.1 rest\n";
        let scene = Scene::with("land = \"none\"", plan, ADDS_A_FILE);
        let (server, ids) = served(&scene);
        let shown = |body: Value| preview(&server, &body).good(200);
        for (overlap, stages) in [(false, 2), (true, 1)] {
            let shown = shown(json!({"taskIds": ids[..2], "allowOverlap": overlap}));
            assert_eq!(shown["stages"].as_array().unwrap().len(), stages, "{shown}");
        }
        let shown = |share: f64| shown(json!({"taskIds": [ids[2]], "phaseThreshold": share}));
        assert_eq!(shown(0.8)["refusal"]["code"], "phase_not_open");
        assert_eq!(shown(0.0)["refusal"], Value::Null);
    });
}

#[test]
fn a_preview_is_strict_about_unknown_dependencies_where_a_client_asks_for_that() {
    alone(|| {
        let plan = "### 7. Water\n**Status**: [NOT STARTED]\n**Dependencies**: 61\n";
        let scene = Scene::with("land = \"none\"", plan, ADDS_A_FILE);
        let (server, ids) = served(&scene);
        for (strict, refused) in [(false, Value::Null), (true, json!("unknown_dependency"))] {
            let shown = preview(&server, &json!({"taskIds": ids, "strict": strict})).good(200);
            assert_eq!(shown["refusal"]["code"], refused, "{shown}");
        }
    });
}
