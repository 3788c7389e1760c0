//! The execution plan of a project over HTTP: started, followed, stopped, and told apart from other batches.

use pleach_server::Consent;
use pleach_testkit::{Gate, Scene, outcomes, patient, until_over};
use serde_json::json;

use crate::alone;
use crate::serving::Serving;
use crate::table::{Table, board};

/// Two stages: `a` and `b` at once, then `c`.
fn put_two_stages(server: &Serving, of_project: &str) {
    let plan = json!({
        "batches": [
            {"batch_id": 10, "task_ids": ["a", "b"], "can_parallel": true},
            {"batch_id": 20, "task_ids": ["c"], "can_parallel": false},
        ],
        "tasks": [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}, {"id": "c", "title": "C"}],
    });
    let path = format!("{of_project}/plan");
    server.ask("PUT", &path, Some(&plan), &[]).good(200);
}

#[test]
fn an_execution_plan_is_started_followed_and_stopped() {
    alone(|| {
        let scene = Scene::staged("a b, c!", "retries = 0\nland = \"none\"", &patient());
        let mut gate = Gate::at(&scene);
        let mut board = board();
        let project = board.add_folder(scene.repo.path()).unwrap().id;
        let server = Serving::of(&scene, Consent::Given);
        let path = |what: &str| format!("/api/projects/{project}/parallel/{what}");
        let start = || server.post(&path("start"), &json!({}));
        assert_eq!(start().bad(400), "no_plan");
        board.import_file(&project, "plan.json").unwrap();
        let status = server.get(&path("status")).good(200);
        assert_eq!(
            status,
            json!({"execution_mode": "parallel", "parallel_started_at": null, "batches_total": 2,
               "current_batch": null, "completed_batches": 0})
        );
        assert_eq!(
            server.post(&path("stop"), &json!({})).bad(409),
            "not_running"
        );
        assert_eq!(start().good(200)["status"], "started");
        gate.wait_for(2);
        assert_eq!(start().bad(409), "already_running");
        let status = server.get(&path("status")).good(200);
        assert_eq!(
            (&status["execution_mode"], &status["current_batch"]),
            (&json!("parallel_running"), &json!(1))
        );
        assert!(status["parallel_started_at"].is_string(), "{status}");
        gate.let_go(2);
        gate.wait_for(1);
        let status = server.get(&path("status")).good(200);
        assert_eq!(
            (&status["current_batch"], &status["completed_batches"]),
            (&json!(2), &json!(1))
        );
        let stopped = server.post(&path("stop"), &json!({})).good(200);
        assert_eq!(stopped["status"], "stopping");
        gate.let_go(1);
        server.until(&path("status"), |status| {
            status["execution_mode"] != "parallel_running"
        });
        assert_eq!(
            outcomes(&until_over(&server, 1)),
            "a:merged b:merged c:merged"
        );
    });
}

#[test]
fn the_waves_of_a_plan_file_are_the_stages_of_its_execution() {
    alone(|| {
        let plan = "- [ ] 1.1 dig\n- [ ] 1.2 sow (depends: 1.1)\n- [ ] 1.3 weed (depends: 1.1)\n";
        let scene = Scene::with("land = \"none\"", plan, "echo x > f-$PLEACH_TASK");
        let server = Serving::of(&scene, Consent::Given);
        let project = server.get("/api/projects").good(200)["projects"][0]["id"].clone();
        let project = project.as_str().unwrap();
        let body = json!({"projectId": project, "path": "TODO.md"});
        server.post("/api/tasks/import", &body).good(200);
        let shown = server
            .get(&format!("/api/projects/{project}/plan"))
            .good(200);
        assert_eq!(shown["batches"].as_array().unwrap().len(), 2, "{shown}");
        let path = |what: &str| format!("/api/projects/{project}/parallel/{what}");
        let status = server.get(&path("status")).good(200);
        assert_eq!(
            (&status["execution_mode"], &status["batches_total"]),
            (&json!("parallel"), &json!(2))
        );
        server.post(&path("start"), &json!({})).good(200);
        let over = until_over(&server, 1);
        assert_eq!(outcomes(&over), "1.1:merged 1.2:merged 1.3:merged");
        assert_eq!(over["stages"].as_array().unwrap().len(), 2);
        let status = server.get(&path("status")).good(200);
        assert_eq!(status["completed_batches"], 2, "{status}");
        assert_eq!(scene.plan().matches("[x]").count(), 3);
    });
}

#[test]
fn a_batch_that_somebody_else_started_is_not_the_execution_of_the_plan() {
    alone(|| {
        let table = Table::new(1, "land = \"none\"", &patient());
        let mut gate = Gate::at(&table.scene);
        let server = table.serve();
        let of_project = format!("/api/projects/{}", table.project);
        let path = |what: &str| format!("{of_project}/parallel/{what}");
        put_two_stages(&server, &of_project);
        table.start(&server, &json!({}));
        gate.wait_for(1);
        let idle = json!({"execution_mode": "parallel", "parallel_started_at": null, "batches_total": 2,
                      "current_batch": null, "completed_batches": 0});
        assert_eq!(server.get(&path("status")).good(200), idle);
        let stop = || server.post(&path("stop"), &json!({}));
        assert_eq!(stop().bad(409), "not_running");
        let other = server.get("/api/batches/1").good(200);
        assert_eq!(other["status"], "running");
        server.post(&path("start"), &json!({})).good(200);
        gate.wait_for(2);
        assert_eq!(stop().good(200)["status"], "stopping");
        gate.let_go(3);
        assert_eq!(
            outcomes(&until_over(&server, 2)),
            "a:merged b:merged c:cancelled"
        );
        assert_eq!(outcomes(&until_over(&server, 1)), "1:merged");
    });
}

#[test]
fn an_execution_keeps_its_numbers_after_its_end_and_a_new_plan_has_its_own() {
    alone(|| {
        let table = Table::new(0, "land = \"none\"", "echo x > f-$PLEACH_TASK");
        let server = table.serve();
        let of_project = format!("/api/projects/{}", table.project);
        let path = |what: &str| format!("{of_project}/parallel/{what}");
        put_two_stages(&server, &of_project);
        server.post(&path("start"), &json!({})).good(200);
        let over = until_over(&server, 1);
        assert_eq!(outcomes(&over), "a:merged b:merged c:merged");
        let status = server.get(&path("status")).good(200);
        assert_eq!(
            status,
            json!({"execution_mode": "parallel", "parallel_started_at": over["startedAt"],
               "batches_total": 2, "current_batch": null, "completed_batches": 2})
        );
        put_two_stages(&server, &of_project);
        let status = server.get(&path("status")).good(200);
        assert_eq!(
            (&status["parallel_started_at"], &status["completed_batches"]),
            (&json!(null), &json!(0))
        );
    });
}
